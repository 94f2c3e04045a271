"""The role and the measures of each head of a group, also where layers differ in shape.

In: a `Group`. Out: `Measured`, found by `attnviz.metrics` layer by layer, since the weights of all
layers together would fill memory.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float32

import attnviz
from attnviz.pictures.group import groups
from attnviz.pictures.group.groups import Group, size_of

if TYPE_CHECKING:
    from attnviz.metrics import HeadRole
    from attnviz.types import Measure, Tokens

    MetricArguments = tuple[
        Float32[np.ndarray, "layer head query key"],
        Tokens,
        Tokens | None,
        Bool[np.ndarray, "layer query key"] | None,
    ]


@dataclass(frozen=True, eq=False)
class Measured:
    """The role of each head on the first text, or in the window, by layer, and its measures.

    A measure is NaN where a layer has no such head.
    """

    roles: "tuple[tuple[HeadRole, ...], ...]"
    measures: "dict[Measure, Float32[np.ndarray, 'layer head']]"


def measure(group: Group) -> Measured:
    """Roles and measures of all heads, in one walk over the layers."""
    from attnviz.metrics.measures import measured

    roles: list[tuple[HeadRole, ...]] = []
    by_layer, n_heads = [], size_of(group).extent.n_heads
    for arguments in _layers(group):
        roles += attnviz.metrics.describe(*arguments)
        by_layer.append(measured(*arguments))
    return Measured(
        roles=tuple(roles),
        measures={
            name: np.concatenate([_padded(measures[name], n_heads) for measures in by_layer])
            for name in by_layer[0]
        },
    )


def _layers(group: Group) -> "Iterator[MetricArguments]":
    """Weights, queries, keys and mask of one layer after the other."""
    masks = None if group.uneven else groups.stacked_masks(group)
    for layer, weights in enumerate(groups.each_layer(group)):
        keys = groups.keys(group, layer=layer)
        mask: Bool[np.ndarray, "layer query key"] | None = None
        if group.uneven:
            mask = groups.mask(group, layer)[None]
        elif masks is not None:
            mask = masks[layer : layer + 1]
        elif keys.padding.any():  # padding that nothing blocks is attended to: silence in a sound
            mask = np.ones((1, *weights.shape[1:]), dtype=np.bool_)
        queries = groups.queries(group, layer=layer)
        yield weights[None], queries, keys if group.apart(layer) else None, mask


def _padded(
    values: Float32[np.ndarray, "layer head"], n_heads: int
) -> Float32[np.ndarray, "layer n_heads"]:
    """The values, with NaN for the heads that the layer does not have."""
    missing = n_heads - values.shape[1]
    return np.asarray(np.pad(values, ((0, 0), (0, missing)), constant_values=np.nan))
