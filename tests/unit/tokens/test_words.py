"""Words from tokens: where one ends, in texts and in vocabularies of several kinds."""

import numpy as np
import pytest

from attnviz.tokens.words import Word, merged, words
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


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ("👩 \u200d 👩 \u200d 👧 ok", ["👩\u200d👩\u200d👧", "ok"]),
        ("👍 🏽 !", ["👍🏽", "!"]),
        ("❤ \ufe0f 漢 字", ["❤\ufe0f", "漢", "字"]),
        ("🇩 🇪 🇫 🇷", ["🇩🇪", "🇫🇷"]),
        ("🏴 \U000e0067 \U000e007f .", ["🏴\U000e0067\U000e007f", "."]),
        ("葛 \U000e0100 城", ["葛\U000e0100", "城"]),
        ("가 나 다", ["가나다"]),
        ("🙂 🙃", ["🙂", "🙃"]),
    ],
)
def test_what_is_read_as_one_character_stays_whole(parts: str, expected: list[str]) -> None:
    """Tokens are the parts between the spaces; their text has no space."""
    pieces = parts.split(" ")
    ends = np.cumsum([len(piece) for piece in pieces]).tolist()
    offsets = list(zip([0, *ends], ends, strict=False))
    text = "".join(pieces)
    found = words(tokens(pieces, text, offsets), metaspace)
    assert [text[offsets[w.start][0] : offsets[w.stop - 1][1]] for w in found] == expected


@pytest.mark.parametrize("seed", range(25))
def test_merging_any_pieces_conserves_the_mass(seed: int) -> None:
    """Random weights, random words: every row sums to 1, every key word gets what its keys got."""
    rng = np.random.default_rng(seed)
    n_query, n_key = rng.integers(1, 40, size=2)
    scores = rng.normal(scale=3, size=(2, 3, n_query, n_key))
    weights = (np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)).astype(np.float32)
    queries, keys = (random_words(rng, int(n)) for n in (n_query, n_key))
    found = merged(weights, queries, keys)
    assert found.shape == (2, 3, len(queries), len(keys))
    np.testing.assert_allclose(found.sum(-1), 1, atol=1e-6)
    sizes = np.array([word.stop - word.start for word in queries])
    received = np.einsum("lhrc,r->lhc", found.astype(np.float64), sizes)
    exact = weights.astype(np.float64).sum(-2)
    for place, word in enumerate(keys):
        np.testing.assert_allclose(
            received[..., place], exact[..., word.start : word.stop].sum(-1), atol=1e-5
        )


def random_words(rng: np.random.Generator, n: int) -> tuple[Word, ...]:
    cuts = sorted({0, n, *rng.integers(0, n + 1, size=rng.integers(0, n + 1)).tolist()})
    return tuple(Word("x", a, b) for a, b in zip(cuts, cuts[1:], strict=False))
