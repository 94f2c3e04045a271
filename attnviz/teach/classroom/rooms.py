"""The rooms of a server: each has a code, a presenter's key and an end.

In: requests of pages, from many threads. Out: stages, tallies, ids. A code has six signs that
nobody confuses when they are read aloud or from a wall: 30 random bits, and wrong codes are counted
by `knock`; the presenter's key has 144. A room ends when its presenter closes it, when nobody came
for long, or by age. Rooms live in a store, in the memory of this process or in one that several
processes share; watchers of a room are called after each change.
"""

import secrets
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from attnviz.errors import BadInput, TooLarge
from attnviz.teach.classroom.bounds import CLICKS_S, MAX_CLICKS, MAX_SENTENCES, SENTENCES_S
from attnviz.teach.classroom.room import Counts, Report, Room, Tally, check_size, hash_of
from attnviz.teach.classroom.stage import CardName, Stage
from attnviz.teach.classroom.store import (
    Admission,
    Listings,
    MemoryStore,
    RoomStore,
    Watcher,
    unknown_room,
)

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
    """All rooms; every method may be called from any thread.

    Each raises `AttnVizError` with the code `store.OUT_OF_REACH` while the store does not answer.
    """

    def __init__(self, store: RoomStore | None = None) -> None:
        self._store = store or MemoryStore()
        self.bounds = bounds = self._store.bounds
        rate = self._store.rate
        self._openings = rate("openings", bounds.openings, MINUTE_S)
        self._openings_address = rate("openings_address", bounds.openings_address, MINUTE_S)
        self._wrong_codes = rate("wrong_codes", bounds.wrong_codes, MINUTE_S)
        self._codes_address = rate("codes_address", bounds.wrong_codes_address, MINUTE_S)
        self._all_wrong_codes = rate("all_wrong_codes", bounds.all_wrong_codes, MINUTE_S)
        self._clicks = rate("clicks", MAX_CLICKS, CLICKS_S)
        self._said = rate("sentences", MAX_SENTENCES, SENTENCES_S)

    def create(self, stage: Stage, visitor: str = "", address: str = "") -> NewRoom:
        """Open a room that shows this stage; a visitor has a few of them at a time.

        Who comes from one `address` cannot take the openings of all others.
        """
        check_size(stage, self.bounds)
        self._require_few(self._store.listed(), visitor, address)
        if address and not self._openings_address.takes(address, self._now()):
            limit = self.bounds.openings_address
            raise _too_many_rooms("rooms_fast", limit, limit)
        if not self._openings.takes("", self._now()):
            raise _too_many_rooms("rooms_fast", self.bounds.openings, self.bounds.openings)
        key, codes = secrets.token_urlsafe(KEY_BYTES), list[str]()

        def judge(listed: Listings) -> Admission:
            self._require_few(listed, visitor, address)
            empty = self._one_that_makes_way(listed)
            codes.append(next(code for code in iter(new_code, "") if code not in listed))
            now, first = self._now(), replace(stage, version=1)
            room = Room(hash_of(key), self.bounds, now, now, first, visitor, address)
            room.note_card()
            return Admission(codes[-1], room, empty)

        self._store.admit(judge)
        return NewRoom(codes[-1], key)

    def knock(self, code: str, visitor: str, address: str = "") -> None:
        """Refuse a code that no room has, and any code after too many of these.

        Who comes from an `address` that tried few may enter by a right code whatever others try on
        this server. Who knows a seat or the presenter's key need not knock.
        """
        now = self._now()
        own = [(self._wrong_codes, visitor)]
        if address:
            own.append((self._codes_address, address))
        is_spent = any(rate.is_spent(name, now) for rate, name in own)
        is_right = not is_spent and normal(code) in self._store.listed()
        if is_right and address:
            return
        if is_spent or self._all_wrong_codes.is_spent("", now):
            raise BadInput("too many wrong codes; wait a minute", code="codes_tried")
        if not is_right:
            for rate, name in (*own, (self._all_wrong_codes, "")):
                rate.note(name, now)
            raise unknown_room(code)

    def count(self) -> int:
        """The number of rooms that are open."""
        return len(self._store.listed())

    def stage(self, code: str) -> Stage:
        """The stage of a room."""
        return self._store.look(normal(code), lambda room: room.stage)

    def age_s(self, code: str) -> float:
        """The seconds since a room was opened."""
        return self._store.look(normal(code), lambda room: self._now() - room.opened)

    def changes(self, code: str) -> int:
        """A count that grows with each change that the presenter is shown."""
        return self._store.look(normal(code), lambda room: room.changes)

    def tally(self, code: str, card: CardName) -> Tally:
        """The answers of a class to a card, and the number of members who are here."""
        return self._store.look(normal(code), lambda room: room.tally(card, self._now()))

    def is_presenter(self, code: str, key: str) -> bool:
        """True if the key is the presenter's."""
        return self._store.look(normal(code), lambda room: room.is_key(key))

    def show(self, code: str, key: str, stage: Stage) -> None:
        """Put another stage before the class; `BadInput` without the presenter's key."""

        def show(room: Room) -> None:
            _require_key(room, key)
            room.touched = self._now()
            room.show(stage)

        self._store.change(normal(code), show)

    def join(self, code: str, seat: str | None = None, *, watches: bool = False) -> str:
        """The id of a member who joins, or who returns with its old id.

        Who only `watches`, as the screen on the wall does, is counted nowhere.
        """
        now = self._now()
        return self._store.change(normal(code), lambda room: room.join(seat, now, watches=watches))

    def is_member(self, code: str, seat: str) -> bool:
        """True if the room knows this id."""
        return self._store.look(normal(code), lambda room: seat in room.members)

    def take_back(self, code: str, own: str, new: str) -> None:
        """Remove a member's new seat: its page has found its own one, or the presenter's key."""
        self._store.change(normal(code), lambda room: room.take_back(own, new))

    def click(self, code: str, seat: str, target: str, cell: tuple[int, int]) -> None:
        """Count the cell that a member clicks where the class is asked for one."""
        now, room_code = self._now(), normal(code)
        if not self._clicks.takes(f"{room_code} {seat}", now):
            raise TooLarge(
                f"more than {MAX_CLICKS} clicks in {CLICKS_S:.0f} s",
                code="clicks_fast",
                found=MAX_CLICKS + 1,
                limit=MAX_CLICKS,
                unit="clicks",
            )
        self._store.change(room_code, lambda room: room.click(seat, target, cell, now))

    def clicks(self, code: str) -> Mapping[tuple[int, int], int]:
        """The number of members who clicked each cell of what the class is asked for."""
        return self._store.look(normal(code), lambda room: room.clicks())

    def collect(self, code: str, key: str, collects: bool) -> None:
        """Begin or end to take sentences for the class's map; `BadInput` without the key."""

        def collect(room: Room) -> None:
            _require_key(room, key)
            room.touched = self._now()
            room.collect(collects)

        self._store.change(normal(code), collect)

    def collects(self, code: str) -> bool:
        """True if members may give sentences to the class's map."""
        return self._store.look(normal(code), lambda room: room.collects)

    def say(self, code: str, seat: str, sentence: str) -> None:
        """Keep a member's sentence for the class's map; an empty one takes it back."""
        now, room_code = self._now(), normal(code)
        if not self._said.takes(f"{room_code} {seat}", now):
            raise TooLarge(
                f"more than {MAX_SENTENCES} sentences in {SENTENCES_S:.0f} s",
                code="sentences_fast",
                found=MAX_SENTENCES + 1,
                limit=MAX_SENTENCES,
                unit="sentences",
            )
        self._store.change(room_code, lambda room: room.say(seat, sentence, now))

    def sentences(self, code: str) -> tuple[str, ...]:
        """The sentences that members gave to the class's map, in no order of members."""
        return self._store.look(normal(code), lambda room: room.sentences())

    def train(self, code: str, seat: str) -> int:
        """The seed that a member trains, while the class is asked to."""
        now = self._now()
        return self._store.change(normal(code), lambda room: room.train(seat, now))

    def note_curve(self, code: str, seat: str, curve: tuple[int, ...]) -> None:
        """Keep the scores of a member's training so far, in thousandths."""
        self._store.change(normal(code), lambda room: room.note_curve(seat, curve))

    def curves(self, code: str) -> dict[int, tuple[int, ...]]:
        """The scores of the class's trainings by their seeds."""
        return self._store.look(normal(code), lambda room: room.curves())

    def vote(self, code: str, seat: str, sentence: str) -> None:
        """Keep a member's vote for a sentence of the class."""
        now = self._now()
        self._store.change(normal(code), lambda room: room.vote(seat, sentence, now))

    def votes(self, code: str) -> Mapping[str, int]:
        """The number of votes for each sentence of the class."""
        return self._store.look(normal(code), lambda room: room.votes())

    def see(self, code: str, seat: str) -> None:
        """Note that a member is still here."""
        self._store.change(normal(code), lambda room: room.see(seat, self._now()))

    def listen(self, code: str, seat: str, *, leads: bool = False) -> str:
        """The lease of a page of a member that listens; of the presenter if it `leads`.

        It ends after `bounds.present_s` unless `renew` extends it, or with `leave`. `seat` is the
        presenter's key for who leads. Raises `BadInput` for a seat or a key that the room does not
        know, and `TooLarge` for more pages than one person has.
        """
        now = self._now()
        return self._store.change(normal(code), lambda room: room.listen(seat, now, leads=leads))

    def renew(self, code: str, seat: str, lease: str) -> Counts:
        """Extend the lease of a page; the counts that it heeds."""
        now = self._now()
        return self._store.change(normal(code), lambda room: room.renew(seat, lease, now))

    def leave(self, code: str, seat: str, lease: str) -> None:
        """Note that a page went."""
        now = self._now()
        self._store.change(normal(code), lambda room: room.leave(seat, lease, now))

    def answer(self, code: str, seat: str, card: CardName, label: str) -> None:
        """Count a member's answer to the card on the stage."""
        now = self._now()
        self._store.change(normal(code), lambda room: room.answer(seat, card, label, now))

    def labels(self, code: str, card: CardName) -> dict[str, str]:
        """The label of each seat's answer to a card."""
        return self._store.look(normal(code), lambda room: room.labels(card))

    def close(self, code: str, key: str) -> Report:
        """End a room, of which nothing is kept; the answers to its cards, without names."""

        def close(room: Room) -> Report:
            _require_key(room, key)
            room.close()
            return replace(room.report(), code=normal(code))

        return self._store.change(normal(code), close)

    def watch(self, code: str, watcher: Watcher) -> Callable[[], None]:
        """Call `watcher` after each change of a room; the returned function stops that."""
        return self._store.watch(normal(code), watcher)

    def _now(self) -> float:
        return self._store.clock()

    def _require_few(self, listed: Listings, visitor: str, address: str) -> None:
        """Refuse another room to a visitor, or an address, that has as many as one may."""
        own = sum(listing.visitor == visitor for listing in listed.values())
        near = sum(listing.address == address for listing in listed.values())
        if visitor and own >= self.bounds.rooms_each:
            raise _too_many_rooms("rooms_yours", own, self.bounds.rooms_each)
        if address and near >= self.bounds.rooms_address:
            raise _too_many_rooms("rooms_full", near, self.bounds.rooms_address)

    def _one_that_makes_way(self, listed: Listings) -> str:
        """The oldest room to which nobody ever came, where there are as many as may be; or ""."""
        if len(listed) < self.bounds.rooms:
            return ""
        now = self._now()
        for code, listing in listed.items():
            if listing.is_empty(now, self.bounds):
                return code
        raise _too_many_rooms("rooms_full", len(listed), self.bounds.rooms)


def _too_many_rooms(code: str, found: int, limit: int) -> TooLarge:
    return TooLarge(
        f"this server holds {limit} rooms, or a visitor does; end one or come back later",
        code=code,
        found=found + 1,
        limit=limit,
        unit="rooms",
    )


def _require_key(room: Room, key: str) -> None:
    if not room.is_key(key):
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
