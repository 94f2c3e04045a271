"""X and W_Q where a model scales q before the call, against the model's own layers and factor."""

import math
from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn
from transformers import (
    OPTConfig,
    OPTForCausalLM,
    OPTModel,
    PretrainedConfig,
    PreTrainedModel,
    WhisperConfig,
    WhisperModel,
)

from attnviz.attention.call import AttentionCall
from attnviz.attention.projection import WrittenLayer
from attnviz.attention.steps import derive
from attnviz.capture.generation.settings import Generation
from attnviz.capture.locate.projections_by_memory import NOT_A_VIEW
from attnviz.capture.record.recorder import record
from attnviz.capture.run import capture
from attnviz.models.loader import load
from tests.oracle.test_turned import TOLERANCE, VOCAB, ids, peaky

WIDTH, HEADS, FRAMES = 42, 6, 17
S = 1 / math.sqrt(WIDTH // HEADS)
Scale = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]


def whisper() -> PreTrainedModel:
    torch.manual_seed(17)
    of = {"layers": 2, "attention_heads": HEADS, "ffn_dim": 14}
    sides = {f"{side}_{name}": n for side in ("encoder", "decoder") for name, n in of.items()}
    marks = {f"{name}_token_id": 1 for name in ("pad", "bos", "eos", "decoder_start")}
    longest = {"max_source_positions": FRAMES, "max_target_positions": 32}
    config = WhisperConfig(
        vocab_size=VOCAB, d_model=WIDTH, num_mel_bins=8, **sides, **marks, **longest
    )
    return peaky(WhisperModel(config))


def opt(written: bool = False) -> PreTrainedModel:
    torch.manual_seed(17)
    shape = {"hidden_size": WIDTH, "word_embed_proj_dim": WIDTH, "ffn_dim": 14}
    config = OPTConfig(
        vocab_size=VOCAB,
        num_attention_heads=HEADS,
        num_hidden_layers=3,
        max_position_embeddings=601,
        eos_token_id=None,
        **shape,
    )
    return peaky(OPTForCausalLM(config) if written else OPTModel(config))


def recorded(model: PreTrainedModel, **inputs: object) -> list[AttentionCall]:
    with torch.no_grad(), record(model) as calls:
        model(**inputs)
    return calls


def require_scaled(model: nn.Module, call: AttentionCall, batch: int) -> None:
    """q of every head is s·(X·W_Q + b_Q) with the model's own layer, X and s; k and v are not."""
    layer = model.get_submodule(f"{call.module}.q_proj")
    for head in range(call.n_heads):
        steps, columns = derive(call, head, batch), slice(7 * head, 7 * head + 7)
        assert steps.x is not None and steps.w_q is not None
        assert steps.factors == {"q": pytest.approx(S, rel=1e-6)} and not steps.turned
        assert call.inputs.scaling == 1 and not call.absent
        with torch.no_grad():
            theirs = layer(steps.x)[:, columns] * S
        torch.testing.assert_close(steps.q, theirs, atol=TOLERANCE, rtol=0)
        torch.testing.assert_close(steps.w_q, layer.weight[columns].T, atol=0, rtol=0)
        for stage in ("q", "k", "v", "projected"):
            assert steps.errors[stage] <= TOLERANCE, (stage, steps.errors)


@pytest.mark.some(1)
@pytest.mark.parametrize("cached", [False, True])
def test_every_attention_of_whisper_has_its_x_and_w_q(cached: bool) -> None:
    model = whisper()
    heard = torch.randn(2, 8, 2 * FRAMES, generator=torch.Generator().manual_seed(5))
    calls = recorded(model, input_features=heard, decoder_input_ids=ids(), use_cache=cached)
    kinds = {(call.stack, call.kind) for call in calls}
    assert kinds == {("encoder", "self"), ("decoder", "self"), ("decoder", "cross")}
    for call in calls:
        for batch in range(2):
            require_scaled(model, call, batch)
        assert call.verify().worst.error <= TOLERANCE


def test_a_decoder_that_scales_before_it_masks() -> None:
    model = opt()
    for call in recorded(model, input_ids=ids()):
        require_scaled(model, call, 1)


