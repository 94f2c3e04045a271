"""Heads ranked by a number minus its control, the form of the answers of `links` and of `drawn`.

In: heads with a share of their attention and the share of a control. Out: the same by falling
difference. The difference of the two shares never leaves its parts, so that both can be shown.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from attnviz.types import HeadId


@dataclass(frozen=True)
class RankedHead:
    """A head, a share of its attention in 0..1, and the control that stands beside it (0..1)."""

    head: HeadId
    share: float
    control: float

    @property
    def difference(self) -> float:
        """The share minus the control, in −1..1."""
        return self.share - self.control


def by_difference(heads: Iterable[RankedHead]) -> tuple[RankedHead, ...]:
    """The heads by falling difference; equal ones keep their order."""
    return tuple(sorted(heads, key=lambda ranked: -ranked.difference))
