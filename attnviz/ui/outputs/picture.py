"""What a vision model attends to, laid over the picture it saw: any patch asks, all heads answer.

In: a capture whose tokens are the patches of a picture. Out: the mounted picture view. What is
chosen there is the same selection as on the other pages.
"""

import streamlit as st

from attnviz.components import patches
from attnviz.i18n import Language
from attnviz.ui.host.components import show_patches
from attnviz.ui.page import fragments
from attnviz.ui.server import cache
from attnviz.ui.session import messages, state
from attnviz.views import heads, picture_places
from attnviz.views.captured import Captured, Shown
from attnviz.views.texts import strings


def fits(captured: Captured) -> bool:
    """Whether tokens are patches of a picture."""
    group = captured.groups[0]
    if captured.model.kind != "vision":
        return False
    return not group.uneven and picture_places.picture(captured, group) is not None


@st.fragment
def show(lang: Language, captured: Captured) -> None:
    """The picture, the attention of one patch over it, and all heads beside it."""
    with messages.guard(lang):
        shown = Shown(lang, captured, captured.groups[0])
        data = cache.buffer(
            f"{shown.key} patches {lang}",
            lambda: patches.pack_patches(
                heads.all_heads(shown, cache.measured(shown)), strings(lang, patches.STRING_KEYS)
            ),
        )
        extent, key = shown.group.extent, state.component_key("patches")
        show_patches(data, extent, key, fragments.note(key, extent), fragments.opener(key, extent))
