"""Single heads that one module computes one after the other, told from steps of time.

In: each attention as it is seen, with what the layers behind its queries and keys read. Out:
whether it is the next head of the layer that the one before it is a head of: it asks the same
numbers about the same numbers, with other columns. A decoder that attends once a step reads another
state in each; a module that runs twice on one text asks with the same columns again.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from attnviz.capture.locate.layers import TensorState
from attnviz.capture.record.sources import Sources


@dataclass(frozen=True, eq=False)
class _Loop:
    """The heads so far of a loop: the module, what was read, and the queries [batch, 1, row, d]."""

    module: nn.Module
    reads: tuple[TensorState, ...]
    queries: tuple[Tensor, ...]

    def is_continued_by(self, other: "_Loop") -> bool:
        """True if one more head reads what these read, and asks what none of them asks."""
        (query,) = other.queries
        return (
            self.module is other.module
            and all(query.shape == own.shape for own in self.queries)
            and all(map(_are_equal, self.reads, other.reads))
            and not any(torch.equal(query, own) for own in self.queries)
        )


class HeadLoops:
    """The loop over heads that runs in one thread, if any does."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._running: _Loop | None = None

    def end(self) -> None:
        """Forget the loop: something else attended, or the model has run."""
        self._running = None

    def is_next(
        self, module: nn.Module, query: Tensor | None, reads: tuple[Tensor, Tensor] | None
    ) -> bool:
        """True if a call, its queries [batch, head, row, d], is the next head of a loop.

        `reads` are the rows that the layers behind its queries and keys read.
        """
        before, self._running = self._running, None
        if query is None or reads is None or query.shape[1] > 1:
            return False
        asked = self._sources.whole_rows(reads[0], query.shape[0] * query.shape[2])
        if asked is None:
            return False
        states = tuple(TensorState.of(read, is_counted=False) for read in (asked, reads[1]))
        now = _Loop(module, states, (query,))
        is_next = before is not None and before.is_continued_by(now)
        queries = (*before.queries, query) if before is not None and is_next else (query,)
        self._running = _Loop(module, states, queries)
        return is_next


def _are_equal(before: TensorState, now: TensorState) -> bool:
    """True if what was read before is unchanged, and the same numbers as what is read now."""
    return (
        before.tensor.shape == now.tensor.shape
        and torch.equal(before.tensor, now.tensor)
        and before.holds()
    )
