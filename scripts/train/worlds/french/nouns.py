"""Noun phrases in both languages at once: determiner, adjectives, noun, owner.

In: a seeded generator, what the phrase is for, and which kinds of noun make sense. Out: a `Phrase`.
French adjectives of beauty, age, goodness and size stand before their noun; the others follow it
in the mirror of their English order (a round black table: une table noire ronde).
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from scripts.train.worlds.french.spelling import Word, said
from scripts.train.worlds.french.words import (
    Adjective,
    Noun,
    article,
    elides,
    english_forms,
    lexicon,
)

# object: of a verb; generic: of a verb like love, which takes "les chats" where others take "des";
# denied: of a negated verb; place: after a preposition; definite: where no indefinite can stand
Role = Literal["subject", "object", "generic", "denied", "place", "definite"]

ALL_KINDS = ("person", "animal", "food", "mass", "text", "thing", "place", "body", "idea")
BEFORE = ("before_opinion", "before_size", "before_age")
LIVING = ("person", "person", "animal")
FITTING: dict[str, tuple[str, ...]] = {
    "person": ("feeling", "feeling", "origin", *BEFORE),
    "animal": ("feeling", "quality", "colour", "colour", *BEFORE),
    "food": ("taste", "taste", "colour", "quality", *BEFORE),
    "mass": ("taste", "physical", "origin", "before_opinion"),
    "text": ("quality", "origin", *BEFORE),
    "thing": ("physical", "quality", "colour", "origin", *BEFORE),
    "place": ("physical", "quality", "origin", *BEFORE),
    "body": ("colour", "physical", *BEFORE),
    "idea": ("quality", "quality", *BEFORE),
}
# the order of English adjectives: a beautiful big heavy old red French car
RANK = {
    kind: n
    for n, kinds in enumerate(
        (
            ("before_opinion",),
            ("quality", "feeling"),
            ("before_size",),
            ("physical", "taste"),
            ("before_age",),
            ("colour",),
            ("origin",),
            ("unknown",),
        )
    )
    for kind in kinds
}
POSSESSIVES = {
    "my": "mon ma mes",
    "your": "ton ta tes",
    "his": "son sa ses",
    "her": "son sa ses",
    "our": "notre notre nos",
    "their": "leur leur leurs",
}
WEIGHTS: dict[Role, str] = {
    # one letter per twentieth or so: t the, a a, p possessive, d this, n number, m many,
    # e every, s some, b bare
    "subject": "ttttttttaaapppppddneemsb",
    "object": "tttttttaaaaapppppddnnmsbb",
    "generic": "ttttttttpppppdddnbbb",
    "denied": "ttttttttaaaapppppdssbb",
    "place": "ttttttttttaaapppddn",
    "definite": "ttttttttpppd",
}
SYLLABLES = (
    "ba be bi bo bu da de di do du fa fe fi fo ga go gu ja jo ka ke ki ko la le li lo lu ma me mi"
    " mo mu na ne ni no nu pa pe pi po ra re ri ro ru sa se si so su ta te ti to tu va ve vi vo wa"
    " we wi za ze zi zo bra cle dro fla gri kla plu qua sta tri a e i o u y"
).split()
UNWANTED = "porn anal anus arse tit cul con sex sod fag gay nig rap nazi wank shit".split()
ENDINGS = "n r k l t m b d p g ld rn nt rk lm f v o a i e".split()


@dataclass(frozen=True)
class Phrase:
    """A noun phrase; `person` counts je, tu, il, nous, vous, ils from 0, `kind` is its noun's."""

    english: tuple[Word, ...]
    french: tuple[Word, ...]
    feminine: bool
    person: int
    kind: str

    @property
    def plural(self) -> bool:
        return self.person >= 3


def invented(rng: random.Random) -> str:
    """A word that no one knows: it has to be copied letter by letter."""
    while True:
        word = "".join(rng.choices(SYLLABLES, k=rng.randint(1, 3))) + rng.choice(ENDINGS)
        taken = {word, word + "s"} & english_forms()
        if len(word) > 3 and not taken and not any(part in word for part in UNWANTED):
            return word


def noun_phrase(rng: random.Random, role: Role, kinds: Sequence[str] = ALL_KINDS) -> Phrase:
    """One phrase: a name, an owner's thing, two joined by "and", or determiner and noun."""
    draw = rng.random()
    if "person" in kinds and draw < 0.12:
        return name(rng)
    if draw < 0.18:
        return _owned(rng, kinds)
    if draw < 0.22 and role in ("subject", "object", "generic"):
        return _pair(rng, kinds)
    return plain(rng, role, kinds)


