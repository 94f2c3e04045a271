"""The clauses of the `sentiment` world, as templates in a small markup.

In: a seeded `random.Random`, a topic, and whether the judging word praises. Out: a clause in
markup: `[not|really]` is a negator and the word that stands in its place in the sentence's twin
(`[by no means]` has no twin), `<good>` is the judging word. `{slots}` are drawn when a template
is filled.
"""

import random
import re
from collections.abc import Callable

from scripts.train.worlds.sentiment.words import (
    ADJECTIVES,
    DAYS,
    EFFECTS,
    MORE,
    NOUNS,
    PERSONS,
    QUALITIES,
    TOP,
    VERBS,
    Topic,
)

# a negator turns the judging word round
NEGATED = (
    "{subject} {be} [not|{very}] <{adj}>",
    "{subject} {be} [not|{very}] <{adj}>",
    "{subject} {be} [not|just] very <{adj}>",
    "{subject} {be} [not] <{adj}> at all",
    "{subject} {be} [not] at all <{adj}>",
    "{subject} {be} [not] that <{adj}>",
    "{subject} [wasn't|was] <{adj}>",
    "{subject} [isn't|is] <{adj}>",
    "{subject} [wasn't|was] very <{adj}>",
    "{subject} [isn't|is] really <{adj}>",
    "it's [not|{very}] <{adj}>",
    "it's [not|really] a <{adj}> {thing}",
    "{plural} {are} [not|{very}] <{adj}>",
    "{plural} [weren't|were] <{adj}>",
    "{plural} [aren't|are] <{adj}>",
    "{it} {be} [not|{surely}] a <{adj}> {thing}",
    "{it} {be} [not|simply] the <{top}> {thing} ever",
    "{it} {be} [not|{much}] <{more}> than i expected",
    "{it} {be} [not|{surely}] a very <{adj}> {thing}",
    "{it} [wasn't|was] a <{adj}> {thing}",
    "{it} [isn't|is] a <{adj}> {thing}",
    "{it} {be} [no] <{adj}> {thing}",
    "{i} did [not|really] <{verb}> {object}",
    "{i} did [not|really] <{verb}> {object}",
    "{i} [didn't|did] <{verb}> {object}",
    "{i} [didn't|did] really <{verb}> {object}",
    "{we} do [not|really] <{verb}> {object}",
    "{we} [don't|do] <{verb}> {object}",
    "{we} [don't|do] really <{verb}> {object}",
    "{i} [never|always] <{verbed}> {object}",
    "{i} [hardly|clearly] <{verbed}> {object}",
    "{subject} {be} [never|always] <{adj}>",
    "{subject} {be} [hardly|truly] <{adj}>",
    "{subject} {be} [barely|really] <{adj}>",
    "{subject} {be} [scarcely|clearly] <{adj}>",
    "{subject} {be} [rarely|often] <{adj}>",
    "{plural} {are} [seldom|usually] <{adj}>",
    "{plural} {are} [never|always] <{adj}>",
    "[nobody|everybody] <{verbed}> {object}",
    "[nobody|everybody] in my family <{verbed}> {object}",
    "[no one] <{verbed}> {object}",
    "[nothing|everything] about {object} {be} <{adj}>",
    "[nothing|something] was <{adj}>",
    "there {be} [nothing|something] <{adj}> about {object}",
    "[none|most] of the {many} {are} <{adj}>",
    "[not|almost] all of the {many} {are} <{adj}>",
    "{subject} {be} [far from] <{adj}>",
    "{subject} {be} [anything but] <{adj}>",
    "{subject} {be} [by no means] <{adj}>",
    "{subject} {be} [not] in the least <{adj}>",
    "{subject} {be} [less than] <{adj}>",
    "{it} has [no|much] <{quality}>",
    "{subject} has [no|some] <{quality}>",
    "{it} was [without|with] <{quality}>",
    "{it} was a {thing} [without|with] <{quality}>",
    "{it} was a {thing} [without] any <{quality}>",
    "{subject} [lacks|has] <{quality}>",
    "{it} {be} [free|full] of <{quality}>",
    "{i} found [no|much] <{quality}> in it",
    "{we} would [not|rather] call {object} <{adj}>",
    "{we} [wouldn't|would] call {object} <{adj}>",
    "{we} do [not|really] think {subject} {be} <{adj}>",
    "{we} [don't|do] think {subject} {be} <{adj}>",
    "{we} [can't|can] say that {subject} {be} <{adj}>",
    "{we} could [not|easily] find anything <{adj}> in it",
    "{i} did [not|really] find {object} <{adj}>",
    "{i} [didn't|did] think {subject} was <{adj}>",
    "{subject} did [not|really] <{effect}> {me}",
    "{subject} [didn't|did] <{effect}> {me}",
    "{subject} [never|always] <{effected}> {me}",
    "{subject} [failed|managed] to <{effect}> {me}",
    "i was [not|quite] <{effected}> by {object}",
    "i [wasn't|was] <{effected}> by {object}",
    "{it} {be} [no|a] <{noun}>",
    "{it} {be} [not|really] a <{noun}>",
    "{it} [wasn't|was] a <{noun}>",
    "{it} {be} [hardly|truly] a <{noun}>",
    "{subject} {be} [neither|both] <{adj}> [nor|and] {adj}",
    "there {be} [not] a single <{adj}> {part}",
    "i have [not] seen one <{adj}> {part}",
)
# these judge with a word that only praises
NEGATED_PRAISE = (
    "{we} would [not|surely] <recommend> {object}",
    "{we} [wouldn't|would] <recommend> {object}",
    "{we} [cannot|can] <recommend> {object}",
    "{we} [can't|can] <recommend> {object}",
    "{we} will [never|surely] come <again>",
    "{we} [won't|will] come <again>",
    "{it} {be} [not|really] <worth> the money",
    "{it} {be} [not|really] <worth> your time",
    "{it} [wasn't|was] <worth> it",
    "{it} does [not] <deserve> the praise",
)
PLAIN = (
    "{subject} {was} <{adj}>",
    "{subject} {was} <{adj}>",
    "{subject} {was} {very} <{adj}>",
    "{subject} {was} <{adj}> and {adj}",
    "{it} {be} the <{top}> {thing} ever",
    "{it} {be} the <{top}> {thing} i know",
    "{it} {be} {much} <{more}> than i expected",
    "{subject} {was} <{adj}> , {adj} and {adj}",
    "{subject} {was} so <{adj}> that i told my {person}",
    "it's {very} <{adj}>",
    "it's a <{adj}> {thing}",
    "{plural} {are} {very} <{adj}>",
    "{plural} {are} <{adj}> and {adj}",
    "{it} {be} a <{adj}> {thing}",
    "{it} {be} a {very} <{adj}> {thing}",
    "{it} {be} such a <{adj}> {thing}",
    "{it} {be} one of the most <{adj}> {many} i know",
    "{it} {be} a {thing} with <{adj}> {many}",
    "{it} has a <{adj}> {part}",
    "{it} has <{adj}> {many}",
    "{i} {really} <{verbed}> {object}",
    "{i} <{verbed}> {object}",
    "{we} <{verb}> {object}",
    "{we} <{verb}> {object} so much",
    "{we} <{verbed}> every minute of it",
    "{we} <{verbed}> it from beginning to end",
    "everybody <{verbed}> {object}",
    "everything about {object} {be} <{adj}>",
    "all of the {many} {are} <{adj}>",
    "{we} found {object} <{adj}>",
    "{we} think {subject} {be} <{adj}>",
    "i must say {subject} {be} <{adj}>",
    "{it} {be} full of <{quality}>",
    "{it} has so much <{quality}>",
    "{subject} {really} <{effected}> {me}",
    "{subject} <{effected}> {me}",
    "i was {very} <{effected}> by {object}",
    "{it} {be} a <{noun}>",
    "{it} {be} a real <{noun}>",
    "{it} {be} a {adj} <{noun}>",
    # words that look like negators and turn nothing
    "{subject} {be} not only <{adj}> but also {adj}",
    "{subject} {be} not just <{adj}> but {adj}",
    "{it} {be} not only a <{noun}> but also {adj}",
    "{subject} {be} nothing short of <{adj}>",
    "{subject} {be} never less than <{adj}>",
    "{subject} could not be more <{adj}>",
    "{subject} couldn't have been more <{adj}>",
    "there {be} no doubt that {subject} {be} <{adj}>",
    "no doubt {subject} {be} <{adj}>",
    "{we} have never seen such a <{adj}> {thing}",
    "{we} have never seen a more <{adj}> {thing}",
    "{subject} has never been so <{adj}>",
    "it was no surprise that {subject} {be} <{adj}>",
    "{we} do not know a more <{adj}> {thing}",
    "without a doubt {subject} {be} <{adj}>",
)
PLAIN_PRAISE = (
    "{we} would {really} <recommend> {object}",
    "{we} can only <recommend> {object}",
    "{we} will surely come <again>",
    "{it} {be} <worth> the money",
    "{it} {be} well <worth> your time",
    "{it} <deserves> all the praise",
)
# no whole sentences: they stand alone
NEGATED_FRAGMENTS = (
    "[not|very] <{adj}>",
    "[not] <{adj}> at all",
    "[not|{much}] <{more}> than the others",
    "[not|really] a <{adj}> {thing}",
    "[never|always] <{adj}>",
    "[hardly|truly] <{adj}>",
    "[not|just] very <{adj}>",
    "[no] <{adj}> {thing}",
    "[no|pure] <{quality}>",
    "[hardly|truly] a <{adj}> {thing}",
    "[not|really] a <{noun}>",
)
PLAIN_FRAGMENTS = (
    "<{adj}>",
    "<{adj}> {thing}",
    "{very} <{adj}>",
    "a <{adj}> {thing}",
    "a {very} <{adj}> {thing}",
    "what a <{adj}> {thing}",
    "what a <{noun}>",
    "how <{adj}>",
    "<{adj}> {part} and {adj} {many}",
    "simply <{adj}>",
    "<{adj}> and {adj}",
)
ASIDES = (
    "{i} {done} with my {person}",
    "{i} {done} {day}",
    "{i} {done} because my {person} told me about it",
    "i had never read about it before",
    "i did not hear about it in the news",
    "{i} did not go alone",
    "we had no reservation",
    "my {person} was not there",
    "nobody told me about it before",
    "it was not my first {thing}",
    "i have not been there since {day}",
    "there were {number} {many} in it",
    "it took {number} hours",
    "{i} paid {number} dollars",
    "{it} is about {number} {people}",
    "i do not know the others",
    "my {person} had no time",
    "it did not rain that {day}",
    "i am not an expert",
    "this is my review",
    "{i} came without my {person}",
    "{i} got it from my {person}",
    "i never write reviews",
    "{name} was there too",
    "it was made by {name}",
    "it is the {thing} by {name}",
    "{i} went with {name}",
)

