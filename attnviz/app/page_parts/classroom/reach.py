"""The stage of a class, also while the store of the classes is out of reach.

In: the code of a class. Out: its stage, or the one that this session saw last.
"""

from collections.abc import Callable
from typing import TypeVar

from attnviz.app.server.class_socket import rooms
from attnviz.app.session import store
from attnviz.errors import AttnVizError
from attnviz.teach.classroom.stage import Stage
from attnviz.teach.classroom.store import OUT_OF_REACH, out_of_reach

Result = TypeVar("Result")
LAST = "class.last_stage"
NOT_DRAWN = -2  # no count is ever this one: the page runs once its listener hears one


def tried(call: Callable[[], Result], otherwise: Result) -> Result:
    """The result of a call of the rooms; another one if their store does not answer."""
    try:
        return call()
    except AttnVizError as error:
        if error.code != OUT_OF_REACH:
            raise
        return otherwise


def stage(room: str) -> Stage:
    """The stage of a room, or the last one that this session saw of it."""
    last: tuple[str, Stage | None] = store.get(LAST, ("", None))
    current = tried(lambda: rooms().stage(room), last[1] if last[0] == room else None)
    if current is None:
        raise out_of_reach()
    store.put(LAST, (room, current))
    return current
