"""Make `stories`, a decoder of GPT-2's shape, from text that the project generates.

`make train NAME=stories`. Four layers of four heads. The position table starts as small waves, from
2 to 512 tokens long (after Vaswani et al. 2017), so that a position differs clearly from the one
before it: a previous-token head, and so induction, appears within a run this short.
"""

import math

import torch
from jaxtyping import Float32
from torch import Tensor
from transformers import GPT2Config, GPT2LMHeadModel

from scripts.train import decoder, trainer

NAME = "stories"
SEED = 31
SHARE_REPEATED = 0.4
STEPS = 4_000
WIDTH = 144
WAVE_HEIGHT = 0.1


def build(n_vocab: int) -> GPT2LMHeadModel:
    """The untrained model of the seed that is set."""
    model = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=n_vocab,
            n_positions=decoder.CONTEXT,
            n_embd=WIDTH,
            n_layer=4,
            n_head=4,
            resid_pdrop=0.0,
            embd_pdrop=0.0,
            attn_pdrop=0.0,
            initializer_range=0.05,
            activation_function="gelu_pytorch_tanh",
            bos_token_id=0,
            eos_token_id=0,
            pad_token_id=0,
            attn_implementation="eager",
        )
    )
    with torch.no_grad():
        model.transformer.wpe.weight.copy_(WAVE_HEIGHT * waves(decoder.CONTEXT, WIDTH))
    return model


def waves(n_positions: int, width: int) -> Float32[Tensor, "position width"]:
    """sin and cos of each position, at wavelengths from 2 to 512 tokens in equal ratios."""
    position = torch.arange(n_positions)[:, None]
    lengths = torch.logspace(1, 9, width // 2, base=2.0)
    angles = 2 * math.pi * position / lengths
    return torch.cat([torch.sin(angles), torch.cos(angles)], dim=1)


def main() -> None:
    options = trainer.arguments(NAME, STEPS)
    source = decoder.corpus(SEED)
    torch.manual_seed(SEED)
    decoder.train(NAME, SEED, build(len(source.tokenizer)), source, SHARE_REPEATED, options)


if __name__ == "__main__":
    main()
