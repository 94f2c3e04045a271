"""A room as a JSON document, for a store outside this process, and the room again.

In: a room, or the text that another process of this server wrote. Out: the other form. The text has
no name of a person, no typed answer but sentences for the class's map, and of the presenter's key
only the hash; seats are in it. A text that no process of a server wrote is `NotOurs`: another
program may write into the store.
"""

import json
from collections.abc import Callable
from dataclasses import asdict, fields
from typing import Any, TypeVar

from attnviz.teach.classroom.bounds import Bounds
from attnviz.teach.classroom.room import Counts, Listing, Member, Room
from attnviz.teach.classroom.stage import CellRequest, Stage

FORM = 5  # counts the forms of the document: processes of another form keep rooms of their own


Read = TypeVar("Read")


class NotOurs(Exception):
    """A text in the store that no process of this server wrote."""


def written(room: Room) -> str:
    """The document of a room."""
    return _text(
        {
            "key_hash": room.key_hash,
            "opened": room.opened,
            "touched": room.touched,
            "stage": asdict(room.stage),
            "visitor": room.visitor,
            "address": room.address,
            "changes": room.changes,
            "collects": room.collects,
            "pages": room.pages,
            "members": {seat: _fields(member) for seat, member in room.members.items()},
            "cards": [[*name, settings] for name, settings in room.cards.items()],
            "first_votes": [[*name, counts] for name, counts in room.first_votes.items()],
        }
    )


def read(text: str, bounds: Bounds) -> Room:
    """The room of a document; `NotOurs` for another text."""

    def room(fields: dict[str, Any]) -> Room:
        stage = fields["stage"]
        asked = stage["asked"] and CellRequest(**stage["asked"])
        fields["stage"] = Stage(**{**stage, "asked": asked, "order": tuple(stage["order"])})
        fields["members"] = {seat: _member(kept) for seat, kept in fields["members"].items()}
        fields["cards"] = {(lesson, card): settings for lesson, card, settings in fields["cards"]}
        votes = fields["first_votes"]
        fields["first_votes"] = {(lesson, card): dict(counts) for lesson, card, counts in votes}
        result = Room(bounds=bounds, **fields)
        _require_types(result.listing())
        _require_types(result.counts())
        return result

    return _parsed(text, room)


def _parsed(text: str, read: Callable[[Any], Read]) -> Read:
    try:
        return read(json.loads(text))
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise NotOurs from error


def _require_types(record: Listing | Counts) -> None:
    """Raise `TypeError` unless each field is of the type of its annotation."""
    for field in fields(record):
        allowed = (int, float) if field.type is float else field.type
        assert isinstance(allowed, type | tuple)
        if not isinstance(getattr(record, field.name), allowed):
            raise TypeError(field.name)


def _fields(member: Member) -> dict[str, Any]:
    return {
        "seen": member.seen,
        "watches": member.watches,
        "pages": member.pages,
        "answers": [[*name, label] for name, label in member.answers.items()],
        "clicks": member.clicks,
        "sentence": member.sentence,
        "seed": member.seed,
        "curve": member.curve,
        "chosen": member.chosen,
    }


def _member(fields: dict[str, Any]) -> Member:
    answers = {(lesson, card): label for lesson, card, label in fields["answers"]}
    clicks = {target: (row, column) for target, (row, column) in fields["clicks"].items()}
    seen = fields["seen"], fields["watches"], fields["pages"]
    seed, curve = fields["seed"], tuple(map(int, fields["curve"]))
    chosen = fields["chosen"]
    return Member(*seen, answers, clicks, fields["sentence"], seed, curve, chosen)


def written_listing(listing: Listing) -> str:
    """The line of a room in the list of all."""
    return _text(asdict(listing))


def read_listing(text: str) -> Listing:
    """The line again; `NotOurs` for another text."""

    def listing(fields: dict[str, Any]) -> Listing:
        result = Listing(**fields)
        _require_types(result)
        return result

    return _parsed(text, listing)


def written_counts(code: str, counts: Counts) -> str:
    """The message that a room has changed."""
    return _text([code, counts.stage, counts.changes, counts.ended])


def read_counts(text: str) -> tuple[str, Counts]:
    """The code and the counts of such a message; `NotOurs` for another text."""

    def message(parts: list[Any]) -> tuple[str, Counts]:
        code, *counts = parts
        result = Counts(*counts)
        _require_types(result)
        if not isinstance(code, str):
            raise TypeError("code")
        return code, result

    return _parsed(text, message)


def _text(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))
