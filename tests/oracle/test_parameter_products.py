"""W_Q, W_K and W_V that a model keeps as tensors, without a linear layer."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

import attnviz
from attnviz.attention.call import AttentionCall

D, H, DH, N = 12, 3, 4, 7


class Tensors(nn.Module):
    """Attention whose q, k and v are products with parameters, made as `way` says."""

    def __init__(self, way: str) -> None:
        super().__init__()
        self.way, self.num_heads = way, H
        self.by_head = nn.Parameter(torch.randn(3, H, D, DH))
        self.whole = nn.ParameterList(nn.Parameter(torch.randn(D, D)) for _ in range(3))
        self.bias = nn.Parameter(torch.randn(3, D))
        self.fused, self.out = nn.Linear(D, 3 * D), nn.Linear(D, D)

    def parts(self, x: Tensor) -> list[Tensor]:
        """q, k, v [batch, head, token, d]."""
        n_batch = len(x)
        if self.way == "whole":
            parts = [x @ w + b for w, b in zip(self.whole, self.bias, strict=True)]
        elif self.way == "fused":
            parts = list(functional.linear(x, self.fused.weight, self.fused.bias).chunk(3, -1))
        elif self.way == "computed":
            parts = [x @ (w * 0.5) for w in self.whole]
        elif self.way == "doubled":
            parts = [2 * (x @ w) for w in self.whole]
        else:
            assert self.way == "seq first"
            turned = x.transpose(0, 1).contiguous()
            parts = [(turned @ w).transpose(0, 1) for w in self.whole]
        return [part.reshape(n_batch, N, H, DH).transpose(1, 2) for part in parts]

    def forward(self, x: Tensor) -> Tensor:
        def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
            return (q @ k.mT * 0.3).softmax(-1) @ v

        if self.way == "by head":
            heads = [attend(*(x @ w for w in self.by_head[:, head])) for head in range(H)]
            result: Tensor = self.out(torch.cat(heads, -1))
        else:
            result = self.out(attend(*self.parts(x)).transpose(1, 2).flatten(2))
        return result


def recorded(way: str) -> tuple[Tensors, Tensor, AttentionCall]:
    torch.manual_seed(3)
    model, x = Tensors(way).eval(), torch.randn(2, N, D)
    with torch.no_grad(), attnviz.record(model) as calls:
        model(x)
    (call,) = calls
    assert call.n_heads == H and not calls.missing and call.verify().ok
    return model, x, call


@pytest.mark.parametrize(
    ("way", "names"),
    [
        ("by head", ("by_head", "by_head", "by_head")),
        ("whole", ("whole.0", "whole.1", "whole.2")),
        ("fused", ("fused.weight", "fused.weight", "fused.weight")),
        ("seq first", ("whole.0", "whole.1", "whole.2")),
    ],
)
def test_a_product_with_a_parameter_is_a_projection(way: str, names: tuple[str, str, str]) -> None:
    model, x, call = recorded(way)
    assert tuple(call.projections[stage].module for stage in "qkv") == names
    assert not call.absent and not call.verify().uncovered
    weights: Callable[[int], Tensor] = {
        "by head": lambda n: model.by_head[n].movedim(0, 1).flatten(1),
        "fused": lambda n: model.fused.weight.T[:, n * D : (n + 1) * D],
    }.get(way, lambda n: model.whole[n])
    biases = {"whole": model.bias, "fused": model.fused.bias.reshape(3, D)}
    for number, stage in enumerate("qkv"):
        projection = call.projections[stage]
        for head in range(H):
            columns = projection.columns(head, DH)
            own = slice(head * DH, (head + 1) * DH)
            torch.testing.assert_close(projection.weight[:, columns], weights(number)[:, own])
            if way in biases:
                assert projection.bias is not None
                torch.testing.assert_close(projection.bias[columns], biases[way][number, own])
        torch.testing.assert_close(projection.input, x)
    steps = attnviz.derive(call, 1, batch=1)
    assert {"x", "q", "projected"} <= {view.stage for view in steps.views()}
    assert max(view.error or 0 for view in steps.views()) < 1e-5


@pytest.mark.parametrize("way", ["computed", "doubled"])
def test_a_product_with_no_parameter_as_it_is_is_absent_with_a_true_reason(way: str) -> None:
    _, _, call = recorded(way)
    assert set(call.projections) == {"out"}
    reason = "no linear layer that ran last wrote this tensor as the attention used it"
    assert call.absent == dict.fromkeys(("q", "k", "v", "x"), reason)


def test_what_the_model_changes_later_is_what_it_was() -> None:
    class Later(Tensors):
        def forward(self, x: Tensor) -> Tensor:
            x += super().forward(x)
            return x

    torch.manual_seed(3)
    model, x = Later("whole").eval(), torch.randn(2, N, D)
    read = x.clone()
    with torch.no_grad(), attnviz.record(model) as calls:
        model(x)
    torch.testing.assert_close(calls[0].projections["q"].input, read, atol=0, rtol=0)
    assert calls[0].verify().ok
