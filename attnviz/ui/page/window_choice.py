"""Which window of a picture is looked at, where a model's layers attend inside windows.

In: the language, a capture and a group. Out: the same group with the chosen window; beside the
choice stands the whole picture with that window framed. A model without windows is asked nothing.
"""

from dataclasses import replace

import numpy as np
import streamlit as st
from PIL import Image, ImageDraw

from attnviz.i18n import Language, text
from attnviz.ui.session import state
from attnviz.views.captured import Captured
from attnviz.views.groups import Group
from attnviz.vision.windows import Windows

FRAME = (224, 36, 94)
SHOWN_PX = 112
WIDGET_PX = 220


def choice(lang: Language, captured: Captured, group: Group) -> Group:
    """The group with the window that is looked at; the last one where the address asks for more."""
    windows = group.windows
    if windows is None or windows.count < 2:
        return group
    window = min(state.current().window, windows.count - 1)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.number_input(
            text(lang, "window.label"),
            min_value=0,
            max_value=windows.count - 1,
            key=state.show_in_widget("window", window),
            help=text(lang, "window.help", count=windows.count),
            on_change=_take,
            width=WIDGET_PX,
        )
        if captured.picture is not None and windows.grid is not None:
            marked = framed(captured.picture, windows, window)
            st.image(marked, width=SHOWN_PX, alt=text(lang, "window.picture"))
    return replace(group, window=window)


def _take() -> None:
    state.take_number("window", state.widget_value("window"))


def framed(picture: np.ndarray, windows: Windows, window: int) -> Image.Image:
    """The picture, enlarged, with the patches of a window framed as far as they are inside."""
    side = 4 * SHOWN_PX
    image = Image.fromarray(picture).resize((side, side))
    assert windows.grid is not None
    rows, columns = windows.grid
    inside = {place for place in windows.places(window) if place is not None}
    draw = ImageDraw.Draw(image)
    for row, column in inside:
        left, top, right, bottom = (
            round(at * side / of)
            for at, of in zip(
                (column, row, column + 1, row + 1), (columns, rows, columns, rows), strict=True
            )
        )
        for beside, edge in (
            ((row - 1, column), (left, top, right, top)),
            ((row + 1, column), (left, bottom, right, bottom)),
            ((row, column - 1), (left, top, left, bottom)),
            ((row, column + 1), (right, top, right, bottom)),
        ):
            if beside not in inside:
                draw.line(edge, fill=FRAME, width=12)
    return image
