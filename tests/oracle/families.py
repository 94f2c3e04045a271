"""The oracle suite's table: one row for each model family, with what it is there to prove.

Each family is built from a config only (`tests.support.tiny`), run under eager attention and under
`attnviz.record`, and compared. `shows` looks at the recorded calls and asserts that the mechanism
of the row really took part: a sliding window that hides nothing would prove nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

from attnviz.attention.call import AttentionCall
from attnviz.attention.inputs import AttentionInputs
from attnviz.attention.stored_weights import StoredWeights

Calls = list[AttentionCall]
Proof = Callable[[Calls], None]


@dataclass(frozen=True)
class Family:
    """One row: a model type of transformers, changes to its tiny config, what it shows."""

    name: str
    mechanism: str
    shows: Proof
    model_type: str = ""
    overrides: dict[str, Any] = field(default_factory=dict)
    fast: bool = False

    @property
    def type_name(self) -> str:
        return self.model_type or self.name


def inputs_of(calls: Calls) -> list[AttentionInputs]:
    """The inputs of the calls that went through the attention interface."""
    return [call.inputs for call in calls if isinstance(call.inputs, AttentionInputs)]


def visible(call: AttentionCall) -> torch.Tensor:
    """How many keys each query row puts weight on, [batch, head, query]."""
    rows = [call.weights(batch=batch) for batch in range(call.n_batch)]
    return (torch.stack(rows) > 0).sum(-1)


def pads(calls: Calls) -> None:
    """The padded batch row sees fewer keys than the full one."""
    seen = visible(calls[0])
    assert int(seen[0].max()) > int(seen[1].max()) > 0


def is_causal(calls: Calls) -> None:
    """The first query sees one key, the last one all of the unpadded row."""
    seen = visible(calls[0])[0]
    assert seen[:, 0].eq(1).all() and seen[:, -1].eq(calls[0].n_key).all()


def shares_keys(calls: Calls) -> None:
    """Fewer key-value heads than heads."""
    assert any(1 < call.inputs.n_kv_heads < call.n_heads for call in calls)


def shares_one_key_head(calls: Calls) -> None:
    """One key-value head for all heads."""
    assert all(call.inputs.n_kv_heads == 1 < call.n_heads for call in calls)


def slides(calls: Calls) -> None:
    """In some layer late queries see fewer keys than there are before them."""
    full = calls[0].n_key
    assert min(int(visible(call)[0, :, -1].max()) for call in calls) < full


def caps(calls: Calls) -> None:
    """Every call has a softcap."""
    assert all(found.softcap for found in inputs_of(calls)) and inputs_of(calls)


def sinks(calls: Calls) -> None:
    """Some of the softmax's mass goes to a sink, so that rows add up to less than 1."""
    with_sink = [call for call in calls if call.inputs.sinks is not None]
    assert with_sink and float(with_sink[0].weights().sum(-1).min()) < 0.999


def gates_by_sink(calls: Calls) -> None:
    """The sink scales the row instead: rows add up to 1."""
    assert all(found.sinks is not None and found.sinks_gate for found in inputs_of(calls))
    assert torch.allclose(calls[0].weights().sum(-1)[:, -1], torch.ones(1), atol=1e-5)


def biased(calls: Calls) -> None:
    """A bias that differs from cell to cell is added to the scores."""
    biases = [found.bias for found in inputs_of(calls) if found.bias is not None]
    assert biases and any(float(bias.float().std()) > 0 for bias in biases)


def crosses(calls: Calls) -> None:
    """There is attention to another sequence, in the decoder."""
    cross = [call for call in calls if call.kind == "cross"]
    assert cross and all(call.stack in ("decoder", None) for call in cross)
    assert any(call.n_query != call.n_key for call in cross)


def chooses_keys(calls: Calls) -> None:
    """An indexer leaves three keys at most."""
    assert min(int(visible(call)[0].max()) for call in calls) <= 3 < calls[0].n_key


def windows(calls: Calls) -> None:
    """Windows of the picture stand in the batch."""
    assert max(call.n_batch for call in calls) > 2


def repeats(calls: Calls) -> None:
    """One module attends several times."""
    assert max(call.index for call in calls) > 0


def stores(calls: Calls) -> None:
    """The weights were seen in the model's own code."""
    assert any(isinstance(call.inputs, StoredWeights) for call in calls)


def explains(calls: Calls) -> None:
    """What the model's own code does to its scores was seen, and the layers beside it."""
    assert len(inputs_of(calls)) == len(calls)
    assert all(set(call.projections) == {"q", "k", "v", "out"} for call in calls)


def explains_bias(calls: Calls) -> None:
    """The same, with a bias among it."""
    explains(calls)
    biased(calls)


def opens(calls: Calls) -> None:
    """torch's own attention module shows its projections as the model's other layers do."""
    assert len(inputs_of(calls)) == len(calls)
    assert all(set(call.projections) == {"q", "k", "v", "out"} for call in calls)


def attends(calls: Calls) -> None:
    """Rows add up to 1 and differ between heads."""
    weights = calls[-1].weights()
    assert torch.allclose(weights.sum(-1).amax(), torch.ones(()), atol=1e-4)
    assert weights.shape[0] == 1 or not torch.allclose(weights[0], weights[1], atol=1e-3)


FEW_WINDOWS = {"depths": [2, 1], "num_heads": [4, 4], "image_size": 32, "window_size": 4}

