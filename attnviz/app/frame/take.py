"""Export and share: what a page shows as files, a link, and the code that gives the same numbers.

In: what is shown, the page, and the view of a figure for each button. Out: buttons that make their
file when they are pressed (`attnviz.files`), one that saves the pictures as they are on the
screen, the link, and a block of code. Nothing is made before; another choice in the picture renews
the names of the files. Pages without a capture (Calculator, Learn) offer picture and link.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from attnviz.app.frame import link, view_code
from attnviz.app.host.draw import draw
from attnviz.app.session import current, messages, widgets
from attnviz.app.session.fragment import PageContextKey, fragment
from attnviz.files.page import MAX_SHOWN
from attnviz.files.pictures import View
from attnviz.files.save import content
from attnviz.i18n import Language, text
from attnviz.pictures import save_image
from attnviz.pictures.group.app_capture import PageContext
from attnviz.pictures.group.titles import model_title
from attnviz.pictures.shared.pages import Page
from attnviz.summary import shortened
from attnviz.types import HeadId

FRAGMENT = "take"
OF_HEAD = ("head", "steps", "masks", "geometry")  # pages that show one head at a time


@dataclass(frozen=True)
class TakeFile:
    """A button: the name of its text, the ending of its file, and what makes the bytes."""

    name: str
    ending: str
    make: Callable[[], bytes]


@fragment(FRAGMENT)
def offer(
    shown: PageContext,
    page: Page,
    *figures: View,
    right: PageContext | None = None,
    right_text: str = "",
    changes: str = "",
) -> None:
    """A switch, and below it files, link and code; `figures` are drawn as SVG.

    `right` is the right side of Compare with the text that it reads; `changes` are the heads that
    are off on Switches.
    """
    with messages.guard(shown.lang):
        lang = shown.lang
        if not _is_wanted(lang, "take.help"):
            return
        widgets.rerun_too(FRAGMENT)
        head = HeadId(*shown.size.nearest_head(*current.view().place.layer_and_head))
        files = _files(shown, head, figures) + ([] if right is None else _files_of(right))
        with st.container(horizontal=True):
            for file in files:
                st.download_button(
                    text(lang, f"take.{file.name}", head=str(head)),
                    file.make,
                    _file_name(shown, head, file.name, file.ending),
                    key=widgets.key(f"take.{file.name}"),
                    on_click="ignore",
                )
        _camera(lang, _origins(shown, page, head, right))
        link.show(lang)
        st.caption(text(lang, "take.code"))
        saved = (_file_name(shown, head, name, ".safetensors") for name in ("capture", "capture_b"))
        sources = [view_code.of_left(shown, next(saved), page)]
        if right is not None:
            sources.append(view_code.of_right(right, next(saved), right_text))
        st.code(view_code.code(shown, page, head, sources, changes), language="python")


@fragment(FRAGMENT)
def offer_picture(lang: Language) -> None:
    """A switch, and below it the pictures as they are on the screen, and the link."""
    with messages.guard(lang):
        if _is_wanted(lang, "take.help_picture"):
            _camera(lang)
            link.show(lang)


def _is_wanted(lang: Language, tip: str) -> bool:
    """True if the switch is on."""
    return st.toggle(text(lang, "take.title"), key=widgets.key("take"), help=text(lang, tip))


def _camera(lang: Language, origins: Sequence[str] = ()) -> None:
    view = save_image.SaveImageView(tuple(origins))
    draw(save_image.CANVAS, view, widgets.component_key("save_image"), lang)


def _origins(
    shown: PageContext, page: Page, head: HeadId, right: PageContext | None
) -> tuple[str, ...]:
    """For each text on the page the model, the head where the page shows one, and the text."""
    sides = (shown,) if right is None else (shown, right)
    return tuple(
        " · ".join(
            part
            for part in (
                model_title(side.lang, side.captured.name),
                str(head) if page in OF_HEAD else "",
                shortened(side.captured.capture.tokens.text, MAX_SHOWN),
            )
            if part
        )
        for side in sides
    )


def _files(shown: PageContext, head: HeadId, figures: tuple[View, ...]) -> list[TakeFile]:
    """The files that the size of the text allows."""
    size, file = shown.size, partial(_file, PageContextKey(shown))
    place: dict[str, Any] = {"kind": shown.group.kind, "stack": shown.group.stack}
    files: list[TakeFile] = []
    if size.all_at_once:
        for view in figures:
            drawn = None if view == "heads" else head
            draw = partial(file, ".svg", view=view, head=drawn, **place)
            files.append(TakeFile(view, ".svg", draw))
        files.append(TakeFile("page", ".html", partial(_page, PageContextKey(shown), head)))
    if size.whole:
        files.append(TakeFile("numbers", ".csv", partial(file, ".csv", head=head, **place)))
    files.append(TakeFile("capture", ".safetensors", partial(file, ".safetensors")))
    return files


def _files_of(right: PageContext) -> list[TakeFile]:
    """The capture of the right side."""
    return [
        TakeFile("capture_b", ".safetensors", partial(_file, PageContextKey(right), ".safetensors"))
    ]


def _file(key: PageContextKey, ending: str, **options: Any) -> bytes:
    """The bytes of a file; the button that makes it keeps no capture."""
    return content(key.shown().captured.capture, ending, **options)


def _page(key: PageContextKey, head: HeadId) -> bytes:
    """The page (HTML) with the steps of one head."""
    captured = key.shown().captured
    return content(
        captured.capture,
        ".html",
        lang=key.lang,
        heads=[head],
        model=captured.loaded,
        picture=captured.media.picture,
    )


def _file_name(shown: PageContext, head: HeadId, name: str, ending: str) -> str:
    """The model's name, the head and the kind of file."""
    kept = "".join(sign if sign.isalnum() else "-" for sign in shown.captured.name)
    return f"{kept.strip('-')[:40] or 'attention'}-{head}-{name}{ending}"
