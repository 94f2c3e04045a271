"""The choice of attentions: encoder, decoder or cross; and of a window, where there are windows.

In: what is shown. Out: the same with the chosen group; widgets only where there is a choice.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import streamlit as st

from attnviz.app.frame import window_choice
from attnviz.app.session import current, embedding, widgets
from attnviz.i18n import Language, text
from attnviz.pictures.group.app_capture import PageContext
from attnviz.pictures.group.groups import Group, size_of
from attnviz.pictures.shared.selection import Extent
from attnviz.types import Kind, Stack


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
    return window_choice.window_choice(shown)


def selector(
    shown: PageContext, name: str, take: Callable[[str, Sequence[GroupName]], None]
) -> None:
    """A row of buttons for the groups of a capture; none for a single group or in a frame."""
    groups = shown.captured.groups
    if len(groups) < 2 or embedding.is_embedded():
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
