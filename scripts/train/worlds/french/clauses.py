"""Clauses in both languages at once: who does or is what, in several tenses, denied or asked.

In: a seeded generator. Out: a `Clause`, the words of a sentence without its sign. English "you" is
tu, "they" is ils, "it" is il: one French sentence for each English one. What was going on in the
past is in the passé composé, what was so (was, had, knew, loved …) in the imparfait.
"""

import random
from dataclasses import dataclass, replace

from scripts.train.worlds.french.nouns import (
    ALL_KINDS,
    FITTING,
    LIVING,
    Phrase,
    adjective_kind,
    adjective_of,
    noun_phrase,
    phrase,
    rare_phrase,
)
from scripts.train.worlds.french.objects import (
    Choice,
    Predicate,
    object_pronoun,
    place,
    predicate_of,
)
from scripts.train.worlds.french.spelling import Word, said
from scripts.train.worlds.french.words import Tense, Verb, article, conjugated, lexicon, participle

# English, French, feminine, person
PRONOUNS = (
    ("I", "je", False, 0),
    ("you", "tu", False, 1),
    ("he", "il", False, 2),
    ("she", "elle", True, 2),
    ("it", "il", False, 2),
    ("we", "nous", False, 3),
    ("they", "ils", False, 5),
)
VERB_KINDS = (
    ["any_object"] * 8 + ["optional_object"] * 2 + ["state"] * 3 + ["gift"] + ["no_object"] * 6
) + ["motion"]
TENSES = (
    ["present"] * 9
    + ["progressive"] * 3
    + ["past"] * 4
    + ["future", "can", "must", "want", "future"]
)
MODALS = {"can": "pouvoir", "must": "devoir", "want": "vouloir"}
SHORT = {
    "do": "don't",
    "does": "doesn't",
    "did": "didn't",
    "is": "isn't",
    "are": "aren't",
    "was": "wasn't",
    "were": "weren't",
    "will": "won't",
    "can": "can't",
}
AM = ("am", "are", "is", "are", "are", "are")
WAS = ("was", "were", "was", "were", "were", "were")
GLUED = {"am": "'m", "are": "'re", "is": "'s"}


@dataclass(frozen=True)
class Clause:
    """`helper` is the auxiliary that a question puts in front, `rest` what follows it."""

    subject: Phrase
    helper: tuple[Word, ...]
    rest: tuple[Word, ...]
    french: tuple[Word, ...]

    @property
    def english(self) -> tuple[Word, ...]:
        return (*self.subject.english, *self.helper, *self.rest)


def pronoun(rng: random.Random) -> Phrase:
    english, french, feminine, person = rng.choice(PRONOUNS)
    return Phrase((Word(english),), (Word(french),), feminine, person, "pronoun")


def subject(rng: random.Random) -> Phrase:
    """A pronoun, or a phrase about someone who can act, mostly."""
    if rng.random() < 0.27:
        return pronoun(rng)
    return noun_phrase(rng, "subject", LIVING if rng.random() < 0.8 else ALL_KINDS)


def clause(
    rng: random.Random,
    *,
    asked: bool = False,
    tense: str | None = None,
    who: Phrase | None = None,
) -> Clause:
    """A whole clause; `tense` and the subject can be given."""
    about = who or subject(rng)
    if rng.random() < 0.2:
        return _being(rng, about, asked, tense)
    choice = _choice(rng, asked, tense)
    kind = rng.choice(VERB_KINDS)
    verb = rng.choice(lexicon().verbs[kind])
    third = about.person == 2
    unclear = verb.past == verb.english and not (third or choice.negative or asked)
    if (choice.tense == "past" and unclear) or (choice.tense == "progressive" and verb.state):
        choice = replace(choice, tense="present")
    if who is None and choice.tense != "want" and rng.random() < 0.07 and not asked:
        about = _with_relative(rng, about)
    return worded(rng, about, verb, choice)


def _choice(rng: random.Random, asked: bool, tense: str | None) -> Choice:
    drawn = tense or rng.choice(TENSES)
    negative = not asked and rng.random() < 0.17
    adverb = None
    if drawn in ("present", "past") and not asked and rng.random() < 0.12:
        adverb = rng.choice(lexicon().pairs["often"][: 2 if negative else None])
    return Choice(drawn, negative, asked, adverb)


def _with_relative(rng: random.Random, about: Phrase) -> Phrase:
    """The man who sleeps, l'homme qui dort: only behind a noun that is the last word."""
    if len(about.english) < 2 or about.english[-2].text in ("and", "of", "'s"):
        return about
    person = "who" if about.kind == "person" else "that"
    choice = Choice(rng.choice(("present", "past")), False, False)
    verb = rng.choice(lexicon().verbs[rng.choice(("no_object", "any_object"))])
    if verb.past == verb.english:
        choice = replace(choice, tense="present")
    inner = worded(rng, replace(about, english=(), french=(), kind="relative"), verb, choice)
    return replace(
        about,
        english=(*about.english, *said(person), *inner.helper, *inner.rest),
        french=(*about.french, *said("qui"), *inner.french),
    )


