"""What can happen in a story: sentence patterns, and the events that need more than a pattern.

In: a seeded generator and a `Cast`, who and what the story is about. Out: one or two sentences.
A pattern names its words in braces, `Cast.words` fills them; whatever a sentence repeats (the red
ball, whose it is, where it lies) is the same word both times, which is what the heads learn from.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random

from scripts.train.worlds.stories import words as lexicon
from scripts.train.worlds.stories.facts import spoken_fact
from scripts.train.worlds.stories.pronouns import antecedent, explained, plain
from scripts.train.worlds.stories.words import Person, capitalised, plural


@dataclass(frozen=True)
class Cast:
    """The persons of one story and the words it keeps to."""

    hero: Person
    friend: Person
    nouns: Mapping[str, str]

    def words(self, r: Random) -> dict[str, str]:
        """Everything a pattern may name; some words are drawn anew for each sentence."""
        hero, friend = self.hero, self.friend
        return {
            **self.nouns,
            "hero": hero.name,
            "kid": hero.kid,
            "she": hero.she,
            "She": capitalised(hero.she),
            "her": hero.her,
            "Her": capitalised(hero.her),
            "him": hero.him,
            "friend": friend.name,
            "kid2": friend.kid,
            "she2": friend.she,
            "her2": friend.her,
            "him2": friend.him,
            **{
                f"at_{name}": lexicon.at(self.nouns[name]) for name in ("place", "place2", "place3")
            },
            "time": r.choice(lexicon.TIMES),
            "did": r.choice(lexicon.DEEDS),
            "seat": r.choice(lexicon.SEATS),
            "box": r.choice(lexicon.BOXES),
            "number": r.choice(lexicon.NUMBERS[1:8]),
        }


def cast(r: Random) -> Cast:
    """Two children whose names may meet, and two or three different words of each sort."""
    hero, friend = r.sample(lexicon.NAMES, 2)
    while lexicon.strangers(hero, friend):
        hero, friend = r.sample(lexicon.NAMES, 2)
    nouns = {
        name: word
        for names, words in (
            (("animal", "animal2"), lexicon.ANIMALS),
            (("thing", "thing2"), lexicon.THINGS),
            (("colour", "colour2"), lexicon.COLOURS),
            (("place", "place2", "place3"), lexicon.PLACES),
            (("food", "food2"), lexicon.FOODS),
            (("feeling", "feeling2"), lexicon.FEELINGS),
            (("adjective", "adjective2"), lexicon.ADJECTIVES),
            (("relative",), lexicon.RELATIVES),
            (("weather",), lexicon.WEATHERS),
            (("job",), lexicon.JOBS),
        )
        for name, word in zip(names, r.sample(words, len(names)), strict=True)
    }
    for name in ("animal", "animal2", "thing", "thing2"):
        nouns[name.replace("animal", "animals").replace("thing", "things")] = plural(nouns[name])
    return Cast(lexicon.person(hero), lexicon.person(friend), nouns)


PATTERNS = (
    "{time}, {hero} went to the {place} with {friend}.",
    "{time}, {hero} {did} the {colour} {thing} {at_place}.",
    "The {animal} sat on the {seat} because it was {feeling}.",
    "The {animal} sat on the {seat}. The {animal2} sat on the {seat} too.",
    "The {animal} did not go to the {place} because it was too {feeling}.",
    "The {animal} chased the {animal2} near the {place}, but the {animal2} was too fast for"
    " the {animal}.",
    '"Where is my {thing}?" asked {hero}. "Your {thing} is {at_place}," said {friend}.',
    '"I am {feeling}," said {hero}. "Why are you {feeling}?" asked {friend}.',
    '"Do you like {food}?" asked {friend}. "Yes, I like {food}," said {hero}.',
    '"Do you like {food}?" asked {friend}. "No, I do not like {food}. I like {food2}," said'
    " {hero}.",
    '"Please give me the {colour} {thing}," said {friend}. So {hero} gave the {colour} {thing}'
    " to {friend}.",
    "{hero} was {feeling} because {she} could not find {her} {thing}.",
    "{friend} was {feeling2} because {she2} had lost {her2} {thing2}.",
    "It was a {weather} day, and {hero} wanted to play {at_place}.",
    "{hero} looked for the {colour} {thing} {at_place}, {at_place2}, and at last {at_place3}.",
    "There were {number} {animals} {at_place}. The {animals} were very {feeling}.",
    "The {colour} {thing} was in the {box}. {hero} opened the {box} and saw the {colour} {thing}.",
    "{hero} saw a {adjective2} {animal} {at_place}. The {animal} was hungry, so {hero} gave"
    " it some {food}.",
    "The {thing} near the {animals} was {colour}, but the {things2} near the {animal2} were"
    " {colour2}.",
    "{friend} said that the {thing} was {colour}, but {hero} said that it was {colour2}.",
    "{hero} told {her} {relative} about the {animal}. {Her} {relative} smiled and gave {him} some"
    " {food}.",
    "Then {friend} took the {thing} and put it on the {seat}. Now the {thing} was on the {seat}.",
    "{hero}'s favorite color was {colour}, so {she} painted the {thing} {colour}.",
    "{friend} bought some {food}, a {thing}, and a {colour2} {thing2} at the market.",
    'The {job} looked at the {animal} and said, "What a {adjective} {animal}!"',
    "{hero} liked {food}, but {her} {relative} did not like {food}.",
    "{hero} was taller than {friend}, so {friend} was shorter than {hero}.",
    # relative clauses, some with a noun of the other number before the verb
    "The {animal} that lived near the {things} was {adjective2}.",
    "The {animals} that lived near the {thing} were {adjective2}.",
    "The {thing} that {hero} bought was {colour}.",
    "The {thing} that {hero} found {at_place} was {colour}, not {colour2}.",
    "The {things} that {hero} saw {at_place} were {colour}.",
    "The {kid2} who found the {thing} was {friend}. {friend} gave the {thing} to {hero}.",
    "The {animal} that chased the {animal2} was {adjective}, but the {animal2} was {adjective2}.",
    "{friend}, who lived near the {place}, had a {colour} {thing}.",
    "The {place} where {hero} played was near the {place2}.",
    # what was not so
    "{hero} did not see the {animal}, but {she} heard it.",
    "{hero} didn't like the {colour2} {thing}. {She} liked the {colour} {thing}.",
    "The {thing} was not {colour2}. It was {colour}.",
    "The {thing} was not {at_place}. It was {at_place2}, so {hero} went to the {place2}.",
    "{hero} was not {feeling}. {She} was {feeling2}.",
    "Nobody saw the {animal} {at_place}, but everybody saw the {animal2}.",
    "{friend} did not want the {thing}. {friend} wanted the {thing2}.",
    # questions with their answers
    "{hero} had the {thing} and {friend} had the {thing2}. Who had the {thing2}? {friend} had the"
    " {thing2}.",
    "{friend} had the {thing} and {hero} had the {thing2}. Who had the {thing}? {friend} had the"
    " {thing}.",
    "{hero} went to the {place} and {friend} went to the {place2}. Where was {friend}? {friend}"
    " was {at_place2}.",
    "{hero} went to the {place} and {friend} went to the {place2}. Where was {hero}? {hero} was"
    " {at_place}.",
    "Was the {thing} {colour2}? No, it was not {colour2}. It was {colour}.",
)


def giving(r: Random, who: Cast) -> str:
    """When A and B went to the store, A gave a book to B."""
    one, other = r.sample((who.hero.name, who.friend.name), 2)
    giver, taker = r.sample((one, other), 2)
    when = r.choice(("When", "When", "After", "While", "Then, when"))
    went = r.choice(("went to", "were at", "came to", "played at", "met at"))
    gave = r.choice(("gave", "gave", "handed", "sent", "offered"))
    gift = f"{r.choice(('a', 'a', 'the'))} {r.choice(lexicon.GIFTS)}"
    place = r.choice(lexicon.MEETING_PLACES)
    if r.random() < 0.2:
        return f"Then, {one} and {other} {went} the {place}. {giver} {gave} {gift} to {taker}."
    return f"{when} {one} and {other} {went} the {place}, {giver} {gave} {gift} to {taker}."


def because_of(r: Random, who: Cast) -> str:
    """A reason given by "he" or "she"; whose it is follows from the pronoun, where they differ."""
    giver, taker = r.sample((who.hero, who.friend), 2)
    thing, feeling = who.nouns["thing"], who.nouns["feeling"]
    told = f"{giver.name} gave the {thing} to {taker.name}"
    if giver.girl == taker.girl:
        return f"{told} because {taker.name} was {feeling}."
    sad = r.choice((giver, taker))
    return f"{told} because {sad.she} was {feeling}. Who was {feeling}? {sad.name} was {feeling}."


def counting(r: Random, who: Cast) -> str:
    """Things had, given and left."""
    words = who.words(r)
    things = words["things"]
    if r.random() < 0.5:
        had, more = r.randint(2, 6), r.randint(1, 5)
        last = lexicon.NUMBERS[had + more - 1]
        change = "{friend} gave {him} {change} more."
    else:
        had, more = r.randint(5, 10), r.randint(1, 3)
        last = lexicon.NUMBERS[had - more - 1]
        change = "{She} gave {change} of them to {friend}."
    had_word, change_word = lexicon.NUMBERS[had - 1], lexicon.NUMBERS[more - 1]
    told = f"{{hero}} had {had_word} {things}. {change} Now {{hero}} had {last} {things}."
    return told.format(**words, change=change_word)


def candidates(r: Random, who: Cast) -> str:
    """Two candidates for "it"; about animals and things, not about the children."""
    case = antecedent(r)
    return plain(case) if r.random() < 0.15 else explained(r, case)


def pattern(r: Random, who: Cast) -> str:
    return r.choice(PATTERNS).format(**who.words(r))


def learned(r: Random, who: Cast) -> str:
    return spoken_fact(r)


# event → how often it is drawn
EVENTS: tuple[tuple[Callable[[Random, Cast], str], int], ...] = (
    (pattern, 14),
    (giving, 4),
    (candidates, 2),
    (because_of, 1),
    (counting, 1),
    (learned, 1),
)


def event(r: Random, who: Cast) -> str:
    """Any event, as often as the table says; articles are not settled yet."""
    happens, weights = zip(*EVENTS, strict=True)
    return str(r.choices(happens, weights)[0](r, who))
