"""What a verb has beside it, in both languages: objects, receivers, directions, places.

In: a seeded generator, the subject, the verb, and the `Choice` of tense and polarity. Out: a
`Predicate`. An object that is a pronoun goes before the French verb and makes a participle agree;
under ne … pas an indefinite object becomes de.
"""

import random
from dataclasses import dataclass, replace

from scripts.train.worlds.french.nouns import (
    ALL_KINDS,
    LIVING,
    Phrase,
    Role,
    city,
    noun_phrase,
    plain,
)
from scripts.train.worlds.french.spelling import Word, said
from scripts.train.worlds.french.words import Verb, lexicon

# English, French, feminine, plural, the persons that it would mean again
OBJECTS = (
    ("me", "me", False, False, (0, 3)),
    ("you", "te", False, False, (1,)),
    ("him", "le", False, False, ()),
    ("her", "la", True, False, ()),
    ("it", "le", False, False, ()),
    ("us", "nous", False, True, (0, 3)),
    ("them", "les", False, True, ()),
)
GENERIC = ("aimer", "détester", "préférer", "craindre", "respecter")
PLACES = (
    ("in", "dans"),
    ("in", "dans"),
    ("on", "sur"),
    ("under", "sous"),
    ("behind", "derrière"),
    ("in front of", "devant"),
    ("next to", "à côté de"),
)


@dataclass(frozen=True)
class Choice:
    """What was drawn for a clause before anything is worded."""

    tense: str
    negative: bool
    asked: bool
    adverb: tuple[str, str] | None = None

    @property
    def denies(self) -> bool:
        """Whether French needs ne, and pas de for un."""
        return self.negative or (self.adverb is not None and self.adverb[0] == "never")


@dataclass(frozen=True)
class Predicate:
    """The English words behind the helper and the French ones around the finite verb."""

    english: tuple[Word, ...] = ()
    clitic: tuple[Word, ...] = ()
    french: tuple[Word, ...] = ()
    agrees: tuple[bool, bool] = (False, False)  # feminine, plural


def predicate_of(rng: random.Random, about: Phrase, verb: Verb, choice: Choice) -> Predicate:
    """Object, receiver, direction or place, as the verb takes them."""
    if verb.kind == "motion":
        return _direction(rng)
    if verb.kind == "no_object" or (verb.kind == "optional_object" and rng.random() < 0.25):
        if verb.english == "speak" and rng.random() < 0.5:
            return _receiver(rng)
        return with_place(rng, Predicate(), 0.42)
    if verb.kind != "gift" and rng.random() < 0.13:
        return with_place(rng, object_pronoun(rng, about), 0.15)
    if "place" in verb.objects and rng.random() < 0.15:
        visited = city(rng)
        return Predicate(visited.english, (), visited.french)
    role: Role = (
        "generic" if verb.infinitive in GENERIC else "denied" if choice.denies else "object"
    )
    kinds = ALL_KINDS if verb.objects == ("all",) or rng.random() < 0.12 else verb.objects
    thing = noun_phrase(rng, role, kinds)
    if verb.kind == "gift" and rng.random() < 0.7:
        return _given(rng, thing)
    return with_place(rng, Predicate(thing.english, (), thing.french), 0.2)


def object_pronoun(rng: random.Random, about: Phrase) -> Predicate:
    """him, her, them: French puts it before the verb, and a participle agrees with it."""
    english, french, feminine, plural, same = rng.choice(OBJECTS)
    if about.person in same:
        english, french, feminine, plural, _ = OBJECTS[-1]
    return Predicate((Word(english),), (Word(french),), (), (feminine, plural))


def _given(rng: random.Random, thing: Phrase) -> Predicate:
    """gives an apple to the king, gives the king an apple: donne une pomme au roi."""
    to = noun_phrase(rng, "definite", ("person",))
    if rng.random() < 0.35 and "and" not in {word.text for word in (*to.english, *thing.english)}:
        english = (*to.english, *thing.english)
    else:
        english = (*thing.english, *said("to"), *to.english)
    return Predicate(english, (), (*thing.french, *said("à"), *to.french))


def _receiver(rng: random.Random) -> Predicate:
    to = noun_phrase(rng, "definite", LIVING)
    return Predicate((*said("to"), *to.english), (), (*said("à"), *to.french))


def _direction(rng: random.Random) -> Predicate:
    to = city(rng) if rng.random() < 0.25 else plain(rng, "definite", ("place",))
    return Predicate((*said("to"), *to.english), (), (*said("à"), *to.french))


def with_place(rng: random.Random, predicate: Predicate, chance: float) -> Predicate:
    """The predicate, with a preposition and a phrase behind it by chance."""
    if rng.random() >= chance:
        return predicate
    english, french = place(rng)
    return replace(
        predicate,
        english=(*predicate.english, *english),
        french=(*predicate.french, *french),
    )


def place(rng: random.Random) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
    """A preposition and its phrase; in front of a city, in and from are à and de."""
    draw = rng.random()
    if draw < 0.08:
        where, (english, french) = city(rng), rng.choice((("in", "à"), ("from", "de")))
    elif draw < 0.2:
        where = noun_phrase(rng, "place", LIVING)
        english, french = rng.choice((("with", "avec"), ("for", "pour")))
    else:
        english, french = rng.choice(PLACES + lexicon().pairs["places"])
        role: Role = "definite" if french.endswith(("de", "sans")) else "place"
        kinds = ("idea",) if french in ("après", "avant") else ("place", "place", "thing")
        where = plain(rng, role, kinds)
    return (*said(english), *where.english), (*said(french), *where.french)
