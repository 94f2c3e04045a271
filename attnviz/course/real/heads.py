"""What lesson 9 measures heads with: a score, its chance, and a matrix of weights with its tokens.

In: captures of the embedded models. Out: numbers from `attnviz.metrics` and panels. Chance is
uniform attention to what a query may attend to.
"""

import numpy as np
from jaxtyping import Bool, Float32

from attnviz.attention.capture import Capture
from attnviz.lessons.cards.card import Panel, Sums
from attnviz.metrics.measures import measured
from attnviz.types import HeadId, Measure


def may_attend(cap: Capture, batch: int = 0) -> Bool[np.ndarray, "query key"]:
    """What each query may attend to; the same in every layer of these models."""
    masked = cap.call(0).stages(0, batch)["masked"].numpy()
    return np.asarray(np.isfinite(masked))


def uniform(cap: Capture, batch: int = 0) -> Float32[np.ndarray, "query key"]:
    """The weights of a head that attends anywhere it may."""
    allowed = may_attend(cap, batch)
    return np.asarray(allowed / allowed.sum(axis=1, keepdims=True), dtype=np.float32)


def score(cap: Capture, head: HeadId, measure: Measure, batch: int = 0) -> float:
    """One measure of one head, a mean over the words of the text."""
    return _measure(cap, cap.weights(head.layer, head.head, batch=batch), measure, batch)


def chance(cap: Capture, measure: Measure, batch: int = 0) -> float:
    """The same of uniform attention."""
    return _measure(cap, uniform(cap, batch), measure, batch)


def _measure(
    cap: Capture, weights: Float32[np.ndarray, "query key"], measure: Measure, batch: int
) -> float:
    seen = may_attend(cap, batch)[None]
    found = measured(weights[None, None], cap.tokens_of(batch), visible=seen)
    return float(found[measure][0, 0])


def panel(cap: Capture, head: HeadId, name: str, hidden: bool = False, decimals: int = 2) -> Panel:
    """A head's weights, with the tokens along both axes."""
    return weights_panel(cap, cap.weights(head.layer, head.head), name, hidden, decimals)


def weights_panel(
    cap: Capture,
    weights: Float32[np.ndarray, "query key"],
    name: str,
    hidden: bool = False,
    decimals: int = 2,
    sums: Sums = "none",
) -> Panel:
    """Any weights over the tokens of a capture."""
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
