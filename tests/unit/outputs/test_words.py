"""Words from tokens: where one ends, in texts and in vocabularies of several kinds."""

import numpy as np
import pytest

from attnviz.outputs.words import Word, words
from attnviz.types import Tokens


def tokens(
    pieces: list[str],
    text: str = "",
    offsets: list[tuple[int, int]] | None = None,
    special: int = 0,
) -> Tokens:
    """Tokens of which the last `special` are special."""
    place = np.arange(len(pieces))
    return Tokens(
        text=text,
        ids=place.astype(np.int64),
        pieces=tuple(pieces),
        labels=tuple(pieces),
        offsets=tuple(offsets or [(0, 0)] * len(pieces)),
        special=place >= len(pieces) - special,
        padding=np.zeros(len(pieces), dtype=np.bool_),
    )


def metaspace(pieces: list[str]) -> str:
    return "".join(pieces).replace("▁", " ")


def spelled(found: tuple[Word, ...]) -> list[str]:
    return [word.text for word in found]


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        (["▁le", "▁petit", "▁chat", "."], ["le", "petit", "chat", "."]),
        (["▁l'", "homme"], ["l'", "homme"]),
        (["▁", "z", "é", "b", "u"], ["zébu"]),
        (["1", "9", "4", "8", "-", "0", "1"], ["1", "9", "4", "8", "-", "0", "1"]),
        (["▁1", "9", "4", "8", "-", "0", "1"], ["1948", "-", "01"]),
        (["▁東", "京"], ["東", "京"]),
        (["the", "cat"], ["the", "cat"]),
        (["play", "##ing", "cat"], ["play##ing", "cat"]),
        ([], []),
    ],
)
def test_words_from_a_vocabularys_pieces(pieces: list[str], expected: list[str]) -> None:
    assert spelled(words(tokens(pieces), metaspace)) == expected


def test_words_of_a_text_by_its_characters() -> None:
    text = "She didn't re-read 42's, 京都"
    offsets = [(0, 3), (4, 7), (7, 10), (11, 13), (13, 14), (14, 18), (19, 21), (21, 22), (22, 23)]
    offsets += [(23, 24), (25, 26), (26, 27)]
    found = words(tokens(["x"] * len(offsets), text, offsets), metaspace)
    expected = ["She", "didn't", "re", "-", "read", "42", "'", "s", ",", "京", "都"]
    assert spelled(found) == expected


def test_bytes_of_one_character_are_one_word() -> None:
    found = words(tokens(["<0xF0>", "<0x9F>", "x"], "🙂x", [(0, 1), (0, 1), (1, 2)]), metaspace)
    assert [(word.start, word.stop) for word in found] == [(0, 2), (2, 3)]


def test_special_tokens_stand_alone_and_every_token_is_covered_once() -> None:
    found = words(tokens(["▁a", "b", "</s>", "<pad>"], special=2), metaspace)
    assert spelled(found) == ["ab", "</s>", "<pad>"]
    assert [word.special for word in found] == [False, True, True]
    assert [n for word in found for n in range(word.start, word.stop)] == [0, 1, 2, 3]


def test_what_cannot_be_seen_is_spelled_out() -> None:
    assert spelled(words(tokens(["▁a\u202eb"]), metaspace)) == ["a⟨U+202E⟩b"]
