"""Direct attribution: what each head, MLP and embedding wrote of the answer's own number.

In: a model, a text and a measure. Out: a `Direct`: one number for each component, which sum to
the model's own; the sum is compared each time. Norms are frozen at the scale that they had, and so
are gates above the stream (Elhage et al. 2021; for norms after each sum too). It is the part that
reaches the answer directly: what a head does through later heads and MLPs is not in it, so that it
stands beside `attnviz.effects`, never alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float, Float64
from torch import Tensor

from attnviz.attention.tolerance import rounding
from attnviz.changes.site import place_among
from attnviz.errors import BadInput
from attnviz.experiment.answer_measures import AnswerMeasure, printed, split_name
from attnviz.experiment.clean_run import CleanRun
from attnviz.experiment.components import Component, components
from attnviz.experiment.dataflow.parts import Walk
from attnviz.experiment.dataflow.rules import Leaf, Rules
from attnviz.experiment.dataflow.stream import before_last_linear
from attnviz.experiment.dataflow.trace import Value
from attnviz.experiment.readouts import Linear, readout
from attnviz.experiment.traced_run import TracedRun, traced_run
from attnviz.summary import counted, shortened, text_table
from attnviz.types import Where

STREAM = "the residual stream"


@dataclass(frozen=True, eq=False)
class Direct:
    """The direct contribution of each component; `values` sum to `total`, the model's own is `own`.

    For the log-likelihood of a `Target`, which is not linear, the number is the sum of the target's
    logits, each minus the mean of all; likewise for the log-probability of a `NextToken`.
    `frozen` names what was held constant so that the sum is exact.
    """

    measure: AnswerMeasure | None
    components: tuple[Component, ...]
    values: Float64[np.ndarray, " component"]
    own: float
    tolerance: float
    frozen: tuple[Literal["norms", "gates"], ...] = ("norms", "gates")

    @property
    def total(self) -> float:
        """The sum of all components."""
        return float(self.values.sum())

    @property
    def error(self) -> float:
        """|Σ components − the model's own number|."""
        return abs(self.total - self.own)

    @property
    def ok(self) -> bool:
        """True if the sum is the model's own number but for rounding."""
        return self.error <= self.tolerance

    @property
    def _doubt(self) -> str:
        """A warning where the parts do not sum to the model's own number; "" where they do."""
        return "" if self.ok else f", NOT ok: they sum to {self.total:.4g}"

    def of(self, head: Where) -> float:
        """The direct contribution of one head; `BadInput` if it is not among the components."""
        heads = [component.site for component in self.components if component.site is not None]
        site = heads[place_among(head, heads, "is not a component of this answer; its heads are")]
        parts = zip(self.components, self.values, strict=True)
        return float(sum(value for component, value in parts if component.site == site))

    def to_dict(self) -> dict[str, list[str] | list[float]]:
        """The components and what they wrote, as lists in the order of the pass."""
        return {"component": list(map(str, self.components)), "value": self.values.tolist()}

    def __repr__(self) -> str:
        parts = counted(len(self.components), "component")
        split = f"{self.own:.4g} split into {parts}{self._doubt}"
        return f"Direct of {shortened(split_name(self.measure))}: {split}; print() lists them"

    def __str__(self) -> str:
        """The components with what they wrote, the largest first."""
        order = np.argsort(-np.abs(self.values), kind="stable")
        columns = {
            "component": [str(self.components[at]) for at in order],
            "value": [f"{self.values[at]:+.3f}" for at in order],
        }
        return text_table(columns) if self.ok else f"Direct{self._doubt}\n{text_table(columns)}"


@dataclass(frozen=True, eq=False)
class SplitNumber:
    """A number of each row of a pass, linear in one value: Σ slope · value + `behind` = `own`.

    `behind` has what is added after the value, biases. `rules` say how the value is split in turn.
    """

    run: TracedRun
    value: Value
    slope: Tensor
    behind: tuple[tuple[Component, Float[Tensor, " row"]], ...]
    own: Float[Tensor, " row"]
    rules: Rules

    def share(self, tensor: Tensor) -> Float[Tensor, " row"]:
        """The part of the number that a summand of the value has."""
        return (tensor * self.slope).reshape(len(self.own), -1).sum(1)

    def parts(self) -> list[tuple[Component, Float[Tensor, " row"]]]:
        """The part of every component."""
        found = components(self.run, self.value, self.rules)
        return [*((part.component, self.share(part.tensor)) for part in found), *self.behind]

    def tolerance(self, shares: Sequence[float]) -> float:
        """The largest error of Σ shares that rounding explains."""
        return rounding(self.value.tensor.dtype, sum(map(abs, shares)))


def direct(prepared: CleanRun) -> Direct:
    """The number that the run's measure reads, split into what each component wrote of it.

    Raises `BadInput` for a measure that is not a linear number of logits or hidden states.
    """
    number = answer_number(prepared)
    parts = number.parts()
    values = [float(share[0]) for _, share in parts]
    return Direct(
        measure=prepared.on,
        components=tuple(component for component, _ in parts),
        values=np.array(values, dtype=np.float64),
        own=float(number.own[0]),
        tolerance=number.tolerance(values),
    )


def answer_number(prepared: CleanRun) -> SplitNumber:
    """The measure's number, as a linear function of the last hidden state.

    Raises `BadInput` for a measure that is not a linear number of logits or hidden states.
    """
    resolved = readout(prepared)
    return linear_number(traced_run(prepared), resolved.output, linear_of(prepared))


def linear_of(prepared: CleanRun) -> Linear:
    """The linear number of a run's measure; `BadInput` for a measure that is not linear."""
    linear = readout(prepared).linear
    if linear is None:
        raise BadInput(
            f"{printed(prepared.on)} is not linear in the model's answer and cannot be split into"
            " parts: give NextToken, Class, Target, or Cosine(to=another text)",
            code="not_linear",
            measure=type(prepared.on).__name__,
        )
    return linear


def linear_number(run: TracedRun, output: str, linear: Linear) -> SplitNumber:
    """A linear number of one of a pass's outputs, as one of its last hidden state."""
    answer = run.value(output)
    hidden = before_last_linear(answer) if output == "logits" else answer
    slope, behind = _slope(answer, hidden, linear)
    own = linear(answer.tensor.detach().float())
    return SplitNumber(run, hidden, slope, behind, own, Rules(above_stream=True, gates=True))


def _slope(
    answer: Value, hidden: Value, linear: Linear
) -> tuple[Tensor, tuple[tuple[Component, Float[Tensor, " row"]], ...]]:
    """The slope of the number by the hidden state, and what is added behind it (biases)."""

    def stop(value: Value) -> list[Leaf] | None:
        if value is not hidden:
            return None
        return [Leaf(STREAM, "stop", value.tensor.detach().float(), value)]

    walk = Walk(answer, Rules(above_stream=True, gates=True, sources=stop))
    with torch.enable_grad():
        x = hidden.tensor.detach().float().requires_grad_()
        through = walk.total(lambda leaf: x if leaf.name == STREAM else None)
        (slope,) = torch.autograd.grad(linear(through).sum(), x)
    behind = tuple(
        (Component(part.name, "bias", None, part.name), linear(part.tensor))
        for part in walk.parts()
        if part.name != STREAM
    )
    return slope, behind
