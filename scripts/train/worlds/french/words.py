"""The words of the translator's world, with all their forms: English and French.

Owns `Noun`, `Adjective`, `Verb` and the rules that inflect them; the words themselves stand in
words.toml. In: that file. Out: a `Lexicon`. The rules cover what is regular in both
languages, the file names what is not.
"""

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, TypeVar

Tense = Literal["present", "imperfect", "future"]
T = TypeVar("T")

VOWELS = "aeiouàâéèêëîïôûùœæ"
ASPIRATED = "*"
SAME_IN_PLURAL = ("s", "x", "z")
ER = ("e", "es", "e", "ons", "ez", "ent")
FINIR = ("is", "is", "it", "issons", "issez", "issent")
IMPERFECT = ("ais", "ais", "ait", "ions", "iez", "aient")
FUTURE = ("ai", "as", "a", "ons", "ez", "ont")
SILENT_H = ("honest", "hour")
SOUNDS_LIKE_YOU = ("eu", "uni", "use")  # a European, a unicorn, a useful key


@dataclass(frozen=True)
class Noun:
    """English and French, singular and plural; `plural` is "" where only one number is used."""

    english: str
    plural: str
    french: str
    french_plural: str
    feminine: bool
    kind: str


@dataclass(frozen=True)
class Adjective:
    """`forms`: masculine, feminine, masculine plural, feminine plural; `liaison`: the masculine
    before a vowel; `before` says that it stands before its noun."""

    english: str
    forms: tuple[str, str, str, str]
    liaison: str
    before: bool
    kind: str


@dataclass(frozen=True)
class Verb:
    """The English forms, the French infinitive, and the kinds of noun that it takes as object.

    `moves`: its past is made with être. `state`: its past is the imperfect.
    """

    english: str
    s_form: str
    ing: str
    past: str
    infinitive: str
    objects: tuple[str, ...]
    kind: str
    moves: bool

    @property
    def state(self) -> bool:
        return self.kind == "state"


@dataclass(frozen=True)
class Lexicon:
    """All words by their kinds; `pairs` has adverbs, numbers, prepositions and cities."""

    nouns: dict[str, tuple[Noun, ...]]
    adjectives: dict[str, tuple[Adjective, ...]]
    verbs: dict[str, tuple[Verb, ...]]
    pairs: dict[str, tuple[tuple[str, str], ...]]
    women: tuple[str, ...]
    men: tuple[str, ...]
    professions: tuple[Noun, ...]


@cache
def lexicon() -> Lexicon:
    """All the words, read once."""
    words = _table()["words"]
    moving = frozenset(words["with_etre"].split())
    singles = ("women", "men", "with_etre", "professions")
    nouns = _grouped("nouns", _noun)
    trades = frozenset(words["professions"].split())
    return Lexicon(
        nouns=nouns,
        adjectives=_grouped("adjectives", _adjective),
        verbs=_grouped("verbs", lambda line, kind: _verb(line, kind, moving)),
        pairs={
            name: tuple(_pair(entry) for entry in line.split())
            for name, line in words.items()
            if name not in singles
        },
        women=tuple(words["women"].split()),
        men=tuple(words["men"].split()),
        professions=tuple(noun for noun in nouns["person"] if noun.english in trades),
    )


@cache
def _table() -> dict[str, dict[str, str]]:
    file = Path(__file__).with_name("words.toml")
    return tomllib.loads(file.read_text(encoding="utf-8"))


@cache
def english_forms() -> frozenset[str]:
    """Every English form of the nouns, adjectives, verbs, adverbs and numbers, in small letters."""
    words = lexicon()
    nouns = [form for some in words.nouns.values() for n in some for form in (n.english, n.plural)]
    adjectives = [a.english for some in words.adjectives.values() for a in some]
    verbs = [
        form
        for some in words.verbs.values()
        for v in some
        for form in (v.english, v.s_form, v.ing, v.past)
    ]
    pairs = [english for some in words.pairs.values() for english, _ in some]
    names = [*words.women, *words.men]
    return frozenset(form.lower() for form in [*nouns, *adjectives, *verbs, *pairs, *names] if form)


