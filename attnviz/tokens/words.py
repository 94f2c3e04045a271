"""The words of a sequence of tokens, and attention weights between words instead of tokens.

In: `Tokens`, and a function that joins pieces of the vocabulary for tokens without a text. Out:
`Word`s in order, which cover every token once. A word ends at white space, at a punctuation mark,
and between two characters of a script that is written without spaces; never inside a character of
several code points, such as an emoji (the common cases of UAX #29, grapheme clusters). Special
tokens stand alone. `merged` takes weights [query, key] to one row and one column for each range of
tokens: summed over its keys, averaged over its queries, so that rows which summed to 1 still do.
"""

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float32

from attnviz.tokens.labels import visible
from attnviz.types import Tokens

Join = Callable[[list[str]], str]
# the sign for a space before a word in byte-pair and SentencePiece vocabularies; the sign for no
# space in WordPiece
STARTS, CONTINUES = ("Ġ", "▁"), "##"
NOWHERE = (0, 0)  # the offsets of a token that is not part of the text
JOINER = "\u200d"
SKIN_TONES = range(0x1F3FB, 0x1F400)
TAGS = range(0xE0020, 0xE0080)  # the letters of a flag such as Scotland's
REGIONS = range(0x1F1E6, 0x1F200)  # two of them are a flag
SPACELESS = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR")


@dataclass(frozen=True)
class Word:
    """The tokens from `start` to before `stop`; `text` is the word in readable form.

    `special` is True for a special token, which stands alone.
    """

    text: str
    start: int
    stop: int
    special: bool = False


@dataclass(frozen=True)
class _Part:
    """The characters of one token; `spaced` is True if white space precedes them."""

    surface: str
    spaced: bool


def words(tokens: Tokens, join: Join) -> tuple[Word, ...]:
    """The words of a sequence; `join` gives the text of pieces, as a tokenizer's decoder does."""
    parts = list(_from_text(tokens) if tokens.text else _from_pieces(tokens, join))
    starts = [n for n in range(len(parts)) if n == 0 or _begins(tokens, parts, n)]
    stops = [*starts[1:], len(parts)] if parts else []
    return tuple(
        _word(tokens, start, stop, join) for start, stop in zip(starts, stops, strict=True)
    )


def _word(tokens: Tokens, start: int, stop: int, join: Join) -> Word:
    special = bool(tokens.special[start])
    pieces = list(tokens.pieces[start:stop])
    if special or stop - start == 1 and not join(pieces).strip():
        return Word(tokens.labels[start], start, stop, special)
    if tokens.text:
        spelled = tokens.text[tokens.offsets[start][0] : tokens.offsets[stop - 1][1]]
    else:
        spelled = join(pieces)
    return Word(visible(spelled.strip()) or visible("".join(pieces)), start, stop)


def _from_text(tokens: Tokens) -> Iterator[_Part]:
    """Parts from the characters of the text; the bytes of one character share its offsets."""
    before = 0
    for start, end in tokens.offsets:
        surface = tokens.text[start:end]
        yield _Part(surface.strip(), start > before or surface[:1].isspace())
        before = end


def _from_pieces(tokens: Tokens, join: Join) -> Iterator[_Part]:
    """Parts from the vocabulary's signs; without signs, as in a list of words, each is a word."""
    marked = any(piece.startswith(STARTS) for piece in tokens.pieces)
    for piece in tokens.pieces:
        spaced = piece.startswith(STARTS) if marked else not piece.startswith(CONTINUES)
        yield _Part(join([piece]).strip().removeprefix(CONTINUES), spaced)


def _begins(tokens: Tokens, parts: list[_Part], n: int) -> bool:
    """True if a token begins a word."""
    if tokens.special[n] or tokens.special[n - 1]:
        return True
    if parts[n].spaced or _is_outside(tokens, n) or _is_outside(tokens, n - 1):
        return True
    if tokens.text and tokens.offsets[n][0] < tokens.offsets[n - 1][1]:
        return False  # two bytes of one character
    last, first = parts[n - 1].surface[-1:], parts[n].surface[:1]
    if last and first and _one_character(tokens, parts, n):
        return False
    return bool(last and first) and not (_joins(last) and _joins(first))


def _is_outside(tokens: Tokens, n: int) -> bool:
    """True if a token has no characters of the text: a patch of a picture, or generated."""
    marker = tokens.pieces[n] in STARTS
    return bool(tokens.text) and tokens.offsets[n] == NOWHERE and not marker


def _joins(char: str) -> bool:
    """True if a character can stand inside a word, beside another one."""
    if char == "\ufffd":  # some bytes of a character
        return True
    category = unicodedata.category(char)
    return category[0] in "LMN" and not unicodedata.name(char, "").startswith(SPACELESS)


def _one_character(tokens: Tokens, parts: list[_Part], n: int) -> bool:
    """True if two tokens meet inside one character of several code points."""
    before, first = parts[n - 1].surface, parts[n].surface[0]
    if before[-1] == JOINER or first == JOINER:
        return True
    if ord(first) in SKIN_TONES or ord(first) in TAGS or unicodedata.category(first)[0] == "M":
        return True
    if not (ord(before[-1]) in REGIONS and ord(first) in REGIONS):
        return False
    so_far = tokens.text[: tokens.offsets[n - 1][1]] if tokens.text else before
    n_regions = len(so_far) - len(so_far.rstrip("".join(map(chr, REGIONS))))
    return n_regions % 2 == 1


@runtime_checkable
class TokenRange(Protocol):
    """The tokens from `start` to before `stop`."""

    @property
    def start(self) -> int:
        """The first token."""

    @property
    def stop(self) -> int:
        """The token behind the last one."""


def merged(
    weights: Float32[np.ndarray, "*heads query key"],
    queries: Sequence[TokenRange],
    keys: Sequence[TokenRange],
) -> Float32[np.ndarray, "*heads row column"]:
    """Weights between ranges: summed over the keys of a range, averaged over its queries."""
    if len(queries) == weights.shape[-2] and len(keys) == weights.shape[-1]:
        return weights
    by_key = np.add.reduceat(weights, [part.start for part in keys], axis=-1)
    merged_weights = np.zeros((*by_key.shape[:-2], len(queries), len(keys)), dtype=np.float32)
    for row, part in enumerate(queries):
        merged_weights[..., row, :] = by_key[..., part.start : part.stop, :].mean(axis=-2)
    return merged_weights
