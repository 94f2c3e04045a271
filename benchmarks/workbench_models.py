"""The models of the workbench's benchmark, saved as a user's folder, and texts for them.

12 layers × 12 heads of small width: what a page has to show grows with the number of heads, what a
model computes with its width. The long one has 2 layers × 4 heads, so that all heads of 2,048
tokens stay below what a browser gets at once.
"""

import random
from pathlib import Path

import torch
from transformers import BertConfig, BertForMaskedLM, GPT2Config, GPT2LMHeadModel, PreTrainedModel

from attnviz.models.loaded_model import LoadedModel
from benchmarks import tiles
from tests.support.folders import VOCAB, WORDS, tokenizer

LAYERS, HEADS, WIDTH = 12, 12, 96
POSITIONS = 512
N_TOKENS = 128
LONG = 2048
SHORT_WORDS = ("a", "on")  # 2,048 of them are a text that may be typed


def save_deep(folder: Path, kind: str) -> Path:
    """An encoder or decoder of 12 × 12 heads with random weights."""
    torch.manual_seed(3)
    _save(_encoder() if kind == "encoder" else _decoder(), folder)
    tokenizer(kind, POSITIONS).save_pretrained(folder)
    return folder


def save_long(folder: Path) -> Path:
    """A decoder for 2,048 tokens."""
    tiles.small_model(LONG).save_pretrained(folder)
    tokenizer("decoder", LONG).save_pretrained(folder)
    return folder


def _encoder() -> PreTrainedModel:
    return BertForMaskedLM(
        BertConfig(
            vocab_size=VOCAB,
            max_position_embeddings=POSITIONS,
            hidden_size=WIDTH,
            intermediate_size=2 * WIDTH,
            num_hidden_layers=LAYERS,
            num_attention_heads=HEADS,
        )
    )


def _decoder() -> PreTrainedModel:
    return GPT2LMHeadModel(
        GPT2Config(
            vocab_size=VOCAB,
            n_positions=POSITIONS,
            n_embd=WIDTH,
            n_layer=LAYERS,
            n_head=HEADS,
            pad_token_id=0,
            bos_token_id=4,
            eos_token_id=5,
        )
    )


def _save(model: PreTrainedModel, folder: Path) -> None:
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 2:
                parameter.normal_(std=1.3 / parameter.shape[-1] ** 0.5)
    model.save_pretrained(folder)


def words_of(model: LoadedModel, n_tokens: int, start: int = 0) -> str:
    """A text of exactly that many tokens; another `start` gives another text."""
    added = len(model.tokenizer("")["input_ids"])
    words = WORDS[6:] if n_tokens <= POSITIONS else SHORT_WORDS
    text = " ".join(random.Random(start).choices(words, k=n_tokens - added))
    assert len(model.tokenizer(text)["input_ids"]) == n_tokens
    return text
