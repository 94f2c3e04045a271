"""The share of each head's attention that falls on simple patterns, beside the share of chance.

In: weights (rows sum to 1) and tokens, or a capture; never a model. Out: for each head and pattern
the mean share of a query's mass that falls on the pattern's keys (`Scores`), beside the share that
uniform attention to all visible keys would give them. Only queries that are words count, not [CLS],
[SEP] or padding. Patterns after Clark et al. 2019, "What does BERT look at?".
"""

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from jaxtyping import Bool, Float32

from attnviz.errors import BadInput, bad_argument, require_one_of
from attnviz.metrics.layer_weights import HasLayerWeights, LayerWeights, require_layers
from attnviz.summary import described
from attnviz.types import Kind, Stack, Tokens

PatternName = Literal["previous", "next", "self", "first", "separator", "same"]
PATTERNS: tuple[PatternName, ...] = get_args(PatternName)
OFFSETS: dict[PatternName, int] = {"previous": -1, "next": 1, "self": 0}


@dataclass(frozen=True, eq=False)
class Scores:
    """Mean shares of attention mass by layer, head and pattern.

    `fractions` is NaN where no counted query can see such a key, where a layer has fewer heads
    than another, and for heads that a capture did not keep. `baselines` has the share that uniform
    attention to all visible keys gives, and `coverage` the share of the counted queries that can
    see such a key.
    """

    patterns: tuple[PatternName, ...]
    fractions: Float32[np.ndarray, "layer head pattern"]
    baselines: Float32[np.ndarray, "layer pattern"]
    coverage: Float32[np.ndarray, "layer pattern"]

    def __getitem__(self, pattern: PatternName | str) -> Float32[np.ndarray, "layer head"]:
        """The fractions of one pattern; `BadInput` if there is no such pattern."""
        require_one_of("pattern", pattern, self.patterns)
        return self.fractions[..., list[str](self.patterns).index(pattern)]

    def __repr__(self) -> str:
        return described(self, "fractions", "patterns")


def score(
    cap: HasLayerWeights, batch: int = 0, kind: Kind = "self", stack: Stack | None = None
) -> Scores:
    """The scores of a capture's heads on one text, chance taken from the mask of each call.

    Layers may differ in heads and in tokens. Raises `BadInput` for anything but a `Capture`.
    """
    capture = require_layers(cap, "score", "metrics.scores(weights, tokens)")
    return _stacked([layer_scores(layer) for layer in capture.layer_weights(batch, kind, stack)])


def scores(
    weights: Float32[np.ndarray, "layer head query key"],
    tokens: Tokens,
    keys: Tokens | None = None,
    visible: Bool[np.ndarray, "layer query key"] | None = None,
) -> Scores:
    """The scores of an array of weights.

    `keys` are the tokens along the keys in cross-attention. `visible` is True where each layer may
    attend (a causal mask, a window); unless it is given, every key but padding is visible.
    """
    return _stacked(
        [
            pattern_scores(layer, tokens, keys, seen)
            for layer, seen in zip(weights, layers_visible(weights, visible), strict=True)
        ]
    )


def layer_scores(layer: LayerWeights) -> Scores:
    """The scores of one layer's heads, each at its number."""
    scores = pattern_scores(layer.weights, layer.queries, layer.keys, layer.visible)
    if layer.heads is None:
        return scores
    whole = np.full((1, layer.heads[-1] + 1, len(PATTERNS)), np.nan, dtype=np.float32)
    whole[:, list(layer.heads)] = scores.fractions
    return replace(scores, fractions=whole)


def pattern_scores(
    weights: Float32[np.ndarray, "head query key"],
    tokens: Tokens,
    keys: Tokens | None,
    visible: Bool[np.ndarray, "query key"] | None,
    among: Bool[np.ndarray, "key"] | None = None,
) -> Scores:
    """The scores of one layer; `among` marks keys whose mass counts as the whole, if not all do."""
    require_fitting(weights, tokens, keys)
    seen = visible_keys(tokens, keys, visible)
    whole = None
    if among is not None:
        seen, whole = seen & among, mass_factor(weights, among)
    uniform = np.asarray(seen / np.maximum(seen.sum(axis=1, keepdims=True), 1), dtype=np.float32)
    words = counted_queries(tokens)
    fractions, baselines, coverage = [], [], []
    for pattern in PATTERNS:
        cells = pattern_keys(pattern, tokens, keys) & seen
        rows = words & cells.any(axis=1)
        coverage.append(rows.sum() / max(words.sum(), 1))
        fractions.append(mean_mass(weights, cells, rows, whole))
        baselines.append(mean_mass(uniform[None], cells, rows)[0])
    return Scores(
        PATTERNS,
        np.stack(fractions, axis=-1)[None],
        np.array([baselines], dtype=np.float32),
        np.array([coverage], dtype=np.float32),
    )