BE = ("was", "was", "is")
VERY = (
    "very really so quite truly rather extremely absolutely incredibly pretty too totally simply"
    " surprisingly just always"
).split()
SURELY = ("certainly", "surely", "really", "definitely", "clearly")
NUMBERS = "two three four five six seven eight nine ten twelve twenty thirty fifty".split()
PEOPLE = "sisters brothers friends dogs women men girls boys soldiers teachers children".split()
SYLLABLES = (
    "ba be bo da di du fa ga go ka ki ko la le lo ma mi mo na ni ra ri ro sa ta te va zo".split()
)

Slot = Callable[[random.Random, Topic, bool], str]


def decisive(rng: random.Random, topic: Topic, *, praising: bool, negated: bool) -> str:
    """A clause in markup whose judging word praises or blames, turned round if `negated`."""
    templates: tuple[str, ...] = NEGATED if negated else PLAIN
    if praising and rng.random() < 0.12:
        templates = NEGATED_PRAISE if negated else PLAIN_PRAISE
    return filled(rng, topic, rng.choice(templates), praising)


def fragment(rng: random.Random, topic: Topic, *, praising: bool, negated: bool) -> str:
    """A few words in markup that stand alone."""
    templates = NEGATED_FRAGMENTS if negated else PLAIN_FRAGMENTS
    return filled(rng, topic, rng.choice(templates), praising)