# --- verbs -------------------------------------------------------------------------------------


def drilled(rng: random.Random) -> Clause:
    """A short clause, each verb as likely as another, with forms and subjects rare elsewhere."""
    verb = rng.choice([verb for some in lexicon().verbs.values() for verb in some])
    draw = rng.random()
    about = pronoun(rng) if draw < 0.45 else noun_phrase(rng, "subject", LIVING)
    if draw >= 0.6:
        about = rare_phrase(rng)
    tense = rng.choice(("past", "past", "past", "future", "future", "present"))
    choice = Choice(tense, rng.random() < 0.15, False)
    if verb.past == verb.english and about.person != 2 and not choice.negative:
        choice = replace(choice, tense="future" if tense == "future" else "present")
    known = object_pronoun(rng, about) if verb.objects and rng.random() < 0.6 else None
    return worded(rng, about, verb, choice, known)


def what(rng: random.Random) -> Clause:
    """The rest of "what does the cat see", qu'est-ce que le chat voit."""
    verb = rng.choice(lexicon().verbs[rng.choice(("any_object", "optional_object", "state"))])
    choice = Choice(
        rng.choice(("present", "present", "past", "future", "can", "want")), False, True
    )
    return worded(rng, subject(rng), verb, choice, Predicate())


def worded(
    rng: random.Random,
    about: Phrase,
    verb: Verb,
    choice: Choice,
    predicate: Predicate | None = None,
) -> Clause:
    """The clause of a verb: English and French words of the same main verb."""
    helper, lead, form = _english_verb(rng, choice, verb, about)
    main = Word(form)
    modal = {"can": helper, "must": helper, "want": lead}.get(choice.tense, ())
    predicate = predicate or predicate_of(rng, about, verb, choice)
    finite, infinite = _french_verb(about, verb, choice, main, modal, predicate)
    adverbs = _adverbs(rng, verb, choice)
    # the infinitive has the pronoun before itself, anything else before the finite verb
    early, late = ((), predicate.clitic) if modal else (predicate.clitic, ())
    french = (
        *about.french,
        *said("ne" if choice.denies else ""),
        *early,
        finite,
        *said("pas" if choice.negative else ""),
        *adverbs.french_inside,
        *late,
        *infinite,
        *predicate.french,
        *adverbs.french_end,
    )
    rest = (*adverbs.english_inside, *lead, main, *predicate.english, *adverbs.english_end)
    return Clause(about, helper, rest, french)


def _english_verb(
    rng: random.Random, choice: Choice, verb: Verb, about: Phrase
) -> tuple[tuple[Word, ...], tuple[Word, ...], str]:
    """Helper, what stands before the main verb ("want to"), and the main verb's form."""
    third = about.person == 2
    supported = choice.negative or choice.asked
    do = ("does" if third else "do") if supported else ""
    if choice.tense == "present":
        form = verb.s_form if third and not supported else verb.english
        return _helper(rng, do, about, choice), (), form
    if choice.tense == "past":
        did = "did" if supported else ""
        return _helper(rng, did, about, choice), (), verb.english if supported else verb.past
    if choice.tense == "progressive":
        return _helper(rng, AM[about.person], about, choice), (), verb.ing
    if choice.tense == "want":
        wants = "wants to" if third and not supported else "want to"
        return _helper(rng, do, about, choice), tuple(said(wants)), verb.english
    helper = "will" if choice.tense == "future" else choice.tense
    return _helper(rng, helper, about, choice), (), verb.english


def _helper(rng: random.Random, word: str, about: Phrase, choice: Choice) -> tuple[Word, ...]:
    """The auxiliary: denied as "is not" or "isn't", glued to a pronoun as in "I'm"."""
    draw = rng.random()
    if choice.negative:
        if word == "can" and draw < 0.4:
            return (Word("cannot"),)
        short = SHORT.get(word, "") if draw < 0.65 else ""
        return tuple(said(short or f"{word} not"))
    spoken = about.kind == "pronoun" and word in GLUED and not choice.asked
    return tuple(said(GLUED[word] if spoken and draw < 0.3 else word))


def _french_verb(
    about: Phrase,
    verb: Verb,
    choice: Choice,
    main: Word,
    modal: tuple[Word, ...],
    predicate: Predicate,
) -> tuple[Word, tuple[Word, ...]]:
    """The finite verb, and a participle or infinitive behind it."""
    if modal:
        finite = conjugated(MODALS[choice.tense], "present", about.person)
        return Word(finite, modal[0]), (Word(verb.infinitive, main),)
    if choice.tense == "past" and not verb.state:
        helper = conjugated("être" if verb.moves else "avoir", "present", about.person)
        feminine, plural = (about.feminine, about.plural) if verb.moves else predicate.agrees
        form = participle(verb.infinitive, feminine=feminine, plural=plural)
        return Word(helper), (Word(form, main),)
    tenses: dict[str, Tense] = {"past": "imperfect", "future": "future"}
    tense = tenses.get(choice.tense, "present")
    return Word(conjugated(verb.infinitive, tense, about.person), main), ()


