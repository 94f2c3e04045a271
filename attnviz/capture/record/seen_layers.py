"""The linear layers that ran last, and what they show of an attention: its layout and its kind.

In: products with parameters, as they run, and an attention that was seen. Out: the order of batch
and heads under which a layer wrote its v, k or q or reads its mixed values, and "self" if its q and
k were computed from the same numbers.
"""

import math
from collections import deque
from dataclasses import dataclass

from torch import Tensor, nn

from attnviz.capture.locate.structure import is_same_source
from attnviz.capture.record import head_layout
from attnviz.capture.record.head_layout import HeadLayout
from attnviz.capture.record.operations import LayerRun, OpenSoftmax, Scaling, ScoreSource, Stack
from attnviz.types import Kind

RECENT_LAYERS = 12
MOST_GROWTH = 16  # of a layer's output over its input: scores of a vocabulary are not kept


@dataclass(eq=False)
class Undecided:
    """An attention of which no layer has shown the order of its axes yet."""

    softmax: OpenSoftmax
    stack: Stack
    lead: tuple[int, ...]
    weights: Tensor
    values: Tensor
    mixed: Tensor
    factors: tuple[Tensor, Tensor, ScoreSource] | None
    scaling: Scaling | None
    layout: HeadLayout | None
    number: int

    @property
    def is_learned(self) -> bool:
        """True if no product of two computed tensors entered the scores: so far, it may be half
        of linear attention.
        """
        return all(source.is_learned for source in self.softmax.sources)


class SeenLayers:
    """The layers that ran last in one thread."""

    def __init__(self) -> None:
        self.runs: deque[LayerRun] = deque(maxlen=RECENT_LAYERS)

    def add(self, layer: LayerRun) -> None:
        """Keep a layer, unless its output is very large."""
        if layer.written.numel() <= MOST_GROWTH * layer.read.numel():
            self.runs.append(layer)

    def have_written(self, layout: HeadLayout, tensor: Tensor) -> bool:
        """True if a layer wrote a tensor [axes, token, d] under a layout."""
        return any(
            head_layout.written_by(layout, tensor, run.written) for run in reversed(self.runs)
        )

    def layout(self, call: Undecided) -> HeadLayout | None:
        """The layout that torch's own module has, or under which layers wrote v, k or q."""
        if isinstance(call.stack[-1], nn.MultiheadAttention):
            n_heads = call.stack[-1].num_heads
            return HeadLayout((math.prod(call.lead) // n_heads, n_heads), 1)
        n_heads = head_layout.head_count(call.stack)
        tensors = [call.values, *(() if call.factors is None else call.factors[1::-1])]
        for layout in head_layout.layouts(call.lead, n_heads):
            for tensor in tensors:
                if self.have_written(layout, tensor):
                    return layout
        return None

    def kind(self, layout: HeadLayout, query: Tensor, key: Tensor) -> Kind | None:
        """ "self" if layers made q and k of the same tensor, "cross" if not; None if unknown."""
        read = [self._read_by_writer(layout, tensor) for tensor in (query, key)]
        if read[0] is None or read[1] is None:
            return None
        return "self" if is_same_source(read[0], read[1]) else "cross"

    def _read_by_writer(self, layout: HeadLayout, tensor: Tensor) -> Tensor | None:
        """The input of the layer that wrote a tensor; None if no layer did."""
        for layer in reversed(self.runs):
            if head_layout.written_by(layout, tensor, layer.written, scaled=True):
                return layer.read
        return None

    def fused_layout(self, query: Tensor, value: Tensor, stack: Stack) -> HeadLayout | None:
        """The order of the axes of a fused kernel's tensors, if a layer shows it."""
        if isinstance(stack[-1], nn.MultiheadAttention):
            return None
        lead = tuple(value.shape[:2])
        flat = value.flatten(0, 1)
        for axis in (1, 0):
            layout = HeadLayout(lead, axis)
            if self.have_written(layout, flat):
                return layout
        return None
