"""The rooms of a server: each has a code, a presenter's key and an end; in memory only.

In: requests of pages, from many threads. Out: stages, tallies, ids. A code has 60 random bits in
signs that nobody confuses when they are read aloud or from a wall; the presenter's key has 144.
A room ends when its presenter closes it, when nobody came for long, or by age. Watchers of a room
are called after each change, outside the lock.
"""

import secrets
import threading
import time
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

from attnviz.errors import BadInput, TooLarge
from attnviz.lessons.classroom.room import (
    Bounds,
    CardName,
    Room,
    Stage,
    Tally,
    Watcher,
    check_count,
    check_size,
)

# no 0 and O, no 1 and I: 32 signs, 5 bits each
ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
GROUPS, GROUP = 3, 4
KEY_BYTES = 18


@dataclass(frozen=True)
class NewRoom:
    """A new room: the code for everyone, the key for its presenter alone."""

    code: str
    key: str


class Rooms:
    """All rooms; every method may be called from any thread."""

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, bounds: Bounds | None = None
    ) -> None:
        self.bounds = bounds or Bounds()
        self._clock = clock
        self._rooms: dict[str, Room] = {}
        self._lock = threading.Lock()

    def create(self, stage: Stage) -> NewRoom:
        """Open a room that shows this stage."""
        check_size(stage, self.bounds)
        with self._lock:
            self._end_old()
            self._end_an_empty_one()
            if len(self._rooms) >= self.bounds.rooms:
                raise TooLarge(
                    f"this server holds {self.bounds.rooms} rooms; end one or come back later",
                    code="rooms_full",
                    found=len(self._rooms) + 1,
                    limit=self.bounds.rooms,
                    unit="rooms",
                )
            opened = NewRoom(new_code(), secrets.token_urlsafe(KEY_BYTES))
            now = self._clock()
            first = replace(stage, version=1)
            self._rooms[opened.code] = Room(opened.key, self.bounds, now, now, first)
        return opened

    def count(self) -> int:
        """The number of rooms that are open."""
        with self._lock:
            self._end_old()
            return len(self._rooms)

    def stage(self, code: str) -> Stage:
        """The stage of a room."""
        with self._room(code) as room:
            return room.stage

    def changes(self, code: str) -> int:
        """A count that grows with each change that the presenter is shown."""
        with self._room(code) as room:
            return room.changes

    def tally(self, code: str, card: CardName) -> Tally:
        """The answers of a class to a card, and the number of members who are here."""
        with self._room(code) as room:
            return room.tally(card, self._clock())

    def is_presenter(self, code: str, key: str) -> bool:
        """True if the key is the presenter's."""
        with self._room(code) as room:
            return secrets.compare_digest(room.key.encode(), key.encode())

    def show(self, code: str, key: str, stage: Stage) -> None:
        """Put another stage before the class; `BadInput` without the presenter's key."""
        with self._room(code) as room:
            _require_key(room, key)
            room.touched = self._clock()
            room.show(stage)

    def join(self, code: str, seat: str | None = None) -> str:
        """The id of a member who joins, or who returns with its old id."""
        with self._room(code) as room:
            return room.join(seat, self._clock())

    def see(self, code: str, seat: str) -> None:
        """Note that a member is still here."""
        with self._room(code) as room:
            room.see(seat, self._clock())

    def listen(self, code: str, seat: str, *, leads: bool = False) -> None:
        """Note that a page of a member listens, until `leave`; of the presenter if it `leads`.

        `seat` is then the presenter's key. Raises `BadInput` for a seat or a key that the room does
        not know, and `TooLarge` for more pages than one person has.
        """
        with self._room(code) as room:
            room.listen(seat, self._clock(), leads=leads)

    def leave(self, code: str, seat: str) -> None:
        """Note that a page of a member went."""
        with self._room(code) as room:
            room.leave(seat)

    def answer(self, code: str, seat: str, card: CardName, label: str) -> None:
        """Count a member's answer to the card on the stage."""
        with self._room(code) as room:
            room.answer(seat, card, label, self._clock())

    def close(self, code: str, key: str) -> None:
        """End a room: nothing of it is kept."""
        with self._room(code) as room:
            _require_key(room, key)
            del self._rooms[normal(code)]
            room.changes += 1

    def watch(self, code: str, watcher: Watcher) -> Callable[[], None]:
        """Call `watcher` after each change of a room; the returned function stops that."""
        with self._room(code) as room:
            check_count("pages", len(room.watchers) + 1, self.bounds.watchers)
            room.watchers.append(watcher)

        def stop() -> None:
            with self._lock, suppress(ValueError):
                room.watchers.remove(watcher)

        return stop

    @contextmanager
    def _room(self, code: str) -> Iterator[Room]:
        """The room of this code, locked; its watchers are called after a change."""
        with self._lock:
            self._end_old()
            room = self._rooms.get(normal(code))
            if room is None:
                raise BadInput(
                    f"no room has the code {code!r}: it has ended, or the code is not right",
                    code="room_unknown",
                    asked=code,
                )
            before = room.changes
            yield room
            watchers = tuple(room.watchers) if room.changes != before else ()
        for watcher in watchers:
            watcher()

    def _end_an_empty_one(self) -> None:
        """If there are as many rooms as there may be, end the oldest to which nobody ever came."""
        now = self._clock()
        if len(self._rooms) >= self.bounds.rooms:
            empty = (code for code, room in self._rooms.items() if room.is_empty(now))
            self._rooms.pop(next(empty, ""), None)

    def _end_old(self) -> None:
        now = self._clock()
        self._rooms = {code: room for code, room in self._rooms.items() if not room.ended(now)}


def _require_key(room: Room, key: str) -> None:
    if not secrets.compare_digest(room.key.encode(), key.encode()):
        raise BadInput("only the presenter of this room may do this", code="not_the_presenter")


def new_code() -> str:
    """A code that nobody can guess, in groups to read aloud."""
    groups = ("".join(secrets.choice(ALPHABET) for _ in range(GROUP)) for _ in range(GROUPS))
    return "-".join(groups)


def normal(code: str) -> str:
    """A code as it was opened, from what someone typed: any case, with or without its groups.

    >>> normal(" k7qm 2xlp9rta ")
    'K7QM-2XLP-9RTA'
    """
    signs = "".join(filter(str.isalnum, unicodedata.normalize("NFKC", code[:60]).upper()))
    return "-".join(signs[start : start + GROUP] for start in range(0, len(signs), GROUP))
