"""A capture made of tensors that another tool kept: weights, or q, k and v with what came of them.

In: attention weights as transformers, BertViz, CircuitsVis, nnsight or numpy hold them, or a cache
with TransformerLens's names. Out: a `Capture`, which is looked at and saved like any other. Weights
alone have no other steps and nothing to compare; a cache with q, k, v and z has all of them.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from attnviz.attention.call import AttentionCall
from attnviz.attention.capture import Capture
from attnviz.attention.stored_weights import StoredWeights
from attnviz.files.from_tools import lens_cache
from attnviz.files.from_tools.shapes import NO_WEIGHTS, bad_attentions, layers
from attnviz.tokens.labels import visible, without_surrogates
from attnviz.types import ModelKey, Stack, Tokens, named_tokens

# one array, one a layer, or several a layer: one for each step that `generate` took
Layers = ArrayLike | Sequence[ArrayLike | Sequence[ArrayLike]]
Labels = Sequence[str] | Sequence[Sequence[str]] | Tokens
MAX_ROW_SUM = 1.01  # rounding in half precision moves a sum of weights by less


@runtime_checkable
class HasCache(Protocol):
    """An `ActivationCache` of TransformerLens, as far as it is read here."""

    cache_dict: Mapping[str, Tensor]


def from_attentions(
    attentions: Layers | Mapping[str, Tensor] | HasCache,
    tokens: Labels,
    key_tokens: Labels | None = None,
    *,
    name: str = "another tool",
    scaling: float | None = None,
) -> Capture:
    """A capture of attention weights [layer, batch, head, query, key], or of a tool's cache.

    Parameters:

    - `attentions`, one of: `outputs.attentions` of transformers, also what `generate` returns; a
      list of arrays, one a layer; one array [layer, head, query, key], [layer, batch, head, query,
      key], [head, query, key] or [query, key]; nested lists, as CircuitsVis writes them; a cache of
      TransformerLens (`blocks.0.attn.hook_pattern`, with `hook_q`, `hook_k`, `hook_v` and `hook_z`
      for every step; `scaling` is what it multiplies the scores by if that is not 1/√d_head).
    - `tokens`: the labels of the queries, one list for all texts or one for each. With `key_tokens`
      the attention is a decoder's cross-attention to other tokens.
    - `name` stands where a model's name would.

    Returns a `Capture` with these weights; of a cache with q, k and v, with every step.

    Raises `BadInput` for anything else, and says what to do.

    Example:

    >>> attnviz.from_attentions([[1.0, 0.0], [0.25, 0.75]], ["a", "b"]).weights("L0.H0")[1].tolist()
    [0.25, 0.75]
    """
    model = ModelKey(name, "", "float32", "cpu")
    cache = _named(attentions)
    if cache is None:
        if scaling is not None:
            raise bad_attentions("scaling= belongs to a cache with q and k; weights need none")
        by_layer = layers(attentions)
        calls = [
            _call(weights, number, key_tokens is not None)
            for number, weights in enumerate(by_layer)
        ]
    else:
        calls = lens_cache.calls(cache, scaling)
    by_stack = _tokens_by_stack(calls[0], tokens, key_tokens)
    for call in calls:
        _check_size(call, by_stack)
    return Capture(model, tuple(calls), by_stack)


def _named(attentions: object) -> Mapping[str, Tensor] | None:
    """A cache by name; None where there are no names."""
    inside = getattr(attentions, "cache_dict", attentions)
    if not isinstance(inside, Mapping):
        return None
    names = [key for key in inside if isinstance(key, str)]
    if any(key.startswith("blocks.") for key in names):
        return inside
    weights = [key for key in names if key.endswith("attentions") and inside[key]]
    hint = f"give outputs.{weights[0]}" if weights else f"give the weights themselves; {NO_WEIGHTS}"
    raise bad_attentions(f"this is {type(attentions).__name__} with {', '.join(names[:8])}; {hint}")


def _call(weights: Tensor, number: int, cross: bool) -> AttentionCall:
    """A call of which only the weights are known."""
    _check_weights(weights, number)
    n_batch, n_heads, n_query, _ = weights.shape
    return AttentionCall(
        module=f"layer.{number}",
        index=0,
        layer=number,
        stack="decoder" if cross else None,
        kind="cross" if cross else "self",
        inputs=StoredWeights(weights),
        output=torch.zeros(n_batch, n_query, n_heads, 0),
    )


def _check_weights(weights: Tensor, number: int) -> None:
    """Refuse what is no distribution over keys: scores, for instance."""
    sums = weights.sum(-1)
    low, high = float(weights.min()), float(sums.max())
    if not (low >= 0 and high <= MAX_ROW_SUM):
        raise bad_attentions(
            f"layer {number} does not hold weights: the smallest is {low:.3g} and rows sum to"
            f" {high:.3g} at most, where weights are 0 or more and rows sum to 1; give them after"
            " the softmax, from a model in .eval()"
        )


# --- tokens ------------------------------------------------------------------------------------


def _tokens_by_stack(
    call: AttentionCall, tokens: Labels, key_tokens: Labels | None
) -> dict[Stack | None, tuple[Tokens, ...]]:
    if key_tokens is None:
        return {None: _rows("tokens", tokens, call.n_batch)}
    return {
        "decoder": _rows("tokens", tokens, call.n_batch),
        "encoder": _rows("key_tokens", key_tokens, call.n_batch),
    }


def _rows(name: str, labels: Labels, n_batch: int) -> tuple[Tokens, ...]:
    """The tokens of each text; one list of labels serves all."""
    if isinstance(labels, Tokens):
        return (labels,) * n_batch
    if isinstance(labels, str) or not isinstance(labels, Sequence | np.ndarray) or not len(labels):
        raise bad_attentions(
            f"{name} is {type(labels).__name__} {str(labels)[:40]!r}; give a list of labels"
        )
    if isinstance(labels[0], str):
        return (_tokens(labels),) * n_batch
    if len(labels) != n_batch:
        raise bad_attentions(
            f"{name} has labels for {len(labels)} texts and there are {n_batch}; give one list for"
            " each, or one for all"
        )
    return tuple(_tokens(row) for row in labels)


def _tokens(labels: Sequence[object]) -> Tokens:
    return named_tokens(tuple(visible(without_surrogates(str(label))) for label in labels))


def _check_size(call: AttentionCall, by_stack: Mapping[Stack | None, tuple[Tokens, ...]]) -> None:
    """Refuse labels that are more or fewer than the queries or keys of a layer."""
    queries = by_stack[call.stack][0]
    keys = by_stack["encoder"][0] if call.kind == "cross" else queries
    if (len(queries), len(keys)) == (call.n_query, call.n_key):
        return
    hint = "; give key_tokens= as well" if len(queries) == call.n_query else ""
    raise bad_attentions(
        f"layer {call.layer} has {call.n_query} queries and {call.n_key} keys, for {len(queries)}"
        f" tokens and {len(keys)} key tokens; give one label for each{hint}"
    )
