"""The rooms of a server: each has a code, a presenter's key and an end; in memory only.

In: requests of pages, from many threads. Out: stages, tallies, ids. A code has six signs that
nobody confuses when they are read aloud or from a wall: 30 random bits, and wrong codes are counted
by `knock`; the presenter's key has 144. A room ends when its presenter closes it, when nobody came
for long, or by age. Watchers of a room are called after each change, outside the lock.
"""

import secrets
import threading
import time
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

from attnviz.errors import BadInput, TooLarge
from attnviz.lessons.classroom.limits import Rate
from attnviz.lessons.classroom.room import (
    Bounds,
    Report,
    Room,
    Tally,
    Watcher,
    check_count,
    check_size,
)
from attnviz.lessons.classroom.stage import CardName, Stage

# no 0 and O, no 1 and I: 32 signs, 5 bits each
ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
GROUPS, GROUP = 2, 3
KEY_BYTES = 18
MINUTE_S = 60.0


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
        self._openings = Rate(self.bounds.openings, MINUTE_S)
        self._wrong_codes = Rate(self.bounds.wrong_codes, MINUTE_S)
        self._all_wrong_codes = Rate(self.bounds.all_wrong_codes, MINUTE_S)

    def create(self, stage: Stage, visitor: str = "") -> NewRoom:
        """Open a room that shows this stage; a visitor has a few of them at a time."""
        check_size(stage, self.bounds)
        with self._lock:
            self._end_old()
            own = sum(room.visitor == visitor for room in self._rooms.values())
            if visitor and own >= self.bounds.rooms_each:
                raise _too_many_rooms("rooms_yours", own, self.bounds.rooms_each)
            if not self._openings.takes("", self._clock()):
                raise _too_many_rooms("rooms_fast", self.bounds.openings, self.bounds.openings)
            self._end_an_empty_one()
            if len(self._rooms) >= self.bounds.rooms:
                raise _too_many_rooms("rooms_full", len(self._rooms), self.bounds.rooms)
            code = next(code for code in iter(new_code, "") if code not in self._rooms)
            opened = NewRoom(code, secrets.token_urlsafe(KEY_BYTES))
            now = self._clock()
            first = replace(stage, version=1)
            self._rooms[code] = Room(opened.key, self.bounds, now, now, first, visitor)
            self._rooms[code].note_card()
        return opened

    def knock(self, code: str, visitor: str) -> None:
        """Refuse a code that no room has, and any code after too many of these.

        Who knows a seat or the presenter's key need not knock.
        """
        with self._lock:
            self._end_old()
            now = self._clock()
            if self._wrong_codes.is_spent(visitor, now) or self._all_wrong_codes.is_spent("", now):
                raise BadInput("too many wrong codes; wait a minute", code="codes_tried")
            if normal(code) not in self._rooms:
                self._wrong_codes.note(visitor, now)
                self._all_wrong_codes.note("", now)
                raise _unknown_room(code)

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

    def join(self, code: str, seat: str | None = None, *, watches: bool = False) -> str:
        """The id of a member who joins, or who returns with its old id.

        Who only `watches`, as the screen on the wall does, is counted nowhere.
        """
        with self._room(code) as room:
            return room.join(seat, self._clock(), watches=watches)

    def is_member(self, code: str, seat: str) -> bool:
        """True if the room knows this id."""
        with self._room(code) as room:
            return seat in room.members

    def give_up(self, code: str, seat: str) -> None:
        """Remove a member that has not answered yet: its page has found its old seat."""
        with self._room(code) as room:
            room.give_up(seat)

    def click(self, code: str, seat: str, target: str, cell: tuple[int, int]) -> None:
        """Count the cell that a member clicks where the class is asked for one."""
        with self._room(code) as room:
            room.click(seat, target, cell, self._clock())

    def clicks(self, code: str) -> Mapping[tuple[int, int], int]:
        """The number of members who clicked each cell of what the class is asked for."""
        with self._room(code) as room:
            return room.clicks()

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

    def close(self, code: str, key: str) -> Report:
        """End a room, of which nothing is kept; the answers to its cards, without names."""
        with self._room(code) as room:
            _require_key(room, key)
            report = room.report()
            del self._rooms[normal(code)]
            room.changes += 1
        return report

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
                raise _unknown_room(code)
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


def _unknown_room(code: str) -> BadInput:
    return BadInput(
        f"no room has the code {code!r}: it has ended, or the code is not right",
        code="room_unknown",
        asked=code,
    )


def _too_many_rooms(code: str, found: int, limit: int) -> TooLarge:
    return TooLarge(
        f"this server holds {limit} rooms, or a visitor does; end one or come back later",
        code=code,
        found=found + 1,
        limit=limit,
        unit="rooms",
    )


def _require_key(room: Room, key: str) -> None:
    if not secrets.compare_digest(room.key.encode(), key.encode()):
        raise BadInput("only the presenter of this room may do this", code="not_the_presenter")


def new_code() -> str:
    """A code in groups to read aloud."""
    groups = ("".join(secrets.choice(ALPHABET) for _ in range(GROUP)) for _ in range(GROUPS))
    return "-".join(groups)


def normal(code: str) -> str:
    """A code as it was opened, from what someone typed: any case, with or without its groups.

    >>> normal(" k7q m2x ")
    'K7Q-M2X'
    """
    signs = "".join(filter(str.isalnum, unicodedata.normalize("NFKC", code[:60]).upper()))
    return "-".join(signs[start : start + GROUP] for start in range(0, len(signs), GROUP))
