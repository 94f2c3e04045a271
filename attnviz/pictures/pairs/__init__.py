"""Pairs: one question asked of many pairs: a row's mean, its interval, a dot for each pair.

In: a frozen `PairsView` whose texts are already translated. Out: a text of the set to look at
(event `text`). All numbers travel: another row or order needs no server.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float32

from attnviz.pictures.shared.canvas import Canvas

Ask = Literal["effects", "direct", "lens", "patching"]


@dataclass(frozen=True)
class PairText:
    """A text, its partner, the answer that each should get, and the measured number of each.

    `solved` by the model or not.
    """

    text: str
    other: str
    answer: str
    other_answer: str
    before: float
    source: float
    solved: bool


@dataclass(frozen=True, eq=False)
class PairsView:
    """The rows in the order of the pass, `order` those with the largest mean first.

    `n_solved` of `n_asked` pairs are solved by the model; `texts` are those that were measured.
    Numbers are changes, parts or leads in logits; of "patching" `values` are shares of each pair's
    own gap, NaN where it is too small, and `mean` the share of the set, Σ changes ÷ Σ gaps. `low`
    and `high` are its 95 % interval, `control` the share that another pair's partner brings.
    """

    ask: Ask
    title: str
    sentences: tuple[str, ...]
    n_solved: int
    n_asked: int
    rows: tuple[str, ...]
    order: tuple[int, ...]
    slots: tuple[str, ...]
    texts: tuple[PairText, ...]
    mean: Float32[np.ndarray, "row slot"]
    low: Float32[np.ndarray, "row slot"]
    high: Float32[np.ndarray, "row slot"]
    control: Float32[np.ndarray, "row slot"] | None
    values: Float32[np.ndarray, "row slot text"]


CANVAS = Canvas("pairs", (PairsView,))
