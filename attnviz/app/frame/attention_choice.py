"""The choice of an attention among those a model has, and of a window of a picture inside it.

In: what is shown. Out: the same with the chosen attention, in the chosen window; beside the widget
of the window stands the whole picture with that window framed. Without a choice there is no widget.
Callbacks open a head whose effect is shown, with its attention; a name that no head of the model
has opens nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import streamlit as st
from PIL import Image, ImageDraw

from attnviz.app.session import address_bar, current, widgets
from attnviz.i18n import Language, text
from attnviz.pictures.group.app_capture import PageContext
from attnviz.pictures.group.groups import Group, size_of
from attnviz.pictures.shared.selection import Extent, parse_open
from attnviz.pictures.switches.fill import prefix
from attnviz.types import Kind, Stack
from attnviz.vision.windows import Windows

FRAME = (224, 36, 94)
SHOWN_PX = 112
WIDGET_PX = 220


@dataclass(frozen=True)
class GroupName:
    """A group of attentions without its capture: what a widget may keep of it."""

    name: str
    stack: Stack | None
    kind: Kind
    extent: Extent


def choice(shown: PageContext) -> PageContext:
    """The attentions to look at, in the chosen window."""
    selector(shown, "attention", _take)
    return window_choice(shown)


def selector(
    shown: PageContext, name: str, take: Callable[[str, Sequence[GroupName]], None]
) -> None:
    """A row of buttons for the groups of a capture; none for a single group or in a frame."""
    groups = shown.captured.groups
    if len(groups) < 2 or address_bar.is_embedded():
        return
    titles = {group.name: group_title(shown.lang, group) for group in groups}
    label = {"attention": "attention.label", "attention_b": "compare.attention"}[name]
    # the browser answers with a label: in another language it must be another widget
    widget = f"{name}.{shown.lang}"
    st.segmented_control(
        text(shown.lang, label),
        list(titles),
        key=widgets.showing(widget, shown.group.name),
        format_func=titles.__getitem__,
        on_change=take,
        args=(widget, [group_name(group) for group in groups]),
        label_visibility="collapsed" if name == "attention" else "visible",  # B says whose it is
    )


def chosen_in(widget: str, groups: Sequence[GroupName]) -> GroupName | None:
    """The group that a visitor chose in the selector."""
    name = widgets.value(widget)
    return next((group for group in groups if group.name == name), None)


def group_name(group: Group) -> GroupName:
    """A group without its capture."""
    return GroupName(group.name, group.stack, group.kind, size_of(group).extent)


def group_title(lang: Language, group: Group) -> str:
    """The name of an attention: self-attention, or that of the encoder, say."""
    if group.stack is None:
        return text(lang, f"attention.{group.kind}")
    return text(lang, f"attention.{group.stack}_{group.kind}")


def _take(widget: str, groups: Sequence[GroupName]) -> None:
    group = chosen_in(widget, groups)
    if group is None:
        return
    extent, view = group.extent, current.view()
    place = view.place
    there = replace(
        place.without_cell,
        stack=group.stack,
        kind=group.kind,
        layer=place.layer if (place.layer or 0) < extent.n_layers else None,
        head=place.head if (place.head or 0) < extent.n_heads else None,
    )
    current.update(replace(view, place=there))


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


def open_from_canvas(shown: PageContext) -> Callable[[object], None]:
    """A callback of a canvas: it goes to the head that was opened, at its cell."""
    groups = _groups(shown)

    def open_page(sent: object) -> None:
        name = sent.get("name") if isinstance(sent, Mapping) else None
        for before, group in groups:
            request = parse_open(sent, group.extent)
            if request and name == f"{before}L{request.layer}.H{request.head}":
                current.open_attention(group.stack, group.kind)
                current.take_opened(request)
                current.go(request.page)

    return open_page


def open_from_table(shown: PageContext) -> Callable[[object], None]:
    """A callback of a table whose cells open heads: it goes to the head on Look."""
    groups = _groups(shown)

    def open_page(name: object) -> None:
        for before, group in groups:
            for layer in range(group.extent.n_layers):
                count = group.extent.last_head(layer) + 1
                heads = [f"{before}L{layer}.H{head}" for head in range(count)]
                if name in heads:
                    head = heads.index(str(name))
                    current.open_head(layer, head, group.stack, group.kind)
                    current.go("head")

    return open_page


def _groups(shown: PageContext) -> list[tuple[str, GroupName]]:
    """The prefix of each group's heads, and the group's name; a callback must hold no capture."""
    return [(prefix(group), group_name(group)) for group in shown.captured.groups]
