"""The choice of attentions: encoder, decoder or cross; and of a window, where there are windows.

In: a language and a capture. Out: what the page shows of it; widgets only where there is a choice.
"""

from collections.abc import Sequence

import streamlit as st

from attnviz.i18n import Language, text
from attnviz.ui.page import window_choice
from attnviz.ui.session import state
from attnviz.views.captured import Captured, Shown
from attnviz.views.groups import Group, chosen


def choice(lang: Language, captured: Captured) -> Shown:
    """The attentions to look at; a choice appears only where the model has several."""
    view = state.current()
    group = chosen(captured.groups, view.stack, view.kind)
    if len(captured.groups) > 1:
        titles = {each.name: attention_title(lang, each) for each in captured.groups}
        name = f"attention.{lang}"
        st.segmented_control(
            text(lang, "attention.label"),
            list(titles),
            key=state.show_in_widget(name, group.name),
            format_func=titles.__getitem__,
            on_change=_take_attention,
            args=(name, captured.groups),
        )
    return Shown(lang, captured, window_choice.choice(lang, captured, group))


def attention_title(lang: Language, group: Group) -> str:
    if group.stack is None:
        return text(lang, f"attention.{group.kind}")
    return text(lang, f"attention.{group.stack}_{group.kind}")


def _take_attention(widget: str, among: Sequence[Group]) -> None:
    asked, view = state.widget_value(widget), state.current()
    for group in among:
        if group.name == asked:
            most = group.extent
            state.update(
                stack=group.stack,
                kind=group.kind,
                layer=view.layer if (view.layer or 0) < most.n_layers else None,
                head=view.head if (view.head or 0) < most.n_heads else None,
                query=None,
                key=None,
            )
