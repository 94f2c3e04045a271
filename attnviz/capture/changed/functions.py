"""The functions that changes apply to a stage: of the numbers of some pairs, and where these are.

In: tables by head or by position, and the stage's own numbers [pair, …]. Out: what stands there
instead. Nothing is changed in place. A table that is laid over a text must fit it; while a model
writes, rows and columns behind the table's end keep the model's own numbers.
"""

from functools import lru_cache

import numpy as np
import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor

from attnviz.attention.stage_changes import Function, Pairs, Span
from attnviz.errors import BadInput
from attnviz.masks.kinds import at_positions
from attnviz.masks.spec import MaskSet

CUTS = 1024  # functions that are kept, so that one edge of many heads has one function
DRAWS = 2**14  # the positions that a model may have at most


def zero(values: Tensor, _pairs: Pairs) -> Tensor:
    """Nothing at all."""
    return torch.zeros_like(values)


def by_head(table: Float[Tensor, "head d_value"]) -> Function:
    """Each head says one vector at every position."""
    return lambda values, pairs: table.to(values.device)[pairs.heads][:, None]


def drawn(sample: Float[Tensor, "head draw d_value"], seed: int) -> Function:
    """Each head says, at each position, what it said at a random place of a corpus."""
    chosen = np.random.default_rng(seed).integers(sample.shape[1], size=DRAWS)
    places = torch.from_numpy(chosen)

    def draw(values: Tensor, pairs: Pairs) -> Tensor:
        at = places[pairs.query_positions().clamp(min=0).cpu()].to(values.device)
        return sample.to(values.device)[pairs.heads[:, None], at]

    return draw


def even(values: Tensor, pairs: Pairs) -> Tensor:
    """The same weight for every key that the mask allows; 0 where it allows none."""
    if pairs.may_attend is None:
        return torch.full_like(values, 1 / values.shape[-1])
    allowed = pairs.may_attend.to(values.dtype)
    return allowed / allowed.sum(-1, keepdim=True).clamp(min=1)


def divided(temperature: float) -> Function:
    """Scores divided by a temperature; what is blocked stays blocked."""
    return lambda values, _pairs: values / temperature


@lru_cache(CUTS)
def without_edges(query: int | None, key: int | None) -> Function:
    """Weights with some edges at 0; the others keep theirs."""
    return lambda weights, pairs: weights.masked_fill(_edges(pairs, query, key), 0.0)


def cut_by_row(
    queries: Int64[Tensor, " row"], keys: Int64[Tensor, " row"], renormalise: bool
) -> Function:
    """In each row of the batch one edge of its own: hidden by the mask, or its weight at 0."""

    def change(values: Tensor, pairs: Pairs) -> Tensor:
        asks = pairs.query_positions() == queries.to(values.device)[pairs.rows][:, None]
        answers = pairs.key_positions() == keys.to(values.device)[pairs.rows][:, None]
        edges = asks[:, :, None] & answers[:, None, :]
        return values & ~edges if renormalise else values.masked_fill(edges, 0.0)

    return change


@lru_cache(CUTS)
def hidden(query: int | None, key: int | None) -> Function:
    """A mask that hides some edges too."""
    return lambda mask, pairs: mask & ~_edges(pairs, query, key)


def _edges(pairs: Pairs, query: int | None, key: int | None) -> Bool[Tensor, "pair query key"]:
    """True for the edges from a query to a key; None means all of them."""
    asks = _at(pairs.query_positions(), query, pairs.query, pairs, "query")
    answers = _at(pairs.key_positions(), key, pairs.key, pairs, "key")
    return asks[:, :, None] & answers[:, None, :]


def _at(positions: Tensor, place: int | None, span: Span, pairs: Pairs, name: str) -> Tensor:
    """True where a position is the one asked for; `BadInput` where no text is that long."""
    if place is None:
        return torch.ones_like(positions, dtype=torch.bool)
    lengths = span.lengths or (positions.shape[1],)
    if not pairs.writes and place >= max(lengths):
        raise BadInput(
            f"{name} {place} does not exist: the text has {max(lengths)} tokens; give 0 to"
            f" {max(lengths) - 1}",
            code="bad_position",
            asked=str(place),
            last=max(lengths) - 1,
        )
    return positions == place


