"""The attention of a vision model over the picture that it saw, from any patch, by all heads.

In: a capture whose tokens are the patches of a picture. Out: the mounted component. A selection in
it is the same as on the other pages.
"""

from attnviz.app.frame import fragments
from attnviz.app.frame.fragments import keep_selection, open_head
from attnviz.app.host.draw import draw
from attnviz.app.session import messages
from attnviz.app.session.fragment import fragment
from attnviz.pictures import patches
from attnviz.pictures.group import heads, picture_places
from attnviz.pictures.group.app_capture import AppCapture, PageContext


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
        extent = first.size.extent
        draw(
            patches.CANVAS,
            lambda: heads.all_heads(first, fragments.measured(first)),
            "patches",
            first.lang,
            {"selection": keep_selection(extent), "open": open_head(extent)},
            kept=first.key,
        )
