"""What the heads of a group do most and what they measure, also where layers differ in shape.

In: a `Group`. Out: a role for every head, and for each measure an array over layers and heads, as
`attnviz.metrics` finds them. Where layers have tokens of their own each is measured by itself.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float32

import attnviz
from attnviz.ui.groups import Group

if TYPE_CHECKING:
    from attnviz.metrics import HeadRole
    from attnviz.types import Measure, Tokens

    OfLayer = tuple[
        Float32[np.ndarray, "layer head query key"],
        Tokens,
        Tokens | None,
        Bool[np.ndarray, "layer query key"] | None,
    ]


def roles(group: Group) -> "tuple[tuple[HeadRole, ...], ...]":
    """What each head does most on the first text, or in the window, by layer."""
    return tuple(role for part in _parts(group) for role in attnviz.metrics.describe(*part))


def measures(group: Group) -> "dict[Measure, Float32[np.ndarray, 'layer head']]":
    """What each head measures; NaN also where a layer has no such head."""
    from attnviz.metrics.measures import measured

    n_heads = group.extent.n_heads
    found = [measured(*part) for part in _parts(group)]
    return {name: np.concatenate([_filled(of[name], n_heads) for of in found]) for name in found[0]}


def _parts(group: Group) -> "Iterator[OfLayer]":
    """All layers together; or one after the other where they differ."""
    if not group.uneven:
        keys = group.keys() if group.apart() else None
        yield group.all_weights(), group.queries(), keys, group.visible()
        return
    for layer, weights in enumerate(group.weights()):
        keys = group.keys(layer=layer) if group.apart(layer) else None
        yield weights[None], group.queries(layer=layer), keys, group.seen(layer)[None]


def _filled(
    values: Float32[np.ndarray, "layer head"], n_heads: int
) -> Float32[np.ndarray, "layer n_heads"]:
    missing = n_heads - values.shape[1]
    return np.asarray(np.pad(values, ((0, 0), (0, missing)), constant_values=np.nan))
