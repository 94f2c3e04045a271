"""One number for every head and measure, to sort heads by: shares of mass, entropy, distance.

In: weights (rows sum to 1) and tokens; arrays, never models. Out: for each measure an array over
layers and heads, NaN where a text or an attention does not have it. Every number is a mean over the
queries that count (words, not special tokens or padding). With α for the weights of a query q over
its keys k:

    previous … same    Σ α(q, k) over the keys of that pattern (`metrics.pattern_keys`)
    induction          Σ α(q, k) over the keys that follow an earlier occurrence of q's own token:
                       token(k − 1) = token(q), k ≤ q (Olsson et al. 2022, prefix matching)
    entropy            −Σ α log₂ α, in bits: 0 on one key, log₂ n spread evenly over n keys
    distance           Σ α |q − k|, in tokens; only where queries and keys are the same tokens
    peak               max α, the largest weight of a row

A pattern's mean is over the queries that can see such a key, else NaN. Names: `types.Measure`.
"""

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
from jaxtyping import Bool, Float32

from attnviz.metrics.patterns import (
    PatternName,
    counted_queries,
    layers_visible,
    mean_mass,
    pattern_keys,
    require_fitting,
    visible_keys,
)
from attnviz.types import MEASURES, Measure, Tokens

Share = Literal[PatternName, "induction"]
Unit = Literal["share", "bits", "tokens"]
SHARES: tuple[Share, ...] = get_args(Share)
UNITS: dict[Measure, Unit] = {
    name: "bits" if name == "entropy" else "tokens" if name == "distance" else "share"
    for name in MEASURES
}


def measured(
    weights: Float32[np.ndarray, "layer head query key"],
    tokens: Tokens,
    keys: Tokens | None = None,
    visible: Bool[np.ndarray, "layer query key"] | None = None,
    measures: Sequence[Measure] = MEASURES,
) -> dict[Measure, Float32[np.ndarray, "layer head"]]:
    """Every measure of every head; the other arguments are those of `metrics.describe`."""
    layers = [
        layer_measures(layer, tokens, keys, seen, measures)
        for layer, seen in zip(weights, layers_visible(weights, visible), strict=True)
    ]
    return {name: np.stack([layer[name] for layer in layers]) for name in measures}


def layer_measures(
    weights: Float32[np.ndarray, "head query key"],
    tokens: Tokens,
    keys: Tokens | None,
    visible: Bool[np.ndarray, "query key"] | None,
    measures: Sequence[Measure] = MEASURES,
) -> dict[Measure, Float32[np.ndarray, "head"]]:
    """Every measure of the heads of one layer."""
    require_fitting(weights, tokens, keys)
    others = tokens if keys is None else keys
    seen = visible_keys(tokens, keys, visible) & ~others.padding
    rows = counted_queries(tokens)
    return {name: _measure(name, weights, tokens, keys, seen, rows) for name in measures}


def induction_keys(tokens: Tokens) -> Bool[np.ndarray, "query key"]:
    """True for the keys right after an earlier occurrence of the query's token; never padding."""
    n, place = len(tokens), np.arange(len(tokens))
    before = np.zeros((n, n), dtype=np.bool_)
    before[:, 1:] = tokens.ids[:, None] == tokens.ids[None, :-1]
    earlier = place[None, :] <= place[:, None]
    real: Bool[np.ndarray, "query key"] = before & earlier & ~tokens.padding[None, :]
    return real


def _measure(
    name: Measure,
    weights: Float32[np.ndarray, "head query key"],
    tokens: Tokens,
    keys: Tokens | None,
    seen: Bool[np.ndarray, "query key"],
    rows: Bool[np.ndarray, "query"],
) -> Float32[np.ndarray, "head"]:
    if name == "entropy":
        return _entropy(weights, rows)
    if name == "distance":
        return _distance(weights, rows, same=keys is None)
    if name == "peak":
        return np.asarray(weights.max(axis=-1)[:, rows].mean(axis=-1))
    cells = share_keys(name, tokens, keys) & seen
    return mean_mass(weights, cells, rows & cells.any(axis=1))


def share_keys(name: Share, tokens: Tokens, keys: Tokens | None) -> Bool[np.ndarray, "query key"]:
    """True for the keys whose mass counts for a share, for each query."""
    if name != "induction":
        return pattern_keys(name, tokens, keys)
    if keys is not None:
        return np.zeros((len(tokens), len(keys)), dtype=np.bool_)
    return induction_keys(tokens)


def _entropy(
    weights: Float32[np.ndarray, "head query key"], rows: Bool[np.ndarray, "query"]
) -> Float32[np.ndarray, "head"]:
    bits = np.empty(weights.shape[:-1], dtype=np.float32)
    for head, matrix in enumerate(weights):  # one by one: the logarithms of all would fill memory
        logs = np.log2(np.maximum(matrix, np.finfo(np.float32).tiny))
        bits[head] = -np.einsum("qk,qk->q", matrix, logs)
    return np.asarray(bits[:, rows].mean(axis=-1), dtype=np.float32)


def _distance(
    weights: Float32[np.ndarray, "head query key"], rows: Bool[np.ndarray, "query"], same: bool
) -> Float32[np.ndarray, "head"]:
    if not same:
        return np.full(len(weights), np.nan, dtype=np.float32)
    _, n_query, n_key = weights.shape
    apart = np.abs(np.arange(n_key)[None, :] - np.arange(n_query)[:, None]).astype(np.float32)
    far = np.einsum("hqk,qk->hq", weights, apart)
    return np.asarray(far[:, rows].mean(axis=-1), dtype=np.float32)
