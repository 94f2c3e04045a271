"""One room of a class: the presenter's stage, the members, their answers.

In: stages and answers, checked for their size and form. Out: `Stage` for a follower's page, `Tally`
for a card. A member is a random id, never a name; an answer is kept as a label, the name of the
verdict, never as the text that was typed. A sentence for the class's map is kept as typed until the
room ends, if the presenter collects them. Of the presenter's key only a hash is kept. Presence is a
lease of each listening page, which the page renews, so that the pages of a server that died are
gone when their leases end. `rooms` and its store lock and end rooms, this module does not.
"""

import hashlib
import re
import secrets
from collections import Counter
from collections.abc import Mapping
from dataclasses import astuple, dataclass, field, replace
from typing import TypeVar

from attnviz.errors import BadInput, TooLarge
from attnviz.teach.classroom.bounds import Bounds, check_count
from attnviz.teach.classroom.stage import CardName, Stage

SEAT_BYTES, LEASE_BYTES = 12, 6
FIRST_SEED = 100  # of a class's trainings: none that was measured for the lesson
THOUSAND = 1000
LABEL = re.compile(r"[A-Za-z0-9_]{1,40}")

Name = TypeVar("Name")
Value = TypeVar("Value")
Leases = dict[str, float]  # of listening pages: until when each is here


@dataclass(frozen=True)
class Counts:
    """The counts that pages heed: the version of the stage, and the changes of the room."""

    stage: int
    changes: int
    ended: bool = False


@dataclass(frozen=True)
class Listing:
    """The line of a room in the list of all; `visited` is True if a member ever came."""

    visitor: str
    address: str
    opened: float
    touched: float
    visited: bool

    def ended(self, now: float, bounds: Bounds) -> bool:
        """True if nobody came for too long, or the room is too old."""
        return now - self.opened >= bounds.total_s or now - self.touched >= bounds.idle_s

    def is_empty(self, now: float, bounds: Bounds) -> bool:
        """True if no member ever came, and the presenter is not here either."""
        return not self.visited and now - self.touched >= bounds.empty_s


@dataclass(frozen=True)
class Tally:
    """The answers of a class to one card: label → members; `present` members are here now.

    `first` has the answers before the class talked about the card, if it has voted again.
    """

    counts: Mapping[str, int]
    present: int
    first: Mapping[str, int] = field(default_factory=dict)

    @property
    def answered(self) -> int:
        """The number of members who answered, with those who left again."""
        return sum(self.counts.values())

    @property
    def is_whole(self) -> bool:
        """True if as many have answered as are here."""
        return 0 < self.present <= self.answered


@dataclass(frozen=True)
class Report:
    """The answers of a class: cards in the order in which they were shown, as they were set.

    `members` is the number of those who joined. Answers are labels, in no order of members. `code`
    is the class's, from which the order of options was drawn.
    """

    cards: tuple[tuple[CardName, str, Tally], ...]
    members: int
    code: str = ""


@dataclass(eq=False)
class Member:
    """A follower: the time it was last here, its listening pages, its answer to each card.

    `watches` is True for a screen on the wall; `clicks` has the cell that it clicked of each
    picture the class was asked about, `sentence` what it gave to the class's map or as a short
    answer. `seed` is that of the training it began, `curve` its induction scores in thousandths.
    `chosen` is the sentence of the class for which it votes.
    """

    seen: float
    watches: bool = False
    pages: Leases = field(default_factory=dict)
    answers: dict[CardName, str] = field(default_factory=dict)
    clicks: dict[str, tuple[int, int]] = field(default_factory=dict)
    sentence: str = ""
    seed: int | None = None
    curve: tuple[int, ...] = ()
    chosen: str = ""


