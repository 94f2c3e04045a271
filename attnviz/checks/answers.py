"""What an encoder-decoder writes for many sources at once, word by likeliest word.

In: a model and source texts. Out: its greedy answers. Batched by length, since padding costs time;
shared by the checks of `translator` and `dates`.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from attnviz.models.loaded import LoadedModel

BATCH = 125


def answers(lm: LoadedModel, sources: Sequence[str], most: int = 96) -> tuple[str, ...]:
    """The model's answer to each source, at most so many tokens long."""
    order = sorted(range(len(sources)), key=lambda n: len(sources[n]))
    found = [""] * len(sources)
    for start in range(0, len(order), BATCH):
        some = order[start : start + BATCH]
        for n, answer in zip(some, _written(lm, [sources[n] for n in some], most), strict=True):
            found[n] = answer
    return tuple(found)


@torch.no_grad()
def _written(lm: LoadedModel, sources: list[str], most: int) -> list[str]:
    tokenizer, model = lm.text_tokenizer(), lm.model
    generate: Callable[..., Tensor] = model.generate  # type: ignore[assignment]
    encoded = tokenizer(sources, padding=True, return_tensors="pt").to(lm.key.device)
    with lm.lock:
        ids = generate(**encoded, max_new_tokens=most, do_sample=False)
    decoded: list[str] = tokenizer.batch_decode(ids, skip_special_tokens=True)
    return decoded


def share_exact(found: Sequence[str], wanted: Sequence[str]) -> float:
    """The share of answers that are the wanted ones, letter for letter."""
    return sum(a == b for a, b in zip(found, wanted, strict=True)) / len(wanted)
