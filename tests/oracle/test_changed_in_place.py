"""What a model changes in place after it was kept is copied, or withdrawn by name."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention
from transformers import (
    GptOssConfig,
    GptOssForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    T5Config,
    T5ForConditionalGeneration,
)

from attnviz.attention.call import AttentionCall
from attnviz.attention.inputs import AttentionInputs
from attnviz.attention.steps import derive
from attnviz.capture.record.recorder import record
from attnviz.capture.run import capture
from attnviz.errors import UnsupportedAttention
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


MODES = [torch.no_grad, torch.enable_grad, torch.inference_mode]
TINY = {"vocab_size": 50, "hidden_size": 16, "intermediate_size": 8, "num_hidden_layers": 2}
TINY |= {"num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 4}
N = 7


def numbers_of(calls: list[AttentionCall]) -> list[Tensor]:
    """Weights and weights·V of every head."""
    heads = [(call, head) for call in calls for head in range(call.n_heads)]
    mixed = [call.mixed() for call in calls if isinstance(call.inputs, AttentionInputs)]
    return [torch.as_tensor(call.weights(head)).clone() for call, head in heads] + mixed


def require_same_after(calls: list[AttentionCall], overwrite: Callable[[], object]) -> None:
    before = numbers_of(calls)
    with torch.inference_mode():  # tensors of inference mode are changed in it alone
        overwrite()
    assert before
    for ours, theirs in zip(numbers_of(calls), before, strict=True):
        torch.testing.assert_close(ours, theirs, atol=0, rtol=0)


@pytest.mark.parametrize("mode", MODES)
def test_a_mask_that_its_owner_fills_anew_after_the_recording_stays(
    mode: Callable[[], torch.autograd.grad_mode.no_grad],
) -> None:
    model = LlamaForCausalLM(LlamaConfig(**TINY)).eval()
    mask = torch.ones(1, 1, N, N, dtype=torch.bool).tril()
    with mode(), record(model) as calls:
        model(input_ids=torch.arange(N)[None], attention_mask=mask)
    assert calls[0].inputs.mask is calls[1].inputs.mask is not None  # copied once
    require_same_after(calls, lambda: mask.logical_not_())


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("place", range(3))
def test_a_tensor_that_is_handed_to_an_attention_without_layers_stays(
    mode: Callable[[], torch.autograd.grad_mode.no_grad], place: int
) -> None:
    class Given(nn.Module):
        def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
            return scaled_dot_product_attention(q, k, v)

    model, given = Given(), [torch.randn(1, H, N, DH) for _ in range(3)]
    with mode(), record(model) as calls:
        model(*given)
    require_same_after(calls, lambda: given[place].zero_())


@pytest.mark.parametrize("mode", MODES)
def test_weights_that_the_caller_overwrites_stay(
    mode: Callable[[], torch.autograd.grad_mode.no_grad],
) -> None:
    class Additive(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.q, self.k, self.score = nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, 1)

        def forward(self, q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
            scores = self.score(torch.tanh(self.q(q)[:, :, None] + self.k(k)[:, None]))
            weights = scores.squeeze(-1).softmax(-1)
            return weights @ k, weights

    torch.manual_seed(4)
    model, x = Additive().eval(), torch.randn(2, N, D)
    with mode(), record(model) as calls:
        _, weights = model(x, x)
    require_same_after(calls, lambda: (weights.zero_(), x.zero_()))


def test_sinks_of_a_model_that_trains_on_are_those_of_the_pass() -> None:
    config = GptOssConfig(**TINY, num_local_experts=2, num_experts_per_tok=1)
    model = GptOssForCausalLM(config).eval()
    with torch.no_grad(), record(model) as calls:
        model(input_ids=torch.arange(N)[None])
    sinks = [part for name, part in model.named_parameters() if name.endswith("sinks")]
    assert len(sinks) == len(calls) == 2
    require_same_after(calls, lambda: [part.add_(1) for part in sinks])


def test_what_is_not_copied_is_refused_once_it_is_overwritten() -> None:
    llama, ids = LlamaForCausalLM(LlamaConfig(**TINY)).eval(), torch.arange(N)[None]
    with torch.no_grad(), record(llama) as calls:
        answer = llama(input_ids=ids)
    answer.past_key_values.layers[1].values.zero_()
    calls[0].verify().require()
    with pytest.raises(UnsupportedAttention, match=r"overwritten in place after it \(v\)") as error:
        calls[1].weights(0)
    assert error.value.code == "overwritten"
    t5 = T5ForConditionalGeneration(
        T5Config(vocab_size=50, d_model=16, d_kv=4, num_layers=2)
    ).eval()
    held: list[Tensor] = []
    first = t5.encoder.block[0].layer[0].SelfAttention
    first.register_forward_hook(lambda _module, _args, output: held.append(output[1]))
    with torch.no_grad(), record(t5) as calls:
        t5(input_ids=ids, decoder_input_ids=ids)
    held[0].zero_()
    with pytest.raises(UnsupportedAttention, match=r"overwritten in place after it \(the bias\)"):
        calls[0].weights(0)
