"""`Comparison`: an error of just the tolerance is explained, NaN and infinity never are."""

import math
from functools import partial

import pytest
import torch

from attnviz.attention import call as call_module
from attnviz.attention import tolerance
from attnviz.attention.inputs import blocks
from attnviz.attention.verification import Comparison
from tests.support import captures


@pytest.mark.parametrize(
    ("error", "allowed", "ok", "excess"),
    [
        (0.25, 0.5, True, 0.5),
        (0.5, 0.5, True, 1.0),
        (0.75, 0.5, False, 1.5),
        (math.nan, 0.5, False, math.inf),
        (math.inf, 0.5, False, math.inf),
    ],
)
def test_ok_and_excess_agree_up_to_the_tolerance(
    error: float, allowed: float, ok: bool, excess: float
) -> None:
    comparison = Comparison("module#0", "mixed", error, allowed)
    assert (comparison.ok, comparison.excess) == (ok, excess)


def test_zero_equals_zero_and_nothing_else_without_a_tolerance() -> None:
    assert Comparison("module#0", "mixed", 0.0, 0.0).ok
    assert not Comparison("module#0", "mixed", 1e-30, 0.0).ok


@pytest.mark.some(2)
@pytest.mark.parametrize("name", sorted(captures.every_kind().keys() - {"weights alone"}))
def test_a_long_text_is_compared_block_by_block_with_the_same_numbers(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = captures.every_kind()[name].calls
    places = [(call, batch) for call in calls for batch in range(call.n_batch)]
    whole = [call.mixed(batch, rows=call.kept_rows) for call, batch in places]
    verified = [call.verify() for call in calls]
    monkeypatch.setattr(call_module, "SMALL", 0)
    monkeypatch.setattr(tolerance, "TOGETHER", 0)
    for call, together in zip(calls, verified, strict=True):
        alone = call.verify()
        assert [(c.stage, c.ok) for c in alone.comparisons] == [
            (c.stage, c.ok) for c in together.comparisons
        ]
    monkeypatch.setattr(call_module, "WHOLE_WEIGHTS", 0)
    monkeypatch.setattr(call_module, "blocks", partial(blocks, size=2))
    for (call, batch), expected in zip(places, whole, strict=True):
        torch.testing.assert_close(call.mixed(batch, rows=call.kept_rows), expected)
