"""q and k of scores that a model writes as (k·qᵀ)ᵀ, for as many queries as keys."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

import attnviz

D, N = 12, 7


def divided(scores: Tensor) -> Tensor:
    """The softmax written out, behind which nothing shows what was added to the scores."""
    exponents = (scores - scores.amax(-1, keepdim=True)).exp()
    return exponents / exponents.sum(-1, keepdim=True)


class Turned(nn.Module):
    """One head whose scores are turned; `bias` is added to them."""

    def __init__(self, softmax: Callable[[Tensor], Tensor], has_bias: bool) -> None:
        super().__init__()
        self.q, self.k, self.v, self.out = (nn.Linear(D, D) for _ in range(4))
        self.softmax, self.has_bias = softmax, has_bias
        self.bias = nn.Parameter(torch.randn(N, N))

    def forward(self, x: Tensor) -> Tensor:
        scores = (self.k(x) @ self.q(x).mT * 0.3).mT
        scores = scores + self.bias if self.has_bias else scores
        mixed: Tensor = self.softmax(scores) @ self.v(x)
        result: Tensor = self.out(mixed)
        return result


@pytest.mark.parametrize("has_bias", [False, True])
@pytest.mark.parametrize("softmax", [lambda scores: scores.softmax(-1), divided])
def test_turned_scores_have_their_own_queries(
    softmax: Callable[[Tensor], Tensor], has_bias: bool
) -> None:
    torch.manual_seed(5)
    model, x = Turned(softmax, has_bias).eval(), torch.randn(2, N, D)
    with torch.no_grad(), attnviz.record(model) as calls:
        model(x)
    (call,) = calls
    assert call.inputs.query is not None and call.inputs.key is not None
    with torch.no_grad():
        torch.testing.assert_close(call.inputs.query[:, 0], model.q(x), atol=0, rtol=0)
        torch.testing.assert_close(call.inputs.key[:, 0], model.k(x), atol=0, rtol=0)
    assert call.verify().ok
