"""Lesson 4, masks: −∞ is added before the softmax; padding is not the future; empty rows.

    Attention(Q, K, V) = Softmax(Q·Kᵀ/√d_k + Mask)·V,  Mask = 0 or −∞      (Vaswani et al. 2017)

Source: a textbook chapter's decoder example of six tokens, `preset("decoder")`. Cards about real
batches are in `batch`.
"""

import math
from functools import partial

import numpy as np
import torch
from torch import Tensor

from attnviz import masks
from attnviz.attention import formula
from attnviz.pictures.board import Board, Panel
from attnviz.pictures.motion.scenes import Motion
from attnviz.teach.calculator.presets import DECODER_TOKENS, preset
from attnviz.teach.course.arrays import Matrix, apart, as_numbers, softmax
from attnviz.teach.course.masks.batch import both, empty, padding, second_sentence
from attnviz.teach.course.recipe import CardInputs, Lesson, Recipe
from attnviz.teach.lessons.cards.card import Card, CellQuestion, NumberQuestion

TOLERANCE = 0.006
ROW = 2  # of "learned", the query of the first card
LATE_ROW = 1  # of "you", masked after the softmax

weights_panel = partial(Panel, signed=False, rows=DECODER_TOKENS, columns=DECODER_TOKENS)


def scaled_scores(seed: int) -> Matrix:
    """Q·Kᵀ/√d_k of the six tokens: the preset's for seed 0, else random ones."""
    matrices = preset("decoder").matrices
    q, k = matrices["q"], matrices["k"]
    if seed:
        draws = np.random.default_rng(seed)
        q, k = (np.round(draws.normal(size=q.shape), 2) for _ in range(2))
    return np.asarray(q @ k.T / math.sqrt(q.shape[1]))


def _causal() -> Tensor:
    n = len(DECODER_TOKENS)
    return masks.causal(n, n)


def additive_mask(may_attend: Tensor, number: float = -math.inf) -> Matrix:
    """The mask in its additive form: 0 where a query may attend, `number` elsewhere."""
    return np.where(may_attend.numpy(), 0.0, number)


def _added(inputs: CardInputs) -> Card:
    """Scores + mask = masked scores; the question asks for the blocked keys of "learned"."""
    scores, may_attend = scaled_scores(inputs.seed), _causal()
    blocked = ~may_attend.numpy()
    masked = scores + additive_mask(may_attend)
    panel = partial(Panel, rows=DECODER_TOKENS, columns=DECODER_TOKENS, decimals=1)
    board = Board(
        (
            panel("scaled", scores, scale="scores"),
            panel("mask", additive_mask(may_attend), before="+", decimals=0, hidden=True),
            panel("masked", masked, before="=", blocked=blocked, hidden=True, scale="scores"),
            weights_panel("weights", softmax(masked), before="→", blocked=blocked, hidden=True),
        )
    )
    later = range(ROW + 1, len(DECODER_TOKENS))
    question = CellQuestion(
        "scaled",
        frozenset((ROW, key) for key in later),
        {
            "itself": frozenset({(ROW, ROW)}),
            "past": frozenset((ROW, key) for key in range(ROW)),
            "asked": frozenset((query, ROW) for query in later),
        },
        also=("mask", "masked", "weights"),
    )
    numbers: dict[str, float | int | str] = {
        "token": DECODER_TOKENS[ROW],
        "next": DECODER_TOKENS[ROW + 1],
        "blocked": int(blocked.sum()),
        "all": blocked.size,
        "n": len(DECODER_TOKENS),
        "first": DECODER_TOKENS[0],
    }
    arrays = {"scaled": scores, "weights": softmax(masked)}
    film = Motion("mask", arrays, {"words": DECODER_TOKENS})
    return Card("added", numbers, (board,), question, (film,))


def _after(inputs: CardInputs) -> Card:
    """The wrong order, softmax before zeros; the question asks for the sum of the row."""
    scores, may_attend = scaled_scores(inputs.seed), _causal()
    blocked = ~may_attend.numpy()
    late = softmax(scores) * ~blocked
    right = as_numbers(formula.weights(formula.masked(torch.from_numpy(scores), may_attend)))
    first = scores[LATE_ROW : LATE_ROW + 1]
    row, names = slice(LATE_ROW, LATE_ROW + 1), (DECODER_TOKENS[LATE_ROW],)
    row_panel = partial(Panel, signed=False, rows=names, columns=DECODER_TOKENS, decimals=3)
    board = Board(
        (
            row_panel("unmasked", softmax(first), sums="rows"),
            row_panel("late", late[row], before="→", blocked=blocked[row]),
        )
    )
    solution = Board(
        (
            row_panel("late", late[row], blocked=blocked[row], sums="rows"),
            row_panel("right", right[row], blocked=blocked[row], sums="rows"),
        )
    )
    total = float(late[LATE_ROW].sum())
    wrong = apart(total, {"one": 1.0, "lost": 1 - total}, TOLERANCE)
    numbers: dict[str, float | int | str] = {
        "token": DECODER_TOKENS[LATE_ROW],
        "total": total,
        "lost": 1 - total,
        "late_first": late[LATE_ROW, 0],
        "right_first": right[LATE_ROW, 0],
    }
    return Card("after", numbers, (board,), NumberQuestion(total, TOLERANCE, wrong), (solution,))


LESSON = Lesson(
    "masks",
    needs=("block",),
    recipes=(
        Recipe("added", _added),
        Recipe("after", _after),
        Recipe("padding", padding, (second_sentence(),), "experiment"),
        Recipe("both", both),
        Recipe("empty", empty),
    ),
)
