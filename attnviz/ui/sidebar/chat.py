"""A text as a message: the sidebar's switch for models that come with a chat template.

In: the language, and what is known of a model. Out: the switch, and whether the view asks for a
message.
"""

import streamlit as st

from attnviz.i18n import Language, text
from attnviz.ui.session import state


def switch(lang: Language) -> None:
    """Whether the text is a message; nothing where the model has no template for it."""
    card = state.card(state.current().model)
    if card is None or not card.takes_messages:
        return
    st.toggle(
        text(lang, "sidebar.chat"),
        key=state.show_in_widget("chat", state.current().chat),
        help=text(lang, "sidebar.chat_help"),
        on_change=_take,
    )


def _take() -> None:
    state.update(chat=bool(state.widget_value("chat")), cut=False, query=None, key=None)
