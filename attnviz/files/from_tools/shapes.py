"""Attention weights in the shapes that tools keep them in, brought into one.

In: tuples, arrays or nested lists. Out: one tensor [batch, head, query, key], float32 on the CPU,
for each layer. What `generate` returns, a tuple over steps, becomes one matrix whose rows follow
one another, as a single pass over the written text would give it.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from attnviz.errors import BadInput

NO_WEIGHTS = (
    "under SDPA and flash attention transformers returns none: use"
    " attnviz.capture(model, text), which records them all the same, or load the model with"
    " attn_implementation='eager'"
)


def bad_attentions(reason: str) -> BadInput:
    """The error about tensors that no capture can be made of."""
    return BadInput(f"no capture can be made of these attentions: {reason}", code="bad_attentions")


def layers(attentions: object) -> list[Tensor]:
    """The weights of each layer, [batch, head, query, key]."""
    if attentions is None:
        raise bad_attentions(f"there are no weights; {NO_WEIGHTS}")
    if isinstance(attentions, np.ndarray | Tensor):
        return _of_array(_tensor(attentions))
    if not isinstance(attentions, Sequence) or isinstance(attentions, str):
        raise bad_attentions(f"they are {type(attentions).__name__}; give a tuple or an array")
    inner = _innermost(attentions)
    if inner is None:
        raise bad_attentions(f"there are no weights; {NO_WEIGHTS}")
    if not isinstance(inner, np.ndarray | Tensor):
        return _of_array(_tensor(attentions))
    layers = attentions
    if isinstance(attentions[0], tuple | list):
        if inner.ndim != 2:
            return _of_steps(attentions)
        layers = [[_tensor(head).tolist() for head in heads] for heads in attentions]
    return [_of_layer(_tensor(layer)) for layer in layers]


def _innermost(value: object) -> object:
    """The first innermost value of nested tuples; None if one of them is empty or contains None."""
    while isinstance(value, tuple | list):
        if not len(value) or any(part is None for part in value):
            return None
        value = value[0]
    return value


def _tensor(values: object) -> Tensor:
    """float32 on the CPU."""
    if isinstance(values, Tensor):
        return values.detach().to("cpu", torch.float32)
    try:
        return torch.from_numpy(np.asarray(values, dtype=np.float32))
    except (TypeError, ValueError) as error:
        raise bad_attentions("they are not numbers, or of uneven lengths") from error


def _of_array(array: Tensor) -> list[Tensor]:
    """The layers of one array."""
    if not 2 <= array.dim() <= 5 or 0 in array.shape:
        raise bad_attentions(
            f"an array of shape {list(array.shape)} is not [layer, head, query, key]"
        )
    if array.dim() == 5:
        return list(array)
    if array.dim() == 4:
        return [layer[None] for layer in array]
    return [array[None] if array.dim() == 3 else array[None, None]]


def _of_layer(weights: Tensor) -> Tensor:
    """One layer with its batch."""
    if weights.dim() not in (3, 4) or 0 in weights.shape:
        raise bad_attentions(
            f"a layer of shape {list(weights.shape)} is not [batch, head, query, key]"
        )
    return weights[None] if weights.dim() == 3 else weights


def _of_steps(steps: Sequence[Sequence[object]]) -> list[Tensor]:
    """The layers of what `generate` returns: the first step reads the prompt, each next one adds
    a row."""
    counts = {len(step) for step in steps}
    if len(counts) != 1:
        raise bad_attentions(f"the steps of generate have {sorted(counts)} layers")
    return [
        _joined([_of_layer(_tensor(step[layer])) for step in steps])
        for layer in range(counts.pop())
    ]


def _joined(steps: list[Tensor]) -> Tensor:
    """The rows of all steps under one another."""
    last = steps[-1]
    n_query = sum(step.shape[2] for step in steps)
    if len(steps) > 1 and all(step.shape[2] == step.shape[3] > 1 for step in steps[1:]):
        return last  # without a key cache every step computes all rows again
    grows = [step.shape[3] for step in steps]
    fixed = len(set(grows)) == 1  # the keys of an encoder, or a cache of a fixed size
    if not fixed and last.shape[3] != n_query:
        raise bad_attentions(
            f"the steps of generate have {n_query} rows and the last one {last.shape[3]} keys, as a"
            " cache of a sliding window has; use attnviz.capture(model, text, generate=…)"
        )
    rows = torch.cat([pad(step, (0, max(grows) - step.shape[3])) for step in steps], dim=2)
    unused = fixed and rows.shape[3] > n_query and not bool(rows[..., n_query:].any())
    return rows[..., :n_query] if unused else rows