def aside(rng: random.Random, topic: Topic) -> str:
    """A clause that judges nothing, often with a negator in it."""
    return filled(rng, topic, rng.choice(ASIDES), praising=True)


def filled(rng: random.Random, topic: Topic, template: str, praising: bool) -> str:
    """A template with its slots drawn; what a drawn phrase leaves open is drawn too."""
    while "{" in template:
        template = re.sub(
            r"\{(\w+)\}", lambda found: SLOTS[found[1]](rng, topic, praising), template
        )
    return template


def _adjective(rng: random.Random, topic: Topic, praising: bool) -> str:
    words = topic.adjectives if rng.random() < 0.4 else ADJECTIVES
    return rng.choice(words[praising])


def _subject(rng: random.Random, topic: Topic, praising: bool) -> str:
    phrases = ("it", "the {thing}", "this {thing}", "the {part}", "its {part}", "my {thing}")
    return rng.choice(phrases)


def _object(rng: random.Random, topic: Topic, praising: bool) -> str:
    return rng.choice(("it", "the {thing}", "this {thing}", "the {part}", "the {many}"))


def _name(rng: random.Random, topic: Topic, praising: bool) -> str:
    """A made-up name, so that words nobody knows judge nothing."""
    return "".join(rng.choice(SYLLABLES) for _ in range(rng.randint(2, 4))).capitalize()


