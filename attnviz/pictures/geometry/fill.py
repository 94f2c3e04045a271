"""The geometry of a head: its words as arrows in the plane nearest to its scores, and its turning.

In: what is shown, a head, the shares of all heads. Out: a `GeometryView`. Scores are those before
the mask, with softcap and position bias where the model has them, of q and k after any rotation.
"""

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float32

from attnviz.metrics.plane import best_plane, plane_shares
from attnviz.pictures.geometry import Frequencies, GeometryChoice, GeometryView, HeadPlane
from attnviz.pictures.group import groups
from attnviz.pictures.group.app_capture import PageContext
from attnviz.pictures.group.axes import token_axes
from attnviz.pictures.group.groups import Group

if TYPE_CHECKING:
    from torch import Tensor

    from attnviz.attention.call import AttentionCall
    from attnviz.attention.inputs import AttentionInputs

MAX_TOKENS = 256  # of which every head's scores are decomposed at once
MAX_WORDS = 128  # arrows on either side
USUAL_BASE, USUAL_WIDTH = 10_000.0, 64  # Su et al. 2021, section 3.2.2


def shares(group: Group) -> tuple[float, ...]:
    """The share of each head's scores that its plane keeps, layers without scores left out."""
    known = (
        layer
        for layer in range(group.n_layers)
        if not group.own_code(layer) and group.call(layer).kept_heads
    )
    return tuple(
        float(share) for layer in known for share in plane_shares(_all_scores(group, layer))
    )


def without_head(choice: GeometryChoice, reason: str, group: Group | None = None) -> GeometryView:
    """The view where no head can be shown, and the reason."""
    frequencies = _frequencies(group, 0) if group is not None else _usual(USUAL_WIDTH)
    return GeometryView(choice, frequencies, None, reason)


def one_head(
    shown: PageContext,
    choice: GeometryChoice,
    head: tuple[int, int],
    query: int | None,
    all_shares: tuple[float, ...],
) -> GeometryView:
    """The view of one head; `query` is the position of the query to begin with."""
    return GeometryView(
        choice,
        _frequencies(shown.group, head[0]),
        _plane(shown, *head, query, all_shares),
    )


def _plane(
    shown: PageContext, layer: int, head: int, query: int | None, all_shares: tuple[float, ...]
) -> HeadPlane:
    group = shown.group
    call, row = group.call(layer), group.row(layer)
    rows, columns = _words(group, layer)
    cells = np.ix_(rows, columns)
    plane = best_plane(_scores(group, layer, head)[cells])
    weights = call.weights(head, row).cpu().numpy()[cells]
    queries, keys = token_axes(shown, layer=layer)
    known = [share for share in all_shares if share == share]
    return HeadPlane(
        layer=layer,
        head=head,
        n_layers=group.n_layers,
        n_heads=call.n_heads,
        query=_nearest(rows, query),
        tokens=tuple(queries.rows[place] for place in rows),
        key_tokens=tuple(keys.labels[place] for place in columns),
        query_at=tuple(map(int, rows)),
        queries=plane.queries.astype(np.float32),
        keys=plane.keys.astype(np.float32),
        weights=_each_row_to_1(weights),
        may=_may(call, head, row)[cells],
        share=None if np.isnan(plane.share) else plane.share,
        median=float(np.median(known)) if known else None,
        n_measured=len(known),
        turned=_turned(call),
        cut=max(len(rows), len(columns)) == MAX_WORDS,
        kept=group.kept,
    )


def _nearest(rows: np.ndarray, query: int | None) -> int:
    """The place among the words of a query's position, or of the last word."""
    places = np.flatnonzero(rows == query)
    return int(places[0]) if len(places) else len(rows) - 1


def _words(group: Group, layer: int) -> tuple[np.ndarray, np.ndarray]:
    """The positions of queries and keys that are neither special nor padding; all if none is."""
    axes = (groups.queries(group, layer=layer), groups.keys(group, layer=layer))
    words = [np.flatnonzero(~(tokens.special | tokens.padding)) for tokens in axes]
    rows, columns = (
        (places if len(places) else np.arange(len(tokens)))[:MAX_WORDS]
        for places, tokens in zip(words, axes, strict=True)
    )
    return rows, columns


def _scores(group: Group, layer: int, head: int) -> Float32[np.ndarray, "query key"]:
    """The scores before the mask."""
    stages = group.call(layer).stages(head, group.row(layer))
    last: Tensor = next(stages[name] for name in ("biased", "capped", "scaled") if name in stages)
    scores: np.ndarray = last.cpu().numpy()
    return scores


def _all_scores(group: Group, layer: int) -> Float32[np.ndarray, "kept_head query key"]:
    """The scores of every kept head between words, before the mask."""
    from attnviz.attention.batch_weights import all_scores

    call, cells = group.call(layer), np.ix_(*_words(group, layer))
    if call.changes:
        return np.stack([_scores(group, layer, head)[cells] for head in call.kept_heads])
    together = all_scores(_inputs(call).one_text(group.row(layer)))[0].cpu().numpy()
    return np.stack([scores[cells] for scores in together])


def _may(call: "AttentionCall", head: int, row: int) -> np.ndarray:
    may_attend = _inputs(call).may_attend(head, row)
    if may_attend is None:
        return np.ones((call.n_query, call.n_key), dtype=np.bool_)
    allowed: np.ndarray = may_attend.cpu().numpy()
    return allowed


def _inputs(call: "AttentionCall") -> "AttentionInputs":
    from attnviz.attention.inputs import AttentionInputs

    assert isinstance(call.inputs, AttentionInputs), "scores are known"
    return call.inputs


def _each_row_to_1(weights: Float32[np.ndarray, "query key"]) -> Float32[np.ndarray, "query key"]:
    """Each row divided by its sum; rows without a weight stay 0."""
    sums = weights.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(weights, sums, out=np.zeros_like(weights), where=sums > 0))


def _turned(call: "AttentionCall") -> bool:
    layers = [call.projections.get(side) for side in ("q", "k")]
    return any(layer is not None and layer.turned for layer in layers)


def _frequencies(group: Group, layer: int) -> Frequencies:
    """The angles that a rotary model was seen to turn by; the usual ones for any other."""
    if group.own_code(layer):
        return _usual(USUAL_WIDTH)
    call = group.call(layer)
    usual = _usual(call.inputs.d_head or USUAL_WIDTH)
    if not _turned(call) or min(call.n_query, call.n_key) < 2 or call.row_step != 1:
        return usual
    from attnviz.attention.rotary import rotation_of

    factors = rotation_of(call, group.row(layer)).factors.get("q")
    if factors is None or len(factors) < 2:
        return usual
    angles = np.abs(np.angle(factors[1] * factors[0].conj()))
    return Frequencies(tuple(round(float(angle), 7) for angle in angles), own=True)


def _usual(width: int) -> Frequencies:
    """10000^(−2i/d) for each pair i of d components."""
    n_pairs = max(width // 2, 1)
    angles = USUAL_BASE ** (-np.arange(n_pairs) / n_pairs)
    return Frequencies(tuple(round(float(angle), 7) for angle in angles), own=False)
