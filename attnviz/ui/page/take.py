"""Take with you: what a page shows as files, and the code that gives the same numbers.

In: what is shown, and the view of a figure for each button. Out: buttons that make their file when
they are pressed (`attnviz.export`), and a block of code. Nothing is made before; another choice in
the picture renews the names of the files.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from attnviz.export.pictures import View
from attnviz.export.save import content
from attnviz.i18n import text
from attnviz.types import HeadId
from attnviz.ui.session import current, messages, view_request, widgets
from attnviz.ui.session.model_cards import generates
from attnviz.views.captured import Shown

FRAGMENT = "take"


@st.fragment(key=FRAGMENT)
def offer(shown: Shown, *figures: View) -> None:
    """A switch, and below it a button for each file; `figures` are drawn as SVG."""
    with messages.guard(shown.lang):
        lang = shown.lang
        if not st.toggle(
            text(lang, "take.title"), key=widgets.key("take"), help=text(lang, "take.help")
        ):
            return
        widgets.rerun_too(FRAGMENT)
        head = HeadId(*shown.size.nearest_head(*current.view().place.layer_and_head))
        with st.container(horizontal=True):
            for name, ending, make in _files(shown, head, figures):
                st.download_button(
                    text(lang, f"take.{name}", head=str(head)),
                    make,
                    f"{_stem(shown)}-{head}-{name}{ending}",
                    key=widgets.key(f"take.{name}"),
                    on_click="ignore",
                )
        st.caption(text(lang, "take.code"))
        st.code(code(shown, head), language="python")


def _files(
    shown: Shown, head: HeadId, figures: tuple[View, ...]
) -> list[tuple[str, str, Callable[[], bytes]]]:
    """Name, ending and maker of each file that the size of the text allows."""
    captured, size = shown.captured, shown.size
    cap = captured.capture
    place: dict[str, Any] = {"kind": shown.group.kind, "stack": shown.group.stack}
    files: list[tuple[str, str, Callable[[], bytes]]] = []
    if size.all_at_once:
        for view in figures:
            at = None if view == "heads" else head
            files.append((view, ".svg", partial(content, cap, ".svg", view=view, at=at, **place)))
        page = partial(
            content, cap, ".html", lang=shown.lang, heads=[head],
            model=captured.loaded, picture=captured.media.picture,
        )  # fmt: skip
        files.append(("page", ".html", page))
    if size.whole:
        files.append(("numbers", ".csv", partial(content, cap, ".csv", at=head, **place)))
    files.append(("capture", ".safetensors", partial(content, cap, ".safetensors")))
    return files


def _stem(shown: Shown) -> str:
    """The model's name as a part of a file's."""
    kept = "".join(sign if sign.isalnum() else "-" for sign in shown.captured.name)
    return kept.strip("-")[:40] or "attention"


def code(shown: Shown, head: HeadId) -> str:
    """Python that gives the weights of the head on screen, from its text or from the saved capture.

    A text is run again; pictures, sounds, sampling and uploaded files are in the capture alone.
    """
    lines = ["import attnviz", ""]
    options = _options(shown)
    if options is None:
        lines.append(f"cap = attnviz.read({f'{_stem(shown)}-{head}-capture.safetensors'!r})")
    else:
        given = "".join(f", {name}={value!r}" for name, value in options.items() if value)
        lines.append(f"lm = attnviz.load({shown.captured.name!r})")
        lines.append(f"cap = attnviz.capture(lm, {current.view().input.text!r}{given})")
    group = shown.group
    kind = "" if group.kind == "self" else f", kind={group.kind!r}"
    stack = "" if group.stack is None else f", stack={group.stack!r}"
    return "\n".join([*lines, f"weights = cap.weights({str(head)!r}{kind}{stack})"])


def _options(shown: Shown) -> dict[str, str | int] | None:
    """The arguments of `attnviz.capture` besides a text; None where a text is not all.

    That is so of pictures, sounds, sampling, uploaded texts and captures.
    """
    if shown.captured.loaded is None:
        return None
    view, media, card = current.view(), shown.captured.media, shown.captured.loaded.card
    more = view.input.file or view.generating.temperature
    if more or not view.input.text or media.picture is not None or media.sound is not None:
        return None
    target = view.input.target if card.kind == "encoder-decoder" else ""
    n_read = 0 if target.strip() or not generates(card) else view.generating.n_tokens
    return {
        "target": target if target.strip() else "",
        "generate": n_read + 1 if n_read else 0,  # the last one is never read
        "cut": view.input.cut,
        "chat": view_request.is_message(card),
    }
