"""Factors on the way from products to scores."""

import pytest
import torch

from attnviz.capture.record.score_trail import _number


@pytest.mark.parametrize(
    ("factor", "number"),
    [(3, 3.0), (0.5, 0.5), (torch.tensor(2.5), 2.5), (torch.full((1, 1), 7.0), 7.0)],
)
def test_a_factor_that_is_one_number_is_read_also_from_a_tensor(
    factor: object, number: float
) -> None:
    assert _number(factor) == number


@pytest.mark.parametrize("factor", [torch.ones(2), torch.ones(0), "3", None])
def test_any_other_factor_is_no_number(factor: object) -> None:
    assert _number(factor) is None
