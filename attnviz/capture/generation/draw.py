"""The draw of each next token, from a random generator of its own.

In: the scores of a step, and the temperature, top-k, top-p and seed of a `Generation`. Out: scores
that leave one token, which `generate` then takes as the likeliest. `generate` itself draws from
torch's global random state, where any other thread of the process may draw in between.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor
from transformers import (
    LogitsProcessor,
    LogitsProcessorList,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from attnviz.capture.generation.settings import Generation


class Draw(LogitsProcessor):
    """Draws what `generate` with `do_sample=True` draws after `torch.manual_seed(seed)` on a CPU.

    It is drawn there for every device: each has random numbers of its own.
    """

    def __init__(self, generation: Generation) -> None:
        self._filters = _filters(generation)
        self._generator = torch.Generator().manual_seed(generation.seed)

    def __call__(
        self, input_ids: Int[Tensor, "batch token"], scores: Float[Tensor, "batch vocab"]
    ) -> Float[Tensor, "batch vocab"]:
        """The score 0 for the token that was drawn in each row, and -inf for all others."""
        filtered = self._filters(input_ids, scores)  # type: ignore[arg-type]  # asks for LongTensor
        chances = filtered.softmax(-1).cpu()
        drawn = torch.multinomial(chances, 1, generator=self._generator).to(scores.device)
        return torch.full_like(scores, -torch.inf).scatter(1, drawn, 0.0)


def _filters(generation: Generation) -> LogitsProcessorList:
    """Temperature, top-k and top-p, in the order of `generate`."""
    filters = LogitsProcessorList()
    if generation.temperature is not None:
        filters.append(TemperatureLogitsWarper(float(generation.temperature)))
    if generation.top_k:
        filters.append(TopKLogitsWarper(int(generation.top_k)))
    if generation.top_p < 1:
        filters.append(TopPLogitsWarper(float(generation.top_p)))
    return filters