def counted_queries(tokens: Tokens) -> Bool[np.ndarray, "query"]:
    """True for the queries that count: words or, in a text without any, all but padding."""
    words = ~tokens.special
    return words if words.any() else ~tokens.padding


def visible_keys(
    tokens: Tokens, keys: Tokens | None, visible: Bool[np.ndarray, "query key"] | None
) -> Bool[np.ndarray, "query key"]:
    """The given cells or, if there are none, all but those of padding."""
    if visible is not None:
        return visible
    others = tokens if keys is None else keys
    return np.broadcast_to(~others.padding, (len(tokens), len(others)))


def layers_visible(
    weights: Float32[np.ndarray, "layer head query key"],
    visible: Bool[np.ndarray, "layer query key"] | None,
) -> list[Bool[np.ndarray, "query key"] | None]:
    """The visible cells of each layer; None for each if none were given.

    Raises `BadInput` unless the weights are [layer, head, query, key] and the cells fit them.
    """
    if weights.ndim != 4:
        raise _bad_shape("weights", weights.shape, "[layer, head, query, key]")
    if visible is None:
        return [None] * len(weights)
    wanted = (len(weights), *weights.shape[2:])
    if visible.shape != wanted:
        raise _bad_shape("visible", visible.shape, f"[layer, query, key] = {wanted}")
    return list(visible)


def require_fitting(weights: np.ndarray, tokens: Tokens, keys: Tokens | None) -> None:
    """Raise `BadInput` unless there is a token for each query and each key."""
    wanted = (len(tokens), len(tokens if keys is None else keys))
    if weights.shape[-2:] != wanted:
        raise _bad_shape(
            "weights", weights.shape, f"[…, query, key] = […, {wanted[0]}, {wanted[1]}]"
        )


def _bad_shape(name: str, shape: tuple[int, ...], wanted: str) -> BadInput:
    return bad_argument(
        f"{name} has the shape {shape}; give {wanted}",
        name=name,
        found=str(shape),
        allowed=wanted,
    )


def pattern_keys(
    pattern: PatternName, tokens: Tokens, keys: Tokens | None = None
) -> Bool[np.ndarray, "query key"]:
    """True for the keys that belong to a pattern, for each query; never for padding.

    In cross-attention, where `keys` are other tokens, positions cannot be compared: there is no
    previous, next or same position, and "same" is the same token in the other text.
    """
    others = tokens if keys is None else keys
    shape = (len(tokens), len(others))
    place = np.arange(len(others))
    cells: Bool[np.ndarray, "query key"]
    if pattern == "first":
        cells = np.broadcast_to(place == 0, shape)
    elif pattern == "separator":
        cells = np.broadcast_to(others.special & (place > 0), shape)
    elif pattern == "same":
        cells = tokens.ids[:, None] == others.ids[None, :]
        cells = cells if keys is not None else cells & ~np.eye(len(tokens), dtype=np.bool_)
    else:
        cells = np.eye(*shape, k=OFFSETS[pattern] if keys is None else max(shape), dtype=np.bool_)
    real: Bool[np.ndarray, "query key"] = cells & ~others.padding[None, :]
    return real


def mass_factor(
    weights: Float32[np.ndarray, "head query key"], among: Bool[np.ndarray, "key"]
) -> Float32[np.ndarray, "head query"]:
    """1 ÷ each row's mass on some keys, so that this mass counts as the whole; 0 if it is 0."""
    total = weights @ among.astype(np.float32)
    return np.asarray(np.divide(1, total, out=np.zeros_like(total), where=total > 0))


def mean_mass(
    weights: Float32[np.ndarray, "head query key"],
    keys: Bool[np.ndarray, "query key"],
    rows: Bool[np.ndarray, "query"],
    factor: Float32[np.ndarray, "head query"] | None = None,
) -> Float32[np.ndarray, "head"]:
    """The mean over `rows` of each row's mass on `keys`, times a factor; NaN without a row."""
    if not rows.any():
        return np.full(len(weights), np.nan, dtype=np.float32)
    mass = np.einsum("hqk,qk->hq", weights, keys.astype(np.float32))
    if factor is not None:
        mass *= factor
    return np.asarray(mass[:, rows].mean(axis=-1), dtype=np.float32)


def _stacked(layers: list[Scores]) -> Scores:
    """Layers below one another; heads that a layer does not have are NaN."""
    n_head = max(layer.fractions.shape[1] for layer in layers)
    padded = [
        np.pad(
            layer.fractions,
            ((0, 0), (0, n_head - layer.fractions.shape[1]), (0, 0)),
            constant_values=np.nan,
        )
        for layer in layers
    ]
    return Scores(
        PATTERNS,
        np.concatenate(padded),
        np.concatenate([layer.baselines for layer in layers]),
        np.concatenate([layer.coverage for layer in layers]),
    )
