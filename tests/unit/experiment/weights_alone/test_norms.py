"""`norm_between` and `read_from`: which norm leads from one value to another, however written."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from attnviz.experiment.dataflow.trace import Trace, Value
from attnviz.experiment.weights_alone.norms import Norm, norm_between, read_from

WIDTH, LENGTH = 13, 5


class Reader(nn.Module):
    """Two embeddings added, then a function, then a linear layer that reads its result."""

    def __init__(self, function: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(17, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.function = function
        self.layer = nn.Linear(WIDTH, 3)

    def forward(self, ids: Tensor) -> Tensor:
        stream = self.tokens(ids) + self.places(torch.arange(LENGTH))
        read: Tensor = self.layer(self.function(stream))
        return read


def traced(function: Callable[[Tensor], Tensor]) -> tuple[Trace, Value]:
    model = Reader(function)
    with torch.no_grad(), Trace(model) as trace:
        model(torch.arange(LENGTH)[None] + 3)
    value = trace.inputs_of["layer"][0]
    assert value is not None
    return trace, value


def weights() -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    return torch.rand(WIDTH, generator=generator) + 0.5, torch.randn(WIDTH, generator=generator)


def layer_norm(x: Tensor) -> Tensor:
    return nn.functional.layer_norm(x, (WIDTH,), *weights())


def layer_norm_by_hand(x: Tensor) -> Tensor:
    scale, shift = weights()
    moved = x - x.mean(-1, keepdim=True)
    return moved / (moved.pow(2).mean(-1, keepdim=True) + 1e-6).sqrt() * scale + shift


def rms_norm_by_hand(x: Tensor) -> Tensor:
    return weights()[0] * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        (layer_norm, "layer norm"),
        (layer_norm_by_hand, "layer norm"),
        (rms_norm_by_hand, "RMS norm"),
        (lambda x: x * 3, "none"),
    ],
)
def test_read_from_finds_the_norm_and_its_scale(
    function: Callable[[Tensor], Tensor], kind: str
) -> None:
    found = read_from(*traced(function))
    assert found is not None
    state, norm = found
    assert norm.kind == kind
    wanted = torch.full((WIDTH,), 3.0) if kind == "none" else weights()[0]
    assert norm.scale.numpy() == pytest.approx(wanted.numpy(), rel=1e-4)
    assert state.made_by is not None and str(state.made_by.packet) == "aten.add"


def test_norm_between_is_none_for_what_is_not_a_norm() -> None:
    assert read_from(*traced(torch.tanh)) is None
    assert read_from(*traced(lambda x: x * x)) is None


def test_norm_between_values_that_do_not_meet_is_none() -> None:
    trace, value = traced(layer_norm)
    later = trace.outputs_of["layer"][0]
    assert later is not None
    assert norm_between(trace, later, value) is None


@pytest.mark.parametrize("kind", ["layer norm", "RMS norm"])
def test_before_and_behind_fold_the_norm_exactly(kind: str) -> None:
    """x·(norm folded into W) is norm(x)·W but for one positive number a row, σ."""
    norm = Norm("layer norm" if kind == "layer norm" else "RMS norm", weights()[0])
    x, weight = torch.randn(7, WIDTH), torch.randn(WIDTH, 3)
    ratio = (x @ norm.before(weight)) / (norm.of(x) @ weight)
    assert ratio.numpy() == pytest.approx(ratio[:, :1].expand(7, 3).numpy(), rel=1e-3)
    assert (ratio > 0).all()
    behind = norm.behind(weight.T) / norm.of(weight.T)
    assert behind.numpy() == pytest.approx(behind[:, :1].expand(3, WIDTH).numpy(), rel=1e-3)
