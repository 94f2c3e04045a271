"""The menu's switch for a text as a chat message, for models with a chat template.

In: the language, and what is known of a model. Out: the switch, which changes the view.
"""

from dataclasses import replace

import streamlit as st

from attnviz.app.session import current, model_cards, widgets
from attnviz.i18n import Language, text


def chat_switch(lang: Language) -> None:
    """A switch for the chat template; nothing if the model has none."""
    view = current.view()
    card = model_cards.card(view.model)
    if card is None or not card.takes_messages:
        return
    st.toggle(
        text(lang, "menu.chat"),
        key=widgets.showing("chat", view.input.chat),
        help=text(lang, "menu.chat_help"),
        on_change=_take_chat,
    )


def _take_chat() -> None:
    view = current.view()
    read = replace(view.input, chat=bool(widgets.value("chat")), cut=False)
    current.update(replace(view, input=read, place=view.place.without_cell))
