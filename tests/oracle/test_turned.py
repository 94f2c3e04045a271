"""X, W_Q and W_K behind a rotary embedding, against the cosines that the model itself makes."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor
from transformers import (
    CohereConfig,
    CohereModel,
    GPT2Config,
    GPT2LMHeadModel,
    GPTNeoXConfig,
    GPTNeoXModel,
    LlamaConfig,
    LlamaForCausalLM,
    LlamaModel,
    Phi3Config,
    Phi3Model,
    PreTrainedModel,
    Qwen3Config,
    Qwen3Model,
)
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

from attnviz.attention.call import AttentionCall
from attnviz.attention.projection import WrittenLayer
from attnviz.attention.steps import derive
from attnviz.capture.generation.settings import Generation
from attnviz.capture.locate import projections_by_value
from attnviz.capture.locate.layers import LinearRun
from attnviz.capture.locate.projections_by_memory import NOT_A_VIEW
from attnviz.capture.record.recorder import record
from attnviz.capture.run import capture
from attnviz.models.loader import load

VOCAB, TOKENS, TOLERANCE = 61, 11, 1e-5
SHAPE = {
    "vocab_size": VOCAB,
    "hidden_size": 36,
    "num_attention_heads": 6,
    "num_hidden_layers": 3,
    "intermediate_size": 14,
    "pad_token_id": 0,
}
GROUPED = {**SHAPE, "num_key_value_heads": 2}


def peaky(model: PreTrainedModel) -> PreTrainedModel:
    """Weights large enough that heads and positions differ."""
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 2:
                parameter.normal_(std=1.3 / parameter.shape[-1] ** 0.5)
    return model.eval()


def tiny(name: str) -> PreTrainedModel:
    torch.manual_seed(17)
    stretched = {"rope_type": "yarn", "factor": 4.0, "rope_theta": 10_000.0}
    made = {
        "llama": lambda: LlamaModel(LlamaConfig(**GROUPED)),
        "yarn": lambda: LlamaModel(LlamaConfig(**GROUPED, rope_parameters=stretched)),
        "one key head": lambda: LlamaModel(LlamaConfig(**SHAPE, num_key_value_heads=1)),
        "part of a head": lambda: GPTNeoXModel(GPTNeoXConfig(**SHAPE | {"hidden_size": 96})),
        "fused": lambda: Phi3Model(Phi3Config(**GROUPED)),
        "neighbours": lambda: CohereModel(CohereConfig(**GROUPED)),
        "norm": lambda: Qwen3Model(Qwen3Config(**GROUPED, head_dim=6)),
    }
    return peaky(made[name]())


def ids(n_batch: int = 2, length: int = TOKENS) -> Tensor:
    generator = torch.Generator().manual_seed(3)
    return torch.randint(1, VOCAB, (n_batch, length), generator=generator)


def recorded(model: PreTrainedModel, **inputs: Tensor) -> list[AttentionCall]:
    with torch.no_grad(), record(model) as calls:
        model(**inputs, use_cache=False)
    return calls


def require_steps(call: AttentionCall, batch: int = 0) -> None:
    """Every head's q and k follow from X."""
    for head in range(call.n_heads):
        steps = derive(call, head, batch)
        assert steps.x is not None and steps.turned == {"q", "k"}
        for stage in ("unrotated_q", "unrotated_k", "q", "k", "v", "projected"):
            assert steps.errors[stage] <= TOLERANCE, (stage, steps.errors)


@pytest.mark.some(1)
@pytest.mark.parametrize(
    "name", ["llama", "yarn", "one key head", "part of a head", "fused", "neighbours"]
)
def test_q_and_k_follow_from_x_in_every_form_of_rotary_embedding(name: str) -> None:
    mask = torch.ones(2, TOKENS, dtype=torch.long)
    mask[1, :4] = 0  # padded at the left: its positions are other ones
    for call in recorded(tiny(name), input_ids=ids(), attention_mask=mask):
        assert not call.absent
        for batch in range(2):
            require_steps(call, batch)


def test_before_and_after_are_what_the_models_own_cosines_say() -> None:
    model = tiny("llama")
    call = recorded(model, input_ids=ids(1))[1]
    x = derive(call, 0).x
    assert x is not None
    attention = model.layers[1].self_attn
    cos, sin = model.rotary_emb(x[None], torch.arange(TOKENS)[None])
    with torch.no_grad():
        q, k = (
            layer(x).view(1, TOKENS, -1, 6).transpose(1, 2)
            for layer in (attention.q_proj, attention.k_proj)
        )
        turned_q, turned_k = apply_rotary_pos_emb(q, k, cos, sin)
    for head in range(6):
        steps, kv_head = derive(call, head), head // 3
        pairs = (
            (steps.unrotated_q, q[0, head]),
            (steps.q, turned_q[0, head]),
            (steps.unrotated_k, k[0, kv_head]),
            (steps.k, turned_k[0, kv_head]),
        )
        for ours, theirs in pairs:
            torch.testing.assert_close(ours, theirs, atol=TOLERANCE, rtol=0)
        factors = steps._rotation.factors["q"]
        np.testing.assert_allclose(factors.real, cos[0, :, :3], atol=1e-4)
        np.testing.assert_allclose(factors.imag, sin[0, :, :3], atol=1e-4)
    stages = [view.stage for view in derive(call, 0).views()]
    assert stages[:6] == ["x", "unrotated_q", "unrotated_k", "q", "k", "v"]


