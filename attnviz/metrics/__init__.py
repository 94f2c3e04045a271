"""What a head does most, measured on its weights: shares of attention mass, with their baseline.

In: weights (rows sum to 1) and tokens; arrays, never models. Out: for each head and each pattern
the mean share of a query's mass that falls on the pattern's keys, beside the share that uniform
attention would give them. Only queries that are words count: what [CLS], [SEP] and padding ask is
reported by nobody. Patterns after Clark et al. 2019, "What does BERT look at?".
"""

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from jaxtyping import Bool, Float, Float32

from attnviz.call import Capture
from attnviz.types import Tokens

Pattern = Literal["previous", "next", "self", "first", "separator", "same"]
Role = Literal["previous", "next", "self", "first", "separator", "same", "spread"]
PATTERNS: tuple[Pattern, ...] = get_args(Pattern)
RESTING: tuple[Role, ...] = ("first", "separator")

# a pattern names a head when it holds this share of the mass, this many times the uniform share,
# and exists for this share of the words ("same token elsewhere" may exist for only a few)
MIN_FRACTION = 0.3
MIN_RATIO = 2.0
MIN_COVERAGE = 0.25


@dataclass(frozen=True)
class HeadRole:
    """What a head does most: `fraction` of the mass, where uniform attention gives `baseline`.

    "spread" means that no pattern holds enough; its fraction is the mean of the largest weight.
    Many heads rest on the first token or a separator: then `rest` says what the head does with
    the mass that goes to words (its fractions are shares of that mass), so that heads which rest
    on the same token can still be told apart.
    """

    role: Role
    fraction: float
    baseline: float
    rest: "HeadRole | None" = None


@dataclass(frozen=True, eq=False)
class Scores:
    """Head × pattern: mean share of mass, NaN where no word of the text has such a key."""

    patterns: tuple[Pattern, ...]
    fractions: Float32[np.ndarray, "layer head pattern"]
    baselines: Float[np.ndarray, "pattern"]
    coverage: Float[np.ndarray, "pattern"]


def score(cap: Capture, batch: int = 0) -> Scores:
    """The table head × pattern of a capture's self-attention."""
    return scores(cap.all_weights(batch), cap.tokens_of(batch))


def scores(
    weights: Float32[np.ndarray, "layer head query key"],
    tokens: Tokens,
    answering: Bool[np.ndarray, "key"] | None = None,
) -> Scores:
    """The table head × pattern of an array of weights.

    `answering` marks the keys among which uniform attention, the baseline, would spread its mass:
    every token but padding unless told otherwise.
    """
    uniform = _uniform(~tokens.padding if answering is None else answering)
    words = asking(tokens)
    fractions, baselines, coverage = [], [], []
    for pattern in PATTERNS:
        keys = pattern_keys(pattern, tokens)
        rows = words & keys.any(axis=1)
        coverage.append(rows.sum() / max(words.sum(), 1))
        fractions.append(_mean_mass(weights, keys, rows))
        baselines.append(_mean_mass(uniform, keys, rows))
    return Scores(PATTERNS, np.stack(fractions, axis=-1), np.array(baselines), np.array(coverage))


def describe(
    weights: Float32[np.ndarray, "layer head query key"], tokens: Tokens
) -> tuple[tuple[HeadRole, ...], ...]:
    """The role of every head, by layer: the pattern that holds most of its mass, or "spread"."""
    roles = _roles(weights, tokens, ~tokens.padding)
    if not (~tokens.special).any():
        return roles
    rests = _roles(_among_words(weights, tokens), tokens, ~tokens.special)
    return tuple(
        tuple(
            replace(role, rest=rest) if role.role in RESTING else role
            for role, rest in zip(of_layer, rests_of_layer, strict=True)
        )
        for of_layer, rests_of_layer in zip(roles, rests, strict=True)
    )


def _roles(
    weights: Float32[np.ndarray, "layer head query key"],
    tokens: Tokens,
    answering: Bool[np.ndarray, "key"],
) -> tuple[tuple[HeadRole, ...], ...]:
    table = scores(weights, tokens, answering)
    largest = weights[:, :, asking(tokens)].max(axis=-1).mean(axis=-1)
    chance = 1.0 / max(int(answering.sum()), 1)
    return tuple(
        tuple(
            _role(table, fractions, HeadRole("spread", float(peak), chance))
            for fractions, peak in zip(of_layer, peaks, strict=True)
        )
        for of_layer, peaks in zip(table.fractions, largest, strict=True)
    )


def _role(table: Scores, fractions: Float32[np.ndarray, "pattern"], spread: HeadRole) -> HeadRole:
    enough = (
        (table.coverage >= MIN_COVERAGE)
        & (fractions >= MIN_FRACTION)
        & (fractions >= MIN_RATIO * table.baselines)
    )
    if not enough.any():
        return spread
    best = int(np.argmax(np.where(enough, fractions, -1.0)))
    return HeadRole(table.patterns[best], float(fractions[best]), float(table.baselines[best]))


def _among_words(
    weights: Float32[np.ndarray, "layer head query key"], tokens: Tokens
) -> Float32[np.ndarray, "layer head query key"]:
    """The weights without those on special tokens, each row made to sum to 1 again."""
    words = weights * ~tokens.special
    total = words.sum(axis=-1, keepdims=True)
    return np.asarray(np.divide(words, total, out=np.zeros_like(words), where=total > 0))


def asking(tokens: Tokens) -> Bool[np.ndarray, "query"]:
    """The queries that count: words; or, in a text without any, every token but padding."""
    words = ~tokens.special
    return words if words.any() else ~tokens.padding


def pattern_keys(pattern: Pattern, tokens: Tokens) -> Bool[np.ndarray, "query key"]:
    """Which keys belong to a pattern, for each query; padding never does."""
    n = len(tokens)
    position = np.arange(n)
    offset = position[None, :] - position[:, None]
    real = ~tokens.padding
    keys: dict[Pattern, Bool[np.ndarray, "query key"]] = {
        "previous": offset == -1,
        "next": offset == 1,
        "self": offset == 0,
        "first": np.broadcast_to(position == 0, (n, n)),
        "separator": np.broadcast_to(tokens.special & (position > 0), (n, n)),
        "same": (tokens.ids[:, None] == tokens.ids[None, :]) & (offset != 0),
    }
    found: Bool[np.ndarray, "query key"] = keys[pattern] & real[None, :]
    return found


def _uniform(answering: Bool[np.ndarray, "key"]) -> Float32[np.ndarray, "key key"]:
    n = len(answering)
    share = np.where(answering, 1.0 / max(int(answering.sum()), 1), 0.0)
    return np.tile(share.astype(np.float32), (n, 1))


def _mean_mass(
    weights: Float32[np.ndarray, "*head query key"],
    keys: Bool[np.ndarray, "query key"],
    rows: Bool[np.ndarray, "query"],
) -> Float32[np.ndarray, "*head"]:
    """Mean over `rows` of the mass on `keys`; NaN when there is no such row."""
    if not rows.any():
        return np.full(weights.shape[:-2], np.nan, dtype=np.float32)
    mass = np.einsum("...qk,qk->...q", weights[..., rows, :], keys[rows], dtype=np.float32)
    return np.asarray(mass.mean(axis=-1), dtype=np.float32)
