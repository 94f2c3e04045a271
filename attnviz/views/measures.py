"""What the heads of a group do most and what they measure, also where layers differ in shape.

In: a `Group`. Out: a role for every head, and for each measure an array over layers and heads, as
`attnviz.metrics` finds them, layer by layer.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float32

import attnviz
from attnviz.views.groups import Group

if TYPE_CHECKING:
    from attnviz.metrics import HeadRole
    from attnviz.types import Measure, Tokens

    OfLayer = tuple[
        Float32[np.ndarray, "layer head query key"],
        Tokens,
        Tokens | None,
        Bool[np.ndarray, "layer query key"] | None,
    ]


@dataclass(frozen=True, eq=False)
class Measured:
    """The role of each head on the first text, or in the window, by layer, and its measures.

    A measure is NaN also where a layer has no such head.
    """

    roles: "tuple[tuple[HeadRole, ...], ...]"
    measures: "dict[Measure, Float32[np.ndarray, 'layer head']]"


def measure(group: Group) -> Measured:
    """Both for all heads, in one walk over the layers."""
    from attnviz.metrics.measures import measured

    roles: list[tuple[HeadRole, ...]] = []
    found, n_heads = [], group.extent.n_heads
    for part in _parts(group):
        roles += attnviz.metrics.describe(*part)
        found.append(measured(*part))
    return Measured(
        roles=tuple(roles),
        measures={
            name: np.concatenate([_filled(of[name], n_heads) for of in found]) for name in found[0]
        },
    )


def _parts(group: Group) -> "Iterator[OfLayer]":
    """One layer after the other: the weights of all together would fill memory."""
    visible = None if group.uneven else group.visible()
    for layer, weights in enumerate(group.each_weights()):
        keys = group.keys(layer=layer) if group.apart(layer) else None
        if group.uneven:
            seen: Bool[np.ndarray, "layer query key"] | None = group.seen(layer)[None]
        elif visible is None:
            # padding that nothing blocks is seen, as the silence after a sound
            padded = group.keys(layer=layer).padding.any()
            seen = np.ones((1, *weights.shape[1:]), dtype=np.bool_) if padded else None
        else:
            seen = visible[layer : layer + 1]
        yield weights[None], group.queries(layer=layer), keys, seen


def _filled(
    values: Float32[np.ndarray, "layer head"], n_heads: int
) -> Float32[np.ndarray, "layer n_heads"]:
    missing = n_heads - values.shape[1]
    return np.asarray(np.pad(values, ((0, 0), (0, missing)), constant_values=np.nan))
