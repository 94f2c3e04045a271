"""Where rooms live: what `rooms` asks of a store, in this process or outside it.

In: work on one room at a time, as a function. Out: its result; the room as the work left it, and
word of that to whoever watches it in this process. A store outside may have to do the work again,
if another process changed the room meanwhile: the work changes nothing but the room.
"""

import threading
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol, TypeVar

from attnviz.errors import AttnVizError, BadInput
from attnviz.teach.classroom.bounds import Bounds, check_count
from attnviz.teach.classroom.room import Counts, Listing, Room

OUT_OF_REACH = "classes_out_of_reach"
Result = TypeVar("Result")
Work = Callable[[Room], Result]
# called with the counts of a room that changed, and with None when the store is out of reach
Watcher = Callable[[Counts | None], None]
Listings = Mapping[str, Listing]


@dataclass(frozen=True)
class Admission:
    """A room that may be opened, under its code; the room of the code `ended` makes way for it."""

    code: str
    room: Room
    ended: str = ""


class RateLimit(Protocol):
    """At most so many events in a time for each name."""

    def is_spent(self, name: str, now: float) -> bool:
        """True if this name has caused as many events as it may."""

    def note(self, name: str, now: float) -> None:
        """Count an event."""

    def takes(self, name: str, now: float) -> bool:
        """True if one more event is allowed, which is counted then."""


class RoomStore(Protocol):
    """All rooms by their codes; every method may be called from any thread."""

    bounds: Bounds
    clock: Callable[[], float]

    def rate(self, name: str, count: int, span_s: float) -> RateLimit:
        """A limit of that name."""

    def listed(self) -> Listings:
        """The rooms that are open."""

    def admit(self, judge: Callable[[Listings], Admission]) -> None:
        """Add the room that `judge` admits beside those that are open."""

    def look(self, code: str, work: Work[Result]) -> Result:
        """The result of work that changes nothing; `BadInput` for a code that no room has."""

    def change(self, code: str, work: Work[Result]) -> Result:
        """The result of work on a room; it is kept, and removed if the work closed it."""

    def watch(self, code: str, watcher: Watcher) -> Callable[[], None]:
        """Call `watcher` after each change of a room; the returned function stops that."""


class Watchers:
    """Those in this process who watch rooms, by code."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._watchers: defaultdict[str, list[Watcher]] = defaultdict(list)

    def add(self, code: str, watcher: Watcher) -> Callable[[], None]:
        """Add one; the returned function removes it."""
        with self._lock:
            check_count("pages", len(self._watchers[code]) + 1, self._most)
            self._watchers[code].append(watcher)

        def stop() -> None:
            with self._lock, suppress(ValueError):
                self._watchers[code].remove(watcher)
                if not self._watchers[code]:
                    del self._watchers[code]

        return stop

    def call(self, code: str, counts: Counts) -> None:
        """Tell those who watch a room."""
        with self._lock:
            watchers = tuple(self._watchers.get(code, ()))
        for watcher in watchers:
            watcher(counts)

    def call_all(self) -> None:
        """Tell all that the store is out of reach."""
        with self._lock:
            watchers = [watcher for room in self._watchers.values() for watcher in room]
        for watcher in watchers:
            watcher(None)


def unknown_room(code: str) -> BadInput:
    """The refusal of a code that no room has."""
    return BadInput(
        f"no room has the code {code!r}: it has ended, or the code is not right",
        code="room_unknown",
        asked=code,
    )


def out_of_reach() -> AttnVizError:
    """The error of a store that does not answer."""
    return AttnVizError("the classes of this server are out of reach", code="classes_out_of_reach")
