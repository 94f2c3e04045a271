"""Masks in code: numbers in place of −∞, rows without a key, the meaning of True.

The cards on numbers take a large negative number and a precision: torch computes the weights in
that precision, from scores to which the number was added (IEEE 754 half and single precision; every
softmax that subtracts its row's maximum first). The cards on interfaces take an interface and a
mask: their answers come from running the interfaces as installed (`capture.blocked_rows`,
`torch.nn.MultiheadAttention`), with code from `masks.code`.
"""

import math
from functools import partial
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

from attnviz import masks
from attnviz.capture.blocked_rows import IMPLEMENTATIONS, blocked_rows
from attnviz.masks.code import CONVENTIONS, Convention, MaskParts, code
from attnviz.models.seeded_models import seeded
from attnviz.pictures.board import Board, Panel
from attnviz.pictures.motion import Motion
from attnviz.teach.course.arrays import Matrix, as_numbers, softmax
from attnviz.teach.course.recipe import CardInputs, Lesson, Recipe
from attnviz.teach.lessons.cards.card import (
    Card,
    ChoiceQuestion,
    Control,
    Link,
    NumberQuestion,
    Numbers,
    Pick,
    Program,
)

FILLS = ("ten", "thousands", "billion", "lowest", "infinity")
# one row that may attend to its first two keys, one that may attend to none
SCORES = ((2.0, 1.0, 3.0, 0.5), (2.0, 1.0, 3.0, 0.5))
OPEN = ((True, True, False, False), (False, False, False, False))
ROWS = ("a", "b")
LARGE = ((1000.0, 1001.0), (500.0, 502.0), (2000.0, 1999.0))
TOLERANCE, HALF = 0.006, 0.5
weights_panel = partial(Panel, signed=False, rows=ROWS, decimals=3)
# the cards on interfaces
VERDICTS = ("nan", "uniform", "zero", "finite")
N = 4
WIDTH = 8
KINDS = ("causal", "padding", "both")
REAL = (True, True, True, False)
TEXT = "Lily gave the red ball to Tom."


def _infinity(inputs: CardInputs) -> Card:
    """The experiment: another number in place of −∞, in either precision, beside −∞."""
    dtype = torch.float16 if inputs.text("precision") == "float16" else torch.float32
    control = masked_with("infinity", torch.float32)
    changed = masked_with(inputs.text("fill"), dtype)
    board = Board(
        (
            weights_panel("control", as_numbers(control)),
            weights_panel("changed", as_numbers(changed)),
        )
    )
    open_row, empty_row = as_numbers(changed)
    numbers: Numbers = {
        "leak": float(open_row[~np.array(OPEN[0])].sum()),
        "empty": "  ".join("NaN" if math.isnan(one) else f"{one:.3f}" for one in empty_row),
        "largest": float(torch.finfo(torch.float16).max),
    }
    question = ChoiceQuestion(("nan", "zero", "even"), _of_empty_row())
    return Card("infinity", numbers, (), question, (board,))


def masked_with(fill: str, dtype: torch.dtype) -> Tensor:
    """The softmax of scores + mask in a precision, the mask filled with a number of that name."""
    fills = {
        "ten": -10.0,
        "thousands": -1e4,
        "billion": -1e9,
        "lowest": torch.finfo(dtype).min,
        "infinity": -math.inf,
    }
    mask = torch.zeros(len(OPEN), len(OPEN[0])).masked_fill(~torch.tensor(OPEN), fills[fill])
    masked = torch.tensor(SCORES, dtype=dtype) + mask.to(dtype)
    return torch.softmax(masked, dim=1)


def _of_empty_row() -> Literal["nan", "zero", "even"]:
    """The name of what −1e9 in float32 makes of a row that may attend to no key."""
    row = as_numbers(masked_with("billion", torch.float32))[1]
    if np.isnan(row).any():
        return "nan"
    return "even" if row.sum() > HALF else "zero"


def _overflow(inputs: CardInputs) -> Card:
    """Scores whose exponents overflow float32; softmax gives their weights anyway."""
    scores = np.array([LARGE[inputs.seed % len(LARGE)]])
    with np.errstate(over="ignore", invalid="ignore"):
        exponents = np.exp(scores.astype(np.float32))
        naive = exponents / exponents.sum()
    shifted = scores - scores.max()
    weights = softmax(scores)
    board = Board((Panel("scores", scores, decimals=0),))
    overflowed = Board(
        (
            Panel("exponents", exponents.astype(np.float64), signed=False),
            Panel("naive", naive.astype(np.float64), before="→", signed=False),
        )
    )
    shifted_board = Board(
        (
            Panel("shifted", shifted, decimals=0),
            Panel("small", np.exp(shifted), before="→", signed=False, decimals=3),
            Panel("weights", weights, before="→", signed=False, decimals=3, sums="rows"),
        )
    )
    key = int(scores.argmax())
    answer = float(weights[0, key])
    numbers: Numbers = {
        "key": key,
        "gap": float(abs(scores[0, 0] - scores[0, 1])),
        "weight": answer,
        "single": math.log(np.finfo(np.float32).max),
        "half": math.log(float(np.finfo(np.float16).max)),
        "largest_half": float(np.finfo(np.float16).max),
        "share": scores[0, key] / scores.sum(),
    }
    wrong = {"all": 1.0, "divided": float(scores[0, key] / scores.sum())}
    question = NumberQuestion(answer, TOLERANCE, wrong)
    keys = tuple(map(str, range(scores.size)))
    film = Motion("softmax", {"scores": shifted}, {"keys": keys}, handles=("scores",))
    return Card("overflow", numbers, (board,), question, (overflowed, shifted_board, film))


