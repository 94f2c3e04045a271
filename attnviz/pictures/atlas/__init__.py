"""Atlas: all heads of a survey as points on two measures, and beside them what one head does.

In: a frozen `AtlasView` whose texts are already translated. Out: the selection that a visitor
commits, a request to open a head, and a text of the survey to look at. All heads travel as points,
with their mean maps; the details of one head, the chosen one.
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from jaxtyping import Float32, UInt8

from attnviz.pictures.shared.canvas import Canvas, derived, roots


@dataclass(frozen=True)
class AtlasHead:
    """A head and its roles in words, "" for none."""

    layer: int
    head: int
    roles: str


@dataclass(frozen=True)
class MeasureRow:
    """A measure of the chosen head over texts: its mean with its interval, as texts.

    `even` is what even attention gives, `other` what other words in the same places give with the
    same weights, "" where they do not apply; `above` is on how many texts the head is above both.
    `own` is the value on the visitor's text with its place among all. `holds` is True for a role.
    """

    label: str
    mean: str
    interval: str
    even: str
    other: str
    above: str
    own: str
    holds: bool


@dataclass(frozen=True)
class DecileRow:
    """A tenth of the texts: the ends of its values, and texts of it. `number` is 1 to 10, or "1–6"
    where the first six have the same ends."""

    number: str
    low: str
    high: str
    texts: tuple[str, ...]


@dataclass(frozen=True)
class CountedRow:
    """A token, or a query and the key that got most of it: how often, and the mean weight."""

    tokens: tuple[str, ...]
    n: int
    weight: str


@dataclass(frozen=True, eq=False)
class HeadDetail:
    """The chosen head over all texts; `profile` is NaN for distances that no query can see."""

    layer: int
    head: int
    title: str
    sentences: tuple[str, ...]
    rows: tuple[MeasureRow, ...]
    by: str
    deciles: tuple[DecileRow, ...]
    pairs: tuple[CountedRow, ...]
    keys: tuple[CountedRow, ...]
    profile: Float32[np.ndarray, " distance"]


@dataclass(frozen=True, eq=False)
class AtlasView:
    """All heads on two measures: `points` are low end, mean and high end of each.

    `family` is the number of each head's first role among `families`, `NO_FAMILY` for none. `maps`
    are the mean weights between the first tokens.
    """

    heads: tuple[AtlasHead, ...]
    axes: tuple[str, str]
    points: Float32[np.ndarray, "head axis end"]
    families: tuple[str, ...]
    family: UInt8[np.ndarray, " head"]
    maps: Annotated[Float32[np.ndarray, "head query key"], roots(8)]
    detail: HeadDetail

    @derived
    def counts(self) -> tuple[int, ...]:
        """The number of heads of each layer."""
        layers = [head.layer for head in self.heads]
        return tuple(layers.count(layer) for layer in sorted(set(layers)))

    @derived
    def n_layers(self) -> int:
        """The number of layers."""
        return len(self.counts)

    @derived
    def n_heads(self) -> int:
        """The largest number of heads of a layer."""
        return max(self.counts)


CANVAS = Canvas("atlas", (AtlasView,))


NO_FAMILY = 255
