"""Slots: places that every text of a set has, by a word or by a position.

In: a slot by its name, and the tokens of a text. Out: a position in that text; a text that does not
have the word is refused by the slot's name.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int64

from attnviz.errors import BadInput, bad_argument
from attnviz.summary import counted, shortened
from attnviz.types import Tokens


@dataclass(frozen=True)
class WordSlot:
    """A place that every text has: the last token of a word.

    `word` is one for all texts, one for each, or a pair for each text and its partner.
    `occurrence` counts from 0 where the word comes several times; −1 is the last.
    """

    word: str | Sequence[str] | Sequence[tuple[str, str]]
    occurrence: int = -1


@dataclass(frozen=True)
class DifferenceSlot:
    """The first token in which each text and its partner differ."""


# a slot, a word of all texts, or a position; −1 is the last token
SlotPlace = WordSlot | DifferenceSlot | str | int


def first_difference(
    name: str, own: Int64[np.ndarray, " token"], other: Int64[np.ndarray, " other_token"]
) -> int:
    """The first position at which two texts' tokens differ; `BadInput` where none does."""
    n = min(len(own), len(other))
    places = np.flatnonzero(own[:n] != other[:n])
    if len(places):
        return int(places[0])
    raise BadInput(
        f"slot {name!r}: a text and its partner have no different token at one place",
        code="no_difference",
        slot=shortened(name),
    )


def position_of(name: str, at: int, n: int) -> int:
    """A position of a text of `n` tokens, counted from 0; −1 is the last one."""
    if not -n <= at < n:
        raise BadInput(
            f"slot {name!r}: position {at} does not exist: the text has {n} tokens",
            code="bad_position",
            asked=str(at),
            last=n - 1,
        )
    return at % n


def words_of(name: str, slot: WordSlot | str, n: int, side: int) -> list[tuple[str, int]]:
    """(the word, its occurrence) of every text on one side."""
    chosen = slot if isinstance(slot, WordSlot) else WordSlot(slot)
    if isinstance(chosen.word, str):
        return [(chosen.word, chosen.occurrence)] * n
    if len(chosen.word) != n:
        raise bad_argument(
            f"slot {name!r} has {counted(len(chosen.word), 'word')} and there are {n} texts: give"
            " one for all, or one for each",
            name="slots",
            found=str(len(chosen.word)),
            allowed=f"1 or {n}",
        )
    return [
        (word if isinstance(word, str) else word[side], chosen.occurrence) for word in chosen.word
    ]


def last_token(name: str, tokens: Tokens, word: str, occurrence: int) -> int:
    """The last token of a whole word of a text; `BadInput` where the text does not have it."""
    bare = word.strip()
    starts = [match.end() for match in re.finditer(rf"(?<!\w){re.escape(bare)}(?!\w)", tokens.text)]
    found = [
        place
        for end in starts
        for place, (start, stop) in enumerate(tokens.offsets)
        if start < end <= stop
    ]
    if not bare or not -len(found) <= occurrence < len(found):
        raise BadInput(
            f"slot {name!r}: {shortened(repr(word))} is {counted(len(found), 'time')} in"
            f" {shortened(repr(tokens.text))}, and occurrence {occurrence} was asked for",
            code="no_slot",
            slot=shortened(name),
            word=shortened(word),
        )
    return found[occurrence]