def rare_phrase(rng: random.Random) -> Phrase:
    """A subject that is rare elsewhere: a noun without article, an invented word, or a name."""
    draw = rng.random()
    if draw < 0.08:
        return name(rng)
    if draw < 0.45:
        word = invented(rng)
        while draw < 0.3 and not elides(word):
            word = invented(rng)
        noun = Noun(word, word + "s", word, word + "s", False, rng.choice(["animal", "thing"]))
        plural = draw >= 0.3
        return phrase(rng, "subject", "b" if plural else "t", noun, plural, [], False)
    noun = rng.choice(lexicon().nouns[rng.choice(ALL_KINDS)])
    adjectives = _adjectives(rng, noun)[0][: rng.randint(0, 1)]
    return phrase(rng, "subject", "b", noun, bool(noun.plural), adjectives, False)


def name(rng: random.Random) -> Phrase:
    """A person's name, copied; one that is invented counts as masculine."""
    words, draw = lexicon(), rng.random()
    if draw < 0.25:
        text, feminine = invented(rng).capitalize(), False
    else:
        feminine = draw < 0.62
        text = rng.choice(words.women if feminine else words.men)
    english = Word(text)
    return Phrase((english,), (Word(text, english),), feminine, 2, "person")


def city(rng: random.Random) -> Phrase:
    english, french = rng.choice(lexicon().pairs["cities"])
    source = Word(english)
    return Phrase((source,), (Word(french, source),), False, 2, "place")


def plain(rng: random.Random, role: Role, kinds: Sequence[str]) -> Phrase:
    """Determiner, adjectives and noun."""
    noun, choice = _noun(rng, kinds), rng.choice(WEIGHTS[role])
    plural = _number(rng, noun, choice)
    return phrase(rng, role, choice, noun, plural, *_adjectives(rng, noun))


def phrase(
    rng: random.Random,
    role: Role,
    choice: str,
    noun: Noun,
    plural: bool,
    adjectives: Sequence[Adjective],
    very: bool,
) -> Phrase:
    """The phrase of a noun and its adjectives; `choice` is a letter of `WEIGHTS`."""
    english, french = described(noun, plural, adjectives, very)
    before = _stands_before(french)
    en_det, fr_det = _determiner(rng, choice, role, noun, plural, english[0].text, before)
    return Phrase(
        (*en_det, *english), (*fr_det, *french), noun.feminine, 5 if plural else 2, noun.kind
    )


def _noun(rng: random.Random, kinds: Sequence[str]) -> Noun:
    if rng.random() < 0.035:
        word = invented(rng)
        return Noun(word, word + "s", word, word + "s", False, rng.choice(["animal", "thing"]))
    return rng.choice(lexicon().nouns[rng.choice(kinds)])


def _number(rng: random.Random, noun: Noun, choice: str) -> bool:
    """Whether the noun is plural, as far as determiner and noun leave that open."""
    if not noun.plural or choice in "ae":
        return False
    return choice in "nmsb" or rng.random() < 0.3


def described(
    noun: Noun, plural: bool, adjectives: Sequence[Adjective], very: bool
) -> tuple[list[Word], list[Word]]:
    """The noun with its adjectives, in the order of each language."""
    en_adjectives = [Word(adjective.english) for adjective in adjectives]
    en_noun = Word(noun.plural if plural else noun.english)
    fr_noun = Word(noun.french_plural if plural else noun.french, en_noun)
    before: list[Word] = []
    after = [fr_noun]
    for adjective, source in zip(reversed(adjectives), reversed(en_adjectives), strict=True):
        form = adjective.forms[noun.feminine + 2 * plural]
        if not adjective.before:
            after.append(Word(form, source))
            continue
        following = before[0].text if before else fr_noun.text
        if not noun.feminine and not plural and elides(following):
            form = adjective.liaison
        before.insert(0, Word(form, source))
    if very:
        where = before if before else after
        where.insert(0 if before else 1, Word("très"))
    return [*said("very" if very else ""), *en_adjectives, en_noun], [*before, *after]


def _adjectives(rng: random.Random, noun: Noun) -> tuple[list[Adjective], bool]:
    """None, one or two that fit the noun, mostly in the usual order, and whether one is "very"."""
    draw = rng.random()
    count = 0 if draw < 0.4 else 1 if draw < 0.82 else 2
    kinds = [adjective_kind(rng, noun.kind) for _ in range(count)]
    if len(set(kinds)) < count:
        kinds = kinds[:1]
    if rng.random() < 0.9:
        kinds.sort(key=RANK.__getitem__)
    very = len(kinds) == 1 and kinds[0] not in ("origin", "unknown") and rng.random() < 0.12
    return [adjective_of(rng, kind) for kind in kinds], very


