"""Cards of lesson 12 about numbers in place of −∞: large negative ones, half precision, overflow.

In: a number and a precision. Out: cards whose weights torch computed in that precision, from scores
to which the number was added. Sources: IEEE 754 half and single precision; every softmax
that subtracts its row's maximum first.
"""

import math
from functools import partial
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float64
from torch import Tensor

from attnviz.pictures.board import Board, Panel
from attnviz.teach.course.arrays import as_numbers, softmax
from attnviz.teach.course.recipe import CardInputs
from attnviz.teach.lessons.cards.card import Card, ChoiceQuestion, NumberQuestion

FILLS = ("ten", "thousands", "billion", "lowest", "infinity")
# one row that may attend to its first two keys, one that may attend to none
SCORES = ((2.0, 1.0, 3.0, 0.5), (2.0, 1.0, 3.0, 0.5))
OPEN = ((True, True, False, False), (False, False, False, False))
ROWS = ("a", "b")
LARGE = ((1000.0, 1001.0), (500.0, 502.0), (2000.0, 1999.0))
TOLERANCE, HALF = 0.006, 0.5

weights_panel = partial(Panel, signed=False, rows=ROWS, decimals=3)


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


def infinity(inputs: CardInputs) -> Card:
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
    numbers: dict[str, float | int | str] = {
        "leak": float(open_row[~np.array(OPEN[0])].sum()),
        "empty": _digits(empty_row),
        "largest": float(torch.finfo(torch.float16).max),
    }
    question = ChoiceQuestion(("nan", "zero", "even"), _of_empty_row())
    return Card("infinity", numbers, (), question, (board,))


def _of_empty_row() -> Literal["nan", "zero", "even"]:
    """The name of what −1e9 in float32 makes of a row that may attend to no key."""
    row = as_numbers(masked_with("billion", torch.float32))[1]
    if np.isnan(row).any():
        return "nan"
    return "even" if row.sum() > HALF else "zero"


def _digits(row: Float64[np.ndarray, "key"]) -> str:
    """A row of weights in digits, the same in every language."""
    return "  ".join("NaN" if math.isnan(weight) else f"{weight:.3f}" for weight in row)


def overflow(inputs: CardInputs) -> Card:
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
    numbers: dict[str, float | int | str] = {
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
    return Card("overflow", numbers, (board,), question, (overflowed, shifted_board))