@cache
def french_forms() -> frozenset[str]:
    """Every French form of the nouns, adjectives and verbs, as they are written in the middle."""
    words = lexicon()
    nouns = {
        form for some in words.nouns.values() for n in some for form in (n.french, n.french_plural)
    }
    adjectives = {
        form for some in words.adjectives.values() for a in some for form in (*a.forms, a.liaison)
    }
    infinitives = {v.infinitive for some in words.verbs.values() for v in some} | {
        "être",
        "pouvoir",
        "devoir",
    }
    tenses: tuple[Tense, ...] = ("present", "imperfect", "future")
    verbs = {
        form
        for infinitive in infinitives
        for form in (
            infinitive,
            *(conjugated(infinitive, tense, person) for tense in tenses for person in range(6)),
            *(participle(infinitive, feminine=bool(n & 1), plural=n > 1) for n in range(4)),
        )
    }
    return frozenset(nouns | adjectives | verbs)


def _grouped(part: str, made: Callable[[str, str], T]) -> dict[str, tuple[T, ...]]:
    return {
        kind: tuple(made(line, kind) for line in lines.splitlines())
        for kind, lines in _table()[part].items()
    }


def _pair(entry: str) -> tuple[str, str]:
    english, _, french = entry.partition("/")
    return english, french.replace("-", " ") or english


@cache
def _aspirated() -> frozenset[str]:
    """Every French form whose h keeps a vowel before it: le héros, ce haricot."""
    lines = [line for part in ("nouns", "adjectives") for line in _table()[part].values()]
    marked = [
        word.strip(ASPIRATED).split("/")[0]
        for text in lines
        for word in text.split()
        if word.startswith(ASPIRATED)
    ]
    feminine = [word + "e" for word in marked]
    plural = [french_plural(word) for word in marked + feminine]
    return frozenset([*marked, *feminine, *plural, "huit", "onze"])


def elides(word: str) -> bool:
    """Whether le and la become l' before a French word, ce becomes cet, ma becomes mon.

    >>> elides("homme"), elides("héros"), elides("œil"), elides("yaourt")
    (True, False, True, False)
    """
    first = word[:1].casefold()
    return first in VOWELS and bool(first) or (first == "h" and word.casefold() not in _aspirated())


# --- nouns -------------------------------------------------------------------------------------


def _noun(line: str, kind: str) -> Noun:
    english, french, gender = line.split()
    english, _, plural = english.partition("/")
    french, _, given = french.strip(ASPIRATED).partition("/")
    several = "" if plural == "-" or kind == "mass" else plural or with_s(english)
    return Noun(english, several, french, given or french_plural(french), gender == "f", kind)


def with_s(word: str) -> str:
    """The English plural, and a verb's form after he, where both are regular.

    >>> [with_s(word) for word in ("cat", "box", "city", "toy")]
    ['cats', 'boxes', 'cities', 'toys']
    """
    if word.endswith(("s", "x", "z", "ch", "sh")) or word == "go":
        return word + "es"
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    return word + "s"


def french_plural(word: str) -> str:
    """The regular plural of a noun or a masculine adjective.

    >>> [french_plural(word) for word in ("chat", "gâteau", "cheval", "souris", "jeu")]
    ['chats', 'gâteaux', 'chevaux', 'souris', 'jeux']
    """
    if word.endswith(SAME_IN_PLURAL):
        return word
    if word.endswith("al"):
        return word[:-1] + "ux"
    return word + ("x" if word.endswith(("eau", "eu")) and word != "bleu" else "s")


