"""The attention of a vision model over the picture that it saw, from any patch, by all heads.

In: a capture whose tokens are the patches of a picture. Out: the mounted component. A selection in
it is the same as on the other pages.
"""

from attnviz.components import patches
from attnviz.ui.host.components import show_patches
from attnviz.ui.page import fragments
from attnviz.ui.page.fragments import keep_selection, open_head
from attnviz.ui.server import buffers
from attnviz.ui.session import messages, widgets
from attnviz.ui.session.fragment import fragment
from attnviz.views import heads, picture_places
from attnviz.views.app_capture import AppCapture, PageContext
from attnviz.views.texts import strings


def fits(captured: AppCapture) -> bool:
    """True if the tokens are patches of a picture."""
    group = captured.groups[0]
    if captured.model.kind != "vision" or group.uneven:
        return False
    return picture_places.picture(captured, group) is not None


@fragment()
def show(shown: PageContext) -> None:
    """The picture with the attention of one patch over it, and all heads beside it."""
    with messages.guard(shown.lang):
        first = shown.of_group(shown.captured.groups[0])
        data = buffers.buffer(
            f"{first.key} patches {first.lang}",
            lambda: patches.pack_patches(
                heads.all_heads(first, fragments.measured(first)),
                strings(first.lang, patches.STRING_KEYS),
            ),
        )
        extent, key = first.size.extent, widgets.component_key("patches")
        show_patches(data, extent, key, keep_selection(key, extent), open_head(key, extent))
