"""The model's own scores for the next token, kept while it writes: a row for each token it read.

In: a model that is about to run, step by step. Out: its logits, joined to [batch, token, vocab] in
float32. `generate` itself computes the last row of the prompt only; all rows are asked for as long
as they stay within `MAX_BYTES`. Beyond that the rows of the last tokens are kept, so that memory
is bounded for any vocabulary: 64 MiB are 2,700 tokens of a vocabulary of 6,000, or 330 of 50,000.
"""

from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from transformers import PreTrainedConfig

from attnviz.models.architecture import forward_arguments
from attnviz.types import MIB

MAX_BYTES = 64 * MIB
FLOAT_BYTES = 4
OPTION = "logits_to_keep"


Steps = list[Tensor | None]  # one entry for each pass of the model; None if it was dropped


@contextmanager
def collected(model: nn.Module) -> Iterator[Steps]:
    """A list that receives the logits of each pass of `model` inside the block.

    The logits of early passes are dropped as soon as those of later ones reach `MAX_BYTES`.
    """
    steps: Steps = []
    sizes: deque[int] = deque()

    def keep(_module: nn.Module, _args: object, output: object) -> None:
        logits = output.get("logits") if isinstance(output, Mapping) else None
        if isinstance(logits, Tensor) and logits.dim() == 3:
            steps.append(logits)
            sizes.append(logits.numel() * FLOAT_BYTES)
            while sum(sizes) - sizes[0] >= MAX_BYTES:
                steps[len(steps) - len(sizes)] = None
                sizes.popleft()

    handle = model.register_forward_hook(keep)
    try:
        yield steps
    finally:
        handle.remove()


def of_last_tokens(
    model: nn.Module, inputs: Mapping[str, object], most: int | None = None
) -> dict[str, int]:
    """The option that has a single pass score the last tokens alone, where all are too many.

    Without it the scores of a long text are made whole before `kept` leaves the most of them.
    `most` is the number of tokens that are wanted; None stands for all.
    """
    tokens = inputs.get("input_ids")
    if not isinstance(tokens, Tensor) or tokens.dim() != 2 or OPTION in inputs:
        return {}
    n_batch, n_token = tokens.shape
    n_scored = scored_tokens(model, n_batch, n_token, most)
    return {OPTION: n_scored} if n_scored < n_token else {}


def scored_tokens(model: nn.Module, n_batch: int, n_token: int, most: int | None = None) -> int:
    """The number of tokens that a single pass scores: all, or the last ones within the limit."""
    head = getattr(model, "get_output_embeddings", lambda: None)()
    weight = getattr(head, "weight", None)
    if not isinstance(weight, Tensor) or OPTION not in forward_arguments(model):
        return n_token
    limit = _most_rows(n_batch, weight.shape[0], weight.element_size())
    return min(n_token, limit, n_token if most is None else most)


def options(model: nn.Module, n_batch: int, n_token: int) -> dict[str, object]:
    """The option of `generate` that scores every row of the prompt, if these are not too many."""
    config = getattr(model, "config", None)
    text_config = config.get_text_config() if isinstance(config, PreTrainedConfig) else config
    n_vocab = getattr(text_config, "vocab_size", None)
    if OPTION not in forward_arguments(model):
        return {}
    if not isinstance(n_vocab, int) or n_batch * n_token * n_vocab * FLOAT_BYTES > MAX_BYTES:
        return {}
    return {OPTION: 0}


def joined(
    steps: Steps, beam_rows: Int[Tensor, "batch step"] | None
) -> Float[Tensor, "batch row vocab"] | None:
    """The rows of all steps one after the other; under beam search those of the final texts."""
    if beam_rows is not None:
        beams = beam_rows.clamp(min=0).unbind(dim=1)
        steps = [
            None if step is None else step[rows] for step, rows in zip(steps, beams, strict=False)
        ]
    present = [step for step in steps if step is not None]
    return kept(torch.cat(present, dim=1).float()) if present else None


def kept(logits: Tensor | None) -> Tensor | None:
    """The rows of the last tokens, as many as stay within the limit; at least one."""
    if logits is None or logits.dim() != 3:
        return logits
    n_batch, n_token, n_vocab = logits.shape
    most = _most_rows(n_batch, n_vocab, logits.element_size())
    return logits if n_token <= most else logits[:, -most:].clone()


def _most_rows(n_batch: int, n_vocab: int, n_bytes: int) -> int:
    """The number of tokens whose scores stay within the limit; at least one."""
    return max(1, MAX_BYTES // (n_batch * n_vocab * n_bytes))
