"""The greedy answers of an encoder-decoder to many source texts.

In: a model and source texts. Out: its answers, the likeliest token at each step. Sources are
batched by length, since padding costs time. The checks of `translator` and `dates` use it.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from attnviz.models.loaded_model import LoadedModel

BATCH = 125


def greedy_answers(
    lm: LoadedModel, sources: Sequence[str], max_tokens: int = 96
) -> tuple[str, ...]:
    """The model's answer to each source, at most `max_tokens` tokens long."""
    order = sorted(range(len(sources)), key=lambda n: len(sources[n]))
    answers = [""] * len(sources)
    for start in range(0, len(order), BATCH):
        batch = order[start : start + BATCH]
        generated = _generate(lm, [sources[n] for n in batch], max_tokens)
        for n, answer in zip(batch, generated, strict=True):
            answers[n] = answer
    return tuple(answers)


@torch.no_grad()
def _generate(lm: LoadedModel, sources: list[str], max_tokens: int) -> list[str]:
    tokenizer, model = lm.text_tokenizer(), lm.model
    generate: Callable[..., Tensor] = model.generate  # type: ignore[assignment]
    encoded = tokenizer(sources, padding=True, return_tensors="pt").to(lm.key.device)
    with lm.lock:
        ids = generate(**encoded, max_new_tokens=max_tokens, do_sample=False)
    decoded: list[str] = tokenizer.batch_decode(ids, skip_special_tokens=True)
    return decoded


def exact_fraction(answers: Sequence[str], targets: Sequence[str]) -> float:
    """The fraction of answers that equal their target, letter for letter."""
    pairs = zip(answers, targets, strict=True)
    return sum(answer == target for answer, target in pairs) / len(targets)