def test_an_error_of_w_q_is_seen_after_the_rotation() -> None:
    call = recorded(tiny("llama"), input_ids=ids(1))[0]
    layer = call.projections["q"]
    wrong = replace(layer, layer=WrittenLayer(layer.weight + 0.01, layer.bias))
    errors = derive(replace(call, projections=call.projections | {"q": wrong}), 0).errors
    assert errors["unrotated_q"] > 1e-3 and errors["q"] > 1e-3 and errors["k"] <= TOLERANCE


def test_normalised_heads_stay_absent_and_say_why() -> None:
    for call in recorded(tiny("norm"), input_ids=ids()):
        assert call.absent == dict.fromkeys(("q", "k", "x"), NOT_A_VIEW)
        steps = derive(call, head=5)
        assert steps.x is None and steps.w_q is None and steps.unrotated_q is None
        assert "wrote this tensor as the attention" in steps.absent["x"]
        assert [view.stage for view in steps.views()][0] == "q"
        assert steps.errors["projected"] <= TOLERANCE


def test_a_guess_that_is_wrong_is_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """The third layer turns its keys by other angles than its queries."""
    model = tiny("llama")
    attention = model.layers[2].self_attn
    forward = type(attention).forward

    def twisted(self: torch.nn.Module, *args: object, **kwargs: object) -> object:
        hook = self.k_proj.register_forward_hook(lambda *of: of[2].flip(-1).clone())
        try:
            return forward(self, *args, **kwargs)
        finally:
            hook.remove()

    calls = recorded(model, input_ids=ids())
    assert all(not call.absent for call in calls)
    monkeypatch.setattr(attention, "forward", twisted.__get__(attention))
    first, second, third = recorded(model, input_ids=ids())
    assert not first.absent and not second.absent
    assert third.absent == dict.fromkeys(("q", "k", "x"), NOT_A_VIEW)
    assert third.kind == "self" and derive(third, 0).x is None


def test_what_a_model_writes_has_its_layers_too() -> None:
    torch.manual_seed(17)
    lm = load(peaky(LlamaForCausalLM(LlamaConfig(**GROUPED))))
    prompt = {"input_ids": ids(1, 1), "attention_mask": torch.ones(1, 1, dtype=torch.long)}
    written = capture(lm, inputs=prompt, generate=Generation(6))
    plain = capture(lm, inputs={"input_ids": torch.as_tensor(written.tokens.ids)[None]})
    for call, expected in zip(written.calls, plain.calls, strict=True):
        require_steps(call)
        ours, theirs = derive(call, 4), derive(expected, 4)
        for stage in ("x", "unrotated_q", "unrotated_k", "v"):
            one, other = getattr(ours, stage), getattr(theirs, stage)
            torch.testing.assert_close(one, other, atol=1e-4, rtol=0)


def test_keys_that_a_cache_copied_have_their_layer() -> None:
    torch.manual_seed(17)
    config = GPT2Config(vocab_size=VOCAB, n_embd=30, n_head=3, n_layer=2, eos_token_id=None)
    lm = load(peaky(GPT2LMHeadModel(config)))
    mask = torch.ones(1, 3, dtype=torch.long)
    written = capture(lm, inputs={"input_ids": ids(1, 3), "attention_mask": mask}, generate=4)
    for call in written.calls:
        steps = derive(call, 2)
        assert not steps.turned
        assert all(steps.errors[stage] <= TOLERANCE for stage in ("q", "k", "v"))


def test_long_texts_keep_rows_to_compare_with() -> None:
    model = tiny("llama")
    cap = capture(load(model), inputs={"input_ids": ids(1, 600)})
    steps = derive(cap.calls[1], 3)
    assert cap.calls[1].row_step > 1
    assert steps.x is None and steps.unrotated_q is None and steps.w_q is not None
    assert steps.errors["q"] <= TOLERANCE and steps.errors["k"] <= TOLERANCE


def test_a_model_that_fits_nothing_is_not_searched_for_ever() -> None:
    search = projections_by_value.ValueSearch()
    layer = LinearRun("q", torch.nn.Linear(6, 6), torch.zeros(1, 5, 6), torch.randn(1, 5, 6), 1)
    for _ in range(projections_by_value.MAX_MISSES):
        assert search.makers([layer], {"q": torch.randn(1, 2, 5, 3)}, 5) == ({}, None)
    right = {"q": layer.output.unflatten(-1, (2, 3)).transpose(1, 2).contiguous()}
    assert search.makers([layer], right, 5) == ({}, None)
    found, guess = projections_by_value.ValueSearch().makers([layer], right, 5)
    assert found["q"].starts == (0, 3) and not found["q"].turned and guess is None
