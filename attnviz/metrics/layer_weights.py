"""The weights of one recorded layer as metrics take them: plain arrays, without a model.

A capture gives its layers one by one (`Capture.layer_weights`), so that the weights of one layer at
a time are in memory.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool, Float32

from attnviz.errors import bad_argument, heads_left_out
from attnviz.types import Kind, Stack, Tokens


@dataclass(frozen=True, eq=False)
class LayerWeights:
    """The weights of one attention call on one row of the batch.

    `keys` are the tokens along the keys if they are not the queries' tokens, else None. `visible`
    is True where some head may attend. `heads` has the numbers of the heads that were kept, if not
    all were.
    """

    stack: Stack | None
    kind: Kind
    layer: int
    index: int
    weights: Float32[np.ndarray, "head query key"]
    queries: Tokens
    keys: Tokens | None
    visible: Bool[np.ndarray, "query key"]
    heads: tuple[int, ...] | None = None

    @property
    def numbers(self) -> Sequence[int]:
        """The number of each head."""
        return range(len(self.weights)) if self.heads is None else self.heads

    def of_all_heads(self) -> Float32[np.ndarray, "head query key"]:
        """The weights; `BadInput` where some heads alone were kept."""
        if self.heads is not None:
            raise heads_left_out(self.layer, self.heads)
        return self.weights


@runtime_checkable
class HasLayerWeights(Protocol):
    """A capture, as far as metrics need it."""

    def layer_weights(
        self, batch: int | None = 0, kind: Kind | None = "self", stack: Stack | None = None
    ) -> Iterator[LayerWeights]:
        """The layers of one kind and stack, in order, on one row of the batch."""


def require_layers(cap: object, function: str, instead: str) -> HasLayerWeights:
    """The capture; `BadInput` for anything else, with the function that takes an array."""
    if isinstance(cap, HasLayerWeights):
        return cap
    found = type(cap).__name__
    raise bad_argument(
        f"{function}() takes a Capture and was given {found}; for an array of weights call"
        f" {instead}",
        name="cap",
        found=found,
        allowed="Capture",
    )