def test_what_is_written_token_by_token_is_scaled_alike() -> None:
    lm = load(opt(written=True))
    prompt = {"input_ids": ids(1, 3), "attention_mask": torch.ones(1, 3, dtype=torch.long)}
    for call in capture(lm, inputs=prompt, generate=Generation(5)).calls:
        require_scaled(lm.model, call, 0)
        assert call.n_query > 4


def test_an_error_of_w_q_is_seen_behind_the_factor() -> None:
    call = recorded(opt(), input_ids=ids())[0]
    layer = call.projections["q"]
    for wrong in (
        replace(layer, output=1.01 * layer.output),  # overwritten after its use
        replace(layer, layer=WrittenLayer(1.01 * layer.weight, layer.bias)),
        replace(layer, factor=0.9 * S),
    ):
        errors = derive(replace(call, projections=call.projections | {"q": wrong}), 0).errors
        assert errors["q"] > 1e-3 and errors["k"] <= TOLERANCE


def test_long_texts_keep_rows_to_compare_with() -> None:
    call = capture(load(opt()), inputs={"input_ids": ids(1, 600)}).calls[1]
    steps = derive(call, 3)
    assert call.row_step > 1 and steps.x is None and steps.w_q is not None
    assert steps.factors["q"] == pytest.approx(S, rel=1e-6) and steps.errors["q"] <= TOLERANCE


class HandMadeAttention(nn.Module):
    """Attention of torch's own kernel behind three layers; `scale` works on q and k before it."""

    is_causal = False

    def __init__(self, scale: Scale) -> None:
        super().__init__()
        self.scale = scale
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(WIDTH, WIDTH) for _ in range(3))

    def forward(self, x: Tensor) -> Tensor:
        layers = (self.q_proj, self.k_proj, self.v_proj)
        q, k, v = (of(x).unflatten(-1, (HEADS, -1)).transpose(1, 2) for of in layers)
        q, k = self.scale(q, k)
        return nn.functional.scaled_dot_product_attention(q, k, v, scale=1.0)


class HandMadeModel(PreTrainedModel):
    config_class = PretrainedConfig

    def __init__(self, scale: Scale) -> None:
        super().__init__(PretrainedConfig())
        self.attention = HandMadeAttention(scale)

    def forward(self, x: Tensor) -> Tensor:
        made: Tensor = self.attention(x)
        return made


def hand_made(scale: Scale) -> AttentionCall:
    torch.manual_seed(17)
    (call,) = recorded(HandMadeModel(scale).eval(), x=torch.randn(2, 11, WIDTH))
    return call


def test_a_model_may_scale_q_and_k_by_the_square_root() -> None:
    root = math.sqrt(S)
    call = hand_made(lambda q, k: (q * root, k * root))
    steps = derive(call, 4)
    assert steps.factors == {name: pytest.approx(root, rel=1e-6) for name in ("q", "k")}
    assert steps.x is not None
    assert max(steps.errors[stage] for stage in ("q", "k", "v")) <= TOLERANCE


NOT_CONSTANT: dict[str, Scale] = {
    "by token": lambda q, k: (q * torch.linspace(0.5, 0.6, 11)[:, None], k),
    "by the last token alone": lambda q, k: (q * torch.tensor([S] * 10 + [S + 0.01])[:, None], k),
    "by a token that is not sampled": lambda q, k: (
        q * torch.tensor([S, S + 0.01, *[S] * 9])[:, None],
        k,
    ),
    "by head": lambda q, k: (q * torch.linspace(0.5, 0.6, HEADS)[:, None, None], k),
    "by component": lambda q, k: (q * torch.linspace(0.5, 0.6, 7), k),
    "by row of the batch": lambda q, k: (q * torch.tensor([S, S + 0.01])[:, None, None, None], k),
    "with a bend": lambda q, k: (torch.tanh(q), k),
    "normalised": lambda q, k: (nn.functional.normalize(q, dim=-1), k),
}


@pytest.mark.parametrize("name", NOT_CONSTANT)
def test_what_is_no_constant_multiple_stays_absent(name: str) -> None:
    call = hand_made(NOT_CONSTANT[name])
    assert call.absent["q"] == call.absent["x"] == NOT_A_VIEW
    steps = derive(call, 0)
    assert steps.x is None and steps.w_q is None and not steps.factors
    assert "q" not in steps.errors and steps.errors["k"] <= TOLERANCE
