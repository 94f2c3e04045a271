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

    A measure is NaN, and a role None, where a layer has no such head or it was not kept.
    """

    roles: "tuple[tuple[HeadRole | None, ...], ...]"
    measures: "dict[Measure, Float32[np.ndarray, 'layer head']]"


def measure(group: Group) -> Measured:
    """Roles and measures of all heads, in one walk over the layers."""
    from attnviz.metrics.measures import measured

    roles: list[tuple[HeadRole | None, ...]] = []
    extent = size_of(group).extent
    values: dict[Measure, Float32[np.ndarray, "layer head"]] = {}
    for layer, (weights, queries, keys, mask) in enumerate(_layers(group)):
        heads = list(group.calls[layer].kept_heads)
        of_layer: list[HeadRole | None] = [None] * group.calls[layer].n_heads
        if heads:
            (found,) = attnviz.metrics.describe(weights, queries, keys, mask)
            for head, role in zip(heads, found, strict=True):
                of_layer[head] = role
            for name, measures in measured(weights, queries, keys, mask).items():
                table = values.setdefault(
                    name, np.full((extent.n_layers, extent.n_heads), np.nan, np.float32)
                )
                table[layer, heads] = measures[0]
        roles.append(tuple(of_layer))
    return Measured(tuple(roles), values)


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
