"""The attentions of one model that can be looked at together: one stack, one kind, all its layers.

In: a capture. Out: its `Group`s in the order in which they ran: one for an encoder, a decoder or a
vision model; encoder self, decoder self and cross for an encoder–decoder. A group knows which
tokens stand along its queries and keys, which of them the model wrote, and what it may attend to.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float32

from attnviz.errors import TooLarge, UnsupportedAttention
from attnviz.types import Kind, Stack, Tokens
from attnviz.ui.components.selection import Extent

if TYPE_CHECKING:
    from attnviz.call import AttentionCall, Capture

MAX_CELLS = 48 * 2**20  # of all heads together: what a browser gets at once, in bytes
MOST_WHOLE = 2048  # queries or keys of a matrix that is shown whole; beyond, there are tiles


@dataclass(frozen=True, eq=False)
class Group:
    """Attention calls of one stack and kind, one for each layer."""

    capture: "Capture"
    stack: Stack | None
    kind: Kind
    calls: "tuple[AttentionCall, ...]"

    @property
    def name(self) -> str:
        """What tells the groups of a capture apart."""
        return f"{self.stack}_{self.kind}" if self.stack else self.kind

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
        calls = self.calls
        return Extent(
            len(calls),
            max(call.n_heads for call in calls),
            max(call.n_query for call in calls),
            max(call.n_key for call in calls),
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

    def queries(self, batch: int = 0, layer: int = 0) -> Tokens:
        """The tokens that ask."""
        call = self.calls[layer]
        return _fitting(self.capture.query_tokens(call, batch), call.n_query)

    def keys(self, batch: int = 0, layer: int = 0) -> Tokens:
        """The tokens that answer."""
        call = self.calls[layer]
        return _fitting(self.capture.key_tokens(call, batch), call.n_key)

    def written(self, layer: int = 0) -> Bool[np.ndarray, "query"]:
        """Which queries are tokens that the model wrote."""
        return self._written(self.calls[layer].n_query, writes=self.stack != "encoder")

    def written_keys(self, layer: int = 0) -> Bool[np.ndarray, "key"]:
        """Which keys are tokens that the model wrote."""
        writes = self.stack != "encoder" and not self.cross
        return self._written(self.calls[layer].n_key, writes)

    def _written(self, n: int, writes: bool) -> Bool[np.ndarray, "token"]:
        return np.arange(n) >= n - (self.capture.n_generated if writes else 0)

    def call(self, layer: int) -> "AttentionCall":
        """The call of one layer; `BadInput` where there is no such layer."""
        return self.capture.call(layer, self.kind, self.stack)

    def own_code(self, layer: int) -> bool:
        """Whether only the weights of a layer are known: the model's code is its own."""
        from attnviz.stored import StoredWeights

        return isinstance(self.call(layer).inputs, StoredWeights)

    def all_weights(self) -> Float32[np.ndarray, "layer head query key"]:
        """The weights of every head of the first text, where all layers have one shape."""
        shapes = {(call.n_heads, call.n_query, call.n_key) for call in self.calls}
        if len(shapes) > 1:
            raise UnsupportedAttention(
                f"the layers differ in shape (heads, queries, keys): {sorted(shapes)}; look at them"
                " one by one",
                code="uneven_layers",
            )
        cells = len(self.calls) * int(np.prod(next(iter(shapes))))
        if cells > MAX_CELLS:
            raise TooLarge(
                f"all heads together have {cells} weights and the limit is {MAX_CELLS}; shorten"
                " the text",
                code="too_many_weights",
                found=cells,
                limit=MAX_CELLS,
                unit="weights",
            )
        return np.stack([call.weights().cpu().numpy() for call in self.calls])

    def visible(self) -> Bool[np.ndarray, "layer query key"] | None:
        """What each layer's first head may attend to; None where nothing is ever blocked."""
        masks = [_visible(call) for call in self.calls]
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


def _visible(call: "AttentionCall") -> Bool[np.ndarray, "query key"]:
    from attnviz.inputs import AttentionInputs

    inputs = call.inputs
    mask = inputs.may_attend(0) if isinstance(inputs, AttentionInputs) else None
    if mask is None:
        return np.ones((call.n_query, call.n_key), dtype=np.bool_)
    found: Bool[np.ndarray, "query key"] = mask.cpu().numpy()
    return found


def _fitting(tokens: Tokens, n: int) -> Tokens:
    """The tokens where they are as many as the axis is long; else numbers."""
    if len(tokens) == n:
        return tokens
    labels = tuple(map(str, range(n)))
    return Tokens(
        text="",
        ids=np.arange(n, dtype=np.int64),
        pieces=labels,
        labels=labels,
        offsets=((0, 0),) * n,
        special=np.zeros(n, dtype=np.bool_),
        padding=np.zeros(n, dtype=np.bool_),
    )
