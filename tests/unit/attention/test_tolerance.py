"""`rounding`, `type_tolerance` and the measures that they compare: exact numbers for each type."""

import math

import pytest
import torch

from attnviz.attention import tolerance
from attnviz.attention.tolerance import (
    FLOAT32_STEP,
    MATCHING,
    ROUNDING,
    largest,
    longest,
    max_difference,
    rounding,
    type_tolerance,
)

SHARES = {torch.float32: (1e-5, 1e-4), torch.float16: (1e-3, 4e-3), torch.bfloat16: (8e-3, 3e-2)}


@pytest.mark.parametrize("dtype", SHARES)
def test_rounding_and_type_tolerance_know_the_share_of_each_type(dtype: torch.dtype) -> None:
    share, matching = SHARES[dtype]
    assert rounding(dtype, 7.0) == share * 7.0
    assert type_tolerance(dtype) == matching


def test_rounding_adds_one_float32_step_of_the_products() -> None:
    """The verdict "verified" rests on this sum: a step is 2⁻²³, whatever the type of the model."""
    assert FLOAT32_STEP == 2.0**-23
    assert rounding(torch.float32, 3.0, 5.0) == 1e-5 * 3 + 5 * 2.0**-23
    assert rounding(torch.bfloat16, 3.0, 5.0) == 8e-3 * 3 + 5 * 2.0**-23
    assert rounding(torch.float32, 3.0, 5.0, step=0.5) == 1e-5 * 3 + 5 * 0.5


def test_rounding_takes_every_other_type_for_float32() -> None:
    assert set(ROUNDING) == set(MATCHING) == set(SHARES)
    assert rounding(torch.float64, 2.0) == rounding(torch.float32, 2.0)
    assert type_tolerance(torch.float64) == type_tolerance(torch.float32)


def test_rounding_of_zeros_is_the_smallest_normal_number_of_the_type() -> None:
    """Zeros are compared with zeros that were rounded; a type without a share has no floor."""
    for dtype, (share, _) in SHARES.items():
        assert rounding(dtype, 0.0) == share * torch.finfo(dtype).tiny
    assert rounding(torch.float64, 0.0) == 0.0


@pytest.mark.parametrize("bad", [math.inf, math.nan])
def test_rounding_excuses_nothing_where_a_number_is_not_finite(bad: float) -> None:
    assert rounding(torch.float32, bad) == 0.0
    assert rounding(torch.float32, 1.0, bad) == 0.0


def test_largest_and_longest_are_zero_of_nothing_and_show_a_nan() -> None:
    vectors = torch.tensor([[3.0, -4.0], [0.0, -4.5]])
    assert (largest(vectors), longest(vectors)) == (4.5, 5.0)
    assert (largest(vectors[:0]), longest(vectors[:0])) == (0.0, 0.0)
    vectors[0, 0] = torch.nan
    assert math.isnan(largest(vectors)) and math.isnan(longest(vectors))


def test_max_difference_is_signless_and_shows_a_nan() -> None:
    ours, theirs = torch.tensor([1.0, 2.0]), torch.tensor([1.5, 0.0], dtype=torch.bfloat16)
    assert max_difference(ours, theirs) == 2.0
    assert math.isnan(max_difference(ours, theirs * torch.nan))


@pytest.mark.parametrize("together", [0, tolerance.TOGETHER])
def test_each_head_is_judged_by_its_own_numbers(
    together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tolerance, "TOGETHER", together)
    heads = torch.tensor([[[3.0, -4.0], [0.0, 1.0]], [[0.0, 0.5], [torch.nan, 0.0]]])
    moved = heads.nan_to_num() + torch.tensor([0.25, -8.0])[:, None, None]
    assert tolerance.longest_by_head(heads[:1]) == [5.0]
    assert tolerance.largest_by_head(heads) == pytest.approx([4.0, torch.nan], nan_ok=True)
    differences = tolerance.max_differences(heads.nan_to_num(), moved)
    assert differences == pytest.approx([0.25, 8.0])
    assert tolerance.max_differences(heads, moved) == pytest.approx([0.25, torch.nan], nan_ok=True)
    assert tolerance.largest_by_head(heads[:, :0]) == [0.0, 0.0]
