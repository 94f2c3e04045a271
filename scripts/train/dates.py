"""`dates`: "Monday, January 12, 1948" → "1948-01-12", an encoder-decoder of two layers each.

In: generated dates in twenty formats (attnviz.worlds.dates). Out: attnviz/models/embedded/dates.
About five minutes on one core. Digits are single tokens, so that cross-attention shows where each
digit of the answer was copied from, and that a month's name is read where no digit stands.
"""

import random

import numpy as np
import torch
from torch import Tensor, nn

from attnviz.worlds import dates
from scripts.train import seq2seq, trainer

SEED, STEPS, BATCH = 11, 2400, 128


def main() -> None:
    options = trainer.arguments("dates", STEPS)
    drawn = random.Random(SEED)
    texts = [text for _ in range(20_000) for text in pair(drawn)]
    tokens = seq2seq.tokenizer(texts, lambda _, n: n >= 5, hyphens=False)
    tried = random.Random(SEED + 1)
    probe = [pair(tried, held_out=True) for _ in range(100)]

    def loss(model: nn.Module, rng: np.random.Generator) -> Tensor:
        world = seq2seq.generator(rng)
        pairs = [pair(world) for _ in range(BATCH)]
        source = seq2seq.ids(tokens, [text for text, _ in pairs])
        return seq2seq.translation_loss(
            model, source, seq2seq.ids(tokens, [iso for _, iso in pairs])
        )

    def measure(model: nn.Module) -> dict[str, float]:
        return {"exact": seq2seq.exact(model, tokens, probe)}

    torch.manual_seed(SEED)
    model = seq2seq.model(len(tokens), width=128, layers=(2, 2), heads=4, inner=192, dropout=0.0)
    recipe = trainer.Recipe(
        "dates", SEED, trainer.Schedule(options.steps, lr=2e-3), loss, measure, 200
    )
    trainer.train(recipe, model, seq2seq.saver(tokens), options)


def pair(rng: random.Random, *, held_out: bool = False) -> tuple[str, str]:
    """One source and its target."""
    drawn = dates.draw(rng, held_out=held_out)
    return drawn.text, drawn.iso


if __name__ == "__main__":
    main()
