"""The model's answer to one input as named numbers, and the measure that sums it up.

In: a prepared input. Out: an `AnswerReader`: `read` gives one number for each choice and each row
of a batch: the probability of every next token, of each class, of each token of a target, the
cosine to each of some sentences. An `Answer` is such numbers. A model that says nothing a person
could read answers with how far each token's vector has turned. `moved` and `lead` are single
numbers of it, by which heads can be compared.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from jaxtyping import Float, Float64
from torch import Tensor
from torch.nn.functional import normalize

from attnviz.errors import UnsupportedAttention
from attnviz.experiment.answer_measures import AnswerMeasure, Class, NextToken, Target
from attnviz.experiment.clean_run import CleanRun
from attnviz.experiment.outputs.classes import FEWEST, MULTI_LABEL, class_names
from attnviz.experiment.outputs.similarity import pooled
from attnviz.experiment.readouts import Read, logits_of
from attnviz.models.loaded_model import LoadedModel
from attnviz.summary import shortened

AnswerKind = Literal["next_token", "masked_token", "target", "classes", "cosines", "vectors"]
SUMS_TO_ONE = 1e-3
MOST_LIKELY = 50  # tokens, among which is the one of the text that an answer is held against


@dataclass(frozen=True, eq=False)
class AnswerReader:
    """One number for each choice. `names` are those of the choices.

    They are None where a choice is a token of the vocabulary of `lm`. The numbers are
    probabilities, or cosines where `kind` is "cosines" or "vectors". `lead` is the logit of the
    first of a `pair` of choices minus that of the second, or a target's log-likelihood; None for
    cosines. `clean` is the answer without changes.
    """

    kind: AnswerKind
    read: Read
    clean: Float[Tensor, " choice"]
    lead: AnswerMeasure | None = None
    names: tuple[str, ...] | None = None
    lm: LoadedModel | None = None

    @property
    def is_probability(self) -> bool:
        """True for probabilities, False for cosines."""
        return self.kind not in ("cosines", "vectors")

    @property
    def exclusive(self) -> bool:
        """True if the numbers are one distribution."""
        return self.kind in ("next_token", "masked_token") or (
            self.kind == "classes" and abs(float(self.clean.sum()) - 1) <= SUMS_TO_ONE
        )

    @property
    def pair(self) -> tuple[int, int]:
        """The first choice and the one that it is held against, the second choice.

        Of tokens that is the likeliest other one that stands in the text, where one does: both can
        have been copied.
        """
        if isinstance(self.lead, NextToken):
            return int(self.lead.token), int(self.lead.against or 0)
        first, second, *_ = self.clean.argsort(descending=True, stable=True).tolist()
        return first, second

    def moved(self, output: Any) -> Float[Tensor, " row"]:
        """The distance of the answer from the one without changes, 0 to 1 for each row.

        Of a distribution it is the probability that changes its place, ½·Σ|p′ − p| (the total
        variation distance); of a target the mean |p′ − p| of its tokens; of a sentence's vector 1
        minus the cosine to itself; of several vectors the mean of that.
        """
        numbers = self.read(output)
        if self.kind == "cosines":
            return 1 - numbers[:, 0]
        change = (numbers - self.clean).abs()
        return change.sum(-1) / 2 if self.exclusive else change.mean(-1)

    def name(self, choice: int) -> str:
        """The name of a choice."""
        if self.names is None:
            assert self.lm is not None, "tokens have names by their model"
            return self.lm.labels_of([choice])[0]
        return self.names[choice]


@dataclass(frozen=True, eq=False)
class Answer:
    """The model's answer: one number for each choice, and the measure's `value` in `unit`.

    `numbers` are probabilities of tokens or classes, or cosines; `value` is None without a measure.
    """

    reader: AnswerReader
    numbers: Float64[np.ndarray, " choice"]
    measure: AnswerMeasure | None = None
    value: float | None = None
    unit: str = ""

    def top(self, count: int = 5) -> tuple[tuple[str, float], ...]:
        """The choices with the largest numbers: (name, number), the largest first."""
        order = np.argsort(-self.numbers, kind="stable")[: max(0, count)]
        return tuple((self.reader.name(int(at)), float(self.numbers[at])) for at in order)

    def to_dict(self, count: int = 20) -> dict[str, object]:
        """The measure's number, and the `count` likeliest choices as lists."""
        top = self.top(count)
        measured = {} if self.value is None else {"value": self.value, "unit": self.unit}
        choices = {"choice": [name for name, _ in top], "number": [number for _, number in top]}
        return {**measured, "kind": self.reader.kind, **choices}

    def __repr__(self) -> str:
        choices = ", ".join(f"{shortened(repr(name))} {number:.3g}" for name, number in self.top(3))
        measured = "" if self.value is None else f"{self.value:.4g} {self.unit}; "
        return f"Answer: {measured}{choices}"


