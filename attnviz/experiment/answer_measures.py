"""The measure of an effect: one number of the model's answer.

In: what a caller asks about: the next token, a class, the likeness of two sentences, a target text,
or how far the answer moved. Out: frozen dataclasses; `readouts` resolves each for one model and one
text. Differences of two logits are the plainest numbers: they are linear in the answer's last layer
and do not saturate. A lone logit is compared with the mean of all.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from attnviz.errors import bad_argument

LAST = -1
CENTRED = "the logit minus the mean of all"

Output = Mapping[str, Any]
# a function of the model's output by name, output["logits"] [row, token, vocab], that gives a
# tensor of one number for each row of the batch
OwnMeasure = Callable[[Any], Tensor]


@dataclass(frozen=True)
class NextToken:
    """The score of the token that follows position `at`: its logit minus that of `against`.

    Without `against` it is the logit minus the mean of all logits, or with `log_probability` the
    natural logarithm of its probability. A token is its text, " Mary", or its number.
    """

    token: str | int
    against: str | int | None = None
    at: int = LAST
    log_probability: bool = False

    def __post_init__(self) -> None:
        if self.log_probability and self.against is not None:
            raise bad_argument(
                "NextToken: a log-probability has nothing to stand against; leave out against= or"
                " log_probability=",
                name="log_probability",
                found="True",
                allowed="False",
            )


@dataclass(frozen=True)
class Class:
    """A class's logit minus that of `against`, or minus the mean of all; by name or number."""

    name: str | int
    against: str | int | None = None


@dataclass(frozen=True)
class Cosine:
    """The cosine, −1 to 1, of the text's vector and another text's; or its own without changes."""

    to: str | None = None


@dataclass(frozen=True)
class Target:
    """The log-likelihood of a target that an encoder-decoder is to have written, in nats.

    Without a text it is that of a decoder's own text, from its second token on.
    """

    text: str | None = None


@dataclass(frozen=True)
class Divergence:
    """KL(without changes ‖ with changes) of the next token after `at`, or of the classes; nats."""

    at: int = LAST


AnswerMeasure = NextToken | Class | Cosine | Target | Divergence | OwnMeasure


def as_measure(on: AnswerMeasure | Sequence[AnswerMeasure]) -> AnswerMeasure:
    """The measure of one text that a caller chose; `BadInput` for anything else."""
    if isinstance(on, NextToken | Class | Cosine | Target | Divergence) or callable(on):
        return on
    raise bad_argument(
        f"on= is {type(on).__name__}: one text has one measure; give NextToken, Class, Cosine,"
        " Target, Divergence, or a function of the model's output that gives a number for each row",
        name="on",
        found=type(on).__name__,
        allowed="NextToken, Class, Cosine, Target, Divergence",
    )


def printed(on: AnswerMeasure | None) -> str:
    """A measure as messages name it; a function has no name that says anything."""
    is_named = isinstance(on, NextToken | Class | Cosine | Target | Divergence)
    return str(on) if is_named else "this number of the answer"


def split_name(on: AnswerMeasure | None) -> str:
    """The number that direct attribution splits, in words.

    A logarithm of probabilities is not linear in the logits: its linear companion is split.
    """
    if isinstance(on, Target):
        return f"Σ({CENTRED}), {on}"
    if isinstance(on, NextToken) and on.log_probability:
        return f"{CENTRED}, {on}"
    return "the number" if on is None else str(on)
