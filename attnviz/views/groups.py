"""The attentions of one model that can be looked at together: one stack, one kind, all its layers.

In: a capture. Out: its `Group`s in the order in which they ran: one for an encoder, a decoder or a
vision model; encoder self, decoder self and cross for an encoder–decoder. A group knows which
tokens stand along its queries and keys, which of them the model wrote, and what it may attend to.
Layers may differ in heads and tokens, and a layer may attend inside windows of a picture: then one
window is looked at, and in each layer the one that has the same place.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float32

from attnviz.components.selection import Extent
from attnviz.errors import TooLarge, UnsupportedAttention, require_index
from attnviz.types import Kind, Stack, Tokens, named_tokens
from attnviz.vision.windows import halved

if TYPE_CHECKING:
    from attnviz.attention.call import AttentionCall
    from attnviz.attention.capture import Capture
    from attnviz.vision.windows import Windows

READING: tuple[Stack, ...] = ("encoder", "vision", "audio")  # stacks that write nothing
MAX_CELLS = 48 * 2**20  # of all heads together: what a browser gets at once, in bytes
MOST_POINTS = 12 * 2**20  # of all heads from afar, in bytes
MOST_WALKED = 384 * 2**20  # weights of all heads that are walked through for that
MOST_WHOLE = 2048  # queries or keys of a matrix that is shown whole; beyond, there are tiles


@dataclass(frozen=True, eq=False)
class Group:
    """Attention calls of one stack and kind, one for each layer."""

    capture: "Capture"
    stack: Stack | None
    kind: Kind
    calls: "tuple[AttentionCall, ...]"
    window: int = 0

    @property
    def name(self) -> str:
        """What tells the groups of a capture apart."""
        return f"{self.stack}_{self.kind}" if self.stack else self.kind

    @property
    def shown(self) -> str:
        """The name, and which window is looked at: what buffers are kept under."""
        return f"{self.name} {self.window}"

    @property
    def windows(self) -> "Windows | None":
        """The windows that `window` counts: those of the first layer that has the most."""
        found = [call.windows for call in self.calls if call.windows is not None]
        return max(found, key=lambda of: of.count, default=None)

    @property
    def uneven(self) -> bool:
        """Whether each layer has tokens, places, or a number of heads, of its own."""
        shapes = {(call.n_heads, call.n_query, call.n_key) for call in self.calls}
        placed = any(call.query_places is not None for call in self.calls)
        return len(shapes) > 1 or placed or self.windows is not None

    def row(self, layer: int = 0) -> int:
        """The row of a layer's batch that is looked at: the first text, or the window."""
        of, finest = self.calls[layer].windows, self.windows
        if of is None or finest is None:
            return 0
        return self.window if of == finest else of.covering(*finest.centre(self.window))

    @property
    def cross(self) -> bool:
        """Whether keys and queries are different tokens."""
        return self.kind == "cross"

    @property
    def n_layers(self) -> int:
        return len(self.calls)

    @property
    def extent(self) -> Extent:
        """How many layers, heads, queries and keys there are to choose from."""
        calls, heads = self.calls, tuple(call.n_heads for call in self.calls)
        return Extent(
            len(calls),
            max(call.n_heads for call in calls),
            max(call.n_query for call in calls),
            max(call.n_key for call in calls),
            heads if len(set(heads)) > 1 else (),
        )

    @property
    def n_cells(self) -> int:
        """How many weights all heads have together."""
        return sum(call.n_heads * call.n_query * call.n_key for call in self.calls)

    @property
    def n_longest(self) -> int:
        """The longer side of the largest matrix."""
        return max(self.extent.n_query, self.extent.n_key)

    @property
    def whole(self) -> bool:
        """Whether one matrix can be shown at once."""
        return self.n_longest <= MOST_WHOLE

    @property
    def all_at_once(self) -> bool:
        """Whether all heads can be shown at once."""
        return self.whole and self.n_cells <= MAX_CELLS

    @property
    def from_afar(self) -> bool:
        """Whether all heads can be shown at once as the strongest of neighbouring weights."""
        walked = self.n_cells <= MOST_WALKED and not self.uneven
        return self.whole and walked and not self.all_at_once

    def queries(self, batch: int = 0, layer: int = 0) -> Tokens:
        """The tokens that ask; of the window where there are windows, then `batch` is 0."""
        call = self.calls[layer]
        row = self.row(layer) if call.windows is not None else batch
        return self._fitting(self.capture.query_tokens(call, row), call.n_query)

    def keys(self, batch: int = 0, layer: int = 0) -> Tokens:
        """The tokens that answer, as `queries`."""
        call = self.calls[layer]
        row = self.row(layer) if call.windows is not None else batch
        return self._fitting(self.capture.key_tokens(call, row), call.n_key)

    def _fitting(self, tokens: Tokens, n: int) -> Tokens:
        """The tokens where they are as many as the axis is long; patches, merged; else numbers."""
        return tokens if len(tokens) == n else _merged(self.capture.grid, n) or _numbered(n)

    def batches(self, layer: int) -> tuple[int, ...]:
        """The rows of a layer's batch that are shown together: its texts, or the one window."""
        call = self.calls[layer]
        return (self.row(layer),) if call.windows is not None else tuple(range(call.n_batch))

    def apart(self, layer: int = 0) -> bool:
        """Whether queries and keys of a layer are different tokens."""
        return self.cross or self.calls[layer].n_query != self.calls[layer].n_key

    def written(self, layer: int = 0) -> Bool[np.ndarray, "query"]:
        """Which queries are tokens that the model wrote."""
        return self._written(self.calls[layer].n_query, self.stack not in READING)

    def written_keys(self, layer: int = 0) -> Bool[np.ndarray, "key"]:
        """Which keys are tokens that the model wrote."""
        writes = self.stack not in READING and not self.cross
        return self._written(self.calls[layer].n_key, writes)

    def _written(self, n: int, writes: bool) -> Bool[np.ndarray, "token"]:
        return np.arange(n) >= n - (self.capture.n_generated if writes else 0)

    def call(self, layer: int) -> "AttentionCall":
        """The call of one layer; `BadInput` where there is no such layer."""
        return self.calls[require_index("layer", layer, len(self.calls))]

    def nearest(self, layer: int, head: int) -> tuple[int, int]:
        """A layer and its head; the last head where this layer has fewer than another."""
        heads = self.extent.heads
        return layer, min(head, heads[layer] - 1) if layer < len(heads) else head

    def own_code(self, layer: int) -> bool:
        """Whether only the weights of a layer are known: the model's code is its own."""
        from attnviz.attention.stored_weights import StoredWeights

        return isinstance(self.call(layer).inputs, StoredWeights)

    def all_weights(self) -> Float32[np.ndarray, "layer head query key"]:
        """The weights of every head of the first text, where all layers have one shape."""
        if self.uneven:
            shapes = {(call.n_heads, call.n_query, call.n_key) for call in self.calls}
            raise UnsupportedAttention(
                f"the layers differ in shape (heads, queries, keys): {sorted(shapes)}; look at them"
                " one by one",
                code="uneven_layers",
            )
        extent = self.extent
        shape = (extent.n_layers, extent.n_heads, extent.n_query, extent.n_key)
        self._require_cells()
        found = np.empty(shape, dtype=np.float32)
        for layer, weights in enumerate(self.each_weights()):
            found[layer] = weights
        return found

    def weights(self) -> "tuple[Float32[np.ndarray, 'head query key'], ...]":
        """The weights of every head of the first text, or of the window, layer by layer."""
        self._require_cells()
        return tuple(self.each_weights())

    def each_weights(self) -> "Iterator[Float32[np.ndarray, 'head query key']]":
        """The same, each layer computed when it is asked for."""
        for layer, call in enumerate(self.calls):
            yield call.weights(batch=self.row(layer)).cpu().numpy()

    def _require_cells(self) -> None:
        if self.n_cells > MAX_CELLS:
            raise TooLarge(
                f"all heads together have {self.n_cells} weights and the limit is {MAX_CELLS};"
                " shorten the text",
                code="too_many_weights",
                found=self.n_cells,
                limit=MAX_CELLS,
                unit="weights",
            )

    def seen(self, layer: int) -> Bool[np.ndarray, "query key"]:
        """What a layer's first head may attend to, on the first text or in the window."""
        return _visible(self.calls[layer], self.row(layer))

    def visible(self) -> Bool[np.ndarray, "layer query key"] | None:
        """What each layer's first head may attend to; None where nothing is ever blocked."""
        masks = [_visible(call, 0) for call in self.calls]
        if all(mask.all() for mask in masks):
            return None
        return np.stack(masks)


