"""The weights of a group's heads and the masks over them, on the first text or in the window.

In: a group. Out: float32 arrays, computed layer by layer from the capture; `TooLarge` where all
heads together do not fit into a browser.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float32

from attnviz.pictures.group.group_size import size_of
from attnviz.pictures.group.groups import Group

if TYPE_CHECKING:
    from attnviz.attention.call import AttentionCall


def stacked(group: Group) -> Float32[np.ndarray, "layer head query key"]:
    """The weights of every head, where all layers have one shape."""
    size = size_of(group)
    size.require_even()
    size.require_cells()
    extent = size.extent
    shape = (extent.n_layers, extent.n_heads, extent.n_query, extent.n_key)
    weights = np.empty(shape, dtype=np.float32)
    for layer, of_layer in enumerate(each_layer(group)):
        weights[layer] = of_layer
    return weights


def by_layer(group: Group) -> "tuple[Float32[np.ndarray, 'head query key'], ...]":
    """The weights of every head, one array per layer."""
    size_of(group).require_cells()
    return tuple(each_layer(group))


def each_layer(group: Group) -> "Iterator[Float32[np.ndarray, 'head query key']]":
    """The weights of one layer after the other, each computed when it is asked for."""
    for layer, call in enumerate(group.calls):
        yield call.weights(batch=group.row(layer)).cpu().numpy()


def mask(group: Group, layer: int) -> Bool[np.ndarray, "query key"]:
    """The mask of a layer's first head, True = may attend."""
    return _mask(group.calls[layer], group.row(layer))


def stacked_masks(group: Group) -> Bool[np.ndarray, "layer query key"] | None:
    """The mask of each layer's first head; None if no layer blocks anything."""
    masks = [mask(group, layer) for layer in range(group.n_layers)]
    if all(of_layer.all() for of_layer in masks):
        return None
    return np.stack(masks)


def _mask(call: "AttentionCall", batch: int) -> Bool[np.ndarray, "query key"]:
    from attnviz.attention.inputs import AttentionInputs

    inputs = call.inputs
    stored = inputs.may_attend(0, batch) if isinstance(inputs, AttentionInputs) else None
    if stored is None:
        return np.ones((call.n_query, call.n_key), dtype=np.bool_)
    return np.asarray(stored.cpu().numpy())