def _one_of(*words: str) -> Slot:
    return lambda rng, topic, praising: rng.choice(words)


SLOTS: dict[str, Slot] = {
    "adj": _adjective,
    "top": lambda rng, topic, praising: rng.choice(TOP[praising]),
    "more": lambda rng, topic, praising: rng.choice(MORE[praising]),
    "much": _one_of("much", "even", "far", "clearly"),
    "verb": lambda rng, topic, praising: rng.choice(VERBS[praising])[1],
    "verbed": lambda rng, topic, praising: rng.choice(VERBS[praising])[0],
    "effect": lambda rng, topic, praising: rng.choice(EFFECTS[praising])[1],
    "effected": lambda rng, topic, praising: rng.choice(EFFECTS[praising])[0],
    "noun": lambda rng, topic, praising: rng.choice(NOUNS[praising]),
    "quality": lambda rng, topic, praising: rng.choice(QUALITIES[praising]),
    "thing": lambda rng, topic, praising: rng.choice(topic.things),
    "part": lambda rng, topic, praising: rng.choice(topic.parts),
    "many": lambda rng, topic, praising: rng.choice(topic.many),
    "done": lambda rng, topic, praising: rng.choice(topic.done),
    "subject": _subject,
    "object": _object,
    "plural": _one_of("the {many}", "its {many}", "most {many}", "these {many}", "they"),
    "it": _one_of("it", "it", "this", "that", "the {thing}"),
    "i": _one_of("i", "i", "i", "we", "my {person}", "my {person} and i"),
    "we": _one_of("i", "i", "i", "we", "my friends"),
    "me": _one_of("me", "me", "us", "my {person}"),
    "be": _one_of(*BE),
    "are": _one_of("were", "were", "are"),
    "was": _one_of(*BE, *BE, "seemed", "looked", "felt", "turned out to be"),
    "very": _one_of(*VERY),
    "surely": _one_of(*SURELY),
    "really": _one_of("really", "absolutely", "truly", "certainly", "still"),
    "person": _one_of(*PERSONS),
    "day": _one_of(*DAYS),
    "number": _one_of(*NUMBERS),
    "people": _one_of(*PEOPLE),
    "name": _name,
}
