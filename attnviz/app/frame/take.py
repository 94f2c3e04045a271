"""The menu Share: a link, what a page shows as files, and the code that gives the same numbers.

In: what is shown, the page, and the view of a figure for each button. Out: in the bar the link,
buttons that make their file when they are pressed (`attnviz.files`), one that saves the pictures as
they are on the screen, and a block of code. Nothing is made while the menu is closed; another
choice in the picture renews link and names. A page without a capture (Calculator, Learn) offers
picture and link.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st

from attnviz.app.bar import navigation
from attnviz.app.frame import link, view_code
from attnviz.app.host.draw import draw
from attnviz.app.session import current, messages, widgets
from attnviz.app.session.fragment import PageContextKey, fragment
from attnviz.i18n import Language, text
from attnviz.pictures import save_image
from attnviz.pictures.group.app_capture import PageContext
from attnviz.pictures.group.titles import model_title
from attnviz.pictures.shared.pages import Door
from attnviz.summary import MAX_SHOWN, shortened
from attnviz.types import HeadId

if TYPE_CHECKING:
    from attnviz.files.figures import View

FRAGMENT = "take"
OF_HEAD = ("steps", "masks", "geometry")  # pages that show one head at a time


@dataclass(frozen=True)
class TakeFile:
    """A button: the name of its text, the ending of its file, and what makes the bytes."""

    name: str
    ending: str
    make: Callable[[], bytes]


def offer(
    shown: PageContext,
    page: Door,
    *figures: "View",
    right: PageContext | None = None,
    right_text: str = "",
    changes: Callable[[], str] = str,
) -> None:
    """Everything that can be taken along from a page; `figures` are drawn as SVG.

    `right` is the right side of Compare with the text that it reads, `changes` gives what is
    switched off and forbidden, as text.
    """
    place = navigation.share_place()
    if place is not None:
        with place:
            _menu(shown.lang, shown, page, figures, right, right_text, changes)


def offer_picture(lang: Language) -> None:
    """The pictures as they are on the screen, and the link; nothing where more was offered."""
    place = navigation.share_place()
    if place is not None:
        with place:
            _menu(lang)


@fragment(FRAGMENT)
def _menu(
    lang: Language,
    shown: PageContext | None = None,
    page: Door = "start",
    figures: "tuple[View, ...]" = (),
    right: PageContext | None = None,
    right_text: str = "",
    changes: Callable[[], str] = str,
) -> None:
    menu = st.popover(
        text(lang, "take.title"), type="tertiary", key=widgets.key("take"), on_change="rerun"
    )
    if not menu.open:
        return
    with menu, messages.guard(lang):
        link.show(lang)
        if shown is None:
            _camera(lang)
        else:
            _files_and_code(shown, page, figures, right, right_text, changes())


def _files_and_code(
    shown: PageContext,
    page: Door,
    figures: "tuple[View, ...]",
    right: PageContext | None,
    right_text: str,
    changes: str,
) -> None:
    lang = shown.lang
    head = HeadId(*shown.size.nearest_head(*current.view().place.layer_and_head))
    files = _files(shown, head, figures)
    if right is not None:
        capture = partial(_file, PageContextKey(right), ".safetensors")
        files.append(TakeFile("capture_b", ".safetensors", capture))
    st.caption(text(lang, "take.help"))
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
    st.caption(text(lang, "take.code"))
    saved = (_file_name(shown, head, name, ".safetensors") for name in ("capture", "capture_b"))
    sources = [view_code.of_left(shown, next(saved), page)]
    if right is not None:
        sources.append(view_code.of_right(right, next(saved), right_text))
    st.code(view_code.code(shown, page, head, sources, changes), language="python")


def _camera(lang: Language, origins: Sequence[str] = ()) -> None:
    view = save_image.SaveImageView(tuple(origins))
    draw(save_image.CANVAS, view, "save_image", lang)


def _origins(
    shown: PageContext, page: Door, head: HeadId, right: PageContext | None
) -> tuple[str, ...]:
    """For each text on the page the model, the head where the page shows one, and the text."""
    sides = (shown,) if right is None else (shown, right)
    is_head_open = page == "overview" and current.view().drawing.open
    return tuple(
        " · ".join(
            part
            for part in (
                model_title(side.lang, side.captured.name),
                str(head) if page in OF_HEAD or is_head_open else "",
                shortened(side.captured.capture.tokens.text, MAX_SHOWN),
            )
            if part
        )
        for side in sides
    )


def _files(shown: PageContext, head: HeadId, figures: "tuple[View, ...]") -> list[TakeFile]:
    """The files that the size of the text allows; the figure of all heads if all were kept."""
    size, file = shown.size, partial(_file, PageContextKey(shown))
    place: dict[str, Any] = {"kind": shown.group.kind, "stack": shown.group.stack}
    files: list[TakeFile] = []
    if size.all_at_once:
        for view in figures:
            if view == "heads" and size.kept:
                continue
            drawn = None if view == "heads" else head
            draw = partial(file, ".svg", view=view, head=drawn, **place)
            files.append(TakeFile(view, ".svg", draw))
        files.append(TakeFile("page", ".html", partial(_page, PageContextKey(shown), head)))
    if size.whole:
        files.append(TakeFile("numbers", ".csv", partial(file, ".csv", head=head, **place)))
    files.append(TakeFile("capture", ".safetensors", partial(file, ".safetensors")))
    return files


def _file(key: PageContextKey, ending: str, **options: Any) -> bytes:
    """The bytes of a file; the button that makes it keeps no capture."""
    from attnviz.files.save import content

    return content(key.shown().captured.capture, ending, **options)


def _page(key: PageContextKey, head: HeadId) -> bytes:
    """The page (HTML) with the steps of one head."""
    from attnviz.files.save import content

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
