"""Measures of heads for lesson 9: a score, its chance, and weights as a panel with tokens.

In: captures of the embedded models. Out: numbers from `attnviz.metrics` and panels. Chance is
uniform attention over the keys that a query may attend to.
"""

import numpy as np
from jaxtyping import Bool, Float32

from attnviz.attention.capture import Capture
from attnviz.metrics.measures import measured
from attnviz.pictures.board import Panel, Sums
from attnviz.types import HeadId, Measure


def may_attend(cap: Capture, batch: int = 0) -> Bool[np.ndarray, "query key"]:
    """The mask, True = may attend; it is the same in every layer of these models."""
    masked = cap.call(0).stages(0, batch)["masked"].numpy()
    return np.asarray(np.isfinite(masked))


def uniform(cap: Capture, batch: int = 0) -> Float32[np.ndarray, "query key"]:
    """The weights of a head that attends evenly to all keys that it may attend to."""
    allowed = may_attend(cap, batch)
    return np.asarray(allowed / allowed.sum(axis=1, keepdims=True), dtype=np.float32)


def score(cap: Capture, head: HeadId, measure: Measure, batch: int = 0) -> float:
    """One measure of one head, the mean over the words of the text."""
    return _measure(cap, cap.weights(head.layer, head.head, batch=batch), measure, batch)


def chance(cap: Capture, measure: Measure, batch: int = 0) -> float:
    """The measure of uniform attention."""
    return _measure(cap, uniform(cap, batch), measure, batch)


def _measure(
    cap: Capture, weights: Float32[np.ndarray, "query key"], measure: Measure, batch: int
) -> float:
    visible = may_attend(cap, batch)[None]
    values = measured(weights[None, None], cap.tokens_of(batch), visible=visible)
    return float(values[measure][0, 0])


def panel(cap: Capture, head: HeadId, name: str, hidden: bool = False, decimals: int = 2) -> Panel:
    """A panel of a head's weights, with the tokens along both axes."""
    return weights_panel(cap, cap.weights(head.layer, head.head), name, hidden, decimals)


def weights_panel(
    cap: Capture,
    weights: Float32[np.ndarray, "query key"],
    name: str,
    hidden: bool = False,
    decimals: int = 2,
    sums: Sums = "none",
) -> Panel:
    """A panel of weights over the tokens of a capture."""
    labels, blocked = cap.tokens.labels, ~may_attend(cap)
    return Panel(
        name,
        weights.astype(np.float64),
        rows=labels,
        columns=labels,
        decimals=decimals,
        signed=False,
        blocked=blocked if blocked.any() else None,
        sums=sums,
        hidden=hidden,
    )
