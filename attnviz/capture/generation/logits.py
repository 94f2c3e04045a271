"""The model's own scores for the next token, kept while it writes: one row for each token it read.

In: a model that is about to run, step by step. Out: its logits, joined to [batch, token, vocab] in
float32. `generate` itself asks for the last row of the prompt only; all rows are asked for as long
as they stay within `MOST_BYTES`. Beyond that, the rows of the last tokens are kept, so that memory
is bounded for any vocabulary: 64 MiB are 2,700 tokens of a vocabulary of 6,000, or 330 of 50,000.
"""

import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from transformers import PreTrainedConfig

MOST_BYTES = 64 * 2**20


@contextmanager
def watched(model: nn.Module) -> Iterator[list[Tensor]]:
    """A list that gets the logits of each pass of `model` inside the block."""
    found: list[Tensor] = []

    def keep(_module: nn.Module, _args: object, output: object) -> None:
        logits = output.get("logits") if isinstance(output, Mapping) else None
        if isinstance(logits, Tensor) and logits.dim() == 3:
            found.append(logits)

    handle = model.register_forward_hook(keep)
    try:
        yield found
    finally:
        handle.remove()


def wanted(model: nn.Module, n_batch: int, n_token: int) -> dict[str, int]:
    """What to tell `generate` so that every row of the prompt is scored, where that is not much."""
    config = getattr(model, "config", None)
    of_text = config.get_text_config() if isinstance(config, PreTrainedConfig) else config
    vocabulary = getattr(of_text, "vocab_size", None)
    if "logits_to_keep" not in inspect.signature(model.forward).parameters:
        return {}
    if not isinstance(vocabulary, int) or n_batch * n_token * vocabulary * 4 > MOST_BYTES:
        return {}
    return {"logits_to_keep": 0}


def joined(steps: list[Tensor], beam_rows: Tensor | None) -> Tensor | None:
    """The rows of all steps one after the other; under beam search those of the final texts."""
    if not steps:
        return None
    if beam_rows is not None:
        rows = [beam_rows[:, step].clamp(min=0) for step in range(beam_rows.shape[1])]
        steps = [step[row] for step, row in zip(steps, rows, strict=False)]
    return kept(torch.cat(steps, dim=1).float())


def kept(logits: Tensor | None) -> Tensor | None:
    """The rows of the last tokens, as many as stay within the limit; at least one."""
    if logits is None or logits.dim() != 3:
        return logits
    n_batch, n_token, vocabulary = logits.shape
    most = max(1, MOST_BYTES // (n_batch * vocabulary * logits.element_size()))
    return logits if n_token <= most else logits[:, -most:].clone()
