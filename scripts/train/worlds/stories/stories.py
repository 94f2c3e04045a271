"""The text that the decoders `stories` and `stories-llama` learned English from.

`document` draws one text: a story with a recurring cast, some facts, sentences whose "it" has two
candidates, a sentence said again, or words said again. Nothing comes from outside the project, and
the same seed gives the same text. What the models are asked is in stories_probes.py.
"""

from collections.abc import Callable, Iterator
from random import Random

from scripts.train.worlds.stories import words as lexicon
from scripts.train.worlds.stories.events import cast, event, giving
from scripts.train.worlds.stories.facts import fact
from scripts.train.worlds.stories.pronouns import antecedent, explained, plain
from scripts.train.worlds.stories.words import with_articles

OPENINGS = (
    "Once upon a time there was a {adjective} {kid} named {hero}.",
    "Once upon a time, there was a {adjective} {kid} named {hero}.",
    "Once upon a time, there lived a {adjective} {kid} called {hero}.",
    "There was once a {adjective} {kid} whose name was {hero}.",
    "{hero} was a {adjective} {kid} who lived near the {place2}.",
    "{hero} and {friend} lived in a {colour2} house near the {place2}.",
    "Once upon a time there was a {adjective} {animal} who lived near the {place2}. {time}, the"
    " {animal} met a {kid} named {hero}.",
    "{hero} was a {adjective} {kid}, and {friend} was a {adjective2} {kid2}.",
)
MORE = (
    "{hero} had a {colour} {thing}.",
    "{hero} had a {adjective2} {animal} and a {colour} {thing}.",
    "{hero} loved {her} {colour} {thing} very much.",
    "{hero} lived with {her} {relative} near the {place2}.",
    "{hero} liked to share {food} with {her} {relative}.",
    "Every day {hero} went to the {place2} with {her} {animal}.",
)
ENDINGS = (
    "{hero} and {friend} were very happy.",
    "{hero} and {friend} were very tired.",
    "And {hero} and the {animal} were friends for ever.",
    "{hero} went home and slept.",
    "In the end, {hero} was proud.",
    "In the end, {friend} was happy.",
    "{hero} never lost {her} {thing} again.",
    "The end.",
)


def story(r: Random) -> tuple[str, ...]:
    """The parts of a story about two children, an animal and a few things, in order."""
    who = cast(r)
    parts = [r.choice(OPENINGS).format(**who.words(r))]
    if r.random() < 0.6:
        parts.append(r.choice(MORE).format(**who.words(r)))
    for _ in range(r.randint(2, 5)):
        happened = event(r, who)
        parts += [] if happened in parts else [happened]
    parts.append(r.choice(ENDINGS).format(**who.words(r)))
    return tuple(map(with_articles, parts))


def _told(r: Random) -> str:
    return " ".join(story(r))


def _facts(r: Random) -> str:
    return with_articles(" ".join(fact(r) for _ in range(r.randint(1, 5))))


def _candidates(r: Random) -> str:
    cases = [antecedent(r) for _ in range(r.randint(1, 4))]
    return " ".join(plain(case) if r.random() < 0.15 else explained(r, case) for case in cases)


def _giving(r: Random) -> str:
    return with_articles(" ".join(giving(r, cast(r)) for _ in range(r.randint(1, 3))))


def _said_again(r: Random) -> str:
    return " ".join([r.choice(story(r))] * r.randint(2, 3))


def _words_again(r: Random) -> str:
    words = (*lexicon.THINGS, *lexicon.COLOURS, *lexicon.ANIMALS, *lexicon.FOODS, *lexicon.PLACES)
    return " ".join(r.sample(words, r.randint(3, 8)) * r.randint(2, 4))


# kind of text → how often, in percent
DOCUMENTS: tuple[tuple[Callable[[Random], str], int], ...] = (
    (_told, 58),
    (_facts, 16),
    (_candidates, 13),
    (_giving, 6),
    (_said_again, 4),
    (_words_again, 3),
)


def document(r: Random) -> str:
    """One text of any kind, as often as the table says."""
    kinds, weights = zip(*DOCUMENTS, strict=True)
    return str(r.choices(kinds, weights)[0](r))


def documents(seed: int, number: int) -> Iterator[str]:
    """So many texts of one seed; the first ones are the same however many are asked for."""
    r = Random(seed)
    return (document(r) for _ in range(number))
