"""Small facts, sums, opposites, sequences and lists: what a first visitor types for fun.

Each function draws one or two sentences from its seeded generator; `fact` draws any of them. The
tables below are the whole knowledge, and a probe's right answer is read from the same table.
"""

from collections.abc import Callable
from random import Random

from scripts.train.worlds.stories.words import (
    ANIMALS,
    COLOURS,
    FOODS,
    JOBS,
    NAMES,
    NUMBERS,
    PLACES,
    THINGS,
    capitalised,
    plural,
)

CAPITALS = {
    "France": ("Paris", "French"),
    "Italy": ("Rome", "Italian"),
    "Spain": ("Madrid", "Spanish"),
    "Germany": ("Berlin", "German"),
    "England": ("London", "English"),
    "Japan": ("Tokyo", "Japanese"),
    "China": ("Beijing", "Chinese"),
    "Russia": ("Moscow", "Russian"),
    "Greece": ("Athens", "Greek"),
    "Portugal": ("Lisbon", "Portuguese"),
    "Poland": ("Warsaw", "Polish"),
    "Egypt": ("Cairo", "Arabic"),
}
PAIRS = (
    "hot-cold big-small up-down day-night happy-sad old-new fast-slow good-bad black-white"
    " open-closed left-right rich-poor long-short hard-soft light-dark full-empty wet-dry"
    " high-low strong-weak".split()
)
OPPOSITES = dict(both for a, b in (pair.split("-") for pair in PAIRS) for both in ((a, b), (b, a)))
# opposites that a thing can be, for sentences like "The cup was not hot. It was cold."
OF_THINGS = tuple("hot cold big small old new open closed hard soft full empty wet dry".split())
SEQUENCES: tuple[tuple[str, ...], ...] = (
    tuple("Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()),
    tuple(
        "January February March April May June July August September October November"
        " December".split()
    ),
    NUMBERS,
    tuple("abcdefghijklmnopqrstuvwxyz"),
    tuple("spring summer autumn winter".split()),
    tuple("first second third fourth fifth sixth seventh".split()),
    tuple(str(number) for number in range(1, 21)),
)
SOUNDS = {
    "cat": "meow",
    "dog": "woof",
    "cow": "moo",
    "duck": "quack",
    "sheep": "baa",
    "owl": "hoot",
    "lion": "roar",
}
HOMES = {
    "bird": "nest",
    "bear": "cave",
    "fox": "forest",
    "rabbit": "hole",
    "king": "castle",
    "farmer": "farm",
    "frog": "river",
}
COLOUR_OF = {
    "sky": "blue",
    "grass": "green",
    "snow": "white",
    "sun": "yellow",
    "night": "black",
    "sea": "blue",
}
WORK = {
    "doctor": "helps sick people",
    "teacher": "works in a school",
    "farmer": "grows food",
    "baker": "makes bread",
    "sailor": "sails a boat",
    "painter": "paints pictures",
    "singer": "sings songs",
    "nurse": "helps sick people",
}


def country(r: Random) -> str:
    (land, (city, language)), (land2, (city2, _)) = r.sample(sorted(CAPITALS.items()), 2)
    return r.choice(
        (
            f"The capital of {land} is {city}.",
            f"{city} is the capital of {land}.",
            f"The capital of {land} is {city}. The capital of {land2} is {city2}.",
            f"People in {land} speak {language}.",
            f"What is the capital of {land}? The capital of {land} is {city}.",
            f"{city} is in {land}, and {city2} is in {land2}.",
            f"{city} is not in {land2}. It is in {land}.",
            f"{r.choice(NAMES)} lives in {city}. People in {city} speak {language}.",
        )
    )


def opposite(r: Random) -> str:
    word = r.choice(sorted(OPPOSITES))
    state = r.choice(OF_THINGS)
    thing = r.choice(THINGS)
    return r.choice(
        (
            f"The opposite of {word} is {OPPOSITES[word]}.",
            f"What is the opposite of {word}? The opposite of {word} is {OPPOSITES[word]}.",
            f"{capitalised(word)} is the opposite of {OPPOSITES[word]}.",
            f"The {thing} was not {state}. It was {OPPOSITES[state]}.",
            f"It was not {state}, it was {OPPOSITES[state]}.",
        )
    )


def nature(r: Random) -> str:
    what, colour = r.choice(sorted(COLOUR_OF.items()))
    animal, sound = r.choice(sorted(SOUNDS.items()))
    dweller, home = r.choice(sorted(HOMES.items()))
    job, work = r.choice(sorted(WORK.items()))
    return r.choice(
        (
            f"The {what} is {colour}.",
            f"What color is the {what}? The {what} is {colour}.",
            f"The {animal} says {sound}.",
            f"What does the {animal} say? The {animal} says {sound}.",
            f"The {dweller} lives in the {home}.",
            f"Where does the {dweller} live? The {dweller} lives in the {home}.",
            f"A {job} {work}.",
            f"What does a {job} do? A {job} {work}.",
        )
    )


def total(r: Random) -> str:
    x, y = r.randint(1, 9), r.randint(1, 9)
    if r.random() < 0.6:
        return r.choice((f"{x} + {y} = {x + y}.", f"What is {x} + {y}? {x} + {y} = {x + y}."))
    y = r.randint(1, len(NUMBERS) - x)
    spoken = f"{NUMBERS[x - 1]} plus {NUMBERS[y - 1]} is {NUMBERS[x + y - 1]}."
    return capitalised(spoken)


def sequence(r: Random) -> str:
    words = r.choice(SEQUENCES)
    start = r.randrange(len(words) - 3)
    part = words[start : start + r.randint(4, 8)]
    if r.random() < 0.2:
        return f"After {part[0]} comes {part[1]}. After {part[1]} comes {part[2]}."
    comma = ", " if r.random() < 0.7 else " "
    return f"{comma.join(part)}."


def naming(r: Random) -> str:
    kind, words = r.choice(
        (("Animals", ANIMALS), ("Colors", COLOURS), ("Foods", FOODS), ("Places", PLACES))
    )
    some = r.sample(words, 4)
    if kind == "Animals":
        some = [plural(word) for word in some]
    listed = f"{', '.join(some[:3])}, and {some[3]}"
    thing, job = r.choice(THINGS), r.choice(JOBS)
    return r.choice(
        (
            f"{kind}: {listed}.",
            f"{kind}: {listed}.",
            f"The {job} has a {thing}. It is the {job}'s {thing}.",
        )
    )


# what may stand in a story, and what stands in a text of its own
SPOKEN: tuple[Callable[[Random], str], ...] = (country, opposite, nature, nature)
KINDS = (country, country, opposite, nature, nature, total, sequence, naming)


def spoken_fact(r: Random) -> str:
    """One or two full sentences; articles are not settled yet."""
    return r.choice(SPOKEN)(r)


def fact(r: Random) -> str:
    """One or two sentences, a sum, a sequence or a list; articles are not settled yet."""
    return r.choice(KINDS)(r)
