"""The factors of a linear operation, as torch writes it."""

import pytest
import torch

from attnviz.experiment.dataflow.rules import layer_of
from attnviz.experiment.dataflow.trace import Trace


@pytest.mark.parametrize(("beta", "alpha"), [(1, 1), (3.0, 1), (1, 0.5), (3.0, 0.5)])
def test_the_scales_of_an_addmm_are_those_of_its_bias_and_weight(beta: float, alpha: float) -> None:
    bias, x, weight = torch.randn(5), torch.randn(2, 3), torch.randn(3, 5)
    with Trace(torch.nn.Identity()) as trace:
        out = torch.addmm(bias, x, weight, beta=beta, alpha=alpha)
    (operation,) = trace.operations
    found = layer_of(operation)
    assert found.x.tensor is x and found.bias is not None
    torch.testing.assert_close(found.x.tensor @ found.weight + found.bias, out)
