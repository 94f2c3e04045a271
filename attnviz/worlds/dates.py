"""Dates as people write them, with their ISO 8601 form: the world of `dates`.

In: a seeded `random.Random`. Out: a `DatePair`, for instance "Monday, January 12, 1948" and
"1948-01-12", with the spans of year, month and day in the text. In a date of numbers only, dots
mean that the day comes first (12.01.1948) and slashes that the month does (01/12/1948).
"""

import datetime
import random
import re
from dataclasses import dataclass
from functools import cache

from attnviz.worlds import is_held_out

MONTHS = (
    "January February March April May June July August September October November December"
).split()
SHORT_MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec".split()
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth"
    " fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth twenty-first"
    " twenty-second twenty-third twenty-fourth twenty-fifth twenty-sixth twenty-seventh"
    " twenty-eighth twenty-ninth thirtieth thirty-first"
).split()

FIRST, LAST = datetime.date(1800, 1, 1), datetime.date(2099, 12, 31)
# fields: {Y} year, {M} the month's name, {0M} and {1M} its number with and without zero, {D} {0D}
# the day, {O} 12th, {W} twelfth, {w} the weekday, which the answer does not need
FORMATS = (
    "{M} {D}, {Y}",
    "{M} {O}, {Y}",
    "{D} {M} {Y}",
    "{O} {M} {Y}",
    "the {O} of {M}, {Y}",
    "the {O} of {M} {Y}",
    "the {W} of {M}, {Y}",
    "{M} the {W}, {Y}",
    "{w}, {M} {D}, {Y}",
    "{w}, {D} {M} {Y}",
    "{w} the {O} of {M}, {Y}",
    "{w}, the {W} of {M} {Y}",
    "in {Y}, on {M} {D}",
    "in {Y}, on the {O} of {M}",
    "{D}-{M}-{Y}",
    "{0D}.{0M}.{Y}",
    "{D}.{1M}.{Y}",
    "{0M}/{0D}/{Y}",
    "{Y}/{0M}/{0D}",
    "{Y}, {M} {D}",
)
FRAMES = (
    "She was born on {}.",
    "We met on {}.",
    "It happened on {}.",
    "The letter was written on {}.",
    "They arrived on {}.",
    "The meeting is on {}.",
)
FIELD = re.compile(r"\{(\w+)\}")

EXAMPLES = (
    "Monday, January 12, 1948",
    "the twenty-third of October, 1999",
    "4 July 1976",
    "She was born on the 1st of March, 2004.",
    "in 1815, on June 18",
    "Sept. 30th, 2021",
    "20.07.1969",
    "12/31/1999",
)


@dataclass(frozen=True)
class DatePair:
    """A date as text and as ISO 8601; `parts` are the characters of year, month and day."""

    text: str
    iso: str
    parts: tuple[tuple[int, int], tuple[int, int], tuple[int, int]]


def draw(rng: random.Random, *, held_out: bool = False) -> DatePair:
    """One date in one of the formats; `held_out` ones are those that training never sees."""
    while True:
        pair = _draw(rng)
        if is_held_out(pair.text) == held_out:
            return pair


def _draw(rng: random.Random) -> DatePair:
    date = FIRST + datetime.timedelta(days=rng.randrange((LAST - FIRST).days + 1))
    form = rng.choice(FORMATS)
    if rng.random() < 0.15 and "/" not in form:
        form = rng.choice(FRAMES).replace("{}", form)
    text, spans = _filled(form, _fields(rng, date))
    case = rng.random()
    if case < 0.1:
        text = text.lower()
    elif case < 0.15:
        text = text.upper()
    elif case < 0.3:
        text = text[0].upper() + text[1:]
    return DatePair(text, date.isoformat(), (spans["Y"], spans["M"], spans["D"]))


def _fields(rng: random.Random, date: datetime.date) -> dict[str, str]:
    """The text of each field of a format for a date."""
    month = MONTHS[date.month - 1]
    if rng.random() < 0.25:
        short = SHORT_MONTHS[date.month - 1]
        month = short if short == month or rng.random() < 0.5 else short + "."
    return {
        "Y": f"{date.year}",
        "M": month,
        "0M": f"{date.month:02d}",
        "1M": f"{date.month}",
        "D": f"{date.day}",
        "0D": f"{date.day:02d}",
        "O": f"{date.day}{suffix(date.day)}",
        "W": ORDINALS[date.day - 1],
        "w": DAYS[date.weekday()],
    }


def _filled(form: str, fields: dict[str, str]) -> tuple[str, dict[str, tuple[int, int]]]:
    """The format with its fields filled in, and the spans of year, month and day."""
    text, spans = "", {}
    for n, part in enumerate(FIELD.split(form)):
        value = fields[part] if n % 2 else part
        if n % 2:
            name = {"O": "D", "W": "D"}.get(part[-1], part[-1])
            spans[name] = (len(text), len(text) + len(value))
        text += value
    return text, spans


def suffix(day: int) -> str:
    """The ending of an ordinal: 1st, 2nd, 3rd, 4th, 11th.

    >>> [f"{day}{suffix(day)}" for day in (1, 12, 22, 13, 3)]
    ['1st', '12th', '22nd', '13th', '3rd']
    """
    if 10 <= day % 100 <= 20:
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")


@cache
def known_words() -> frozenset[str]:
    """Every word of the formats, in lower case."""
    texts = [*MONTHS, *SHORT_MONTHS, *DAYS, *ORDINALS, *FRAMES, *FORMATS, "st nd rd th"]
    return frozenset(word.lower() for text in texts for word in re.findall(r"[^\W\d_]+", text))


def unknown_words(text: str) -> tuple[str, ...]:
    """The words of a text that none of the formats has, in their order."""
    words = re.findall(r"[^\W\d_]+", text)
    return tuple(dict.fromkeys(word for word in words if word.lower() not in known_words()))
