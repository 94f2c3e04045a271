"""What counts as the same number: rounding grows with numbers, and blind rows are nobody's."""

from dataclasses import replace

import pytest
import torch
from transformers import GPT2Config, GPT2LMHeadModel, ParakeetEncoder, ParakeetEncoderConfig

import attnviz
from attnviz.attention.call import TOLERANCES, AttentionCall

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


def recorded(model: GPT2LMHeadModel) -> list[AttentionCall]:
    with attnviz.record(model) as calls, torch.no_grad():
        model(IDS)
    return list(calls)


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("size", [1, 30, 3000])
def test_large_numbers_are_right_and_a_thousandth_off_is_not(
    size: float, dtype: torch.dtype
) -> None:
    for call in recorded(decoder(size, dtype)):
        assert call.verify() <= call.tolerance
        out = call.projections["out"]
        off = 2 * call.tolerance
        assert off <= max(0.02 * float(out.output.abs().max()), 2 * TOLERANCES[dtype])
        wrong = replace(out, output=out.output.float() + off)
        tampered = replace(call, projections={**call.projections, "out": wrong})
        assert tampered.verify() > call.tolerance


def test_numbers_of_ordinary_size_keep_the_tolerance() -> None:
    assert {call.tolerance for call in recorded(decoder(1, torch.float32))} == {1e-4}


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


def test_rows_without_a_key_are_not_compared(heard: list[AttentionCall]) -> None:
    for call in heard:
        blind = call.blind()
        assert blind is not None
        assert blind[:, 0].tolist() == [at >= N_HEARD for at in range(N_FRAME)]
        assert (call.output[0][blind] != 0).any(), "the kernel gives such rows zeros: no case"
        assert call.verify() <= call.tolerance
        steps = attnviz.derive(call, 1)
        assert max(steps.errors.values()) <= call.tolerance
        assert {"mixed", "concat", "projected"} <= steps.errors.keys()
        assert not steps.weights[N_HEARD:].any()
        said = {view.stage: view.rows_sum_to for view in steps.views()}
        assert said["weights"] is None, "not every row sums to 1"


@pytest.mark.parametrize("row", [0, N_HEARD - 1])
def test_rows_with_a_key_are_compared(heard: list[AttentionCall], row: int) -> None:
    output = heard[0].output.clone()
    output[0, row] += 1.0
    wrong = replace(heard[0], output=output)
    assert wrong.verify() >= 0.9
    assert attnviz.derive(wrong, 1).errors["mixed"] >= 0.9


def test_w_o_is_compared_in_rows_without_a_key(heard: list[AttentionCall]) -> None:
    out = heard[0].projections["out"]
    changed = out.output.clone()
    changed[0, -1] += 1.0
    wrong = replace(heard[0], projections={"out": replace(out, output=changed)})
    assert wrong.verify() >= 0.9