def groups(capture: "Capture") -> tuple[Group, ...]:
    """The groups of a capture, in the order in which they ran."""
    found: dict[tuple[Stack | None, Kind], dict[int, AttentionCall]] = {}
    for call in capture.calls:
        found.setdefault((call.stack, call.kind), {}).setdefault(call.layer, call)
    return tuple(
        Group(capture, stack, kind, tuple(by_layer[layer] for layer in sorted(by_layer)))
        for (stack, kind), by_layer in found.items()
    )


def chosen(among: Sequence[Group], stack: str | None, kind: str | None) -> Group:
    """The group of that stack and kind; the first one where there is none."""
    fitting = [
        group
        for group in among
        if (stack is None or group.stack == stack) and (kind is None or group.kind == kind)
    ]
    return (fitting or list(among))[0]


def _visible(call: "AttentionCall", row: int) -> Bool[np.ndarray, "query key"]:
    from attnviz.attention.inputs import AttentionInputs

    inputs = call.inputs
    mask = inputs.may_attend(row) if isinstance(inputs, AttentionInputs) else None
    if mask is None:
        return np.ones((call.n_query, call.n_key), dtype=np.bool_)
    found: Bool[np.ndarray, "query key"] = mask.cpu().numpy()
    return found


def _merged(grid: tuple[int, int] | None, n: int) -> Tokens | None:
    """Patches of a grid that was halved until it has `n` places; None where that never is."""
    from attnviz.capture.plan.images import patch_tokens

    while grid is not None and grid[0] * grid[1] > n > 0:
        grid = halved(grid)
    return patch_tokens(n, grid) if grid is not None and grid[0] * grid[1] == n else None


def _numbered(n: int) -> Tokens:
    return named_tokens(tuple(map(str, range(n))))
