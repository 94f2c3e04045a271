"""The tolerance of the check: rounding grows with the numbers, a wrong result is never excused."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    ParakeetEncoder,
    ParakeetEncoderConfig,
    Qwen2Config,
    Qwen2ForCausalLM,
)

import attnviz
from attnviz.attention.call import AttentionCall
from attnviz.attention.inputs import AttentionInputs
from attnviz.attention.tolerance import ROUNDING
from attnviz.capture.record.recorder import record
from tests.support.adapted_layers import DH, Attention, D, H

IDS = torch.arange(60)[None] % 50
N_FRAME, N_HEARD = 16, 11


def decoder(size: float, dtype: torch.dtype) -> GPT2LMHeadModel:
    """A tiny decoder whose attention writes numbers of about that size."""
    torch.manual_seed(1)
    ids = {"bos_token_id": 0, "eos_token_id": 0}
    model = GPT2LMHeadModel(
        GPT2Config(vocab_size=50, n_positions=64, n_embd=48, n_layer=2, n_head=3, **ids)
    )
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() == 2:
                scale = size if "attn.c_proj" in name else 1.0
                parameter.normal_(std=scale / parameter.shape[0] ** 0.5)
    return model.to(dtype).eval()


def recorded(model: torch.nn.Module) -> list[AttentionCall]:
    with attnviz.record(model) as calls, torch.no_grad():
        model(IDS)
    return list(calls)


@pytest.mark.parametrize("dtype", ROUNDING)
@pytest.mark.parametrize("size", [0.01, 1, 30, 3000])
def test_verify_allows_rounding_of_any_size_and_no_more(size: float, dtype: torch.dtype) -> None:
    for call in recorded(decoder(size, dtype)):
        assert call.verify().ok
        out = call.projections["out"]
        off = 2 * out.tolerance()
        assert off <= 0.02 * float(out.output.abs().max())
        wrong = replace(out, output=out.output.float() + off)
        tampered = replace(call, projections={**call.projections, "out": wrong})
        assert not tampered.verify().ok


@pytest.fixture(scope="module")
def with_key_bias() -> list[AttentionCall]:
    """A bfloat16 decoder whose keys are large, as Qwen2's are, and whose values are small."""
    torch.manual_seed(3)
    config = Qwen2Config(
        hidden_size=64,
        num_attention_heads=4,
        num_key_value_heads=2,
        intermediate_size=64,
        num_hidden_layers=2,
        vocab_size=64,
    )
    model = Qwen2ForCausalLM(config).eval()
    with torch.no_grad():
        for layer in model.model.layers:
            layer.self_attn.k_proj.bias[0] = 200.0
    return recorded(model.to(torch.bfloat16))


def changed(call: AttentionCall, **inputs: object) -> AttentionCall:
    """The call with other inputs than those that the model used."""
    assert isinstance(call.inputs, AttentionInputs)
    return replace(call, inputs=replace(call.inputs, **inputs))


def test_large_keys_excuse_no_wrong_weights(with_key_bias: list[AttentionCall]) -> None:
    for call in with_key_bias:
        inputs = call.inputs
        assert isinstance(inputs, AttentionInputs)
        assert float(inputs.key.abs().max()) >= 190 and float(inputs.value.abs().max()) < 1
        assert call.verify().ok
        assert not changed(call, causal=False, mask=None).verify().ok, "the mask was dropped"
        assert not changed(call, query=0 * inputs.query).verify().ok, "uniform weights"
        assert not changed(call, scaling=1.2 * inputs.scaling).verify().ok


def test_steps_show_a_difference_at_the_size_of_each_stage(
    with_key_bias: list[AttentionCall],
) -> None:
    call = with_key_bias[0]
    right = attnviz.derive(call, 1).comparisons
    assert right.keys() >= {"q", "k", "v", "mixed", "concat", "projected"}
    assert all(comparison.ok for comparison in right.values()), right
    wrong = attnviz.derive(changed(call, causal=False, mask=None), 1).comparisons
    assert {stage for stage, comparison in wrong.items() if not comparison.ok} == {
        "mixed",
        "concat",
        "projected",
    }


def test_a_verification_says_in_one_line_what_it_found(with_key_bias: list[AttentionCall]) -> None:
    call = with_key_bias[0]
    fine, broken = call.verify(), changed(call, causal=False, mask=None).verify()
    assert repr(fine).startswith("Verification: ok, 1 call, worst error ")
    assert repr(broken).startswith("Verification: NOT ok, 1 call, worst error ")
    assert broken.worst.stage == "mixed" and broken.worst.excess > 1
    assert broken.errors == {call.name: broken.worst.error}
    assert broken.tolerances == {call.name: broken.worst.tolerance}


