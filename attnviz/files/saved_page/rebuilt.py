"""Scores and weights that a saved page recomputes from other stages, bit for bit.

In: the matrices of one head. Out: for scores q·kᵀ, for masked scores those before with −∞ in the
blocked cells, for weights the softmax of each row, each computed in doubles in a fixed order of
operations that `rebuilt.js` repeats, and rounded once to 32 bits; and how far the bits of each
number are from the model's own. These differences of a few units in the last place take an eighth
of the numbers' room; a stage that its rule does not predict is kept as it is.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float32, Float64, Int32, UInt8

Rule = Literal["products", "blocked", "softmax"]
NEAR = 127  # differences up to here take a byte, with 128 added; 0 stands for one that is farther
MAX_FAR_SHARE = 1 / 16  # of the numbers: with more, the rule does not fit
BEFORE_MASK = ("biased", "capped", "scaled")  # the stage that is masked: the first that is there
LOG2_E, LN_2 = 1.4426950408889634, 0.6931471805599453
SMALLEST = -700.0  # of an exponent; below it the weight is 0
TERMS = 9  # of the series of exp on |x| ≤ ln 2 ÷ 2: off by 2e-10, which the differences make up for


@dataclass(frozen=True, eq=False)
class Differences:
    """The differences between the bits of the model's numbers and of the predicted ones.

    `far` has those for which a byte is too small.
    """

    near: UInt8[np.ndarray, "cells"]
    far: Int32[np.ndarray, "few"]


@dataclass(frozen=True, eq=False)
class RebuiltStage:
    """The rule for a stage, the arrays that it takes, its sizes, and the differences."""

    rule: Rule
    sources: tuple[str, ...]
    sizes: tuple[int, ...]
    differences: Differences


def rebuilt_stage(name: str, stages: Mapping[str, np.ndarray]) -> RebuiltStage | None:
    """The way to a stage from the other stages of the head; None where no rule predicts it."""
    if name == "scores" and {"q", "k"} <= stages.keys():
        query, key = stages["q"], stages["k"]
        sizes = (*stages[name].shape, query.shape[1])
        return _rebuilt("products", ("q", "k"), sizes, stages[name], lambda: products(query, key))
    source = next((stage for stage in BEFORE_MASK if stage in stages), None)
    if name == "masked" and source is not None and "blocked" in stages:
        before, bits = stages[source], stages["blocked"]
        sources = (source, "blocked")
        return _rebuilt("blocked", sources, bits.shape, stages[name], lambda: blocked(before, bits))
    if name == "weights" and "masked" in stages:
        masked = stages["masked"]
        return _rebuilt("softmax", ("masked",), masked.shape, stages[name], lambda: softmax(masked))
    return None


def _rebuilt(
    rule: Rule,
    sources: tuple[str, ...],
    sizes: tuple[int, ...],
    exact: np.ndarray,
    predict: Callable[[], np.ndarray],
) -> RebuiltStage | None:
    differences = differ(exact, predict())
    return None if differences is None else RebuiltStage(rule, sources, sizes, differences)


def products(
    query: Float32[np.ndarray, "query d"], key: Float32[np.ndarray, "key d"]
) -> Float32[np.ndarray, "query key"]:
    """Each query with each key, summed from the first component to the last."""
    total = np.zeros((len(query), len(key)))
    with np.errstate(invalid="ignore", over="ignore"):
        for left, right in zip(query.T.astype(np.float64), key.T.astype(np.float64), strict=True):
            total += left[:, None] * right
        return total.astype(np.float32)


def blocked(
    scores: Float32[np.ndarray, "query key"], bits: UInt8[np.ndarray, "query key"]
) -> Float32[np.ndarray, "query key"]:
    """The scores with −∞ where a mask blocks."""
    return np.where(bits != 0, np.float32(-np.inf), scores)


def softmax(masked: Float32[np.ndarray, "query key"]) -> Float32[np.ndarray, "query key"]:
    """The softmax of each row; 0 in a row without a finite number."""
    scores = masked.astype(np.float64)
    largest = scores.max(axis=1, initial=-np.inf, keepdims=True)
    with np.errstate(invalid="ignore"):
        powers = _exp(scores - largest)
    total = np.cumsum(powers, axis=1)[:, -1:]  # one after the other, as the page adds them
    weights = np.zeros_like(powers)
    np.divide(powers, total, out=weights, where=total > 0)
    return weights.astype(np.float32)


def _exp(exponents: Float64[np.ndarray, "*axes"]) -> Float64[np.ndarray, "*axes"]:
    """e to numbers ≤ 0, by operations that round alike everywhere: no library's own exp does."""
    seen = exponents > SMALLEST  # False for NaN too
    kept = np.where(seen, exponents, 0.0)
    twos = np.floor(kept * LOG2_E + 0.5)
    rest = kept - twos * LN_2
    series = np.ones_like(rest)
    for term in range(TERMS, 0, -1):
        series = 1.0 + series * rest / term
    return np.where(seen, np.ldexp(series, twos.astype(np.int64)), 0.0)


def differ(
    exact: Float32[np.ndarray, "*exact"], predicted: Float32[np.ndarray, "*predicted"]
) -> Differences | None:
    """The differences of the bits, None where too many are far or the shapes are not the same."""
    if exact.shape != predicted.shape:
        return None
    bits = np.ascontiguousarray(exact).view(np.int32).ravel().astype(np.int64)
    steps = bits - np.ascontiguousarray(predicted).view(np.int32).ravel()
    is_far = np.abs(steps) > NEAR
    if is_far.sum() > MAX_FAR_SHARE * steps.size:
        return None
    near = np.where(is_far, 0, steps + NEAR + 1).astype(np.uint8)
    return Differences(near, steps[is_far].astype(np.int32))
