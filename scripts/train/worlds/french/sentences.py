"""English sentences with their French translations, made by rule: the world of `translator`.

In: a seeded `random.Random`. Out: a `Pair`, both texts and the gold alignment: for each French
noun, adjective, verb, adverb, number and name the English word that it comes from. Sentences have
a subject, a verb in one of several tenses, denied or not, objects, places, adverbs; some are
questions, some two clauses. French is right in gender, number, place of the adjective, elision,
contraction and agreement of participles; what English leaves open is fixed (clauses.py).
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from attnviz.worlds import is_held_out
from scripts.train.worlds.french.clauses import AM, WAS, clause, drilled, what
from scripts.train.worlds.french.nouns import Phrase, name, noun_phrase, plain, rare_phrase
from scripts.train.worlds.french.objects import place
from scripts.train.worlds.french.spelling import (
    Word,
    joined_english,
    joined_french,
    said,
    spelled,
)
from scripts.train.worlds.french.words import conjugated

LONGEST = 26  # words of a sentence, signs included
CONNECTIVES = (
    ("and", "et"),
    ("but", "mais"),
    ("because", "parce que"),
    ("when", "quand"),
)


@dataclass(frozen=True)
class Pair:
    """A sentence and its translation; `links` are (English word, French word), counted as
    `word_spans` does."""

    english: str
    french: str
    links: tuple[tuple[int, int], ...]


def draw(rng: random.Random, *, held_out: bool = False) -> Pair:
    """One sentence; `held_out` ones are those that training never sees."""
    while True:
        pair = _draw(rng)
        if pair is not None and is_held_out(pair.english) == held_out:
            return pair


def drill(rng: random.Random) -> Pair:
    """A short sentence for training only, in which rare forms of words are frequent."""
    while True:
        found = rare_phrase(rng) if rng.random() < 0.12 else drilled(rng)
        pair = assembled(found.english, found.french, rng.choice((*"....!", "")), capital=True)
        if not is_held_out(pair.english):
            return pair


def _draw(rng: random.Random) -> Pair | None:
    """A sentence, or None for one that is too long."""
    english, french, sign = _sentence(rng)
    if len(english) > LONGEST or len(french) > LONGEST:
        return None
    if sign == "." and rng.random() < 0.25:
        sign = "" if rng.random() < 0.8 else "!"
    return assembled(english, french, sign, capital=rng.random() < 0.85)


def _sentence(rng: random.Random) -> tuple[list[Word], list[Word], str]:
    """English words, French words before they are spelled, and the sign at the end."""
    kind = rng.random()
    if kind < 0.05:
        phrase = noun_phrase(rng, "subject")
        return [*phrase.english], [*phrase.french], "."
    if kind < 0.09:
        return _there_is(rng)
    if kind < 0.11:
        return _where(rng)
    if kind < 0.13:
        found = clause(rng, who=Phrase((Word("who"),), (Word("qui"),), False, 2, "who"))
        return [*found.english], [*found.french], "?"
    if kind < 0.18:
        found = clause(rng, asked=True)
        english = [*found.helper, *found.subject.english, *found.rest]
        return english, [*said("est-ce que"), *found.french], "?"
    if kind < 0.2:
        found = what(rng)
        english = [*said("what"), *found.helper, *found.subject.english, *found.rest]
        return english, [*said("que est-ce que"), *found.french], "?"
    if kind < 0.27:
        return _two_clauses(rng)
    found = clause(rng)
    return [*found.english], [*found.french], "."


def _there_is(rng: random.Random) -> tuple[list[Word], list[Word], str]:
    """There is a cat in the garden: il y a un chat dans le jardin; no cat: pas de chat."""
    negative = rng.random() < 0.2
    phrase = plain(rng, "subject", ("person", "animal", "thing", "food", "place", "mass"))
    while phrase.english[0].text not in COUNTABLE_STARTS:
        phrase = plain(rng, "subject", ("person", "animal", "thing", "food", "place", "mass"))
    past = rng.random() < 0.25
    be = (WAS if past else AM)[phrase.person]
    has = conjugated("avoir", "imperfect" if past else "present", 2)
    english, french = place(rng) if rng.random() < 0.75 else ((), ())
    if negative and phrase.english[0].text in ("a", "an"):
        words = [*said(f"there {be} no"), *phrase.english[1:], *english]
        denied = [*said(f"il ne y {has} pas de"), *phrase.french[1:], *french]
        return words, denied, "."
    return (
        [*said(f"there {be}"), *phrase.english, *english],
        [*said(f"il y {has}"), *phrase.french, *french],
        ".",
    )


COUNTABLE_STARTS = frozenset(
    "a an some many several two three four five six seven eight nine ten twelve twenty".split()
)


def _where(rng: random.Random) -> tuple[list[Word], list[Word], str]:
    """Where is the cat? Où est le chat ?"""
    phrase = plain(rng, "definite", ("person", "animal", "thing", "food", "place"))
    if rng.random() < 0.15:
        phrase = name(rng)
    be = conjugated("être", "present", phrase.person)
    return (
        [*said(f"where {AM[phrase.person]}"), *phrase.english],
        [*said(f"où {be}"), *phrase.french],
        "?",
    )


def _two_clauses(rng: random.Random) -> tuple[list[Word], list[Word], str]:
    """Two clauses in the same tense, joined."""
    tense = rng.choice(("present", "present", "past"))
    first, second = clause(rng, tense=tense), clause(rng, tense=tense)
    english, french = rng.choice(CONNECTIVES)
    return (
        [*first.english, *said(english), *second.english],
        [*first.french, *said(french), *second.french],
        ".",
    )


def assembled(english: Sequence[Word], french: Sequence[Word], sign: str, *, capital: bool) -> Pair:
    """Both texts, French spelled, with the links between their words.

    An English sentence that opens with "I", a name or a nationality is always begun with a capital,
    so that its case tells that of the French one.
    """
    capital = capital or english[0].text[0].isupper()
    end = said(sign)
    sources, targets = [*english, *end], [*spelled(french), *end]
    place_of = {id(word): n for n, word in enumerate(sources)}
    links = tuple(
        (place_of[id(word.source)], n)
        for n, word in enumerate(targets)
        if word.source is not None and id(word.source) in place_of
    )
    return Pair(
        joined_english(_begun([word.text for word in sources], capital)),
        joined_french(_begun([word.text for word in targets], capital)),
        links,
    )


def _begun(texts: list[str], capital: bool) -> list[str]:
    return [texts[0][0].upper() + texts[0][1:], *texts[1:]] if capital else texts
