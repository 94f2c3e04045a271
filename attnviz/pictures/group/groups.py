"""The attention calls that are looked at together: one stack, one kind, all its layers.

In: a capture. Out: its `Group`s in the order in which they ran: one for an encoder, a decoder or a
vision model; encoder self, decoder self and cross for an encoder–decoder. Layers may differ in
heads and tokens, and a layer may attend inside windows of a picture: then one window is looked at,
and in each layer the one at the same place. Of a group: its `GroupSize` (whether its weights fit
into a browser one by one, all at once, or as maxima of neighbours), its tokens along both axes, and
its weights and masks as numpy arrays, computed layer by layer; `TooLarge` where all heads together
do not fit.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float32

from attnviz.errors import TooLarge, UnsupportedAttention, require_index
from attnviz.pictures.shared.buffer import SomeHeads
from attnviz.pictures.shared.selection import Extent
from attnviz.types import HeadId, Kind, Stack, Tokens, named_tokens
from attnviz.vision.windows import halved

if TYPE_CHECKING:
    from attnviz.attention.call import AttentionCall
    from attnviz.attention.capture import Capture
    from attnviz.pictures.shared.heads import Weights
    from attnviz.vision.windows import Windows

# weights of all heads together that a browser gets at once, one byte each
MAX_CELLS = 48 * 2**20
# points of the pooled overview, one byte each
MAX_POINTS = 12 * 2**20
# weights that are computed for the pooled overview
MAX_POOLED_CELLS = 384 * 2**20
# queries or keys of a matrix that is shown whole; longer ones are shown by tiles
MAX_WHOLE = 2048
Shape = tuple[int, int, int]
# stacks that read an input and generate nothing
READING: tuple[Stack, ...] = ("encoder", "vision", "audio")


@dataclass(frozen=True, eq=False)
class Group:
    """The attention calls of one stack and kind, one per layer, and the window looked at."""

    capture: "Capture"
    stack: Stack | None
    kind: Kind
    calls: "tuple[AttentionCall, ...]"
    window: int = 0

    @property
    def name(self) -> str:
        """A name that differs between the groups of a capture."""
        return f"{self.stack}_{self.kind}" if self.stack else self.kind

    @property
    def key(self) -> str:
        """The name and the window: the group's part of a cache key."""
        return f"{self.name} {self.window}"

    @property
    def windows(self) -> "Windows | None":
        """The windows that `window` counts: those of the first layer that has the most."""
        by_layer = [call.windows for call in self.calls if call.windows is not None]
        return max(by_layer, key=lambda windows: windows.count, default=None)

    @cached_property
    def uneven(self) -> bool:
        """True if layers differ in tokens, in their places in a picture, or in number of heads."""
        shapes = {(call.n_heads, call.n_query, call.n_key) for call in self.calls}
        placed = any(call.query_places is not None for call in self.calls)
        return len(shapes) > 1 or placed or self.windows is not None

    @property
    def kept(self) -> tuple[tuple[int, ...], ...]:
        """The heads of each layer that were kept; () where all were."""
        some = any(call.inputs.only for call in self.calls)
        return tuple(tuple(call.kept_heads) for call in self.calls) if some else ()

    @cached_property
    def masking(self) -> tuple[int, ...]:
        """The layer whose mask each layer has: itself; with no head kept the next, or the last."""
        kept = [layer for layer, call in enumerate(self.calls) if call.kept_heads]
        places = (bisect_left(kept, layer) for layer in range(self.n_layers))
        return tuple(kept[min(place, len(kept) - 1)] for place in places)

    @property
    def heads(self) -> tuple[HeadId, ...]:
        """The heads that were kept, layer by layer: all, unless `keep=` named some."""
        return tuple(
            HeadId(layer, head) for layer, call in enumerate(self.calls) for head in call.kept_heads
        )

    @property
    def cross(self) -> bool:
        """True if keys and queries are different tokens in every layer."""
        return self.kind == "cross"

    @property
    def n_layers(self) -> int:
        return len(self.calls)

    def in_window(self, window: int) -> "Group":
        """The same calls, seen in another window."""
        return replace(self, window=window)

    def call(self, layer: int) -> "AttentionCall":
        """The call of one layer; `BadInput` where there is no such layer."""
        return self.calls[require_index("layer", layer, len(self.calls))]

    def row(self, layer: int = 0) -> int:
        """The row of a layer's batch that is looked at: the first text, or the window."""
        windows, finest = self.calls[layer].windows, self.windows
        if windows is None or finest is None:
            return 0
        if windows == finest:
            return self.window
        return windows.covering(*finest.centre(self.window))

    def batches(self, layer: int) -> tuple[int, ...]:
        """The rows of a layer's batch that are shown together: its texts, or the one window."""
        call = self.calls[layer]
        return (self.row(layer),) if call.windows is not None else tuple(range(call.n_batch))

    def apart(self, layer: int = 0) -> bool:
        """True if queries and keys of a layer are different tokens."""
        return self.cross or self.calls[layer].n_query != self.calls[layer].n_key

    def own_code(self, layer: int) -> bool:
        """True if only the weights of a layer are known, because the model has its own code."""
        from attnviz.attention.stored_weights import StoredWeights

        return isinstance(self.call(layer).inputs, StoredWeights)


