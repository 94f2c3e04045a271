"""What a model changes in place after it was kept is copied, or withdrawn by name."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from attnviz.attention.steps import derive
from attnviz.capture.record.recorder import record
from attnviz.capture.run import capture
from attnviz.models.loader import load
from tests.support import folders
from tests.support.adapted_layers import DH, Attention, D, H


def attention() -> Attention:
    torch.manual_seed(3)
    return Attention().eval()


class Residual(nn.Module):
    """Two attentions that are added to their own input in place."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = attention(), attention()

    def forward(self, x: Tensor) -> Tensor:
        x = x.clone()
        x += self.a(x)
        x += self.b(x)
        return x


class Fused(nn.Module):
    """Attention by torch's kernel, added in place."""

    def __init__(self) -> None:
        super().__init__()
        self.a = nn.MultiheadAttention(D, H, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        x = x.clone()
        x += self.a(x, x, x)[0]
        return x


def read_by(model: nn.Module, name: str, run: Callable[[], object]) -> Tensor:
    """What a module was given, copied before anything could change it."""
    kept: list[Tensor] = []
    part = model.get_submodule(name)
    handle = part.register_forward_pre_hook(lambda _, args: kept.append(args[0].clone()))
    run()
    handle.remove()
    return kept[0]


@pytest.mark.parametrize("mode", [torch.no_grad, torch.enable_grad, torch.inference_mode])
@pytest.mark.parametrize("cls", [Residual, Fused])
def test_an_input_that_is_added_to_in_place_is_the_one_that_was_read(
    cls: type[nn.Module], mode: Callable[[], torch.autograd.grad_mode.no_grad]
) -> None:
    torch.manual_seed(1)
    model, x = cls().eval(), torch.randn(2, 5, D)
    with mode():
        own = read_by(model, "a", lambda: model(x))
        with record(model) as calls:
            model(x)
    assert calls and not calls.missing
    for call in calls:
        assert set(call.projections) == {"q", "k", "v", "out"}, call.absent
        call.verify().require()
        steps = derive(call, 1)
        assert all(comparison.ok for comparison in steps.comparisons.values())
    found = derive(calls[0], 1).x
    assert found is not None
    torch.testing.assert_close(found, own[0], atol=0, rtol=0)


def test_an_input_that_its_owner_changes_after_the_recording_stays() -> None:
    model, x = attention(), torch.randn(1, 5, D)
    own = x.clone()
    with torch.no_grad(), record(model) as calls:
        model(x)
    x.zero_()
    found = derive(calls[0], 0).x
    assert found is not None
    torch.testing.assert_close(found, own[0], atol=0, rtol=0)


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_a_query_scaled_in_place_has_no_projection(
    mode: Callable[[], torch.autograd.grad_mode.no_grad],
) -> None:
    class InPlace(Attention):
        def forward(self, x: Tensor) -> Tensor:
            q, k, v = (
                f(x).unflatten(-1, (H, DH)).transpose(1, 2) for f in (self.q, self.k, self.v)
            )
            q *= 0.5
            result: Tensor = self.o(((q @ k.mT).softmax(-1) @ v).transpose(1, 2).flatten(2))
            return result

    torch.manual_seed(3)
    model = InPlace().eval()
    with mode(), record(model) as calls:
        model(torch.randn(2, 5, D))
    (call,) = calls
    assert set(call.projections) == {"k", "v", "out"} and call.absent["q"] == call.absent["x"]
    assert all(comparison.ok for comparison in derive(call, 1).comparisons.values())


@pytest.mark.parametrize(
    "behind", [lambda y, x: y.add_(x), lambda y, _: y.relu_(), lambda y, _: y.zero_()]
)
@pytest.mark.parametrize("fused", [False, True])
def test_a_block_whose_result_is_changed_in_place_is_no_false_alarm(
    behind: Callable[[Tensor, Tensor], Tensor], fused: bool
) -> None:
    class Behind(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a = nn.MultiheadAttention(D, H, batch_first=True) if fused else attention()

        def forward(self, x: Tensor) -> Tensor:
            return behind(self.a(x, x, x)[0] if fused else self.a(x), x)

    torch.manual_seed(2)
    model = Behind().eval()
    with torch.no_grad(), record(model) as calls:
        model(torch.randn(2, 5, D))
    (call,) = calls
    assert "out" in call.projections
    call.verify().require()


def test_a_transformers_block_that_overwrites_what_attention_added() -> None:
    lm = load(folders.model("llama"))

    def overwrite(_module: nn.Module, _args: object, output: tuple[Tensor, ...]) -> None:
        output[0].add_(1.0)

    for layer in lm.model.model.layers:
        layer.self_attn.register_forward_hook(overwrite)
    cap = capture(lm, inputs={"input_ids": [[6, 7, 8, 9]]})
    cap.verify().require()
    assert "out" in cap.call(0).projections
