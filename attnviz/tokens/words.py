"""From tokens back to words: which tokens of a sequence together spell one word.

In: `Tokens`, and how pieces of the vocabulary are joined where their text is not at hand. Out:
`Word`s in order, which cover every token once. A word ends at white space, at a sign, and between
two characters of a script that writes none between words; never inside what is read as one
character, such as an emoji of several parts (the common cases of UAX #29, grapheme clusters).
Special tokens stand alone. Weights between words instead of tokens: `attnviz.tokens.merge`.
"""

import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from attnviz.tokens.labels import visible
from attnviz.types import Tokens

Join = Callable[[list[str]], str]
# how byte-pair and SentencePiece vocabularies write the space before a word; how WordPiece writes
# that there is none
STARTS, CONTINUES = ("Ġ", "▁"), "##"
NOWHERE = (0, 0)  # the place in a text of what is no part of it
JOINER = "\u200d"
SKIN_TONES = range(0x1F3FB, 0x1F400)
TAGS = range(0xE0020, 0xE0080)  # the letters of a flag such as Scotland's
REGIONS = range(0x1F1E6, 0x1F200)  # two of them are a flag
SPACELESS = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR")


@dataclass(frozen=True)
class Word:
    """The tokens from `start` to before `stop`; `text` is what they spell, for the eye."""

    text: str
    start: int
    stop: int
    special: bool = False


@dataclass(frozen=True)
class _Part:
    """What one token spells, and whether white space comes before it."""

    surface: str
    spaced: bool


def words(tokens: Tokens, join: Join) -> tuple[Word, ...]:
    """The words of a sequence; `join` spells out pieces, as a tokenizer's own decoder does."""
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
    """Parts by their characters in the text; bytes of one character share its place."""
    before = 0
    for start, end in tokens.offsets:
        surface = tokens.text[start:end]
        yield _Part(surface.strip(), start > before or surface[:1].isspace())
        before = end


def _from_pieces(tokens: Tokens, join: Join) -> Iterator[_Part]:
    """Parts by the vocabulary's signs; without any, as in a list of words, each is a word."""
    marked = any(piece.startswith(STARTS) for piece in tokens.pieces)
    for piece in tokens.pieces:
        spaced = piece.startswith(STARTS) if marked else not piece.startswith(CONTINUES)
        yield _Part(join([piece]).strip().removeprefix(CONTINUES), spaced)


def _begins(tokens: Tokens, parts: list[_Part], n: int) -> bool:
    """Whether a token begins a word."""
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
    """Whether a token is no part of the text it stands in: a piece of a picture, or written."""
    marker = tokens.pieces[n] in STARTS
    return bool(tokens.text) and tokens.offsets[n] == NOWHERE and not marker


def _joins(char: str) -> bool:
    """Whether a character can stand inside a word, beside another one."""
    if char == "\ufffd":  # a part of a character
        return True
    category = unicodedata.category(char)
    return category[0] in "LMN" and not unicodedata.name(char, "").startswith(SPACELESS)


def _one_character(tokens: Tokens, parts: list[_Part], n: int) -> bool:
    """Whether two tokens meet inside what is read as one character."""
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
