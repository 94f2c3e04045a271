"""The engine beside torch: every family, several lengths, heads off; what it refuses."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from safetensors.numpy import load, save
from torch import nn

import attnviz
from attnviz.capture.arguments import as_pictures
from attnviz.capture.plan.images import pixel_inputs
from attnviz.live import prepared
from attnviz.models.loaded_model import LoadedModel
from attnviz.worlds import shapes
from scripts.build_kernels import BINARY
from tests.support.cases import mostly_slow
from tests.support.live_worker import answers, model_files, opening
from tests.support.node import needs_node

pytestmark = needs_node

STORY = (
    "Anna has a red ball. Tom has a blue hat. Tom gives the hat to Anna, and Anna is happy. They go"
    " to the park. In the park is a dog. The dog wants the ball. "
)
TEXTS = {
    "minilm": STORY,
    "sentiment": "the film was not good at all , but the music was . ",
    "stories": STORY,
    "stories-llama": STORY,
    "translator": "the big black dog sees a small bird in the garden . ",
    "dates": "Monday January 12 1948",
}
LENGTHS = (2, 9, 40, 200)  # words, as far as the model reads so many
WEIGHTS = 1e-5


def reference_of(lm: LoadedModel, n_words: int) -> bytes:
    words = (TEXTS[lm.name] * 8).split()[:n_words]
    text = " ".join(words)
    if lm.kind == "encoder-decoder":
        return prepared.reference(attnviz.capture(lm, text, target="les oiseaux", cut=True), text)
    return prepared.reference(attnviz.capture(lm, text, cut=True), text)


def verified(lm: LoadedModel, reference: bytes, folder: Path) -> dict[str, Any]:
    info = model_files(lm, folder, reference=reference)
    *_, loaded, found = answers([*opening(info), {"kind": "verify", "model": lm.name}])
    assert loaded["kind"] == "loaded", loaded
    assert found["kind"] == "verified", found
    return found


@pytest.mark.some(1)
@pytest.mark.parametrize(
    "n_words", [LENGTHS[1], *(pytest.param(n, marks=pytest.mark.slow) for n in (2, 40, 200))]
)
@pytest.mark.parametrize("name", TEXTS)
def test_verify_finds_torchs_weights(name: str, n_words: int, tmp_path: Path) -> None:
    lm = attnviz.load(name)
    found = verified(lm, reference_of(lm, n_words), tmp_path)
    assert found["ok"] and found["weights"] <= WEIGHTS, found
    assert found["output"] <= 1e-4 and found["compared"] > 0
    assert found["ids"]


def test_verify_finds_torchs_weights_of_a_picture(tmp_path: Path) -> None:
    lm = attnviz.load("shapes")
    picture = shapes.sample(3).picture()
    capture = attnviz.capture(lm, image=picture)
    pixels = pixel_inputs(lm, as_pictures(picture))["pixel_values"][0].numpy()
    found = verified(lm, prepared.reference(capture, "", pixels), tmp_path)
    assert found["ok"] and found["weights"] <= WEIGHTS, found


def test_verify_finds_a_wrong_weight(tmp_path: Path) -> None:
    lm = attnviz.load("stories")
    tensors = {name: np.array(array) for name, array in load(reference_of(lm, 9)).items()}
    tensors["self"][2, 1, 5, 3] += 1e-3
    found = verified(lm, save(tensors, metadata={"text": "", "torch": ""}), tmp_path)
    assert not found["ok"] and 0.9e-3 < found["weights"] < 1.1e-3
    assert not found["ids"]


@pytest.mark.slow
def test_verify_finds_a_wrong_answer_behind_right_weights(tmp_path: Path) -> None:
    lm = attnviz.load("stories")
    tensors = {name: np.array(array) for name, array in load(reference_of(lm, 9)).items()}
    tensors["output"][3, 7] += 0.01
    found = verified(lm, save(tensors, metadata={"text": "", "torch": ""}), tmp_path)
    assert not found["ok"] and found["weights"] <= WEIGHTS and 0.009 < found["output"] < 0.011


# --- checkpoints of other sizes: distinct primes, biases, shared heads, other activations ---------


def bert() -> nn.Module:
    sizes = {"hidden_size": 44, "num_attention_heads": 11, "intermediate_size": 52}
    more = {"num_hidden_layers": 3, "max_position_embeddings": 31, "hidden_act": "gelu_new"}
    return transformers.BertModel(transformers.BertConfig(vocab_size=97, **sizes, **more))


def bert_classes() -> nn.Module:
    sizes = {"hidden_size": 28, "num_attention_heads": 7, "intermediate_size": 52, "num_labels": 5}
    more = {"num_hidden_layers": 2, "max_position_embeddings": 31}
    config = transformers.BertConfig(vocab_size=97, **sizes, **more)
    return transformers.BertForSequenceClassification(config)


def gpt2() -> nn.Module:
    sizes = {"n_embd": 52, "n_layer": 3, "n_head": 13, "n_positions": 31, "n_inner": 36}
    more = {"activation_function": "gelu", "tie_word_embeddings": False}
    config = transformers.GPT2Config(vocab_size=97, **sizes, **more)
    return transformers.GPT2LMHeadModel(config)


def llama() -> nn.Module:
    sizes = {"hidden_size": 36, "num_attention_heads": 6, "num_key_value_heads": 3, "head_dim": 10}
    more = {"intermediate_size": 44, "num_hidden_layers": 3, "max_position_embeddings": 31}
    biases = {"attention_bias": True, "mlp_bias": True, "tie_word_embeddings": False}
    config = transformers.LlamaConfig(vocab_size=97, **sizes, **more, **biases)
    return transformers.LlamaForCausalLM(config)


def llama_half() -> nn.Module:
    sizes = {"hidden_size": 44, "num_attention_heads": 11, "num_key_value_heads": 1}
    more = {"intermediate_size": 44, "num_hidden_layers": 2, "max_position_embeddings": 31}
    config = transformers.LlamaConfig(vocab_size=97, **sizes, **more, tie_word_embeddings=True)
    return transformers.LlamaForCausalLM(config).to(torch.bfloat16)


def marian() -> nn.Module:
    sizes = {"d_model": 44, "encoder_attention_heads": 11, "decoder_attention_heads": 11}
    layers = {"encoder_layers": 2, "decoder_layers": 3, "encoder_ffn_dim": 36}
    more = {"decoder_ffn_dim": 28, "activation_function": "swish", "scale_embedding": False}
    tokens = {"pad_token_id": 96, "decoder_start_token_id": 96, "eos_token_id": 0}
    config = transformers.MarianConfig(
        vocab_size=97, max_position_embeddings=31, **sizes, **layers, **more, **tokens
    )
    return transformers.MarianMTModel(config)


def vit() -> nn.Module:
    sizes = {"hidden_size": 44, "num_attention_heads": 11, "intermediate_size": 52}
    more = {"num_hidden_layers": 3, "image_size": 35, "patch_size": 7, "num_labels": 5}
    return transformers.ViTForImageClassification(transformers.ViTConfig(**sizes, **more))


OTHERS = {
    made.__name__: made for made in (gpt2, llama, bert, bert_classes, llama_half, marian, vit)
}
SPREAD = 5  # times the weights as they are drawn: else every row is nearly even


@pytest.mark.some(1)
@pytest.mark.parametrize("name", mostly_slow(OTHERS, 2))
def test_verify_finds_torchs_weights_of_other_checkpoints(name: str, tmp_path: Path) -> None:
    torch.manual_seed(7)
    model = OTHERS[name]().eval()
    for parameter in model.parameters():
        parameter.data *= SPREAD if parameter.dim() > 1 else 1
    model.save_pretrained(tmp_path)  # type: ignore[operator]
    lm = attnviz.load(tmp_path)
    pixels = torch.randn(1, 3, 35, 35)
    given: dict[str, Any] = {"input_ids": torch.randint(0, 96, (1, 17))}
    if name == "marian":
        given["decoder_input_ids"] = torch.randint(0, 96, (1, 11))
    capture = attnviz.capture(lm, inputs={"pixel_values": pixels} if name == "vit" else given)
    assert capture.calls[0].weights().max() > 1.5 / capture.calls[0].n_key
    written = prepared.reference(capture, "", pixels[0].numpy() if name == "vit" else None)
    (tmp_path / "reference").write_bytes(written)
    info = {
        "name": name,
        "titles": {},
        "kernels": str(BINARY),
        "config": str(tmp_path / "config.json"),
        "weights": {"form": "plain", "file": str(tmp_path / "model.safetensors")},
        "most": 31,
        "reference": str(tmp_path / "reference"),
    }
    loaded, found = answers([{"kind": "load", "model": info}, {"kind": "verify", "model": name}])
    assert loaded["kind"] == "loaded", loaded
    assert found["weights"] <= WEIGHTS and found["output"] <= 1e-3, found
