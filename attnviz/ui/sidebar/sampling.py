"""How a model that writes draws its tokens: the sidebar's controls for it.

In: the language. Out: widgets that show temperature, top-k, top-p and seed of the current `View`,
and change them; the same as one value, `Sampling`, with its words. Temperature 0 is greedy: the
other three mean nothing then and rest.
"""

import streamlit as st

from attnviz.components import numbers
from attnviz.i18n import Language, text
from attnviz.ui.session import state


def expander(lang: Language) -> None:
    """How tokens are drawn; where nothing is written, what the next one would be drawn from."""
    view = state.current()
    with st.expander(text(lang, "sampling.title"), key=state.widget_key("sampling")):
        st.slider(
            text(lang, "sampling.temperature"),
            *numbers.FRACTIONS["temperature"],
            step=0.05,
            key=state.show_in_widget("temperature", view.temperature),
            help=text(lang, "sampling.temperature_help"),
            on_change=take_number,
            args=("temperature",),
        )
        off = view.temperature == 0
        st.number_input(
            text(lang, "sampling.top_k"),
            min_value=0,
            max_value=numbers.COUNTS["top_k"],
            key=state.show_in_widget("top_k", view.top_k),
            help=text(lang, "sampling.top_k_help"),
            on_change=take_number,
            args=("top_k",),
            disabled=off,
        )
        st.slider(
            text(lang, "sampling.top_p"),
            *numbers.FRACTIONS["top_p"],
            step=0.01,
            key=state.show_in_widget("top_p", view.top_p),
            help=text(lang, "sampling.top_p_help"),
            on_change=take_number,
            args=("top_p",),
            disabled=off,
        )
        st.number_input(
            text(lang, "sampling.seed"),
            min_value=0,
            max_value=numbers.MAX_INDEX,
            key=state.show_in_widget("seed", view.seed),
            help=text(lang, "sampling.seed_help"),
            on_change=take_number,
            args=("seed",),
            disabled=off,
        )


def take_number(name: str) -> None:
    state.take_number(name, state.widget_value(name))
