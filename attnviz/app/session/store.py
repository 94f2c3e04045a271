"""The storage of one session: named values, apart from the address.

In: a name and a value. Out: the value. With `address_bar` this is the only module that touches
Streamlit's session.
"""

import secrets
from typing import Any

import streamlit as st

PREFIX = "attnviz."
VISITOR = "visitor"


def put(name: str, value: object) -> None:
    """Keep a value for this session."""
    st.session_state[f"{PREFIX}{name}"] = value


def get(name: str, default: Any = None) -> Any:
    """The value kept under a name."""
    return st.session_state.get(f"{PREFIX}{name}", default)


def pop(name: str, default: Any = None) -> Any:
    """Remove the value kept under a name, and return it."""
    return st.session_state.pop(f"{PREFIX}{name}", default)


def let_end() -> None:
    """End the running page here if its tab is closed or another run was asked for.

    Streamlit looks for that whenever a value of the session is read.
    """
    has(VISITOR)


def visitor() -> str:
    """A random name of this session, which no other one can guess."""
    if not has(VISITOR):
        put(VISITOR, secrets.token_urlsafe(12))
    name: str = get(VISITOR)
    return name


def has(name: str) -> bool:
    """True if a value is kept under this name."""
    return f"{PREFIX}{name}" in st.session_state