def test_nan_and_infinity_are_never_ok(with_key_bias: list[AttentionCall]) -> None:
    call = with_key_bias[0]
    for bad in (torch.nan, torch.inf):
        output = call.output.clone()
        output[0, 3, 1] = bad
        assert not replace(call, output=output).verify().ok


@pytest.fixture
def heard() -> list[AttentionCall]:
    """A model that blocks every key of the silence that was added to a sound."""
    torch.manual_seed(2)
    config = ParakeetEncoderConfig(
        hidden_size=24,
        num_hidden_layers=2,
        num_attention_heads=3,
        intermediate_size=20,
        num_mel_bins=16,
        subsampling_conv_channels=8,
    )
    model = ParakeetEncoder(config).eval()
    sound, mask = torch.randn(1, 8 * N_FRAME, 16), torch.ones(1, 8 * N_FRAME, dtype=torch.long)
    mask[:, 8 * N_HEARD :] = 0
    with attnviz.record(model) as calls, torch.no_grad():
        model(input_features=sound, attention_mask=mask)
    return list(calls)


def test_queries_without_a_key_are_not_compared(heard: list[AttentionCall]) -> None:
    for call in heard:
        masked = call.fully_masked()
        assert masked is not None
        assert masked[:, 0].tolist() == [place >= N_HEARD for place in range(N_FRAME)]
        assert (call.output[0][masked] != 0).any(), "the kernel gives such rows zeros: no case"
        assert call.verify().ok
        steps = attnviz.derive(call, 1)
        assert all(comparison.ok for comparison in steps.comparisons.values())
        assert {"mixed", "concat", "projected"} <= steps.errors.keys()
        assert not steps.weights[N_HEARD:].any()
        assert steps.view("weights").rows_sum_to is None, "not every row sums to 1"


@pytest.mark.parametrize("row", [0, N_HEARD - 1])
def test_rows_with_a_key_are_compared(heard: list[AttentionCall], row: int) -> None:
    output = heard[0].output.clone()
    output[0, row] += 1.0
    wrong = replace(heard[0], output=output)
    by_stage = {comparison.stage: comparison for comparison in wrong.verify().comparisons}
    mixed = by_stage["mixed"]
    assert mixed.error >= 0.9 and not mixed.ok
    assert attnviz.derive(wrong, 1).errors["mixed"] >= 0.9


def test_w_o_is_compared_in_rows_without_a_key(heard: list[AttentionCall]) -> None:
    out = heard[0].projections["out"]
    changed = out.output.clone()
    changed[0, -1] += 1.0
    wrong = replace(heard[0], projections={"out": replace(out, output=changed)})
    assert wrong.verify().worst.error >= 0.9


class InHalf(Attention):
    """Attention in half precision between layers that are not, as fast kernels ask for it."""

    def __init__(self, dtype: torch.dtype, fused: bool, factor: float = 1.0) -> None:
        super().__init__()
        self.dtype, self.fused, self.factor = dtype, fused, factor

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (
            layer(x).unflatten(-1, (H, DH)).transpose(1, 2).to(self.dtype)
            for layer in (self.q, self.k, self.v)
        )
        v = v * self.factor
        if self.fused:
            mixed = scaled_dot_product_attention(q, k, v)
        else:
            mixed = (q @ k.mT / DH**0.5).float().softmax(-1).to(self.dtype) @ v
        result: Tensor = self.o(mixed.transpose(1, 2).flatten(2).to(x.dtype))
        return result


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_attention_in_half_precision_between_whole_layers_is_no_false_alarm(
    dtype: torch.dtype, fused: bool
) -> None:
    torch.manual_seed(6)
    model, x = InHalf(dtype, fused).eval(), torch.randn(2, 7, D)
    with torch.no_grad(), record(model) as calls:
        model(x)
    (call,) = calls
    call.verify().require()
    assert set(call.projections) == {"q", "k", "v", "out"} and call.inputs.dtype == dtype
    written = model.q(x[0])[:, DH : 2 * DH]
    theirs = call.inputs.query[0, 1].float()
    assert 0 < (written - theirs).abs().max() < torch.finfo(dtype).eps * written.abs().max()


def test_a_value_that_is_more_than_rounded_is_told() -> None:
    torch.manual_seed(6)
    model = InHalf(torch.bfloat16, True, factor=1.05).eval()
    with torch.no_grad(), record(model) as calls:
        model(torch.randn(2, 7, D))
    (call,) = calls
    assert "v" in call.absent or call.projections["v"].factor != 1 or not call.verify().ok