def adjective_kind(rng: random.Random, kind: str) -> str:
    """A kind of adjective for a kind of noun: mostly one that makes sense."""
    draw = rng.random()
    if draw < 0.02:
        return "unknown"
    return rng.choice(tuple(lexicon().adjectives) if draw < 0.2 else FITTING[kind])


def adjective_of(rng: random.Random, kind: str) -> Adjective:
    if kind != "unknown":
        return rng.choice(lexicon().adjectives[kind])
    word = invented(rng)
    return Adjective(word, (word, word, word, word), word, False, kind)


def _stands_before(french: list[Word]) -> bool:
    """Whether an adjective opens the French phrase, with or without très."""
    return french[french[0].text == "très"].text in _opening_forms()


@cache
def _opening_forms() -> frozenset[str]:
    return frozenset(
        form
        for kind in BEFORE
        for adjective in lexicon().adjectives[kind]
        for form in (*adjective.forms, adjective.liaison)
    )


def _determiner(
    rng: random.Random,
    choice: str,
    role: Role,
    noun: Noun,
    plural: bool,
    following: str,
    adjective_first: bool,
) -> tuple[list[Word], list[Word]]:
    """English and French determiner; `following` is the English word behind it."""
    form = 2 if plural else int(noun.feminine)
    if choice == "t":
        return said("the"), said("le la les".split()[form])
    if choice == "p":
        possessive = rng.choice(tuple(POSSESSIVES))
        return said(possessive), said(POSSESSIVES[possessive].split()[form])
    if choice == "d":
        english = rng.choice(("these", "those") if plural else ("this", "that"))
        return said(english), said("ce cette ces".split()[form])
    if choice == "e" and noun.kind != "mass" and not plural:
        return said(rng.choice(("every", "each"))), said("chaque")
    if choice in "nm" and plural:
        return _counted(rng, choice)
    if choice == "a" and noun.kind != "mass" and not plural:
        return said(article(following)), said("de" if role == "denied" else "un une".split()[form])
    if choice in "sb" and (plural or noun.kind == "mass"):
        some = "" if choice == "b" else "any" if role == "denied" else "some"
        return said(some), said(_indefinite(choice, role, form, adjective_first))
    return said("the"), said("le la les".split()[form])


def _counted(rng: random.Random, choice: str) -> tuple[list[Word], list[Word]]:
    """two, the two, my two; many, several."""
    if choice == "m":
        english, french = rng.choice((("many", "beaucoup de"), ("several", "plusieurs")))
        return said(english), said(french)
    english, french = rng.choice(lexicon().pairs["numbers"])
    number = Word(english)
    owner, owned = rng.choice((("", ""), ("", ""), ("the", "les"), ("my", "mes")))
    return [*said(owner), number], [*said(owned), Word(french, number)]


def _indefinite(choice: str, role: Role, form: int, adjective_first: bool) -> str:
    """What French says for some, any, and no determiner at all."""
    if role == "denied":
        return "de"
    if choice == "b" and role in ("subject", "generic"):
        return "le la les".split()[form]
    if form < 2:
        return "de le" if form == 0 else "de la"
    return "de" if adjective_first else "des"


def _owned(rng: random.Random, kinds: Sequence[str]) -> Phrase:
    """The king's dog, le chien du roi; Anna's dog, le chien d'Anna."""
    noun = _noun(rng, kinds)
    plural = bool(noun.plural) and rng.random() < 0.3
    english, french = described(noun, plural, *_adjectives(rng, noun))
    owner = name(rng) if rng.random() < 0.4 else _one(rng, ("person", "person", "animal"))
    article_ = "le la les".split()[2 if plural else int(noun.feminine)]
    if rng.random() < 0.35:  # the dog of the king
        before = [*said("the"), *english, *said("of"), *owner.english]
    else:
        before = [*owner.english, Word("'s"), *english]
    return Phrase(
        tuple(before),
        (*said(article_), *french, *said("de"), *owner.french),
        noun.feminine,
        5 if plural else 2,
        noun.kind,
    )


def _one(rng: random.Random, kinds: Sequence[str]) -> Phrase:
    """A definite phrase in the singular."""
    while (found := plain(rng, "definite", kinds)).plural:
        pass
    return found


def _pair(rng: random.Random, kinds: Sequence[str]) -> Phrase:
    """Two phrases and "and": plural, feminine only if both are."""
    first, second = (
        name(rng) if rng.random() < 0.3 and "person" in kinds else plain(rng, "definite", kinds)
        for _ in range(2)
    )
    return Phrase(
        (*first.english, *said("and"), *second.english),
        (*first.french, *said("et"), *second.french),
        first.feminine and second.feminine,
        5,
        first.kind,
    )
