"""A head of a module with its own code, changed by attnviz and by the module itself.

The module looks its weights up in `of`, a function for each head by number, before it uses them.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

import attnviz
from attnviz.changes import Change

EVEN = attnviz.pattern("L0.H1")  # each query attends evenly to what it sees


def evenly(weights: Tensor) -> Tensor:
    """The same by hand."""
    return (weights > 0) / (weights > 0).sum(-1, keepdim=True)


CHANGES: tuple[tuple[Change, Callable[[Tensor], Tensor]], ...] = (
    (attnviz.ablate("L0.H1", "zero"), torch.zeros_like),
    (EVEN, evenly),
)


def check_changed_exactly(
    model: Any, x: Tensor, change: Change, by_hand: Callable[[Tensor], Tensor]
) -> None:
    """Head 1 of three, changed by attnviz and by hand: one answer; the other heads stay."""
    lm = attnviz.load(model)
    plain = attnviz.capture(lm, inputs={"x": x})
    with torch.no_grad():
        unchanged = model(x)
        model.of = {1: by_hand}
        theirs = model(x)
        model.of = {}
        with attnviz.changed(lm, change):
            ours = model(x)
    assert float((theirs - unchanged).abs().max()) > 1e-2
    torch.testing.assert_close(ours, theirs, atol=1e-6, rtol=0)
    cap = attnviz.capture(lm, inputs={"x": x}, changes=[change])
    assert cap.call(0).changes == (str(change),) and cap.verify().ok
    assert [(cap.weights(0, h) == plain.weights(0, h)).all() for h in (0, 2)] == [True, True]