def groups(capture: "Capture") -> tuple[Group, ...]:
    """The groups of a capture, in the order in which they ran.

    Of a capture that keeps some layers or heads (`keep=`) the others have their places, too, so
    that each has its own number: a layer that was not kept is taken to be as large as the next one.
    """
    calls: dict[tuple[Stack | None, Kind], dict[int, AttentionCall]] = {}
    for call in capture.calls:
        calls.setdefault((call.stack, call.kind), {}).setdefault(call.layer, call)
    return tuple(
        Group(capture, stack, kind, _in_all_layers(capture, by_layer))
        for (stack, kind), by_layer in calls.items()
    )


def _in_all_layers(
    capture: "Capture", by_layer: "dict[int, AttentionCall]"
) -> "tuple[AttentionCall, ...]":
    """The calls of all layers in order; those of layers that were not kept have no head."""
    from attnviz.attention import memory

    calls: list[AttentionCall] = []
    some = next(iter(by_layer.values()))
    for layer in reversed(range(capture.n_layers_of(some.kind, some.stack))):
        some = by_layer.get(layer) or memory.without_heads(some, layer)
        calls.append(some)
    return tuple(reversed(calls))


def chosen(among: Sequence[Group], stack: str | None, kind: str | None) -> Group:
    """The group of that stack and kind; the first one where there is none."""
    fitting = [
        group
        for group in among
        if (stack is None or group.stack == stack) and (kind is None or group.kind == kind)
    ]
    return (fitting or list(among))[0]


@dataclass(frozen=True)
class GroupSize:
    """The shapes [head, query, key] of a group's layers, and what follows from them."""

    shapes: tuple[Shape, ...]
    uneven: bool
    kept: tuple[tuple[int, ...], ...] = ()

    @property
    def extent(self) -> Extent:
        """The numbers of layers, heads, queries and keys to choose from."""
        heads, queries, keys = zip(*self.shapes, strict=True)
        by_layer = heads if len(set(heads)) > 1 else ()
        return Extent(len(self.shapes), max(heads), max(queries), max(keys), by_layer, self.kept)

    @property
    def n_heads(self) -> int:
        """The number of heads of all layers together, of those that were kept."""
        return sum(self._n_kept(layer) for layer in range(len(self.shapes)))

    @property
    def n_cells(self) -> int:
        """The number of weights of these heads together."""
        return sum(map(self.n_cells_of, range(len(self.shapes))))

    def n_cells_of(self, layer: int) -> int:
        """The number of weights of a layer's heads together."""
        return self._n_kept(layer) * prod(self.shapes[layer][1:])

    def _n_kept(self, layer: int) -> int:
        return len(self.kept[layer]) if self.kept else self.shapes[layer][0]

    @property
    def n_longest(self) -> int:
        """The longer side of the largest matrix."""
        return max(max(shape[1:]) for shape in self.shapes)

    @property
    def whole(self) -> bool:
        """True if one matrix can be shown at once."""
        return self.n_longest <= MAX_WHOLE

    @property
    def all_at_once(self) -> bool:
        """True if all heads can be shown at once."""
        return self.whole and self.n_cells <= MAX_CELLS

    @property
    def pooled(self) -> bool:
        """True if all heads can be shown at once, but only as maxima of neighbouring weights."""
        computed = self.n_cells <= MAX_POOLED_CELLS and not self.uneven
        return self.whole and computed and not self.all_at_once

    def nearest_head(self, layer: int, head: int) -> tuple[int, int]:
        """The layer and the head; the nearest one that was kept, or the last of a layer with fewer.

        A layer that does not exist stays so.
        """
        return self.extent.nearest_head(layer, head)

    def require_cells(self) -> None:
        """`TooLarge` if all heads together have too many weights for a browser."""
        if self.n_cells > MAX_CELLS:
            raise TooLarge(
                f"all heads together have {self.n_cells} weights and the limit is {MAX_CELLS};"
                " shorten the text",
                code="too_many_weights",
                found=self.n_cells,
                limit=MAX_CELLS,
                unit="weights",
            )

    def require_even(self) -> None:
        """`UnsupportedAttention` if the layers cannot be stacked."""
        if self.uneven:
            raise UnsupportedAttention(
                "the layers differ in shape (heads, queries, keys):"
                f" {sorted(set(self.shapes))}; look at them one by one",
                code="uneven_layers",
            )


def size_of(group: Group) -> GroupSize:
    """The size of a group."""
    shapes = tuple((call.n_heads, call.n_query, call.n_key) for call in group.calls)
    return GroupSize(shapes, group.uneven, group.kept)


TokensOf = Callable[[Group, int, int], Tokens]


def queries(group: Group, batch: int = 0, layer: int = 0) -> Tokens:
    """The tokens along the queries."""
    call = group.calls[layer]
    tokens = group.capture.query_tokens(call, _row(group, call, batch, layer))
    return _fitting(group, tokens, call.n_query)


