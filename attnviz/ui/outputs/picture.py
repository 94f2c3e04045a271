"""What a vision model attends to, laid over the picture it saw: any patch asks, all heads answer.

In: a capture whose tokens are the patches of a picture. Out: the mounted picture view. What is
chosen there is the same selection as on the other pages.
"""

import streamlit as st

from attnviz.components import patches
from attnviz.i18n import Language
from attnviz.ui import cache, inputs, placed, saying, state, views
from attnviz.ui.cache import Captured
from attnviz.ui.host.components import show_patches


def fits(captured: Captured) -> bool:
    """Whether tokens are patches of a picture."""
    group = captured.groups[0]
    if captured.model.kind != "vision":
        return False
    return not group.uneven and placed.picture(captured, group) is not None


@st.fragment
def show(lang: Language, captured: Captured) -> None:
    """The picture, the attention of one patch over it, and all heads beside it."""
    with saying.guard(lang):
        group = captured.groups[0]
        data = cache.buffer(
            f"{captured.key} {group.name} patches {lang}",
            lambda: patches.pack_patches(
                inputs.heads(lang, captured, group), inputs.strings(lang, patches.STRING_KEYS)
            ),
        )
        extent, key = group.extent, state.component_key("patches")
        show_patches(data, extent, key, views.note(key, extent), views.opener(key, extent))
