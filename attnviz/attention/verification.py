"""The result of comparing derived numbers with the model's own.

Of each call those tensors are compared that the model makes itself: q, k and v with X·W + b,
weights·V with the output of its attention kernel, head by head, and W_O applied to that output with
what the model's own layer made of it. In: their errors and tolerances. Out: a `Verification`.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from attnviz.errors import CaptureMismatch
from attnviz.types import Stage


@dataclass(frozen=True)
class Comparison:
    """One tensor of the model compared with ours.

    `call` is the call's name, "module#index". `error` is max |ours − model's own| and `tolerance`
    the largest error that rounding explains, both in the units of the tensor.
    """

    call: str
    stage: Stage
    error: float
    tolerance: float

    @property
    def ok(self) -> bool:
        """True if rounding explains the error; never for NaN."""
        return self.error <= self.tolerance

    @property
    def excess(self) -> float:
        """The error in units of the tolerance: at most 1 if all is well, infinite for NaN."""
        if math.isnan(self.error):
            return math.inf
        if self.tolerance > 0:
            return self.error / self.tolerance
        return math.inf if self.error else 0.0


def worst(comparisons: Iterable[Comparison]) -> Comparison:
    """The comparison whose error is the largest in units of its tolerance."""
    return max(comparisons, key=lambda comparison: comparison.excess)


@dataclass(frozen=True)
class Verification:
    """The comparison of derived numbers with the model's own, call by call.

    `missing` has the modules whose attention ran and could not be recorded: nothing is said of it.
    `uncovered` has, by call, the stages that are shown as the model's own and have nothing to be
    compared with, as q behind a norm: no layer was found that leads to them.

    >>> Verification((Comparison("attn#0", "mixed", 2e-7, 1e-5),))
    Verification: ok, 1 call, worst error 2.0e-07 of 1.0e-05 allowed (mixed of attn#0)
    """

    comparisons: tuple[Comparison, ...]
    missing: tuple[str, ...] = ()
    uncovered: Mapping[str, tuple[Stage, ...]] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """True if rounding explains every error."""
        return all(comparison.ok for comparison in self.comparisons)

    @property
    def worst(self) -> Comparison | None:
        """The comparison whose error is the largest in units of its tolerance.

        None if nothing could be compared: of a capture made of weights alone.
        """
        return worst(self.comparisons) if self.comparisons else None

    @property
    def errors(self) -> dict[str, float]:
        """The error of each call, "module#index": that of its worse comparison."""
        return {name: comparison.error for name, comparison in self._by_call().items()}

    @property
    def tolerances(self) -> dict[str, float]:
        """The tolerance of each call that belongs to its entry in `errors`."""
        return {name: comparison.tolerance for name, comparison in self._by_call().items()}

    def require(self) -> None:
        """Raise `CaptureMismatch` unless `ok`; the message names the worst comparison."""
        comparison = self.worst
        if comparison is None or self.ok:
            return
        raise CaptureMismatch(
            f"{comparison.call}: our {comparison.stage} and the model's own differ by"
            f" {comparison.error:.3g}, and rounding explains at most {comparison.tolerance:.1g};"
            " do not trust this capture",
            code="mismatch",
            module=comparison.call,
            error=f"{comparison.error:.3g}",
            tolerance=f"{comparison.tolerance:.1g}",
        )

    def to_dict(self) -> dict[str, list[str] | list[float]]:
        """A row for each comparison, as lists: the call, the stage, the error, what is allowed."""
        return {
            "call": [comparison.call for comparison in self.comparisons],
            "stage": [str(comparison.stage) for comparison in self.comparisons],
            "error": [comparison.error for comparison in self.comparisons],
            "tolerance": [comparison.tolerance for comparison in self.comparisons],
        }

    def __repr__(self) -> str:
        n_call, furthest = len(self._by_call()), self.worst
        missing = f"; {len(self.missing)} not recorded" if self.missing else ""
        if furthest is None:
            return f"Verification: nothing to compare{missing}"
        missing = self._not_compared() + missing
        return (
            f"Verification: {'ok' if self.ok else 'NOT ok'}, {n_call} call{'s'[: n_call != 1]},"
            f" worst error {furthest.error:.1e} of {furthest.tolerance:.1e} allowed"
            f" ({furthest.stage} of {furthest.call}){missing}"
        )

    def _not_compared(self) -> str:
        """The stages without a comparison, with the number of calls that lack it."""
        counts = Counter(stage for stages in self.uncovered.values() for stage in stages)
        by_count: dict[int, list[str]] = {}
        for stage, count in counts.items():
            by_count.setdefault(count, []).append(stage)
        parts = (
            f"{', '.join(stages)} of {count} call{'s'[: count != 1]}"
            for count, stages in by_count.items()
        )
        return "".join(f"; not compared: {part}" for part in parts)

    def _by_call(self) -> dict[str, Comparison]:
        """The worse comparison of each call."""
        by_call: dict[str, Comparison] = {}
        for comparison in self.comparisons:
            other = by_call.get(comparison.call)
            if other is None or comparison.excess > other.excess:
                by_call[comparison.call] = comparison
        return by_call


def joined(verifications: Iterable[Verification], missing: tuple[str, ...] = ()) -> Verification:
    """All comparisons of several verifications as one; `missing` names what has none."""
    parts = list(verifications)
    uncovered = {name: stages for part in parts for name, stages in part.uncovered.items()}
    comparisons = tuple(comparison for part in parts for comparison in part.comparisons)
    return Verification(comparisons, missing, uncovered)
