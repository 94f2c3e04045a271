"""The attention calls that are looked at together: one stack, one kind, all its layers.

In: a capture. Out: its `Group`s in the order in which they ran: one for an encoder, a decoder or a
vision model; encoder self, decoder self and cross for an encoder–decoder. Layers may differ in
heads and tokens, and a layer may attend inside windows of a picture: then one window is looked at,
and in each layer the one at the same place. A group's tokens, size and weights have modules of
their own (`group_tokens`, `group_size`, `group_weights`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from attnviz.errors import require_index
from attnviz.types import Kind, Stack

if TYPE_CHECKING:
    from attnviz.attention.call import AttentionCall
    from attnviz.attention.capture import Capture
    from attnviz.vision.windows import Windows


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

    @property
    def uneven(self) -> bool:
        """True if layers differ in tokens, in their places in a picture, or in number of heads."""
        shapes = {(call.n_heads, call.n_query, call.n_key) for call in self.calls}
        placed = any(call.query_places is not None for call in self.calls)
        return len(shapes) > 1 or placed or self.windows is not None

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
    """The groups of a capture, in the order in which they ran."""
    calls: dict[tuple[Stack | None, Kind], dict[int, AttentionCall]] = {}
    for call in capture.calls:
        calls.setdefault((call.stack, call.kind), {}).setdefault(call.layer, call)
    return tuple(
        Group(capture, stack, kind, tuple(by_layer[layer] for layer in sorted(by_layer)))
        for (stack, kind), by_layer in calls.items()
    )


def chosen(among: Sequence[Group], stack: str | None, kind: str | None) -> Group:
    """The group of that stack and kind; the first one where there is none."""
    fitting = [
        group
        for group in among
        if (stack is None or group.stack == stack) and (kind is None or group.kind == kind)
    ]
    return (fitting or list(among))[0]
