"""The menu's controls for sampling: temperature, top-k, top-p and seed.

In: the language. Out: widgets that show these numbers of the current `View` and change them.
Temperature 0 is greedy: the other three then have no effect and are disabled.
"""

import streamlit as st

from attnviz.app.session import current, widgets
from attnviz.i18n import Language, text
from attnviz.pictures.shared import numbers


def sampling_expander(lang: Language) -> None:
    """The controls, folded away; they shape the next-token distribution too."""
    generating = current.view().generating
    with st.expander(text(lang, "sampling.title"), key=widgets.key("sampling")):
        st.slider(
            text(lang, "sampling.temperature"),
            *numbers.FRACTIONS["temperature"],
            step=0.05,
            key=widgets.showing("temperature", generating.temperature),
            help=text(lang, "sampling.temperature_help"),
            on_change=take_number,
            args=("temperature",),
        )
        off = generating.temperature == 0
        st.number_input(
            text(lang, "sampling.top_k"),
            min_value=0,
            max_value=numbers.COUNTS["top_k"],
            key=widgets.showing("top_k", generating.top_k),
            help=text(lang, "sampling.top_k_help"),
            on_change=take_number,
            args=("top_k",),
            disabled=off,
        )
        st.slider(
            text(lang, "sampling.top_p"),
            *numbers.FRACTIONS["top_p"],
            step=0.01,
            key=widgets.showing("top_p", generating.top_p),
            help=text(lang, "sampling.top_p_help"),
            on_change=take_number,
            args=("top_p",),
            disabled=off,
        )
        st.number_input(
            text(lang, "sampling.seed"),
            min_value=0,
            max_value=numbers.MAX_INDEX,
            key=widgets.showing("seed", generating.seed),
            help=text(lang, "sampling.seed_help"),
            on_change=take_number,
            args=("seed",),
            disabled=off,
        )


def take_number(name: str) -> None:
    """Take over the number in a widget that is named as its parameter."""
    current.take_number(name, widgets.value(name))
