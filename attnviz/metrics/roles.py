"""The pattern that each head follows most, if it follows one clearly more than chance.

In: weights (rows sum to 1) and tokens, or a capture; never a model. Out: a `HeadRole` for each
head. Its fraction and baseline are those of `metrics.scores` for the same visible keys.
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float32

from attnviz.errors import bad_argument
from attnviz.metrics.layer_weights import HasLayerWeights
from attnviz.metrics.patterns import (
    Scores,
    counted_queries,
    layers_visible,
    mass_factor,
    pattern_scores,
    visible_keys,
)
from attnviz.types import Kind, Stack, Tokens

Role = Literal["previous", "next", "self", "first", "separator", "same", "token", "spread"]
RESTING: tuple[Role, ...] = ("first", "separator")

# a pattern names a head when it holds this share of the mass, this many times the uniform share,
# and exists for this share of the words ("same token elsewhere" may exist for only a few)
MIN_FRACTION = 0.3
MIN_RATIO = 2.0
MIN_COVERAGE = 0.25
# more words than this give a word MIN_RATIO times its even share: a column, not one strong row
MOST = 0.5


@dataclass(frozen=True)
class HeadRole:
    """The pattern that holds most of a head's mass: `fraction`, where chance gives `baseline`.

    "token" means that most words that can see one word, the same for all, attend to it: its
    position is `key`, `rows` says (how many do so clearly, how many can see it), and the baseline
    is its even share. "spread" means that no pattern holds enough; its fraction is the
    mean of the largest weight, and `key` the position of the key that gets most mass of the words
    together.
    Many heads rest on the first token or a separator: then `rest` is the role of the head in the
    mass that goes to words (its fractions are shares of that mass), so that heads which rest on
    the same token can still be told apart.
    """

    role: Role
    fraction: float
    baseline: float
    rest: "HeadRole | None" = None
    key: int | None = None
    rows: tuple[int, int] | None = None


def describe(
    weights: Float32[np.ndarray, "layer head query key"] | HasLayerWeights,
    tokens: Tokens | None = None,
    keys: Tokens | None = None,
    visible: Bool[np.ndarray, "layer query key"] | None = None,
    *,
    batch: int = 0,
    kind: Kind = "self",
    stack: Stack | None = None,
) -> tuple[tuple[HeadRole, ...], ...]:
    """The role of every head, by layer: the pattern that holds most of its mass, or "spread".

    Of a capture, `describe(cap)`, with the tokens and the visible keys of each of its calls on the
    text `batch`; or of an array of weights with its `tokens`, `batch`, `kind` and `stack` left out.

    `keys` are the tokens along the keys in cross-attention. `visible` is True where each layer may
    attend (a causal mask, a window), padding included if it can be seen, as the silence after a
    sound; unless it is given, every key but padding is visible. Chance is uniform attention to the
    visible keys, as in `metrics.scores`. Raises `BadInput` for an array without tokens, and for a
    capture with them.
    """
    if isinstance(weights, HasLayerWeights):
        _require_alone(tokens, keys, visible)
        return tuple(
            _layer_roles(layer.of_all_heads(), layer.queries, layer.keys, layer.visible)
            for layer in weights.layer_weights(batch, kind, stack)
        )
    if tokens is None:
        raise bad_argument(
            "describe() was given no tokens; give describe(cap), or an array with its tokens:"
            " describe(weights, tokens, visible=…)",
            name="tokens",
            found="None",
            allowed="Tokens",
        )
    return tuple(
        _layer_roles(layer, tokens, keys, seen)
        for layer, seen in zip(weights, layers_visible(weights, visible), strict=True)
    )


def _require_alone(*parts: object) -> None:
    """Raise `BadInput` if something is given that a capture has itself."""
    for name, part in zip(("tokens", "keys", "visible"), parts, strict=True):
        if part is not None:
            raise bad_argument(
                f"describe() was given a capture and {name}=: a capture has its own; leave it out",
                name=name,
                found=type(part).__name__,
                allowed="None",
            )


def _layer_roles(
    weights: Float32[np.ndarray, "head query key"],
    tokens: Tokens,
    keys: Tokens | None,
    visible: Bool[np.ndarray, "query key"] | None,
) -> tuple[HeadRole, ...]:
    words = ~(tokens if keys is None else keys).special
    roles = [*_roles(weights, tokens, keys, visible, None)]
    resting = [head for head, role in enumerate(roles) if role.role in RESTING]
    if resting and words.any():
        rests = _roles(weights[resting], tokens, keys, visible, words)
        for head, rest in zip(resting, rests, strict=True):
            roles[head] = replace(roles[head], rest=rest)
    return tuple(roles)


def _roles(
    weights: Float32[np.ndarray, "head query key"],
    tokens: Tokens,
    keys: Tokens | None,
    visible: Bool[np.ndarray, "query key"] | None,
    among: Bool[np.ndarray, "key"] | None,
) -> tuple[HeadRole, ...]:
    """The role of each head, in all of its mass or in the mass on the keys `among`."""
    table = pattern_scores(weights, tokens, keys, visible, among)
    seen, rows = visible_keys(tokens, keys, visible), counted_queries(tokens)
    if among is None:
        largest = weights.max(axis=-1)
    else:
        seen = seen & among
        largest = weights.max(axis=-1, where=among, initial=0.0) * mass_factor(weights, among)
    peaks = largest[:, rows].mean(axis=-1)
    mass = weights[:, rows].sum(axis=1)
    tops = (mass if among is None else np.where(among, mass, -1.0)).argmax(axis=-1)
    chance = float(np.mean(1.0 / np.maximum(seen[rows].sum(axis=1), 1)))
    return tuple(
        _role(table, head, HeadRole("spread", float(peak), chance, key=int(top)), column)
        for head, (peak, top, column) in enumerate(
            zip(peaks, tops, _columns(weights, tokens, keys, seen, rows, among), strict=True)
        )
    )


def _columns(
    weights: Float32[np.ndarray, "head query key"],
    tokens: Tokens,
    keys: Tokens | None,
    seen: Bool[np.ndarray, "query key"],
    rows: Bool[np.ndarray, "query"],
    among: Bool[np.ndarray, "key"] | None,
) -> list[HeadRole | None]:
    """For each head the word that all words attend to most, where most of them do so clearly."""
    allowed = ~(tokens if keys is None else keys).special
    if keys is None:
        allowed[0] = False  # the pattern "first" has it
    shares = weights if among is None else weights * mass_factor(weights, among)[..., None]
    even = seen / np.maximum(seen.sum(axis=1, keepdims=True), 1)
    top = np.where(allowed, shares[:, rows].sum(axis=1), -1.0).argmax(axis=-1)
    columns = shares[np.arange(len(shares)), :, top]
    chances = np.asarray(even[:, top].T, dtype=np.float32)
    seeing = (rows[:, None] & seen[:, top]).T
    n_seeing = np.maximum(seeing.sum(axis=1), 1)
    fractions = columns.sum(axis=1, where=seeing) / n_seeing
    baselines = chances.sum(axis=1, where=seeing) / n_seeing
    n_clear = ((columns >= MIN_RATIO * chances) & seeing).sum(axis=1)
    clear = n_clear / n_seeing > MOST
    enough = allowed[top] & (n_seeing >= MIN_COVERAGE * rows.sum()) & seeing.any(axis=1)
    return [
        HeadRole("token", float(fraction), float(baseline), None, int(key), (int(some), int(of)))
        if named
        else None
        for key, fraction, baseline, some, of, named in zip(
            top,
            fractions,
            baselines,
            n_clear,
            n_seeing,
            enough & clear & (fractions >= MIN_FRACTION),
            strict=True,
        )
    ]


def _role(table: Scores, head: int, spread: HeadRole, column: HeadRole | None) -> HeadRole:
    fractions, baselines = table.fractions[0, head], table.baselines[0]
    enough = (
        (table.coverage[0] >= MIN_COVERAGE)
        & (fractions >= MIN_FRACTION)
        & (fractions >= MIN_RATIO * baselines)
    )
    best = int(np.argmax(np.where(enough, fractions, -1.0)))
    if column is not None and not (enough.any() and fractions[best] >= column.fraction):
        return column
    if not enough.any():
        return spread
    return HeadRole(table.patterns[best], float(fractions[best]), float(baselines[best]))
