"""Where rooms live: what `rooms` asks of a store, and the one in the memory of this process.

In: work on one room at a time, as a function. Out: its result; the room as the work left it, and
word of that to whoever watches it in this process. A store outside may have to do the work again,
if another process changed the room meanwhile: the work changes nothing but the room. Rooms in
memory end with the process. `Rate` refuses what comes too often from one name in the last seconds:
a code of a class has 30 random bits and cannot be guessed only because wrong codes are counted, for
each visitor and for the server.
"""

import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
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
MAX_NAMES = 2000


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


class MemoryStore:
    """A `RoomStore`; one lock for all rooms, whose watchers are called outside it."""

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, bounds: Bounds | None = None
    ) -> None:
        self.bounds, self.clock = bounds or Bounds(), clock
        self._rooms: dict[str, Room] = {}
        self._lock = threading.Lock()
        self._watchers = Watchers(self.bounds.watchers)

    def rate(self, name: str, count: int, span_s: float) -> "Rate":
        """A limit; each has its own events."""
        return Rate(count, span_s)

    def listed(self) -> Listings:
        """The rooms that are open, in the order in which they were opened."""
        with self._lock:
            return self._listed()

    def admit(self, judge: Callable[[Listings], Admission]) -> None:
        """Add the room that `judge` admits."""
        with self._lock:
            admission = judge(self._listed())
            self._rooms.pop(admission.ended, None)
            self._rooms[admission.code] = admission.room

    def look(self, code: str, work: Work[Result]) -> Result:
        """The result of work that changes nothing."""
        with self._room(code) as room:
            return work(room)

    def change(self, code: str, work: Work[Result]) -> Result:
        """The result of work on a room; its watchers are called if that changed it."""
        with self._room(code) as room:
            before = room.changes
            result = work(room)
            counts = room.counts()
            if room.closed:
                del self._rooms[code]
        if counts.changes != before:
            self._watchers.call(code, counts)
        return result

    def watch(self, code: str, watcher: Watcher) -> Callable[[], None]:
        """Call `watcher` after each change of a room."""
        return self._watchers.add(code, watcher)

    @contextmanager
    def _room(self, code: str) -> Iterator[Room]:
        """The room of this code, locked."""
        with self._lock:
            self._end_old()
            if code not in self._rooms:
                raise unknown_room(code)
            yield self._rooms[code]

    def _listed(self) -> Listings:
        self._end_old()
        return {code: room.listing() for code, room in self._rooms.items()}

    def _end_old(self) -> None:
        now = self.clock()
        self._rooms = {code: room for code, room in self._rooms.items() if not room.ended(now)}


class Rate:
    """At most `count` events in `span_s` seconds for each name."""

    def __init__(self, count: int, span_s: float) -> None:
        self.count, self.span_s = count, span_s
        self._times: defaultdict[str, deque[float]] = defaultdict(deque)
        self._lock = threading.Lock()

    def is_spent(self, name: str, now: float) -> bool:
        """True if this name has caused as many events as it may."""
        with self._lock:
            return self._is_spent(name, now)

    def note(self, name: str, now: float) -> None:
        """Count an event."""
        with self._lock:
            self._note(name, now)

    def takes(self, name: str, now: float) -> bool:
        """True if one more event is allowed, which is counted then."""
        with self._lock:
            if self._is_spent(name, now):
                return False
            self._note(name, now)
            return True

    def _is_spent(self, name: str, now: float) -> bool:
        return name in self._times and len(self._recent(name, now)) >= self.count

    def _note(self, name: str, now: float) -> None:
        if name not in self._times and len(self._times) >= MAX_NAMES:
            self._forget_old(now)
        self._recent(name, now).append(now)

    def _recent(self, name: str, now: float) -> deque[float]:
        times = self._times[name]
        while times and now - times[0] >= self.span_s:
            times.popleft()
        return times

    def _forget_old(self, now: float) -> None:
        """Remove the names without an event of late, or else the oldest half."""
        by_age = sorted(self._times, key=lambda name: max(self._recent(name, now), default=0.0))
        for name in by_age[: MAX_NAMES // 2]:
            del self._times[name]
