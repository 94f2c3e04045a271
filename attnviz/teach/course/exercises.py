"""Exercises in code: what a learner wrote is held to the numbers of the cards.

In: a function of the learner. Out: an `ExerciseReport`, one line for each number, with a sign and
what was expected. The notebook write-it.ipynb beside this module has the tasks; it runs as it is,
with the solutions at its end, which a test holds to all lines being right.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import attnviz
from attnviz.teach.course import block, claims, errata
from attnviz.teach.course.arrays import Matrix
from attnviz.teach.course.recipe import CardInputs

NOTEBOOK = Path(__file__).with_name("write-it.ipynb")
SEEDS = (0, 1, 2)
TOLERANCE = 1e-6
LOGITS = 0.01  # of a model, which rounds otherwise on another machine

Attention = Callable[[Matrix, Matrix, Matrix, Matrix], tuple[Matrix, Matrix]]
Weights = Callable[[Matrix, Matrix], Matrix]
Verdict = Callable[[int], float]


@dataclass(frozen=True)
class CheckedNumber:
    """One number of a card: what it is, and what is wrong with the learner's; "" for nothing."""

    what: str
    problem: str


@dataclass(frozen=True)
class ExerciseReport:
    """The lines of an exercise."""

    lines: tuple[CheckedNumber, ...]

    @property
    def is_right(self) -> bool:
        """True if no line has a problem."""
        return not any(line.problem for line in self.lines)

    def __repr__(self) -> str:
        said = (
            f"✗ {line.what}: {line.problem}" if line.problem else f"✓ {line.what}"
            for line in self.lines
        )
        return "\n".join(said)


def attention(own: Attention) -> ExerciseReport:
    """`own(q, k, v, may_attend)` returns weights and outputs; True means: may attend."""
    return ExerciseReport(tuple(_attention(own)))


def _attention(own: Attention) -> Iterator[CheckedNumber]:
    causal = np.tril(np.ones((4, 4), dtype=bool))
    for seed in SEEDS:
        for number, head in enumerate(block.example(seed).heads):
            given = own_result(own, head.q, head.k, head.v, causal)
            name = f"One block, sheet {seed}, head {number}"
            yield CheckedNumber(f"{name}: weights", differs(given, 0, head.weights))
            yield CheckedNumber(f"{name}: weights · V", differs(given, 1, head.mixed))
    head = block.example(0).heads[0]
    everything = np.ones((4, 4), dtype=bool)
    given = own_result(own, head.q, head.k, head.v, everything)
    yield CheckedNumber("a mask that blocks nothing", _sums(_matrix(given, 0)))
    large = own_result(own, 1e4 * head.q, head.k, head.v, causal)
    yield CheckedNumber("scores of ten thousand do not overflow", _sums(_matrix(large, 0)))


def own_result(own: Callable[..., object], *arguments: object) -> object:
    """The result of a learner's function; the exception if it raises one."""
    try:
        with np.errstate(all="ignore"):
            return own(*arguments)
    except Exception as error:  # any mistake of a learner is a line of the report
        return error


def differs(given: object, place: int | None, right: Matrix, tolerance: float = TOLERANCE) -> str:
    """The fault of a result, "" for none; `place` is that of the matrix among several."""
    matrix = _matrix(given, place)
    if isinstance(matrix, str):
        return matrix
    if matrix.shape != right.shape:
        return f"its shape is {matrix.shape}, not {right.shape}"
    apart = np.abs(matrix - right)
    if np.isfinite(matrix).all() and apart.max() <= tolerance:
        return ""
    worst = int(np.where(np.isfinite(apart), apart, np.inf).argmax())
    at = tuple(int(index) for index in np.unravel_index(worst, apart.shape))
    return f"at {at} it has {matrix[at]:.4g}, the card {right[at]:.4g}"


def _matrix(given: object, place: int | None) -> np.ndarray | str:
    """A result as a matrix, or what is wrong with it."""
    if isinstance(given, Exception):
        return f"it raises {type(given).__name__}: {given}"
    if given is None or given is Ellipsis:
        return "it returns nothing yet"
    try:
        part: Any = given if place is None else given[place]  # type: ignore[index]
        return np.asarray(part, dtype=np.float64)
    except (TypeError, ValueError, IndexError, KeyError):
        return f"it returns {type(given).__name__}"


def _sums(weights: np.ndarray | str) -> str:
    """The fault of weights of which only the form is known, "" for none."""
    if isinstance(weights, str):
        return weights
    if not np.isfinite(weights).all():
        return "a weight is not a number"
    is_whole = np.allclose(weights.sum(axis=-1), 1, atol=TOLERANCE) and (weights >= 0).all()
    return "" if is_whole else "a row does not sum to 1"


def repaired(own: Weights) -> ExerciseReport:
    """`own(q, k)` returns the weights that the lecture note should have printed."""
    q, k = errata.matrices()
    given = own_result(own, q, k)
    right = errata.right_weights()
    sums = _sums(_matrix(given, None))
    return ExerciseReport(
        (
            CheckedNumber("Debugging a text, card 3: each row sums to 1", sums),
            CheckedNumber("card 3: divided by √d, summed along rows", differs(given, None, right)),
        )
    )


def backed_up(own: Verdict) -> ExerciseReport:
    """`own(n)` returns the verdict, the cell cut in the `n` heads of layer 0 with most weight."""
    inputs = CardInputs({}, 0, captured)
    right = claims.negation_cuts(inputs, claims.REVIEW).verdicts
    lines = []
    for n, verdict in enumerate(right):
        given = own_result(own, n)
        wanted = np.array([[verdict]])
        listed = [[given]] if isinstance(given, float | int) else given
        problem = differs(listed, None, wanted, LOGITS)
        lines.append(
            CheckedNumber(f"What a heatmap does not say, card 5: cut in {n} heads", problem)
        )
    return ExerciseReport(tuple(lines))


def captured(model: str, text: object = None, /, **options: object) -> attnviz.Capture:
    """A capture of a registry model."""
    return attnviz.capture(attnviz.load(model), text, **options)  # type: ignore[arg-type]