FAMILIES: tuple[Family, ...] = (
    Family("bert", "padding in a batch", pads, fast=True),
    Family("roberta", "padding in a batch", pads),
    Family("distilbert", "padding in a batch", pads),
    Family("electra", "padding in a batch", pads),
    Family("xlm-roberta", "padding in a batch", pads),
    Family("nomic_bert", "padding in a batch", pads),
    Family("modernbert", "padding and local attention", pads),
    Family("albert", "several calls per module", repeats, fast=True),
    Family("diffllama", "several calls per module", repeats),
    Family("hrm_text", "several calls per module", repeats),
    Family("gpt2", "causal", is_causal, fast=True),
    Family("gpt_neox", "causal", is_causal),
    Family("opt", "causal", is_causal),
    Family("phi", "causal", is_causal),
    Family("biogpt", "causal", is_causal),
    Family("ctrl", "causal", is_causal),
    Family(
        "llama",
        "grouped-query attention",
        shares_keys,
        overrides={"num_key_value_heads": 2},
        fast=True,
    ),
    Family("qwen2", "grouped-query attention", shares_keys, overrides={"num_key_value_heads": 2}),
    Family("qwen3", "grouped-query attention", shares_keys, overrides={"num_key_value_heads": 2}),
    Family("mixtral", "grouped-query attention", shares_keys),
    Family("smollm3", "grouped-query attention", shares_keys),
    Family("deepseek_v3", "latent attention", is_causal),
    Family("gpt_bigcode", "multi-query attention", shares_one_key_head, fast=True),
    Family(
        "gemma",
        "multi-query attention",
        shares_one_key_head,
        overrides={"num_key_value_heads": 1},
    ),
    Family("mistral", "sliding window", slides, fast=True),
    Family("gemma3_text", "sliding window", slides),
    Family("cohere2", "sliding window", slides),
    Family("olmo3", "sliding window", slides),
    Family("exaone4", "sliding window", slides),
    Family("llama4_text", "chunked attention", slides),
    Family("gemma2", "softcap", caps, fast=True),
    Family("vaultgemma", "softcap", caps),
    Family("t5gemma", "softcap and cross-attention", caps),
    Family("gpt_oss", "sinks", sinks, fast=True),
    Family("mimo_v2_flash", "sinks", sinks),
    Family("deepseek_v4", "sinks and compressed keys", sinks),
    Family("inkling2_text", "sinks of each query", sinks),
    Family("granite_swa", "sinks as a gate", gates_by_sink),
    Family("granitemoe_swa", "sinks as a gate", gates_by_sink),
    Family("t5", "position bias and cross-attention", biased, fast=True),
    Family("mt5", "position bias and cross-attention", biased),
    Family("umt5", "position bias and cross-attention", biased),
    Family("switch_transformers", "position bias and cross-attention", biased),
    Family("pop2piano", "position bias and cross-attention", biased),
    Family("wav2vec2-conformer", "speech", attends),
    Family("parakeet_encoder", "position bias of speech", biased),
    Family("bart", "cross-attention", crosses, fast=True),
    Family("mbart", "cross-attention", crosses),
    Family("marian", "cross-attention", crosses),
    Family("whisper", "cross-attention to speech", crosses),
    Family("speech_to_text", "cross-attention to speech", crosses),
    Family("blip_2_qformer", "cross-attention to a picture", attends),
    Family("detr", "cross-attention to a picture", crosses),
    Family("nllb-moe", "cross-attention, float masks", crosses),
    Family("deepseek_v32", "indexed sparse attention", chooses_keys, fast=True),
    Family("glm_moe_dsa", "indexed sparse attention", chooses_keys),
    Family("axk2", "indexed sparse attention", chooses_keys),
    Family("swin", "windows of a picture", windows, overrides=FEW_WINDOWS, fast=True),
    Family("qwen2_5_vl_vision", "packed pictures, one call each", repeats),
    Family("vit", "picture", attends),
    Family("beit", "picture, relative position bias", attends),
    Family("dinov2", "picture", attends),
    Family("clip", "picture and text", attends),
    Family("siglip_vision_model", "torch's attention in a pooling head", opens),
    Family("wav2vec2", "speech", attends),
    Family("hubert", "speech", attends),
    Family("jamba", "attention between other layers", attends),
    Family("bloom", "ALiBi, own code", explains_bias, fast=True),
    Family("mpt", "ALiBi, own code", explains_bias),
    Family("falcon", "own code around torch's kernel", attends),
    Family("gptj", "own code", explains),
    Family("gpt_neo", "own code, local attention", slides, overrides={"window_size": 4}),
    Family("codegen", "own code", explains),
    Family(
        "deberta-v2",
        "own code, disentangled",
        stores,
        overrides={"relative_attention": True, "pos_att_type": ["c2p", "p2c"]},
    ),
    Family("mpnet", "own code, position bias", explains_bias),
    Family("layoutlmv3", "own code, spatial bias", explains_bias),
    Family("xglm", "own code", explains),
    Family("mvp", "own code, cross-attention", crosses),
    Family("swinv2", "own code, windows of a picture", windows),
    Family("hiera", "own code, heads before windows", windows),
    Family("cpmant", "own code, mask behind the softmax", explains),
    Family("gemma4_audio", "own code, heads before blocks of frames", stores),
    Family("sam_vision_model", "own code, decomposed positions", biased),
    Family("canine", "own code, local attention", explains),
    Family("perceiver", "own code, cross-attention to latents", explains),
    Family("bridgetower", "torch's attention beside the interface", attends),
)