def _fates(inputs: CardInputs) -> Card:
    """The results of scaled_dot_product_attention and other interfaces for a row without keys."""
    rows = {row.implementation: row for row in blocked_rows(N)}
    board = Board(
        tuple(
            Panel(
                fate,
                rows[fate].values[None].astype(np.float64),
                signed=rows[fate].gives == "output",
                scale=rows[fate].gives,
            )
            for fate in IMPLEMENTATIONS
        )
    )
    numbers = {
        "calls": len(rows),
        "kinds": len({row.verdict for row in rows.values()}),
        "n": N,
        "even": 1 / N,
    }
    question = ChoiceQuestion(VERDICTS, rows["sdpa"].verdict)
    return Card("fates", numbers, question=question, reveal=(board,))


def _polarity(inputs: CardInputs) -> Card:
    """Two boolean masks in nn.MultiheadAttention, both run; one of them blocks the future."""
    triangle = masks.causal(N, N)
    triangles = {"lower": triangle, "upper": ~triangle}
    results = {name: multihead_weights(mask, inputs.seed) for name, mask in triangles.items()}
    future = ~triangle.numpy()
    right = next(name for name, weights in results.items() if not np.nansum(weights[future]))
    pictures = {
        name: Board((Panel("mask", mask.double().numpy(), decimals=0, signed=False),))
        for name, mask in triangles.items()
    }
    board = Board(
        tuple(
            Panel(
                name, weights, signed=False, sums="rows", blocked=None if name != right else future
            )
            for name, weights in results.items()
        )
    )
    wrong = results["lower" if right == "upper" else "upper"]
    numbers = {
        "n": N,
        "future": float(np.nanmean(wrong[:-1][future[:-1]])),
        "nan": int(np.isnan(wrong).any(axis=1).sum()),
    }
    question = ChoiceQuestion(("lower", "upper"), right, pictures)
    return Card("polarity", numbers, question=question, reveal=(board,))


def multihead_weights(mask: Tensor, seed: int = 0) -> Matrix:
    """The weights of nn.MultiheadAttention under a boolean mask."""
    draws = torch.Generator().manual_seed(7 + seed)
    x = torch.randn(1, len(mask), WIDTH, generator=draws)
    with seeded(7 + seed), torch.no_grad():
        attention = nn.MultiheadAttention(WIDTH, 1, batch_first=True).eval()
        _, weights = attention(x, x, x, attn_mask=mask)
    return as_numbers(weights[0])


def _translate(inputs: CardInputs) -> Card:
    """One mask as code for the chosen interface."""
    kind = inputs.text("mask")
    real = None if kind == "causal" else REAL
    parts = MaskParts(N, N, real, causal=kind != "padding")
    convention: Convention = next(name for name in CONVENTIONS if name == inputs.text("interface"))
    may_attend = masks.causal(N, N) if parts.causal else torch.ones(N, N, dtype=torch.bool)
    if real is not None:
        may_attend = masks.combine(may_attend, masks.padding(torch.tensor(real), N))
    panel = Panel(
        "may",
        may_attend.double().numpy(),
        signed=False,
        decimals=0,
        blocked=~may_attend.numpy(),
    )
    pictures = (Board((panel,)), Program(code(parts, convention)))
    causal = int(masks.causal(N, N).sum())
    both = int(masks.combine(masks.causal(N, N), masks.padding(torch.tensor(REAL), N)).sum())
    wrong = {"causal": causal, "padding": N * sum(REAL), "all": N * N}
    question = NumberQuestion(both, 0.1, wrong)
    numbers = {"open": int(may_attend.sum()), "all": N * N, "n": N, "causal": causal, "both": both}
    link = Link("masks", {"model": "stories", "text": TEXT})
    return Card("translate", numbers, (), question, pictures, link)


def translation() -> tuple[Control, ...]:
    """The controls for the mask and the interface."""
    return Pick("mask", KINDS, "causal"), Pick("interface", CONVENTIONS, "sdpa")


LESSON = Lesson(
    "code",
    needs=("masks",),
    recipes=(
        Recipe(
            "infinity",
            _infinity,
            (
                Pick("fill", FILLS, "billion"),
                Pick("precision", ("float32", "float16"), "float32"),
            ),
            "experiment",
        ),
        Recipe("overflow", _overflow),
        Recipe("fates", _fates),
        Recipe("polarity", _polarity),
        Recipe("translate", _translate, translation()),
    ),
)
