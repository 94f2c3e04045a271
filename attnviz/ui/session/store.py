"""The storage of one session: named values, apart from the address.

In: a name and a value. Out: the value. With `address_bar` this is the only module that touches
Streamlit's session.
"""

from typing import Any

import streamlit as st

PREFIX = "attnviz."


def put(name: str, value: object) -> None:
    """Keep a value for this session."""
    st.session_state[f"{PREFIX}{name}"] = value


def get(name: str, default: Any = None) -> Any:
    """The value kept under a name."""
    return st.session_state.get(f"{PREFIX}{name}", default)


def pop(name: str, default: Any = None) -> Any:
    """The value kept under a name, which is kept no longer."""
    return st.session_state.pop(f"{PREFIX}{name}", default)


def has(name: str) -> bool:
    """True if a value is kept under this name."""
    return f"{PREFIX}{name}" in st.session_state
