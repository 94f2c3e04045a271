"""The page Geometry: arrows to drag, turning arrows, clocks, and a real head in its best plane.

In: what is shown, or None where there is no capture: then all but the real head is there. Out: a
mounted component. What is dragged is stored for the address; another head runs the fragment again.
"""

from attnviz.app.frame import fragments, frame
from attnviz.app.frame.choices import renew_links
from attnviz.app.host.draw import draw
from attnviz.app.server.shared import shared
from attnviz.app.session import current, messages
from attnviz.app.session.fragment import fragment
from attnviz.i18n import Language, text
from attnviz.pictures import geometry as component
from attnviz.pictures.geometry import GeometryView
from attnviz.pictures.geometry import fill as views
from attnviz.pictures.group.app_capture import PageContext
from attnviz.pictures.shared.selection import Extent

MAX_PLANES = 256  # a number for each head
FRAGMENT = "geometry"
VERIFICATION = "geometry.verification"


@fragment(FRAGMENT)
def show(lang: Language, shown: PageContext | None) -> None:
    """The component of the page."""
    with messages.guard(lang):
        choice = current.view().geometry
        place = current.view().place
        head = (0, 0) if shown is None else shown.size.nearest_head(*place.layer_and_head)
        known = "" if shown is None else shown.key
        extent = Extent(1, 1, 1, 1) if shown is None else shown.size.extent
        draw(
            component.CANVAS,
            lambda: _view(lang, shown, head),
            "geometry",
            lang,
            {
                "selection": fragments.keep_selection(
                    extent, FRAGMENT, *(() if shown is None else fragments.rail())
                ),
                "geometry": _take,
            },
            kept=f"{known} {choice} {head} {place.query}",
        )


@fragment(VERIFICATION)
def verification(shown: PageContext) -> None:
    """The line on the model's own numbers, below the tab that shows some."""
    with messages.guard(shown.lang):
        if current.view().geometry.tab == "head":
            frame.verification(shown)


def _view(lang: Language, shown: PageContext | None, head: tuple[int, int]) -> GeometryView:
    choice = current.view().geometry
    if shown is None:
        return views.without_head(choice, text(lang, "geometry.no_capture"))
    group = shown.group
    if group.own_code(head[0]):
        return views.without_head(choice, text(lang, "geometry.own_code"), group)
    if shown.size.n_longest > views.MAX_TOKENS:
        limit = {"tokens": shown.size.n_longest, "limit": views.MAX_TOKENS}
        return views.without_head(choice, text(lang, "geometry.too_long", **limit), group)
    query = current.view().place.query
    return views.one_head(shown, choice, head, query, _plane_shares(shown))


@shared(most=MAX_PLANES)
def _plane_shares(shown: PageContext) -> tuple[float, ...]:
    """The share of each head's scores that its best plane keeps."""
    return views.shares(shown.group)


def _take(sent: object) -> None:
    """Store arrows, tab and positions; the links run again."""
    if current.take_geometry(sent):
        renew_links(VERIFICATION)
