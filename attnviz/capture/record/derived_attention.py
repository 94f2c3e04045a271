"""An attention of a model's own code as the q, k, v, scaling, mask and bias that lead to it.

In: the weights that multiplied the values with q and k, and the scores that the softmax read with
the trail of what was done to q·kᵀ before. Out: `AttentionInputs`, or None. Nothing is believed:
factor · q·kᵀ + addends has to be the scores, entry by entry, except where a mask hides them, and
the softmax of that has to be the weights.
"""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attnviz import masks
from attnviz.attention import formula
from attnviz.attention.inputs import AttentionInputs
from attnviz.attention.stored_weights import StoredWeights
from attnviz.attention.tolerance import FLOAT32_STEP, ROUNDING, largest
from attnviz.capture.record.evidence import lead_to
from attnviz.capture.record.head_layout import HeadLayout
from attnviz.capture.record.seen_layers import Undecided

# a score this low that gets no weight is hidden: models without −∞ add −10,000, rounded
HIDDEN = -9e3
# steps of float32 by which scores differ that were computed in another order
SCORE_STEPS = 16


@dataclass(frozen=True, eq=False)
class _Explanation:
    """The keys that each query of one batch row may attend to, and what is added to its scores."""

    visible: Bool[Tensor, "head query key"]
    bias: Float[Tensor, "head query key"]


def explained(
    stored: StoredWeights, call: Undecided, layout: HeadLayout
) -> tuple[AttentionInputs | StoredWeights, bool]:
    """The inputs that lead to the weights of a call, or these; True if q and k changed sides.

    Of as many queries as keys a product of both does not tell which are which: (k·qᵀ)ᵀ is q·kᵀ.
    """
    inputs = derived(stored, call, layout)
    query, key = stored.query, stored.key
    if inputs is not None or query is None or key is None or query.shape != key.shape:
        return inputs or stored, False
    turned = replace(stored, query=key, key=query)
    inputs = derived(turned, call, layout)
    if inputs is not None:
        return inputs, True
    return (turned, True) if _lie_turned(stored, call) else (stored, False)


def _lie_turned(stored: StoredWeights, call: Undecided) -> bool:
    """True if the weights follow from k·qᵀ alone, or lie in memory as a product of it wrote them.

    What is done to each number by itself leaves it where it was; a softmax of torch's writes anew.
    """
    assert stored.query is not None and stored.key is not None, "of a product that is known"
    weights, arrangement = stored.kept.flatten(0, 1), call.arrangement
    sides = stored.query.flatten(0, 1), stored.key.flatten(0, 1)
    natural, turned = lead_to(*sides, weights), lead_to(*sides[::-1], weights)
    if natural != turned or arrangement.query is None:
        return turned and not natural
    kept = call.softmax.kept
    return kept.stride(arrangement.query) < kept.stride(arrangement.key)


def derived(stored: StoredWeights, call: Undecided, layout: HeadLayout) -> AttentionInputs | None:
    """The inputs that lead to the stored weights of a call; None if they do not."""
    scores, query, key, value = call.softmax.scores, stored.query, stored.key, stored.value
    if scores is None or query is None or key is None or value is None:
        return None
    if not scores.is_untouched:
        return None

    def by_head(tensor: Tensor) -> Tensor:
        return layout.by_head(call.arrangement.of(tensor))

    shape, trail = tuple(scores.tensor.shape), scores.trail
    read = by_head(scores.tensor.detach())
    addends = [by_head(addend.over(shape)) for addend in trail.addends]
    explanations = []
    for batch in range(stored.n_batch):
        products = formula.scores(query[batch].float(), key[batch].float()) * trail.factor
        added = [addend[batch].float() for addend in addends]
        explanation = _explained(products, added, read[batch].float(), stored.kept[batch])
        if explanation is None:
            return None
        explanations.append(explanation)
    visible = torch.stack([explanation.visible for explanation in explanations])
    bias = torch.stack([explanation.bias for explanation in explanations])
    is_causal = _is_causal(visible)
    return AttentionInputs(
        query=query,
        key=key,
        value=value,
        mask=None if is_causal or bool(visible.all()) else _shared(visible),
        causal=is_causal,
        scaling=trail.factor,
        bias=_shared(bias) if bool(bias.any()) else None,
    )


def _explained(
    products: Float[Tensor, "head query key"],
    addends: list[Float[Tensor, "head query key"]],
    read: Float[Tensor, "head query key"],
    weights: Float[Tensor, "head query key"],
) -> _Explanation | None:
    """The mask and the bias between scaled products and the scores that a softmax read."""
    added = torch.stack(addends).sum(0) if addends else torch.zeros_like(products)
    visible = ~((weights == 0) & (read <= HIDDEN))
    # a row that sees nothing is uniform, as the model made it: its scores are all as low
    blind = (read <= HIDDEN).all(-1, keepdim=True) & read.isfinite()
    added = torch.where(blind, read - products, added)
    expected = products + added
    size = largest(expected.masked_fill(~visible, 0))
    share = ROUNDING.get(weights.dtype, ROUNDING[torch.float32])
    error = (expected - read).masked_fill(~visible, 0).abs().max()
    if not float(error) <= share * size:
        return None
    ours = formula.weights(formula.masked(expected, visible))
    # of a whole row: this is how far weights·V may move, in values
    limit = share / 2 + SCORE_STEPS * FLOAT32_STEP * largest(products)
    if not float((ours - weights.float()).abs().sum(-1).max()) <= limit:
        return None
    # what hides a key is the mask, and no bias
    return _Explanation(visible, added.masked_fill(~visible & (added <= HIDDEN), 0))


def _is_causal(visible: Bool[Tensor, "batch head query key"]) -> bool:
    """True if every query sees the keys up to its own place, and no others."""
    n_query, n_key = visible.shape[-2:]
    if n_query != n_key or n_query == 1:
        return False
    return bool((visible == masks.causal(n_query, n_key).to(visible.device)).all())


def _shared(tensor: Tensor) -> Tensor:
    """The tensor without copies for batch rows or heads that have the same."""
    for axis in (0, 1):
        first = tensor.narrow(axis, 0, 1)
        if tensor.shape[axis] > 1 and bool((tensor == first).all()):
            tensor = first.clone()
    return tensor
