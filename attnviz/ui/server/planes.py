"""The share of its scores that the best plane of every head keeps, once for a capture.

In: a group of attentions under the key that names it. Out: a share for each head. Like `cache`,
bounded and shared between sessions.
"""

import streamlit as st

from attnviz.ui.server.cache import MAX_ANSWERS
from attnviz.views import geometry
from attnviz.views.groups import Group


@st.cache_resource(max_entries=MAX_ANSWERS, show_spinner=False)
def shares(key: str, _group: Group) -> tuple[float, ...]:
    """The share of each head's scores that its best plane keeps; `key` names the group."""
    return geometry.shares(_group)
