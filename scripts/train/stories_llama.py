"""Make `stories-llama`, a decoder of Llama's shape, from text that the project generates.

`make train NAME=stories-llama`. Four layers of six query heads that share two key and value heads
(grouped-query attention), rotary positions, gated MLPs: what most models of today look like inside.
Same text as `stories`, another seed. All embeddings start
with one part in common: rotary positions turn what queries and keys share, and a previous-token
head needs something that all tokens share to begin with.
"""

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from scripts.train import decoder, trainer

NAME = "stories-llama"
SEED = 47
SHARE_REPEATED = 0.4
STEPS = 4_000


def build(n_vocab: int) -> LlamaForCausalLM:
    """The untrained model of the seed that is set."""
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=n_vocab,
            hidden_size=144,
            intermediate_size=384,
            num_hidden_layers=4,
            num_attention_heads=6,
            num_key_value_heads=2,
            head_dim=32,
            max_position_embeddings=decoder.CONTEXT,
            tie_word_embeddings=True,
            # 256 positions need no long wavelengths; more short ones make neighbours distinct
            rope_parameters={"rope_type": "default", "rope_theta": 100.0},
            initializer_range=0.05,
            bos_token_id=0,
            eos_token_id=0,
            pad_token_id=0,
            attn_implementation="eager",
        )
    )
    with torch.no_grad():
        model.model.embed_tokens.weight.add_(0.05 * torch.randn(144))
    return model


def main() -> None:
    options = trainer.arguments(NAME, STEPS)
    source = decoder.corpus(SEED)
    torch.manual_seed(SEED)
    decoder.train(NAME, SEED, build(len(source.tokenizer)), source, SHARE_REPEATED, options)


if __name__ == "__main__":
    main()
