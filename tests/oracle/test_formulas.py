"""A second reference, written out: weights from a module's inputs and parameters by hand.

Nothing of attnviz and nothing of the model's attention code takes part: the hidden states that go
into an attention module are caught by a hook, and q, k, the scores and the softmax are computed
here from the module's parameters, with the formulas of the papers.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from attnviz.attention.batch_weights import all_scores
from attnviz.attention.call import AttentionCall
from attnviz.attention.inputs import AttentionInputs
from attnviz.capture.record.recorder import record
from tests.support.tiny.check import tiny_case
from tests.support.tiny.models import set_seed
from tests.support.tiny.source import TEXT, TEXT_REAL

ATOL = 2e-5
HIDDEN = -torch.inf
THETA = 10000.0


@dataclass
class Site:
    """An attention module that ran, its hidden states, and the states it took its keys from."""

    module: nn.Module
    hidden: Tensor
    source: Tensor
    model: PreTrainedModel


def heads(x: Tensor, width: int) -> Tensor:
    """[batch, token, heads·width] → [batch, head, token, width]."""
    batch, token = x.shape[:2]
    return x.reshape(batch, token, -1, width).transpose(1, 2)


def scores(q: Tensor, k: Tensor, scaling: float) -> Tensor:
    """q·kᵀ × scaling; fewer key heads are each shared by neighbouring heads."""
    shared = q.shape[1] // k.shape[1]
    return torch.einsum("bhqd,bhkd->bhqk", q, k.repeat_interleave(shared, 1)) * scaling


def hide_padding(x: Tensor) -> Tensor:
    """−∞ for the keys of the second row's padding."""
    x = x.clone()
    x[1, :, :, TEXT_REAL:] = HIDDEN
    return x


def hide_future(x: Tensor, window: int | None = None) -> Tensor:
    """−∞ for keys after the query, or further back than a window that counts the query itself."""
    distance = torch.arange(x.shape[-2])[:, None] - torch.arange(x.shape[-1])
    hidden = distance < 0 if window is None else (distance < 0) | (distance >= window)
    return x.masked_fill(hidden, HIDDEN)


def rotate(x: Tensor) -> Tensor:
    """Rotary embedding: the pair (x_i, x_{i+d/2}) turned by position · θ^(−2i/d)."""
    half = x.shape[-1] // 2
    angle = torch.arange(x.shape[-2])[:, None] * THETA ** (-torch.arange(half) / half)
    first, second = x[..., :half], x[..., half:]
    return torch.cat(
        [first * angle.cos() - second * angle.sin(), second * angle.cos() + first * angle.sin()],
        dim=-1,
    )


def bert(site: Site) -> Tensor:
    q, k = heads(site.module.query(site.hidden), 16), heads(site.module.key(site.hidden), 16)
    return hide_padding(scores(q, k, 1 / 4)).softmax(-1)


def gpt2(site: Site) -> Tensor:
    fused = site.hidden @ site.module.c_attn.weight + site.module.c_attn.bias
    q, k = heads(fused[..., :64], 16), heads(fused[..., 64:128], 16)
    return hide_future(hide_padding(scores(q, k, 1 / 4))).softmax(-1)


def gpt_bigcode(site: Site) -> Tensor:
    """One key head of width 16 behind the 64 columns of the queries."""
    fused = site.module.c_attn(site.hidden)
    q, k = heads(fused[..., :64], 16), heads(fused[..., 64:80], 16)
    return hide_future(hide_padding(scores(q, k, 1 / 4))).softmax(-1)


def rotary_scores(site: Site) -> Tensor:
    q, k = heads(site.module.q_proj(site.hidden), 16), heads(site.module.k_proj(site.hidden), 16)
    return scores(rotate(q), rotate(k), 1 / 4)


def llama(site: Site) -> Tensor:
    return hide_future(hide_padding(rotary_scores(site))).softmax(-1)


def mistral(site: Site) -> Tensor:
    return hide_future(hide_padding(rotary_scores(site)), window=4).softmax(-1)


def gemma2(site: Site) -> Tensor:
    """Scaled by query_pre_attn_scalar^(−1/2), squeezed into ±softcap; the first layer slides."""
    config = site.model.config
    scaled = rotary_scores(site) * 4 * config.query_pre_attn_scalar**-0.5
    capped = config.attn_logit_softcapping * torch.tanh(scaled / config.attn_logit_softcapping)
    return hide_future(hide_padding(capped), window=config.sliding_window).softmax(-1)


def gpt_oss(site: Site) -> Tensor:
    """The sink is one more score of each head; its share of the softmax goes nowhere."""
    masked = hide_future(hide_padding(rotary_scores(site)), window=site.module.sliding_window)
    sink = site.module.sinks.reshape(1, -1, 1, 1).expand(*masked.shape[:3], 1)
    return torch.cat([masked, sink], -1).softmax(-1)[..., :-1]


