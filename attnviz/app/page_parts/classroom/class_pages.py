"""The pages of the app to which a class goes along: the presenter's view there, as text.

In: the presenter's view. Out: the query that a stage carries; on a follower's side the page to
open, and the view taken over, in the follower's own language, with its own seat and answers. It is
taken over once for each move of the presenter: between two moves a follower may look around.
"""

from dataclasses import replace
from urllib.parse import parse_qsl, urlencode

from attnviz.app.page_parts.classroom import reach
from attnviz.app.session import address, address_bar, current, model_images, store
from attnviz.errors import AttnVizError, BadInput
from attnviz.pictures.shared.pages import ROWS, Page
from attnviz.teach.classroom.stage import LEARN, Stage

FOLLOWED_PAGES: tuple[Page, ...] = tuple(row.name for row in ROWS if row.followed)
# a follower's own: its language, its place in the class, its answers
OWN = ("lang", "room", "host", "seat", "wall", "lesson", "card", "values", "answers")
FOLLOWED = "class.followed_stage"
TAKEN = "class.taken_view"


def query_of_view() -> str:
    """The presenter's view as a query, without what is its own."""
    everything = address.params(current.view())
    return urlencode({name: value for name, value in everything.items() if name not in OWN})


def is_followed(page: str) -> bool:
    """True if the class can go along to this page: it has all that the presenter's view shows."""
    source = current.view().input
    own = source.file or source.capture or source.image == model_images.OWN or source.sound == "own"
    return page in FOLLOWED_PAGES and not own


def is_due(stage: Stage) -> bool:
    """True if this stage was not shown to this follower yet."""
    return bool(store.get(FOLLOWED) != (current.view().classroom.room, stage.version))


def note(stage: Stage) -> None:
    """Note that this follower has been shown the stage."""
    store.put(FOLLOWED, (current.view().classroom.room, stage.version))


def page_to_follow(page: Page) -> Page | None:
    """The page to which the class has moved; None to stay. The presenter's view is taken over."""
    seat = current.view().classroom
    if not seat.room or seat.host:
        return None
    elsewhere: Page | None = "learn" if page != "learn" else None
    if not seat.seat:
        return elsewhere if page in FOLLOWED_PAGES else None  # Learn is where a class is joined
    try:
        stage = reach.stage(seat.room)
    except BadInput:
        return elsewhere  # Learn says that the class is over
    except AttnVizError:
        return None
    if not is_due(stage):
        return None
    if stage.page == LEARN:
        store.put(TAKEN, None)
        return elsewhere
    note(stage)
    _take(stage)
    target = next((name for name in FOLLOWED_PAGES if name == stage.page), None)
    return target if target != page else None


def chosen_of(stage: Stage) -> dict[str, int | None]:
    """The head and cell that the presenter has chosen on the page of the stage; {} for none."""
    values, _ = address.parse(dict(parse_qsl(stage.query)))
    places = {name: values.get(name) for name in address.INDICES}
    return places if places["layer"] is not None and places["head"] is not None else {}


def _take(stage: Stage) -> None:
    """Take over the presenter's view; pictures are mounted anew unless only a place changed."""
    query = dict(parse_qsl(stage.query))
    shared = {name: value for name, value in query.items() if name not in OWN}
    frame = (stage.page, {name: shared[name] for name in shared.keys() - {*address.INDICES}})
    if store.get(TAKEN) == frame:
        values, _ = address.parse(
            {name: shared[name] for name in address.INDICES if name in shared}
        )
        current.take({name: values.get(name) for name in address.INDICES})
        return
    store.put(TAKEN, frame)
    seat, lang = current.view().classroom, current.view().lang
    own = {name: value for name, value in address.params(current.view()).items() if name in OWN}
    address_bar.adopt_query({**shared, **own})
    after = current.view()
    classroom = replace(after.classroom, seat=seat.seat)
    current.update(replace(after, classroom=classroom, lang=lang))
