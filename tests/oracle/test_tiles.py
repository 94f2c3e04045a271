"""A pyramid gives the weights that the call gives, whatever takes part in the softmax.

Tiny models of the families with padding, causal masks, sliding windows, shared keys, softcap,
sinks, position bias, cross-attention and attention code of their own; each head, each batch row.
"""

import numpy as np
import pytest
import torch

from attnviz import tiles
from attnviz.attention.call import AttentionCall
from attnviz.capture.record.recorder import record
from tests.oracle.families import FAMILIES, Family
from tests.support.tiny.check import tiny_case
from tests.support.tiny.models import set_seed

EXACT = 1e-6
ROWS = [
    pytest.param(family, id=family.name, marks=[] if family.fast else [pytest.mark.slow])
    for family in FAMILIES
]


def largest_difference(call: AttentionCall) -> float:
    """max |pyramid − call| over all heads and batch rows."""
    worst = 0.0
    for batch in range(call.n_batch):
        for head in range(call.n_heads):
            pyramid = tiles.build(call, head, batch)
            found = pyramid.weights(slice(None), slice(None))
            worst = max(worst, float(np.abs(found - call.weights(head, batch).numpy()).max()))
    return worst


@pytest.mark.some(5)
@pytest.mark.filterwarnings("ignore")  # transformers' own, of tiny configs
@pytest.mark.parametrize("family", ROWS)
def test_a_pyramid_gives_the_weights_of_the_call(family: Family) -> None:
    model, inputs, _ = tiny_case(family.type_name, family.overrides)
    with torch.no_grad(), record(model) as calls:
        set_seed()
        model(**inputs)
    family.shows(calls)
    assert calls
    assert all(largest_difference(call) <= EXACT for call in calls)


def test_the_mechanisms_that_matter_are_in_the_table() -> None:
    fast = {family.mechanism for family in FAMILIES if family.fast}
    assert {"sliding window"} < fast
    assert any("sink" in each for each in fast) and any("cap" in each for each in fast)
