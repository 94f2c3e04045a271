"""The words of the stories and the little grammar that they need.

Owns the lexicon (names, animals, things, places, foods, feelings), `Person` with its pronouns,
plurals, the article "an", and the rule which pairs of words are kept back from the training text,
so that a probe can ask about pairs that were never seen together.
"""

import re
from dataclasses import dataclass
from zlib import crc32

GIRLS = tuple("Lily Anna Mia Rose Emma Sara Ella Jane Mary Lucy Alice Kate".split())
BOYS = tuple("Tom Ben Max Jack Sam Leo Finn John Peter Adam Bob Paul".split())
NAMES = GIRLS + BOYS

ANIMALS = tuple(
    "cat dog fox bear bird rabbit mouse duck frog horse lion owl wolf cow sheep pig goat".split()
)
THINGS = tuple(
    "ball hat book kite cup box boat lamp drum coat apple cake key flower stone bell letter"
    " ring".split()
)
GIFTS = (*THINGS, "drink", "present")
BOXES = ("bag", "basket", "drawer", "chest")
SEATS = ("mat", "chair", "table", "bed", "floor", "wall")
# place → how one is there
PREPOSITIONS = {
    "park": "in",
    "garden": "in",
    "forest": "in",
    "market": "at",
    "school": "at",
    "beach": "on",
    "river": "at",
    "house": "in",
    "farm": "on",
    "village": "in",
    "kitchen": "in",
    "castle": "in",
    "store": "at",
    "city": "in",
}
PLACES = tuple(PREPOSITIONS)
MEETING_PLACES = tuple("park garden market school beach farm castle store river house".split())
FOODS = tuple("bread soup cake milk honey fish cheese rice fruit tea".split())
COLOURS = tuple("red blue green yellow white black brown golden silver purple".split())
ADJECTIVES = tuple(
    "little big brave happy clever shy kind old young gentle hungry sleepy quiet strong".split()
)
FEELINGS = tuple("happy sad tired hungry scared angry cold proud thirsty excited sick busy".split())
WEATHERS = tuple("sunny rainy cold windy warm snowy quiet foggy".split())
RELATIVES = tuple("mother father sister brother grandmother friend teacher".split())
JOBS = tuple("doctor teacher farmer baker king queen sailor painter singer nurse".split())
NUMBERS = tuple("one two three four five six seven eight nine ten eleven twelve".split())
TIMES = (
    "One day",
    "That morning",
    "In the evening",
    "After lunch",
    "The next day",
    "Later",
    "At night",
    "Soon",
)
DEEDS = tuple("found saw lost bought made painted carried hid wanted dropped".split())

IRREGULAR = {
    "mouse": "mice",
    "wolf": "wolves",
    "sheep": "sheep",
    "box": "boxes",
    "fox": "foxes",
    "fish": "fish",
}
# one pair of words in this many is kept back
KEPT_BACK = 8


@dataclass(frozen=True)
class Person:
    """A child of the stories; `her` is the possessive, `him` the object."""

    name: str
    girl: bool

    @property
    def kid(self) -> str:
        return "girl" if self.girl else "boy"

    @property
    def she(self) -> str:
        return "she" if self.girl else "he"

    @property
    def her(self) -> str:
        return "her" if self.girl else "his"

    @property
    def him(self) -> str:
        return "her" if self.girl else "him"


def person(name: str) -> Person:
    return Person(name, name in GIRLS)


def plural(noun: str) -> str:
    return IRREGULAR.get(noun, f"{noun}s")


def at(place: str) -> str:
    """Where somebody in, on or at the place is."""
    return f"{PREPOSITIONS[place]} the {place}"


def with_articles(text: str) -> str:
    """The text with "an" before a vowel; no word here is written with one and spoken without."""
    return re.sub(r"\b([Aa]) (?=[aeiou])", r"\1n ", text)


def capitalised(text: str) -> str:
    """The text with its first letter, and only that one, made a capital."""
    return text[:1].upper() + text[1:]


def kept_back(one: str, other: str) -> bool:
    """True for the pairs, in this order, that only probes put together."""
    return (crc32(f"{one} {other}".encode()) >> 9) % KEPT_BACK == 0


def strangers(one: str, other: str) -> bool:
    """True for two names that only probes put together, in either order."""
    return kept_back(*sorted((one, other)))