def t5_bucket(distance: int, n_buckets: int = 32, most: int = 128) -> int:
    """Of a key `distance` after the query: exact when near, by logarithm when far."""
    half, behind = n_buckets // 2, n_buckets // 2 if distance > 0 else 0
    exact, distance = half // 2, abs(distance)
    if distance < exact:
        return behind + distance
    far = exact + int(math.log(distance / exact) / math.log(most / exact) * (half - exact))
    return behind + min(far, half - 1)


def t5(site: Site) -> Tensor:
    """No scaling; a learned number for each head and each bucket of the distance."""
    q, k = heads(site.module.q(site.hidden), 16), heads(site.module.k(site.hidden), 16)
    table = site.model.encoder.block[0].layer[0].SelfAttention.relative_attention_bias.weight
    buckets = torch.tensor([[t5_bucket(key - query) for key in range(11)] for query in range(11)])
    return hide_padding(scores(q, k, 1) + table[buckets].permute(2, 0, 1)).softmax(-1)


def bart_cross(site: Site) -> Tensor:
    q, k = heads(site.module.q_proj(site.hidden), 16), heads(site.module.k_proj(site.source), 16)
    return hide_padding(scores(q, k, 1 / 4)).softmax(-1)


def bloom(site: Site) -> Tensor:
    """ALiBi: head h (of 4) adds −2^(−2(h+1)) · distance; each row's constant part cancels."""
    fused = site.module.query_key_value(site.hidden).reshape(2, TEXT, 4, 3, 16)
    q, k = fused[..., 0, :].transpose(1, 2), fused[..., 1, :].transpose(1, 2)
    slope = torch.tensor([2.0 ** (-2 * (head + 1)) for head in range(4)])
    alibi = slope[:, None, None] * torch.arange(TEXT)[None, None]
    return hide_future(hide_padding(scores(q, k, 1 / 4) + alibi)).softmax(-1)


def vit(site: Site) -> Tensor:
    q, k = heads(site.module.q_proj(site.hidden), 16), heads(site.module.k_proj(site.hidden), 16)
    return scores(q, k, 1 / 4).softmax(-1)


FORMULAS: tuple[tuple[str, str, Callable[[Site], Tensor], dict[str, Any]], ...] = (
    ("bert", "encoder.layer.1.attention.self", bert, {}),
    ("gpt2", "h.1.attn", gpt2, {}),
    ("gpt_bigcode", "h.1.attn", gpt_bigcode, {}),
    ("llama", "layers.1.self_attn", llama, {}),
    ("mistral", "layers.1.self_attn", mistral, {}),
    ("gemma2", "layers.0.self_attn", gemma2, {}),
    (
        "gpt_oss",
        "layers.0.self_attn",
        gpt_oss,
        {"rope_parameters": {"rope_type": "default", "rope_theta": THETA}},
    ),
    ("t5", "encoder.block.1.layer.0.SelfAttention", t5, {}),
    ("bart", "decoder.layers.1.encoder_attn", bart_cross, {}),
    ("bloom", "h.1.self_attention", bloom, {}),
    ("vit", "layers.1.attention", vit, {}),
)


@pytest.mark.filterwarnings("ignore")  # transformers' own, of tiny configs
@pytest.mark.parametrize(
    ("model_type", "name", "formula", "overrides"), FORMULAS, ids=[row[0] for row in FORMULAS]
)
def test_weights_follow_the_written_formula(
    model_type: str, name: str, formula: Callable[[Site], Tensor], overrides: dict[str, Any]
) -> None:
    model, inputs, _ = tiny_case(model_type, overrides)
    seen: list[tuple[tuple[Any, ...], dict[str, Any]]] = []
    module = model.get_submodule(name)
    hook = module.register_forward_pre_hook(
        lambda _module, args, kwargs: seen.append((args, kwargs)), with_kwargs=True
    )
    with torch.no_grad(), record(model) as calls:
        set_seed()
        model(**inputs)
    hook.remove()
    call = next(call for call in calls if call.module == name)
    with torch.no_grad():
        theirs = formula(site_of(model, module, *seen[0]))
    compare(call, theirs)
    assert isinstance(call.inputs, AttentionInputs)
    together = all_scores(call.inputs)
    for head in range(call.n_heads):  # head by head they are the last before the mask
        stages = call.stages(head, batch=1)
        last = [name for name in ("biased", "capped", "scaled") if name in stages][0]
        torch.testing.assert_close(together[1, head], stages[last], atol=ATOL, rtol=0)


def site_of(
    model: PreTrainedModel, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Site:
    """The hidden states are the first argument; cross-attention has others for its keys."""
    hidden = args[0] if args else kwargs["hidden_states"]
    source = kwargs.get("key_value_states")
    if source is None:
        source = args[1] if len(args) > 1 and isinstance(args[1], Tensor) else hidden
    return Site(module, hidden, source, model)


def compare(call: AttentionCall, theirs: Tensor) -> None:
    """Equal on every row of the first text and every real row of the second."""
    real = TEXT_REAL if call.n_query == TEXT else call.n_query
    for batch, rows in ((0, call.n_query), (1, real)):
        ours = call.weights(batch=batch)[:, :rows]
        torch.testing.assert_close(ours, theirs[batch, :, :rows], atol=ATOL, rtol=0)