@dataclass(frozen=True)
class Adverbs:
    """Where each language puts what says how often, how and when."""

    english_inside: tuple[Word, ...] = ()
    english_end: tuple[Word, ...] = ()
    french_inside: tuple[Word, ...] = ()
    french_end: tuple[Word, ...] = ()


def _adverbs(rng: random.Random, verb: Verb, choice: Choice) -> Adverbs:
    """How often stands inside the verb, how and when at the end; bien and mal stand inside."""
    inside = adverb_words(choice.adverb)
    ends: list[tuple[Word, ...]] = [(), ()]
    late = rng.random()
    if choice.adverb is None and verb.kind == "no_object" and late < 0.14:
        english, french = manner = rng.choice(lexicon().pairs["manner"])
        words = adverb_words(manner)
        if french in ("bien", "mal"):
            if choice.tense not in MODALS:
                return Adverbs((), words[0], words[1], ())
        elif english != "together":
            return Adverbs((), words[0], (), words[1])
    elif late > 0.92:
        ends = list(adverb_words(when(rng, choice.tense)))
    return Adverbs(inside[0], ends[0], inside[1], ends[1])


def adverb_words(pair: tuple[str, str] | None) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
    """An adverb in both languages, the French one with its source."""
    if pair is None:
        return (), ()
    source = Word(pair[0])
    return (source,), (Word(pair[1], source),)


def when(rng: random.Random, tense: str) -> tuple[str, str]:
    """An adverb of time or place that the tense allows."""
    only = {"yesterday": "past", "tomorrow": "future", "now": "present"}
    now = "present" if tense == "progressive" else tense
    fitting = [pair for pair in lexicon().pairs["time"] if only.get(pair[0], now) == now]
    return rng.choice(fitting)


# --- to be -------------------------------------------------------------------------------------


def _being(rng: random.Random, about: Phrase, asked: bool, tense: str | None) -> Clause:
    """Someone is something or somewhere: être, with an adjective that agrees, or a place."""
    drawn = tense or rng.choice(("present", "present", "present", "past", "future"))
    choice = _choice(rng, asked, drawn)
    if choice.tense == "future":
        choice = replace(choice, adverb=None)
        helper, lead = _helper(rng, "will", about, choice), said("be")
    else:
        forms = AM if choice.tense == "present" else WAS
        helper, lead = _helper(rng, forms[about.person], about, choice), []
    tenses: dict[str, Tense] = {"past": "imperfect", "future": "future"}
    finite = conjugated("être", tenses.get(choice.tense, "present"), about.person)
    adverb = adverb_words(choice.adverb)
    english, french = _complement(rng, about)
    words = (
        *about.french,
        *said("ne" if choice.denies else ""),
        Word(finite),
        *said("pas" if choice.negative else ""),
        *adverb[1],
        *french,
    )
    return Clause(about, helper, (*adverb[0], *lead, *english), words)


def _complement(rng: random.Random, about: Phrase) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
    """Where or how someone is, or what: a place, an adjective, a trade, a kind of thing."""
    draw = rng.random()
    if draw < 0.26:
        return place(rng)
    if draw < 0.38 and not about.plural and about.kind in ("person", "pronoun"):
        return _trade(rng, about)
    if draw < 0.38 and not about.plural and about.kind in ("animal", "thing", "food", "place"):
        noun = rng.choice(lexicon().nouns[about.kind])
        adjectives = [adjective_of(rng, adjective_kind(rng, about.kind))]
        same = phrase(rng, "object", "a", noun, False, adjectives[rng.randrange(2) :], False)
        return same.english, same.french
    return _quality(rng, about)


def _trade(rng: random.Random, about: Phrase) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
    """is a doctor, est médecin: no article, and the noun of the subject's gender."""
    fitting = [noun for noun in lexicon().professions if noun.feminine == about.feminine]
    noun = rng.choice(fitting)
    source = Word(noun.english)
    return (Word(article(noun.english)), source), (Word(noun.french, source),)


def _quality(rng: random.Random, about: Phrase) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
    """An adjective, very often very, or two of them."""
    kind = about.kind if about.kind in FITTING else "person"
    form = about.feminine + 2 * about.plural
    first, second = (adjective_of(rng, adjective_kind(rng, kind)) for _ in range(2))
    source, other = Word(first.english), Word(second.english)
    draw = rng.random()
    if draw < 0.15 and first.kind not in ("origin", "unknown"):
        return (*said("very"), source), (*said("très"), Word(first.forms[form], source))
    if draw < 0.28 and first.english != second.english:
        return (
            (source, *said("and"), other),
            (Word(first.forms[form], source), *said("et"), Word(second.forms[form], other)),
        )
    return (source,), (Word(first.forms[form], source),)
