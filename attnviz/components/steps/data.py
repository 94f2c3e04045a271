"""One head of one sentence as the Steps strip shows it: plain arrays and translated texts.

In: nothing; `views` fills these classes. Out: `StepsData` and its parts, which `pack_steps` packs.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float32, UInt8

from attnviz.attention.edits import Edit
from attnviz.components.heads import LayerPatches, TokenAxis
from attnviz.types import Stage, StepView


@dataclass(frozen=True)
class HeadPlace:
    """The place of a head, and the numbers of layers and heads."""

    layer: int
    head: int
    n_layers: int
    n_heads: int


@dataclass(frozen=True, eq=False)
class StepTokens:
    """The tokens of both axes, and the picture that they are patches of, where they are."""

    queries: TokenAxis
    keys: TokenAxis
    cross: bool
    patches: LayerPatches | None = None
    picture: UInt8[np.ndarray, "row column rgb"] | None = None


@dataclass(frozen=True)
class HeadForm:
    """The form of a model's attention, as its formulas are written.

    `turned` has those of q and k that a rotary embedding turned; `factors` what the model
    multiplied q, k or v by after their layer; `without_bias` the stages whose layer adds none.
    `given` is True where q, k and v were typed, `coarser` where keys were made from X, but coarser.
    """

    scaling: float
    sink: bool = False
    turned: frozenset[Stage] = frozenset()
    factors: Mapping[Stage, float] = field(default_factory=dict)
    without_bias: frozenset[Stage] = frozenset()
    given: bool = False
    coarser: bool = False


@dataclass(frozen=True, eq=False)
class BlockedCells:
    """The masks that block each cell: bit i of a cell stands for the i-th name and reason."""

    bits: UInt8[np.ndarray, "query key"]
    names: tuple[str, ...]
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class HandEdits:
    """The changes made by hand, and the changed stages as they were before."""

    allowed: bool = True
    edits: tuple[Edit, ...] = ()
    original: tuple[StepView, ...] = ()


@dataclass(frozen=True, eq=False)
class StepsData:
    """Every stage of one head; `absent` says why a stage has no view.

    `reach` is how long a vector a weight of 1 on each key would write, ‖v·W_O‖.
    """

    place: HeadPlace
    tokens: StepTokens
    form: HeadForm
    views: tuple[StepView, ...]
    absent: Mapping[Stage, str]
    blocked: BlockedCells
    strings: Mapping[str, str]
    reach: Float32[np.ndarray, "key"] | None = None
    by_hand: HandEdits = HandEdits()