def laid(table: Float[Tensor, "query key"], name: str) -> Function:
    """Weights taken from a matrix; rows behind its end stay the model's own."""

    def change(weights: Tensor, pairs: Pairs) -> Tensor:
        own_rows, at_rows = _fitted(pairs.query_positions(), len(table), pairs.query, pairs, name)
        outside, at_keys = _fitted(pairs.key_positions(), table.shape[1], pairs.key, pairs, name)
        replacement = table.to(weights)[at_rows[:, :, None], at_keys[:, None, :]]
        replacement = replacement.masked_fill(outside[:, None, :], 0.0)
        return torch.where(own_rows[:, :, None], weights, replacement)

    return change


def allowed(table: Bool[Tensor, "query key"], name: str) -> Function:
    """A mask taken from a matrix; rows and keys behind its end stay the model's own."""

    def change(mask: Tensor, pairs: Pairs) -> Tensor:
        own_rows, at_rows = _fitted(pairs.query_positions(), len(table), pairs.query, pairs, name)
        own_keys, at_keys = _fitted(pairs.key_positions(), table.shape[1], pairs.key, pairs, name)
        replacement = table.to(mask.device)[at_rows[:, :, None], at_keys[:, None, :]]
        return torch.where(own_rows[:, :, None] | own_keys[:, None, :], mask, replacement)

    return change


def named_masks(masks: MaskSet) -> Function:
    """The mask that a set of named masks makes, whatever the model's own blocks."""

    def change(mask: Tensor, pairs: Pairs) -> Tensor:
        queries, keys = pairs.query_positions(), pairs.key_positions()
        real = keys >= 0
        if pairs.key.lengths is not None:
            lengths = torch.tensor(pairs.key.lengths, device=keys.device)
            real = real & (keys < lengths[pairs.rows][:, None])
        together = torch.ones_like(mask)
        for part in at_positions(masks, queries, keys, real).values():
            together = together & part
        return together

    return change


def kept(
    table: Float[Tensor, "position d"], of_keys: bool, only: int | None, name: str
) -> Function:
    """q, k, v or the output of another run, position by position, or at `only` one of them."""

    def change(values: Tensor, pairs: Pairs) -> Tensor:
        positions = pairs.key_positions() if of_keys else pairs.query_positions()
        span = pairs.key if of_keys else pairs.query
        own, at = _fitted(positions, len(table), span, pairs, name)
        if only is not None:
            own = own | (positions != only)
        return torch.where(own[:, :, None], values, table.to(values)[at])

    return change


def at_query(function: Function, position: int) -> Function:
    """The function in the row of one query; the other rows keep the model's own."""

    def change(values: Tensor, pairs: Pairs) -> Tensor:
        at_position = (pairs.query_positions() == position)[:, :, None]
        return torch.where(at_position, function(values, pairs), values)

    return change


def _fitted(
    positions: Tensor, n: int, span: Span, pairs: Pairs, name: str
) -> tuple[Bool[Tensor, "pair position"], Tensor]:
    """(True where a table of n positions has no row, the row to read everywhere else).

    Raises `BadInput` for a text of another length, unless the model is writing.
    """
    lengths = span.lengths or (positions.shape[1],)
    if not pairs.writes and set(lengths) != {n}:
        text_lengths = ", ".join(map(str, sorted(set(lengths))))
        raise BadInput(
            f"{name} has {n} positions and the text {text_lengths} tokens: both must be as long;"
            " take two texts with as many tokens",
            code="lengths_differ",
            name=name,
            found=n,
            wanted=text_lengths,
        )
    outside = (positions < 0) | (positions >= n)
    return outside, positions.clamp(0, n - 1)