def keys(group: Group, batch: int = 0, layer: int = 0) -> Tokens:
    """The tokens along the keys."""
    call = group.calls[layer]
    tokens = group.capture.key_tokens(call, _row(group, call, batch, layer))
    return _fitting(group, tokens, call.n_key)


def generated_queries(group: Group, layer: int = 0) -> Bool[np.ndarray, "query"]:
    """True for each query whose token the model generated."""
    return _generated(group, group.calls[layer].n_query, group.stack not in READING)


def generated_keys(group: Group, layer: int = 0) -> Bool[np.ndarray, "key"]:
    """True for each key whose token the model generated."""
    generates = group.stack not in READING and not group.cross
    return _generated(group, group.calls[layer].n_key, generates)


def _generated(group: Group, n: int, generates: bool) -> Bool[np.ndarray, "token"]:
    """Generated tokens are the last ones of a stack that generates."""
    return np.arange(n) >= n - (group.capture.n_generated if generates else 0)


def _row(group: Group, call: "AttentionCall", batch: int, layer: int) -> int:
    return batch if call.windows is None else group.row(layer)


def _fitting(group: Group, tokens: Tokens, n: int) -> Tokens:
    """The tokens if they are as many as the axis is long; else merged patches, else numbers."""
    if len(tokens) == n:
        return tokens
    return _merged_patches(group.capture.grid, n) or named_tokens(tuple(map(str, range(n))))


def _merged_patches(grid: tuple[int, int] | None, n: int) -> Tokens | None:
    """Patches of a grid that was halved until it has `n` places; None if it never has."""
    from attnviz.capture.plan.images import patch_tokens

    while grid is not None and grid[0] * grid[1] > n > 0:
        grid = halved(grid)
    return patch_tokens(n, grid) if grid is not None and grid[0] * grid[1] == n else None


def stacked(group: Group) -> Float32[np.ndarray, "layer head query key"]:
    """The weights of every head, where all layers have one shape; `BadInput` if some lack."""
    if group.kept:
        group.capture.require_all_heads()
    size = size_of(group)
    size.require_even()
    size.require_cells()
    extent = size.extent
    shape = (extent.n_layers, extent.n_heads, extent.n_query, extent.n_key)
    weights = np.empty(shape, dtype=np.float32)
    for layer, of_layer in enumerate(each_layer(group)):
        weights[layer] = of_layer
    return weights


def kept_weights(group: Group) -> "Weights":
    """The weights of every head that was kept, stacked, or by layer where layers differ."""
    size = size_of(group)
    size.require_cells()
    if not group.uneven:
        return placed(group, each_layer(group)) if group.kept else stacked(group)
    if not group.kept:
        return tuple(each_layer(group))
    return tuple(
        SomeHeads(weights, shape, kept)
        for weights, shape, kept in zip(each_layer(group), size.shapes, group.kept, strict=True)
    )


def placed(
    group: Group, layers: Iterable[Float32[np.ndarray, "kept row column"]], first: int = 0
) -> Float32[np.ndarray, "layer head row column"] | SomeHeads:
    """A matrix of each kept head of all layers, or of some from the layer `first` on, stacked."""
    matrices = list(layers)
    if not group.kept:
        return np.stack(matrices)
    n_heads = group.calls[first].n_heads
    kept = group.kept[first : first + len(matrices)]
    places = (layer * n_heads + head for layer, heads in enumerate(kept) for head in heads)
    together = np.concatenate(matrices)
    return SomeHeads(together, (len(matrices), n_heads, *together.shape[1:]), tuple(places))


def each_layer(group: Group) -> "Iterator[Float32[np.ndarray, 'kept query key']]":
    """The weights of one layer after the other, each computed when it is asked for.

    A row for each head that was kept, `calls[layer].kept_heads`.
    """
    for layer, call in enumerate(group.calls):
        yield call.kept_weights(group.row(layer)).cpu().numpy()


def mask(group: Group, layer: int) -> Bool[np.ndarray, "query key"]:
    """The mask of a layer's first kept head, True = may attend.

    Of a layer without one it is that of the next layer, or of the last.
    """
    at = group.masking[layer]
    return _mask(group.calls[at], group.row(at))


def stacked_masks(group: Group) -> Bool[np.ndarray, "layer query key"] | None:
    """The mask of each layer's first head; None if no layer blocks anything."""
    masks = [mask(group, layer) for layer in range(group.n_layers)]
    if all(of_layer.all() for of_layer in masks):
        return None
    return np.stack(masks)


def _mask(call: "AttentionCall", batch: int) -> Bool[np.ndarray, "query key"]:
    from attnviz.attention.inputs import AttentionInputs

    inputs = call.inputs
    stored = (
        inputs.may_attend(call.kept_heads[0], batch)
        if isinstance(inputs, AttentionInputs)
        else None
    )
    if stored is None:
        return np.ones((call.n_query, call.n_key), dtype=np.bool_)
    return np.asarray(stored.cpu().numpy())
