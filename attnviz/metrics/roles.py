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

from attnviz.attention.capture import Capture
from attnviz.types import Tokens

Pattern = Literal["previous", "next", "self", "first", "separator", "same"]
Role = Literal["previous", "next", "self", "first", "separator", "same", "spread"]
PATTERNS: tuple[Pattern, ...] = get_args(Pattern)
OFFSETS: dict[Pattern, int] = {"previous": -1, "next": 1, "self": 0}
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
    keys: Tokens | None = None,
    answering: Bool[np.ndarray, "#query key"] | None = None,
    of: Bool[np.ndarray, "key"] | None = None,
) -> Scores:
    """The table head × pattern of an array of weights.

    `keys` are the tokens along the keys where they are others than the queries'. `answering` marks
    the keys among which uniform attention, the baseline, would spread its mass: every token but
    padding unless told otherwise. `of` marks keys whose mass counts as the whole, instead of all.
    """
    others = tokens if keys is None else keys
    among = ~others.padding[None, :] if answering is None else answering
    uniform = _uniform(np.broadcast_to(among, (len(tokens), len(others))))
    words = asking(tokens)
    whole = None if of is None else _whole(weights, of)
    fractions, baselines, coverage = [], [], []
    for pattern in PATTERNS:
        keys_of = pattern_keys(pattern, tokens, keys) & among
        rows = words & keys_of.any(axis=1)
        coverage.append(rows.sum() / max(words.sum(), 1))
        fractions.append(_mean_mass(weights, keys_of, rows, whole))
        baselines.append(_mean_mass(uniform, keys_of, rows))
    return Scores(PATTERNS, np.stack(fractions, axis=-1), np.array(baselines), np.array(coverage))


def describe(
    weights: Float32[np.ndarray, "layer head query key"],
    tokens: Tokens,
    keys: Tokens | None = None,
    visible: Bool[np.ndarray, "layer query key"] | None = None,
) -> tuple[tuple[HeadRole, ...], ...]:
    """The role of every head, by layer: the pattern that holds most of its mass, or "spread".

    `keys` are the tokens along the keys in cross-attention. `visible` is what each layer may attend
    to (a causal mask, a window): chance is then uniform attention to what a query can see, padding
    included where it can be seen, as the silence after a sound.
    """
    if visible is None:
        return _described(weights, tokens, keys, None)
    return tuple(
        role
        for layer, seen in enumerate(visible)
        for role in _described(weights[layer : layer + 1], tokens, keys, seen)
    )


def _described(
    weights: Float32[np.ndarray, "layer head query key"],
    tokens: Tokens,
    keys: Tokens | None,
    seen: Bool[np.ndarray, "query key"] | None,
) -> tuple[tuple[HeadRole, ...], ...]:
    others = tokens if keys is None else keys
    among = ~others.padding[None, :] if seen is None else seen
    roles = _roles(weights, tokens, keys, among)
    if not (~others.special).any():
        return roles
    words = among & ~others.special[None, :]
    rests = _roles(weights, tokens, keys, words, of=~others.special)
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
    keys: Tokens | None,
    answering: Bool[np.ndarray, "#query key"],
    of: Bool[np.ndarray, "key"] | None = None,
) -> tuple[tuple[HeadRole, ...], ...]:
    table = scores(weights, tokens, keys, answering, of)
    asks = asking(tokens)
    if of is None:
        peak_of_row = weights.max(axis=-1)
    else:
        peak_of_row = weights.max(axis=-1, where=of, initial=0.0) * _whole(weights, of)
    largest = peak_of_row[:, :, asks].mean(axis=-1)
    rows = np.broadcast_to(answering, (len(tokens), answering.shape[1]))[asks]
    chance = float(np.mean(1.0 / np.maximum(rows.sum(axis=1), 1)))
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


def _whole(
    weights: Float32[np.ndarray, "layer head query key"], of: Bool[np.ndarray, "key"]
) -> Float32[np.ndarray, "layer head query"]:
    """What makes each row sum to 1 over some keys: 1 ÷ their mass, 0 where they have none."""
    total = weights @ of.astype(np.float32)
    return np.asarray(np.divide(1, total, out=np.zeros_like(total), where=total > 0))


def asking(tokens: Tokens) -> Bool[np.ndarray, "query"]:
    """The queries that count: words; or, in a text without any, every token but padding."""
    words = ~tokens.special
    return words if words.any() else ~tokens.padding


def pattern_keys(
    pattern: Pattern, tokens: Tokens, keys: Tokens | None = None
) -> Bool[np.ndarray, "query key"]:
    """Which keys belong to a pattern, for each query; padding never does.

    In cross-attention, where `keys` are other tokens, positions cannot be compared: there is no
    previous, next or same position, and "same" is the same token in the other text.
    """
    others = tokens if keys is None else keys
    shape = (len(tokens), len(others))
    place = np.arange(len(others))
    found: Bool[np.ndarray, "query key"]
    if pattern == "first":
        found = np.broadcast_to(place == 0, shape)
    elif pattern == "separator":
        found = np.broadcast_to(others.special & (place > 0), shape)
    elif pattern == "same":
        found = tokens.ids[:, None] == others.ids[None, :]
        found = found if keys is not None else found & ~np.eye(len(tokens), dtype=np.bool_)
    else:
        found = np.eye(*shape, k=OFFSETS[pattern] if keys is None else max(shape), dtype=np.bool_)
    real: Bool[np.ndarray, "query key"] = found & ~others.padding[None, :]
    return real


def _uniform(answering: Bool[np.ndarray, "query key"]) -> Float32[np.ndarray, "query key"]:
    share = answering / np.maximum(answering.sum(axis=1, keepdims=True), 1)
    return np.asarray(share, dtype=np.float32)


def _mean_mass(
    weights: Float32[np.ndarray, "*head query key"],
    keys: Bool[np.ndarray, "query key"],
    rows: Bool[np.ndarray, "query"],
    times: Float32[np.ndarray, "*head query"] | None = None,
) -> Float32[np.ndarray, "*head"]:
    """Mean over `rows` of the mass on `keys`, times a factor; NaN when there is no such row."""
    if not rows.any():
        return np.full(weights.shape[:-2], np.nan, dtype=np.float32)
    mass = np.einsum("...qk,qk->...q", weights, keys.astype(np.float32))
    if times is not None:
        mass *= times
    return np.asarray(mass[..., rows].mean(axis=-1), dtype=np.float32)