def article(following: str) -> str:
    """a or an.

    >>> [article(word) for word in ("apple", "unicorn", "honest", "house")]
    ['an', 'a', 'an', 'a']
    """
    word = following.casefold()
    vowel = word.startswith(tuple("aeiou")) and not word.startswith(SOUNDS_LIKE_YOU)
    return "an" if vowel or word.startswith(SILENT_H) else "a"


# --- adjectives --------------------------------------------------------------------------------


def _adjective(line: str, kind: str) -> Adjective:
    english, french = line.split()
    masculine, feminine, liaison, *_ = [*french.strip(ASPIRATED).split("/"), "", ""]
    feminine = feminine or french_feminine(masculine)
    plural = french_plural(masculine)
    forms = (masculine, feminine, plural, feminine + "s")
    return Adjective(english, forms, liaison or masculine, kind.startswith("before"), kind)


def french_feminine(masculine: str) -> str:
    """The regular feminine of an adjective.

    >>> [french_feminine(word) for word in ("petit", "rouge", "heureux", "léger")]
    ['petite', 'rouge', 'heureuse', 'légère']
    """
    if masculine.endswith("e"):
        return masculine
    if masculine.endswith("eux"):
        return masculine[:-1] + "se"
    return (masculine[:-2] + "ère") if masculine.endswith("er") else masculine + "e"


# --- verbs -------------------------------------------------------------------------------------


def _verb(line: str, kind: str, moving: frozenset[str]) -> Verb:
    english, past, infinitive, *objects = line.split()
    english, _, ing = english.partition("/")
    return Verb(
        english=english,
        s_form="has" if english == "have" else with_s(english),
        ing=ing or english_ing(english),
        past=english_past(english) if past == "." else past,
        infinitive=infinitive,
        objects=tuple(objects[0].split(",")) if objects else (),
        kind=kind,
        moves=infinitive in moving,
    )


def english_ing(word: str) -> str:
    """The regular form of what is going on.

    >>> english_ing("take"), english_ing("see"), english_ing("carry")
    ('taking', 'seeing', 'carrying')
    """
    return (word[:-1] if word.endswith("e") and not word.endswith("ee") else word) + "ing"


def english_past(word: str) -> str:
    """The regular past.

    >>> english_past("love"), english_past("carry"), english_past("play")
    ('loved', 'carried', 'played')
    """
    if word.endswith("e"):
        return word + "d"
    return word[:-1] + "ied" if word.endswith("y") and word[-2] not in "aeiou" else word + "ed"


def conjugated(infinitive: str, tense: Tense, person: int) -> str:
    """A French form; `person` counts je, tu, il, nous, vous, ils from 0."""
    present, _, future = _principal_parts(infinitive)
    if tense == "present":
        return present[person]
    if tense == "future":
        return future + FUTURE[person]
    stem = "ét" if infinitive == "être" else present[3].removesuffix("ons")
    if stem.endswith("ge") and person in (3, 4):
        stem = stem[:-1]
    return stem + IMPERFECT[person]


def participle(infinitive: str, *, feminine: bool = False, plural: bool = False) -> str:
    """The past participle, in agreement where that is asked for."""
    form = _principal_parts(infinitive)[1]
    form = form + "e" if feminine else form
    return form if not plural or form.endswith("s") else form + "s"


@cache
def _principal_parts(infinitive: str) -> tuple[tuple[str, ...], str, str]:
    """The present in all persons, the participle, and the stem of the future."""
    given = _table()["conjugations"].get(infinitive)
    if given is not None:
        present, past, future = (part.strip() for part in given.split("|"))
        return tuple(present.split()), past, future
    stem = infinitive[:-2]
    if infinitive.endswith("ir"):
        return tuple(stem + end for end in FINIR), stem + "i", infinitive
    soft = stem + "e" if stem.endswith("g") else stem.removesuffix("c") + "ç"
    before_o = soft if stem.endswith(("g", "c")) else stem
    return (
        tuple((before_o if end == "ons" else stem) + end for end in ER),
        stem + "é",
        infinitive,
    )
