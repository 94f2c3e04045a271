"""The choice of a window, where a model's layers attend inside windows of a picture.

In: what is shown. Out: the same with the chosen window; beside the widget stands the whole picture
with that window framed. Without windows there is no widget.
"""

import numpy as np
import streamlit as st
from PIL import Image, ImageDraw

from attnviz.app.session import current, widgets
from attnviz.i18n import text
from attnviz.pictures.group.app_capture import PageContext
from attnviz.vision.windows import Windows

FRAME = (224, 36, 94)
SHOWN_PX = 112
WIDGET_PX = 220


def window_choice(shown: PageContext) -> PageContext:
    """The group in the chosen window; in the last one if the address asks for a later one."""
    lang, windows, picture = shown.lang, shown.group.windows, shown.captured.media.picture
    if windows is None or windows.count < 2:
        return shown
    window = min(current.view().place.window, windows.count - 1)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.number_input(
            text(lang, "window.label"),
            min_value=0,
            max_value=windows.count - 1,
            key=widgets.showing("window", window),
            help=text(lang, "window.help", count=windows.count),
            on_change=_take_window,
            width=WIDGET_PX,
        )
        if picture is not None and windows.grid is not None:
            marked = framed(picture, windows, window)
            st.image(marked, width=SHOWN_PX, alt=text(lang, "window.picture"))
    return shown.of_group(shown.group.in_window(window))


def _take_window() -> None:
    current.take_number("window", widgets.value("window"))


def framed(picture: np.ndarray, windows: Windows, window: int) -> Image.Image:
    """The picture, enlarged, with a frame around the window's patches that are inside it."""
    side = 4 * SHOWN_PX
    image = Image.fromarray(picture).resize((side, side))
    assert windows.grid is not None
    rows, columns = windows.grid
    inside = {place for place in windows.places(window) if place is not None}
    draw = ImageDraw.Draw(image)
    for row, column in inside:
        left, top, right, bottom = (
            round(index * side / count)
            for index, count in zip(
                (column, row, column + 1, row + 1), (columns, rows, columns, rows), strict=True
            )
        )
        for neighbour, edge in (
            ((row - 1, column), (left, top, right, top)),
            ((row + 1, column), (left, bottom, right, bottom)),
            ((row, column - 1), (left, top, left, bottom)),
            ((row, column + 1), (right, top, right, bottom)),
        ):
            if neighbour not in inside:
                draw.line(edge, fill=FRAME, width=12)
    return image
