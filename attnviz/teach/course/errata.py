"""Debugging a text: errata of a lecture note's program and of a course text's example.

Each text is named by what it prints; every number is computed again. The program is
`preset("seeded")`: Q, K, V drawn in this order from seed 0, five rows of three. The note prints
softmax(Q·Kᵀ/d) along the first axis, rounded to three digits, and the output of that. The worked
example has masked scores of four tokens; row 1 of its printed softmax divides the sizes of the
scores by their sum instead of taking exp.
"""

import math
from functools import partial
from os.path import commonprefix

import numpy as np
import torch

from attnviz import masks
from attnviz.attention import formula
from attnviz.pictures.board import Board, Panel
from attnviz.pictures.motion import Motion
from attnviz.teach.calculator.presets import preset
from attnviz.teach.calculator.sheet import write
from attnviz.teach.course.arrays import Matrix, apart, as_numbers, softmax
from attnviz.teach.course.recipe import CardInputs, Lesson, Recipe
from attnviz.teach.lessons.cards.card import (
    Card,
    CellQuestion,
    ChoiceQuestion,
    Link,
    NumberQuestion,
    Pick,
    Program,
)

TOLERANCE = 0.006
PRINTED_DIGITS, PRINTED_PLACES = 3, 8  # of the weights, of the output
# the note's program, line by line as it computes
PROGRAM = """import numpy as np

np.random.seed(0)
Q, K, V = (np.random.normal(size=(5, 3)) for _ in range(3))
S = Q @ K.T / 3
A = np.exp(S) / np.exp(S).sum(axis=0)
print(A.round(3))
print(A.round(3) @ V)
"""
weights_panel = partial(Panel, signed=False)
# the course text's example: the row that is wrong, the last row, the softmax as printed
ROW, LAST = 1, 3
PRINTED = np.array(
    [
        [1.0, 0.0, 0.0, 0.0],
        [0.67, 0.33, 0.0, 0.0],
        [0.02, 0.54, 0.44, 0.0],
        [0.05, 0.35, 0.52, 0.08],
    ]
)


def _axis(inputs: CardInputs) -> Card:
    """The first erratum: rows that do not sum to one."""
    printed = printed_weights()
    row = (1, 3, 4)[inputs.seed % 3]
    total = float(printed[row].sum())
    bare = Board((weights_panel("printed", printed, decimals=3),))
    summed = Board((weights_panel("printed", printed, decimals=3, sums="both"),))
    wrong = apart(total, {"assumed": 1.0}, TOLERANCE)
    columns = printed.sum(axis=0)
    numbers = {"row": row, "total": total, "least": columns.min(), "most": columns.max()}
    pictures = (Program(PROGRAM), bare)
    question = NumberQuestion(total, TOLERANCE, wrong)
    link = Link("calculator", {"lab": write(preset("seeded"))})
    return Card("axis", numbers, pictures, question, (summed,), link)


def printed_weights() -> Matrix:
    """A of the note: scores divided by d, softmax along the first axis, three digits."""
    d = preset("seeded").d_head
    weights: Matrix = softmax(products().T / d).T
    return np.round(weights, PRINTED_DIGITS)


def matrices() -> tuple[Matrix, Matrix]:
    """Q and K of the note's example."""
    drawn = preset("seeded").matrices
    return drawn["q"], drawn["k"]


def products() -> Matrix:
    """Q·Kᵀ of the note's example."""
    q, k = matrices()
    return np.asarray(q @ k.T)


def _divisor(inputs: CardInputs) -> Card:
    """The second erratum: divided by d, not by its root."""
    scores = products()
    d, n = preset("seeded").d_head, len(scores)
    board = Board(
        (
            Panel("products", scores, decimals=3, scale="scores"),
            Panel("divided", scores / d, before="→", decimals=3, scale="scores"),
        )
    )
    wrong = {"root": math.sqrt(d), "inverse": 1 / d, "tokens": n}
    numbers = {
        "d": d,
        "root": math.sqrt(d),
        "tokens": n,
        "first": scores[0, 0],
        "first_divided": scores[0, 0] / d,
        "right": scores[0, 0] / math.sqrt(d),
    }
    return Card("divisor", numbers, (board,), NumberQuestion(d, 0.05, wrong))


