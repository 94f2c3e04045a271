"""Generated review sentences that praise or blame, half of them by way of a negation.

In: a seeded `random.Random`. Out: `Review`s. What the last word goes to is one clause; a negator
in it turns the judging word round ("not a good film", "never boring"), others lead astray on
purpose: they stand in another clause ("I did not read the book, but ..."), or turn nothing ("not
only good", "nothing short of brilliant"). A review knows where its negators and its judging word
stand, and many have a twin: the same sentence with another word in the negator's place.
"""

import random
import re
from dataclasses import dataclass, replace

from scripts.train.worlds.sentiment.clauses import aside, decisive, fragment
from scripts.train.worlds.sentiment.words import TOPICS, Topic

Span = tuple[int, int]
LABELS = ("negative", "positive")
FRAGMENT_SHARE = 0.15
MARK = re.compile(r"\[([^]|]+)\|?([^]]*)\]|<([^>]+)>")
ALONE = (
    "{this}", "{this}", "{this}", "{this}",
    "{aside} . {this}", "{aside} , {this}", "{aside} and {this}", "{aside} , but {this}",
    "{this} . {aside}", "{this} and {aside}", "{this} , {aside}", "{this} although {aside}",
)  # fmt: skip
AGREEING = (
    "{other} and {this}", "{other} , {this}", "{other} . {this}", "{this} and {other}",
    "{this} because {other}", "{this} . {other}", "{this} , {other}", "{aside} . {other} . {this}",
)  # fmt: skip
# the main clause, or the one after "but", is what the writer means
OPPOSED = (
    "{other} , but {this}", "{other} but {this}", "{other} , yet {this}", "{other} . but {this}",
    "{other} . however , {this}", "although {other} , {this}", "though {other} , {this}",
    "even though {other} , {this}", "while {other} , {this}", "{this} although {other}",
    "{this} , even though {other}", "{this} , though {other}",
    "my {person} said {other} , but {this}", "i thought {other} , but {this}",
)  # fmt: skip
ENDS = ("", "", ".", ".", ".", "!", " !", "...")


@dataclass(frozen=True)
class Review:
    """A review; spans are (start, end) in `text`.

    `negators` turn the judging word at `judging` round; none in half of the reviews. `others` are
    the judging words of its other clauses, with what those say. `twin` is the same sentence
    without the negation: its `negators` are the words in their place.
    """

    text: str
    positive: bool
    judging: Span
    negators: tuple[Span, ...] = ()
    others: tuple[tuple[Span, bool], ...] = ()
    twin: "Review | None" = None

    @property
    def negated(self) -> bool:
        return bool(self.negators)

    @property
    def label(self) -> str:
        return LABELS[self.positive]


def review(rng: random.Random) -> Review:
    """One review; whether it praises, and whether by negation, is a coin's toss each."""
    positive, negated = rng.random() < 0.5, rng.random() < 0.5
    topic, praising = rng.choice(TOPICS), positive != negated
    if rng.random() < FRAGMENT_SHARE:
        markup = fragment(rng, topic, praising=praising, negated=negated)
    else:
        this = decisive(rng, topic, praising=praising, negated=negated)
        markup = _arranged(rng, topic, this, positive)
    return _read(_finished(rng, markup), positive)


def reviews(seed: int, n: int) -> tuple[Review, ...]:
    """`n` reviews, always the same for a seed."""
    rng = random.Random(seed)
    return tuple(review(rng) for _ in range(n))


def lengthened(rng: random.Random, item: Review) -> Review:
    """The review after clauses that judge nothing; without its twin."""
    topic = rng.choice(TOPICS)
    before = "".join(f"{aside(rng, topic)}. " for _ in range(rng.randint(1, 5)))

    def later(span: Span) -> Span:
        return span[0] + len(before), span[1] + len(before)

    return replace(
        item,
        text=before + item.text,
        judging=later(item.judging),
        negators=tuple(later(span) for span in item.negators),
        others=tuple((later(span), says) for span, says in item.others),
        twin=None,
    )


def _arranged(rng: random.Random, topic: Topic, this: str, positive: bool) -> str:
    """The clause that counts among others: alone, with one that agrees, or with its opposite."""
    arrangements, says = rng.choice(
        ((ALONE, positive), (ALONE, positive), (AGREEING, positive), (OPPOSED, not positive))
    )
    return rng.choice(arrangements).format(
        this=this, other=_other(rng, topic, says), aside=aside(rng, topic), person="friend"
    )


def _other(rng: random.Random, topic: Topic, says: bool) -> str:
    """A clause that says so, its judging word marked `<+good>` or `<-good>`: it does not count."""
    negated = rng.random() < 0.4
    markup = decisive(rng, topic, praising=says != negated, negated=negated)
    return MARK.sub(lambda found: found[1] or f"<{'-+'[says]}{found[3]}>", markup)


def _finished(rng: random.Random, markup: str) -> str:
    """The sentence as written: "an" before vowels, capitals, commas and a full stop."""
    text = re.sub(r"\ba(\]? <?[+-]?)(?=[aeiou]|hon|hour)", r"an\1", markup)
    text = re.sub(r"\ban(\]? <?[+-]?)(?=uni|use|eu|one)", r"a\1", text)
    text = text.replace(" ,", ",").replace(" .", ".") + rng.choice(ENDS)
    if rng.random() < 0.2:
        return text
    text = re.sub(r"\bi\b", "I", text)
    # a capital in both words of a mark: the twin begins a sentence too
    text = re.sub(r"(?:^|(?<=[.] ))[\[<]?[+-]?[a-z]", lambda found: found[0].upper(), text)
    return re.sub(r"^\[([^]|]+)\|([a-z])", lambda found: f"[{found[1]}|{found[2].upper()}", text)


def _read(markup: str, positive: bool) -> Review:
    """The review that a sentence in markup stands for, and its twin where it has one."""
    negations = [found for found in MARK.finditer(markup) if found[1]]
    twin = None
    if negations and all(found[2] for found in negations):
        twin = _rendered(markup, 2, not positive, None)
    return _rendered(markup, 1, positive, twin)


def _rendered(markup: str, choice: int, positive: bool, twin: Review | None) -> Review:
    """The text with the first or second word of each mark, and where these words stand."""
    text, end, judging = "", 0, (0, 0)
    negators: list[Span] = []
    others: list[tuple[Span, bool]] = []
    for found in MARK.finditer(markup):
        text += markup[end : found.start()]
        word = (found[3] or found[choice]).lstrip("+-")
        span = (len(text), len(text) + len(word))
        if found[1]:
            negators.append(span)
        elif found[3][0] in "+-":
            others.append((span, found[3][0] == "+"))
        else:
            judging = span
        text, end = text + word, found.end()
    return Review(text + markup[end:], positive, judging, tuple(negators), tuple(others), twin)
