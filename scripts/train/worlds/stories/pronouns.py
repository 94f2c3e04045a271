"""Sentences in which "it" has two candidates, and what makes the right one explicit.

"The ball did not fit in the box because it was too big." Each `Frame` has its two nouns and, for
each of them, the adjectives that can only be about that one. In some frames the kinds of the nouns
decide (animals are tired, streets are wide), in others only their places in the sentence do (both
are animals, one too slow, one too fast). After Winograd's schemas (Levesque et al. 2012).
"""

from dataclasses import dataclass
from random import Random

from scripts.train.worlds.stories.words import ANIMALS, kept_back

WALKERS = (*ANIMALS, "animal", "robot")


@dataclass(frozen=True)
class Frame:
    """`verb` and what follows it, up to the second noun; adjectives fit exactly one of the two."""

    verb: str
    firsts: tuple[str, ...]
    seconds: tuple[str, ...]
    about_first: tuple[str, ...]
    about_second: tuple[str, ...]
    negations: tuple[str, ...] = ("did not", "didn't", "could not")


@dataclass(frozen=True)
class Antecedent:
    """One sentence with its two candidates; `right` is what "it" stands for.

    `reason` is what it was, most often "too tired", sometimes "tired".
    """

    frame: Frame
    negation: str
    first: str
    second: str
    right: str
    reason: str

    @property
    def wrong(self) -> str:
        return self.second if self.right == self.first else self.first

    @property
    def action(self) -> str:
        return f"{self.frame.verb} the {self.second}"

    @property
    def sentence(self) -> str:
        return f"The {self.first} {self.negation} {self.action} because it was {self.reason}."

    @property
    def question(self) -> str:
        return f"What was {self.reason}?"


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


FRAMES = (
    Frame(
        "cross",
        WALKERS,
        _words("street road"),
        _words("tired hungry scared sleepy sick weak"),
        _words("wide long busy"),
    ),
    Frame(
        "cross",
        WALKERS,
        _words("river lake"),
        _words("tired hungry scared sleepy sick weak"),
        _words("wide deep cold"),
    ),
    Frame(
        "eat",
        WALKERS[:-1],
        _words("cake apple cheese bread egg fish"),
        _words("full tired sick sleepy shy"),
        _words("hot cold sour hard dry"),
    ),
    Frame(
        "fit in",
        _words("ball hat book kite cup box boat lamp drum coat cake bell"),
        _words("box bag basket drawer cup chest hat boat"),
        _words("big long wide tall"),
        _words("small short narrow little"),
    ),
    Frame(
        "climb",
        WALKERS,
        _words("hill wall tree tower"),
        _words("tired weak old sleepy sick"),
        _words("high tall steep wet"),
    ),
    Frame(
        "carry",
        WALKERS,
        _words("stone box boat drum bell table chair basket"),
        _words("weak small tired young"),
        _words("heavy big wide hot"),
    ),
    Frame(
        "catch",
        ANIMALS,
        ANIMALS,
        _words("slow old tired sleepy"),
        _words("fast quick clever"),
    ),
    Frame(
        "reach",
        WALKERS,
        _words("apple lamp bell kite nest shelf"),
        _words("short small little weak"),
        _words("high far"),
    ),
)


def antecedent(r: Random, *, held_out: bool = False) -> Antecedent:
    """A sentence whose pair of nouns the training text uses, or, held out, one it never uses."""
    frame = r.choice(FRAMES)
    first, second = r.choice(frame.firsts), r.choice(frame.seconds)
    while first == second or kept_back(first, second) != held_out:
        first, second = r.choice(frame.firsts), r.choice(frame.seconds)
    is_first = r.random() < 0.5
    adjective = r.choice(frame.about_first if is_first else frame.about_second)
    reason = f"too {adjective}" if r.random() < 0.75 else adjective
    negation = r.choice(frame.negations)
    return Antecedent(frame, negation, first, second, first if is_first else second, reason)


def explained(r: Random, case: Antecedent) -> str:
    """The sentence, most often followed by one that names what "it" stood for."""
    right, wrong, reason = case.right, case.wrong, case.reason
    answers = [
        f"{case.question} The {right} was {reason}.",
        f"{case.question} The {right} was {reason}, not the {wrong}.",
        f"The {right} was {reason}, not the {wrong}.",
        f"It was the {right} that was {reason}.",
    ]
    if reason.startswith("too ") and right == case.first:
        answers.append(f"The {right} was {reason} to {case.action}.")
    elif reason.startswith("too "):
        answers.append(f"The {right} was {reason} for the {wrong}.")
    if r.random() < 0.1:
        return case.sentence
    return f"{case.sentence} {r.choice(answers)}"


def plain(case: Antecedent) -> str:
    """The same reason told without "it"."""
    return f"The {case.right} was {case.reason}, so the {case.first} {case.negation} {case.action}."
