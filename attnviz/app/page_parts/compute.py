"""The room Compute: the way of one row through a head, or another face of one of its stops.

In: the view, which names the face. Out: the picture of the row with all matrices below it; with
arrows or other masks in the row's place, its rail remains below them; own numbers are a row of
typed matrices.
"""

from collections.abc import Callable, Mapping

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz.app.frame import (
    attention_choice,
    capture_of_view,
    fragments,
    frame,
    frame_line,
    mask_code,
    take,
)
from attnviz.app.page_parts import atlas, calculator, edited_answer, geometry, inside
from attnviz.app.session import current, embedding, openings, widgets
from attnviz.pictures.group.app_capture import PageContext
from attnviz.pictures.steps import Face


def show() -> None:
    """Draw the face that the view names."""
    FACES[current.view().drawing.face or None]()


def _row() -> None:
    shown = capture_of_view.shown(current.language())
    if shown is None:
        return
    shown = attention_choice.choice(shown)
    openings.open_a_new_text(shown)
    with _face():
        fragments.player(shown)
        if not embedding.is_embedded():
            edited_answer.show(shown, "steps")
    with _line():
        fragments.steps(shown)
    if frame_line.ends(shown):
        return
    atlas.place_of_text(shown)
    inside.show(shown)
    frame.verification(shown)
    take.offer(shown, "steps", "steps")


def _masks() -> None:
    shown = capture_of_view.shown(current.language(), with_second=True)
    if shown is None:
        return
    shown = attention_choice.choice(shown)
    with _face():
        fragments.masks(shown)
    _rail(shown)
    if frame_line.ends(shown):
        return
    edited_answer.show(shown, "masks")
    atlas.place_of_text(shown)
    mask_code.show(shown)
    frame.verification(shown)
    take.offer(shown, "masks", "head")


def _arrows() -> None:
    """Without a capture everything but the real head is there."""
    lang = current.language()
    shown = capture_of_view.shown(lang)
    if shown is not None:
        shown = attention_choice.choice(shown)
    with _face():
        geometry.show(lang, shown)
    if shown is None:
        return
    _rail(shown)
    if frame_line.ends(shown):
        return
    geometry.verification(shown)
    take.offer(shown, "geometry")


def _numbers() -> None:
    calculator.show(frame.open_page("calculator"))


def _rail(shown: PageContext) -> None:
    """The stops below a face; a frame shows one picture alone."""
    if not embedding.is_embedded():
        with _line("rail"):
            fragments.steps(shown)


def _face() -> DeltaGenerator:
    return st.container(key=widgets.key("compute.face"))


def _line(name: str = "row") -> DeltaGenerator:
    return st.container(key=widgets.key(f"compute.{name}"))


FACES: Mapping[Face | None, Callable[[], None]] = {
    None: _row,
    "numbers": _numbers,
    "arrows": _arrows,
    "masks": _masks,
}
