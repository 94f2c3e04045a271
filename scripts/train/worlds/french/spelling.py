"""Words in a row, and how French spells them together: elision, contraction, spaces.

In: the words of a sentence, French ones still apart ("le", "ami", "de", "le", "roi"). Out: the
words as they are written ("l'", "ami", "du", "roi") and the text. A French word carries the
English word that it comes from, which is where the gold alignment is from.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from scripts.train.worlds.french.words import elides

APOSTROPHE = "'"
ELIDED = {"le": "l'", "la": "l'"} | {word: word[:-1] + "'" for word in "je ne me te de que".split()}
BEFORE_VOWEL = {"ce": "cet", "ma": "mon", "ta": "ton", "sa": "son"}
CONTRACTED = {
    ("de", "le"): "du",
    ("de", "les"): "des",
    ("à", "le"): "au",
    ("à", "les"): "aux",
}
LETTER = r"[^\W\d_]"
# one word each: a digit, l' and its like, n't, 's, a word with its hyphens, any other sign
WORD = re.compile(
    r"[Aa]ujourd'hui|(?<![^\W_])(?:[ldjncmtsLDJNCMTS]|[qQ]u)'(?=LETTER)|'(?:s|m|re)(?!LETTER)"
    r"|LETTER+n't|LETTER+(?:-LETTER+)*|\d|[^\w\s]|_".replace("LETTER", LETTER)
)


@dataclass(frozen=True, eq=False)
class Word:
    """One word; a French one that carries meaning knows its English `source`."""

    text: str
    source: "Word | None" = None


def said(texts: str) -> list[Word]:
    """Words without a source of their own."""
    return [Word(text) for text in texts.split()]


def spelled(words: Sequence[Word]) -> list[Word]:
    """French words as they are written beside each other.

    >>> " ".join(word.text for word in spelled(said("je aime le ami de le roi")))
    "j' aime l' ami du roi"
    """
    done: list[Word] = []
    for word in reversed(words):
        following = done[0].text if done else ""
        done.insert(0, replace(word, text=_beside(word.text, following)))
    joined: list[Word] = []
    for word in done:
        pair = (joined[-1].text, word.text) if joined else ("", "")
        if pair in CONTRACTED:
            joined[-1] = Word(CONTRACTED[pair])
        else:
            joined.append(word)
    return joined


def _beside(text: str, following: str) -> str:
    """A word in front of another."""
    if elides(following) or (text in ("ne", "que") and following == "y"):
        return ELIDED.get(text) or BEFORE_VOWEL.get(text) or text
    return text


def joined_english(texts: Sequence[str]) -> str:
    """The English text: no space before 's, 'm, 're and signs."""
    return "".join(
        text if n == 0 or text.startswith((APOSTROPHE, ".", ",", "!", "?")) else " " + text
        for n, text in enumerate(texts)
    )


def joined_french(texts: Sequence[str]) -> str:
    """The French text: no space behind an elision, one before ! and ?."""
    text = ""
    for n, word in enumerate(texts):
        close = n == 0 or texts[n - 1].endswith(APOSTROPHE) or word in (".", ",")
        text += word if close else " " + word
    return text


def word_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Where each word of a text stands, elisions and signs counted as words of their own."""
    return tuple(match.span() for match in WORD.finditer(text))
