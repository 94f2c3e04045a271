"""The prompts that the story decoders are measured on, with the right answers.

A `Choice` is a prompt with two ways to go on; the model is right when it finds the right one more
likely. Pairs of names and of candidates are those that the training text keeps apart.
"""

from random import Random

from attnviz.worlds.cases import Choice
from scripts.train.worlds.stories import words as lexicon
from scripts.train.worlds.stories.facts import CAPITALS, COLOUR_OF, OPPOSITES, SOUNDS
from scripts.train.worlds.stories.pronouns import Antecedent, antecedent
from scripts.train.worlds.stories.words import with_articles


def indirect_object(r: Random) -> Choice:
    """ "When Mary and John went to the store, John gave a book to" → " Mary", not " John"."""
    one, other = r.sample(lexicon.NAMES, 2)
    while not lexicon.strangers(one, other):
        one, other = r.sample(lexicon.NAMES, 2)
    giver, taker = r.sample((one, other), 2)
    went = r.choice(("went to", "were at", "came to"))
    gave = r.choice(("gave", "handed", "sent"))
    place, gift = r.choice(lexicon.MEETING_PLACES), r.choice(lexicon.GIFTS)
    prompt = f"When {one} and {other} {went} the {place}, {giver} {gave} a {gift} to"
    return Choice(with_articles(prompt), f" {taker}", f" {giver}")


def what_it_is(r: Random) -> Choice:
    """ "The animal didn't cross the street because it was too tired. What was too tired? The"."""
    case = antecedent(r, held_out=True)
    return Choice(asked(case), f" {case.right}", f" {case.wrong}")


def asked(case: Antecedent) -> str:
    """The sentence with the question what "it" was, up to the answer's noun."""
    return f"{case.sentence} {case.question} The"


def facts() -> tuple[tuple[str, str], ...]:
    """Prompts about the facts that the texts state, and how each goes on."""
    return (
        *((f"The capital of {land} is", f" {city}") for land, (city, _) in CAPITALS.items()),
        *((f"People in {land} speak", f" {tongue}") for land, (_, tongue) in CAPITALS.items()),
        *((f"The opposite of {word} is", f" {other}") for word, other in OPPOSITES.items()),
        *((f"The {animal} says", f" {sound}") for animal, sound in SOUNDS.items()),
        *((f"The {what} is", f" {colour}") for what, colour in COLOUR_OF.items()),
        ("Monday, Tuesday, Wednesday,", " Thursday"),
        ("one two three four", " five"),
        ("a b c d e", " f"),
        ("2 + 2 =", " 4"),
    )