def answer_of(prepared: CleanRun, others: Sequence[str] = ()) -> AnswerReader:
    """The answer of this model; a sentence encoder is compared with `others` too."""
    lm, logits = prepared.lm, prepared.clean.get("logits")
    if isinstance(logits, Tensor) and logits.dim() == 2 and logits.shape[1] >= FEWEST:
        return _classes(prepared, logits)
    if isinstance(logits, Tensor) and logits.dim() == 3:
        if prepared.target is not None:
            return _target(prepared)
        at = _mask_position(prepared) if lm.kind == "encoder" else -1
        return _vectors(prepared, logits_of) if at is None else _token(prepared, logits, at)
    hidden = prepared.clean.get("last_hidden_state")
    if isinstance(hidden, Tensor) and lm.kind == "encoder" and lm.tokenizer is not None:
        return _cosines(prepared, tuple(others))
    return _vectors(prepared, _first_tensor)


def _token(prepared: CleanRun, logits: Tensor, at: int) -> AnswerReader:
    """The token that follows the text, or the one that stands behind a mask token."""

    def read(output: Any) -> Tensor:
        return logits_of(output)[:, at].float().softmax(-1)

    clean, ids = read({"logits": logits})[0], prepared.inputs.get("input_ids")
    first, *rest = clean.argsort(descending=True, stable=True)[:MOST_LIKELY].tolist()
    in_text = set() if ids is None else set(ids[0].tolist())
    second = next((token for token in rest if token in in_text), rest[0])
    kind: AnswerKind = "next_token" if at == -1 else "masked_token"
    lead = NextToken(first, against=second, at=at)
    return AnswerReader(kind, read, clean, lead, lm=prepared.lm)


def _mask_position(prepared: CleanRun) -> int | None:
    """Where the only mask token stands; None without one."""
    tokenizer, ids = prepared.lm.tokenizer, prepared.inputs.get("input_ids")
    token = getattr(tokenizer, "mask_token_id", None)
    if token is None or not isinstance(ids, Tensor):
        return None
    places = (ids[0] == token).nonzero()[:, 0].tolist()
    return int(places[0]) if len(places) == 1 else None


def _classes(prepared: CleanRun, logits: Tensor) -> AnswerReader:
    names = class_names(prepared.lm) or tuple(map(str, range(logits.shape[1])))
    exclusive = getattr(prepared.lm.model.config, "problem_type", None) != MULTI_LABEL

    def read(output: Any) -> Tensor:
        scores = logits_of(output).float()
        return scores.softmax(-1) if exclusive else scores.sigmoid()

    first, second = logits[0].topk(2).indices.tolist()
    lead = Class(first, against=second)
    return AnswerReader("classes", read, read({"logits": logits})[0], lead, names)


def _target(prepared: CleanRun) -> AnswerReader:
    labels = prepared.labels()

    def read(output: Any) -> Tensor:
        rows = logits_of(output)[:, : labels.shape[1]].float().softmax(-1)
        index = labels.expand(len(rows), -1)[..., None]
        return rows.gather(-1, index)[..., 0]

    names = prepared.lm.labels_of(labels[0].tolist())
    clean = read(prepared.clean)[0]
    return AnswerReader("target", read, clean, Target(prepared.target), tuple(names))


def _cosines(prepared: CleanRun, others: tuple[str, ...]) -> AnswerReader:
    """The cosine to the text's own vector without changes, and to each of some other texts."""
    attended = prepared.attended  # an answer, which keeps `read`, does not keep the run
    own = pooled(prepared.clean["last_hidden_state"].float(), attended)
    known = torch.cat([own, *(prepared.vector_of(other) for other in others)])

    def read(output: Any) -> Tensor:
        hidden: Tensor = output["last_hidden_state"].float()
        return pooled(hidden, attended.expand(len(hidden), -1)) @ known.T

    return AnswerReader("cosines", read, read(prepared.clean)[0], names=("", *others))


def _vectors(prepared: CleanRun, find: Callable[[Any], Tensor]) -> AnswerReader:
    """The cosine of each token's vector with what it is without changes."""
    clean = find(prepared.clean).float()
    own = normalize(clean.reshape(1, -1, clean.shape[-1]), dim=-1)

    def read(output: Any) -> Tensor:
        vectors = find(output).float()
        return (normalize(vectors.reshape(-1, *own.shape[1:]), dim=-1) * own).sum(-1)

    names = tuple(map(str, range(own.shape[1])))
    return AnswerReader("vectors", read, read(prepared.clean)[0], names=names)


def _first_tensor(output: Any) -> Tensor:
    """The tensor that a module gives first, alone or in a tuple."""
    for value in output.values():
        first = value[0] if isinstance(value, tuple | list) and value else value
        if isinstance(first, Tensor) and first.dim() >= FEWEST:
            return first
    raise UnsupportedAttention(
        "the model's output has no tensor of numbers to compare", code="no_answer"
    )