def _repair(inputs: CardInputs) -> Card:
    """The experiment: the printed weights beside the learner's, each against the right ones."""
    d = preset("seeded").d_head
    scores = products() / (d if inputs.text("by") == "whole" else math.sqrt(d))
    changed = softmax(scores) if inputs.text("sums") == "rows" else softmax(scores.T).T
    control = softmax(products().T / d).T
    board = Board(
        (
            weights_panel("control", control, decimals=3, sums="both"),
            weights_panel("changed", changed, decimals=3, sums="both"),
        )
    )
    right = right_weights()
    one_repair = softmax(products().T / math.sqrt(d)).T
    errors = {
        name: float(np.abs(weights - right).max())
        for name, weights in (("control", control), ("changed", changed), ("one", one_repair))
    }
    further = errors["one"] > errors["control"]
    answer = "further" if further else "closer"
    question = ChoiceQuestion(("closer", "same", "further"), answer, is_scale=True)
    return Card("repair", errors, (), question, (board,), situation=(Board(board.panels[:1]),))


def right_weights() -> Matrix:
    """A of the paper: scores divided by √d, softmax along each row."""
    return softmax(products() / math.sqrt(preset("seeded").d_head))


def _digits(inputs: CardInputs) -> Card:
    """Eight digits of an output whose weights were rounded to three."""
    values = preset("seeded").matrices["v"]
    rounded = printed_weights()[:1]
    unrounded = softmax(products().T / preset("seeded").d_head).T[:1]
    board = Board(
        (
            weights_panel("rounded", rounded, decimals=3),
            Panel("values", values, before="·", decimals=3, scale="value"),
            Panel("printed", rounded @ values, "=", decimals=PRINTED_PLACES, scale="value"),
        )
    )
    solution = Board((Panel("unrounded", unrounded @ values, decimals=6, scale="value"),))
    error = np.abs(unrounded @ values - rounded @ values).max()
    numbers = {
        "digits": PRINTED_DIGITS,
        "error": error,
        "printed": (rounded @ values)[0, 0],
        "unrounded": (unrounded @ values)[0, 0],
    }
    agreeing = _agreeing_digits(float(numbers["printed"]), float(numbers["unrounded"]))
    numbers |= {"agreeing": agreeing, "places": PRINTED_PLACES}
    right = "all" if agreeing == PRINTED_PLACES else "few" if agreeing else "none"
    question = ChoiceQuestion(("all", "few", "none"), right, is_scale=True)
    return Card("digits", numbers, (board,), question, (solution,))


def _agreeing_digits(one: float, other: float) -> int:
    """The number of digits after the point that two numbers begin with alike.

    >>> _agreeing_digits(-0.48113832, -0.48124201)
    3
    """
    written = [f"{abs(value):.{PRINTED_PLACES}f}".partition(".")[2] for value in (one, other)]
    return len(commonprefix(written))


def _erratum(inputs: CardInputs) -> Card:
    """The question asks for the row that is not the softmax of its scores."""
    weights, blocked = as_numbers(formula.weights(_masked())), ~masks.causal(4, 4).numpy()
    board = Board(
        (
            Panel("masked", as_numbers(_masked()), decimals=1, blocked=blocked),
            Panel("printed", PRINTED, before="→", signed=False, sums="rows"),
        )
    )
    solution = Board((Panel("computed", weights, signed=False, sums="rows"),))
    right = frozenset((ROW, column) for column in range(4))
    first = frozenset((0, column) for column in range(4))
    question = CellQuestion("printed", right, {"one_key": first}, also=("masked",))
    numbers = {
        "row": ROW,
        "printed": PRINTED[ROW, 0],
        "computed": weights[ROW, 0],
        "computed_rest": weights[ROW, 1],
        "printed_rest": PRINTED[ROW, 1],
        "apart": float(_masked()[ROW, 0] - _masked()[ROW, 1]),
        "needed": math.log(PRINTED[ROW, 0] / PRINTED[ROW, 1]),
    }
    film = Motion(
        "softmax",
        {"scores": as_numbers(_masked())[[ROW]]},
        {"keys": tuple(map(str, range(4)))},
        scenes=("scores",),
        handles=("scores",),
    )
    return Card("erratum", numbers, (board,), question, (solution, film))


def _masked(factor: float = 1.0) -> torch.Tensor:
    scores = torch.from_numpy(preset("block").matrices["q"])
    return formula.masked(factor * scores, masks.causal(4, 4))


LESSON = Lesson(
    "errata",
    needs=("block",),
    recipes=(
        Recipe("axis", _axis),
        Recipe("divisor", _divisor),
        Recipe(
            "repair",
            _repair,
            (Pick("sums", ("columns", "rows"), "columns"), Pick("by", ("whole", "root"), "root")),
            "experiment",
        ),
        Recipe("digits", _digits),
        Recipe("erratum", _erratum),
    ),
)