@dataclass(eq=False)
class Room:
    """One class. `changes` counts the changes that its presenter is shown; `collects` is True while
    members may give sentences to the class's map."""

    key_hash: str
    bounds: Bounds
    opened: float
    touched: float
    stage: Stage
    visitor: str = ""  # who opened it
    address: str = ""  # where that came from
    changes: int = 1
    closed: bool = False
    collects: bool = False
    pages: Leases = field(default_factory=dict)  # of the presenter
    members: dict[str, Member] = field(default_factory=dict)
    cards: dict[CardName, str] = field(default_factory=dict)  # those shown, with their settings
    first_votes: dict[CardName, dict[str, int]] = field(default_factory=dict)

    def listing(self) -> Listing:
        """The line of this room in the list of all."""
        visited = bool(self.members)
        return Listing(self.visitor, self.address, self.opened, self.touched, visited)

    def counts(self) -> Counts:
        """The counts that pages heed."""
        return Counts(self.stage.version, self.changes, self.closed)

    def ended(self, now: float) -> bool:
        """True if it was closed, nobody came for too long, or the room is too old."""
        return self.closed or self.listing().ended(now, self.bounds)

    def is_key(self, key: str) -> bool:
        """True if the key is the presenter's."""
        return secrets.compare_digest(self.key_hash, hash_of(key))

    def close(self) -> None:
        """End the room."""
        self.closed = True
        self.changes += 1

    def show(self, stage: Stage) -> None:
        """Put another stage before the class."""
        check_size(stage, self.bounds)
        shown = replace(stage, version=self.stage.version)
        if shown != self.stage:
            self.stage = replace(shown, version=self.stage.version + 1)
            self.changes += 1
            self.note_card()
            if shown.vote > 1 and shown.name not in self.first_votes:
                self._vote_again(shown.name)

    def _vote_again(self, card: CardName) -> None:
        """Keep the answers to a card as the first vote, and take new ones."""
        check_count("answers", len(self.first_votes) + 1, self.bounds.answers)
        self.first_votes[card] = dict(Counter(self.labels(card).values()))
        for member in self.members.values():
            member.answers.pop(card, None)

    def note_card(self) -> None:
        """Keep the settings of the card on the stage for the report."""
        if self.stage.name in self.cards or len(self.cards) < self.bounds.answers:
            self.cards[self.stage.name] = self.stage.settings

    def join(self, seat: str | None, now: float, *, watches: bool = False) -> str:
        """The id of a member: its old one, or a new one if the room does not know the old one."""
        if seat is None or seat not in self.members:
            self._make_room(now)
            seat = secrets.token_urlsafe(SEAT_BYTES)
            self.members[seat] = Member(now, watches)
            self.changes += 1
        self.see(seat, now)
        return seat

    def see(self, seat: str, now: float) -> None:
        """Note that a member is here; an unknown id is ignored."""
        member = self.members.get(seat)
        if member is None:
            return
        is_here = self._is_here(member, now)
        self.changes += not is_here
        if not is_here or now - member.seen >= self.bounds.seen_s:
            member.seen = self.touched = now

    def take_back(self, own: str, new: str) -> None:
        """Remove the `new` seat of somebody who has come back to an own one, or to the key.

        What was said from the new seat counts from the own one where that had said nothing: a page
        that was loaded again says once more what its address has.
        """
        newcomer, member = self.members.pop(new, None), self.members.get(own)
        if newcomer is None:
            return
        self.changes += 1
        if member is not None:
            member.answers = {**newcomer.answers, **member.answers}
            member.sentence = member.sentence or newcomer.sentence
            if member.seed is None:
                member.seed, member.curve = newcomer.seed, newcomer.curve
            member.clicks = {**newcomer.clicks, **member.clicks}

    def listen(self, seat: str, now: float, *, leads: bool = False) -> str:
        """The lease of a page that listens: who it belongs to is here until it ends.

        `seat` is the presenter's key where the page `leads`.
        """
        is_presenter = leads and self.is_key(seat)
        pages = self.pages if is_presenter else self._member("" if leads else seat).pages
        for lease in [lease for lease, until in pages.items() if until <= now]:
            del pages[lease]
        check_count("pages", len(pages) + 1, self.bounds.pages)
        lease = secrets.token_urlsafe(LEASE_BYTES)
        self._extend(seat, lease, now)
        return lease

    def renew(self, seat: str, lease: str, now: float) -> Counts:
        """Extend the lease of a page that still listens; the counts that it heeds."""
        self._extend(seat, lease, now)
        return self.counts()

    def leave(self, seat: str, lease: str, now: float) -> None:
        """End the lease of a page; with its last one the member goes. Its answers stay."""
        if self.is_key(seat):
            self.pages.pop(lease, None)
        member = self.members.get(seat)
        if member is not None:
            member.pages.pop(lease, None)
            if all(until <= now for until in member.pages.values()):
                member.seen = now - self.bounds.present_s
                self.changes += 1

    def _extend(self, seat: str, lease: str, now: float) -> None:
        pages = self.pages if self.is_key(seat) else self._member(seat).pages
        self.see(seat, now)
        pages[lease] = now + self.bounds.present_s
        self.touched = now

    def answer(self, seat: str, card: CardName, label: str, now: float) -> None:
        """Keep a member's answer for the card on the stage; it may change until the reveal."""
        member = self._member(seat)
        if card != self.stage.name or self.stage.revealed:
            raise BadInput(
                f"the class is at {self.stage.card!r} and answers to {card[1]!r} count no more",
                code="answer_closed",
            )
        if not LABEL.fullmatch(label):
            raise BadInput(f"{label!r} is not the name of an answer", code="bad_label", asked=label)
        self.see(seat, now)
        self._keep(member.answers, card, label)

    def tally(self, card: CardName, now: float) -> Tally:
        """The answers of the class to a card."""
        counts = Counter(self.labels(card).values())
        followers = (member for member in self.members.values() if not member.watches)
        present = sum(self._is_here(member, now) for member in followers)
        return Tally(counts, present, self.first_votes.get(card, {}))

    def labels(self, card: CardName) -> dict[str, str]:
        """The label of each seat's answer to a card."""
        return {
            seat: member.answers[card]
            for seat, member in self.members.items()
            if card in member.answers
        }

    def click(self, seat: str, target: str, cell: tuple[int, int], now: float) -> None:
        """Keep the cell that a member clicks; it may click another until the class is shown."""
        member, asked = self._member(seat), self.stage.asked
        if asked is None or asked.target != target or asked.shown:
            raise BadInput("the class is not asked for a cell of this", code="answer_closed")
        if not (0 <= cell[0] < asked.rows and 0 <= cell[1] < asked.columns):
            raise BadInput(f"{cell} is not a cell of this", code="bad_label", asked=str(cell))
        self.see(seat, now)
        self._keep(member.clicks, target, cell)

    def clicks(self) -> Counter[tuple[int, int]]:
        """The number of members who clicked each cell of what the class is asked for."""
        asked = self.stage.asked
        cells = (member.clicks.get(asked.target) for member in self.members.values() if asked)
        return Counter(cell for cell in cells if cell is not None)

    def collect(self, collects: bool) -> None:
        """Begin to take sentences for the class's map, or end it and drop those that were given."""
        if collects == self.collects:
            return
        self.collects = collects
        self.stage = replace(self.stage, version=self.stage.version + 1)  # followers draw the box
        self.changes += 1
        for member in self.members.values():
            member.sentence = member.chosen = ""

    def say(self, seat: str, sentence: str, now: float) -> None:
        """Keep a member's sentence in place of the one before; an empty one takes it back."""
        member = self._member(seat)
        if not self.collects:
            raise BadInput("the class is not asked for sentences", code="answer_closed")
        check_count("characters", len(sentence), self.bounds.sentence_chars)
        self.see(seat, now)
        kept = " ".join(sentence.split())
        if kept != member.sentence:
            member.sentence = kept
            self.changes += 1

    def sentences(self) -> tuple[str, ...]:
        """The sentences that members gave, each once, in no order of members."""
        return tuple(sorted({member.sentence for member in self.members.values()} - {""}))

    def train(self, seat: str, now: float) -> int:
        """The seed that a member trains: its own, and another one than all others'."""
        member = self._member(seat)
        if self.stage.activity != "train":
            raise BadInput("the class is not asked to train", code="answer_closed")
        self.see(seat, now)
        if member.seed is None:
            taken = [other.seed for other in self.members.values() if other.seed is not None]
            member.seed = max(taken, default=FIRST_SEED - 1) + 1
            self.changes += 1
        return member.seed

    def note_curve(self, seat: str, curve: tuple[int, ...]) -> None:
        """Keep how far a member's training has come."""
        check_count("points", len(curve), self.bounds.curve_points)
        if not all(0 <= score <= THOUSAND for score in curve):
            raise BadInput("a score is not between 0 and 1", code="bad_label", asked=str(curve))
        self._member(seat).curve = curve

    def curves(self) -> dict[int, tuple[int, ...]]:
        """The trainings of the class by their seeds, those that have begun."""
        trained = ((member.seed, member.curve) for member in self.members.values())
        return dict(sorted((seed, curve) for seed, curve in trained if seed is not None))

    def vote(self, seat: str, sentence: str, now: float) -> None:
        """Keep the sentence for which a member votes; it may vote for another until the end."""
        member = self._member(seat)
        if self.stage.activity != "vote" or sentence not in self.sentences():
            raise BadInput("the class does not vote on this", code="answer_closed")
        self.see(seat, now)
        if member.chosen != sentence:
            member.chosen = sentence
            self.changes += 1

    def votes(self) -> Counter[str]:
        """The number of votes for each sentence that is still there."""
        given = set(self.sentences())
        return Counter(each.chosen for each in self.members.values() if each.chosen in given)

    def report(self) -> Report:
        """The answers to all cards that were shown."""
        cards = tuple(
            (name, settings, self.tally(name, float("inf")))
            for name, settings in self.cards.items()
        )
        return Report(cards, sum(not member.watches for member in self.members.values()))

    def _keep(self, kept: dict[Name, Value], name: Name, value: Value) -> None:
        """Keep what a member says to a question, in place of what it said before."""
        check_count("answers", len(kept.keys() | {name}), self.bounds.answers)
        if kept.get(name) != value:
            kept[name] = value
            self.changes += 1

    def _member(self, seat: str) -> Member:
        member = self.members.get(seat)
        if member is None:
            raise BadInput("nobody with this id is in the room; join it first", code="no_seat")
        return member

    def _is_here(self, member: Member, now: float) -> bool:
        listens = any(until > now for until in member.pages.values())
        return listens or now - member.seen < self.bounds.present_s

    def _make_room(self, now: float) -> None:
        """Remove the member that is away for longest if the room is full."""
        if len(self.members) < self.bounds.members:
            return
        seat, member = min(
            self.members.items(), key=lambda item: (self._is_here(item[1], now), item[1].seen)
        )
        if self._is_here(member, now):
            limit = self.bounds.members
            raise TooLarge(
                f"the room has {limit} members, as many as it takes",
                code="room_full",
                found=limit + 1,
                limit=limit,
                unit="members",
            )
        del self.members[seat]


def check_size(stage: Stage, bounds: Bounds) -> None:
    """Refuse a stage that is longer than the limit."""
    check_count("characters", sum(len(str(part)) for part in astuple(stage)), bounds.stage_chars)


def hash_of(key: str) -> str:
    """The form in which a presenter's key is kept: it has 144 random bits, so no salt is needed."""
    return hashlib.sha256(key.encode()).hexdigest()
