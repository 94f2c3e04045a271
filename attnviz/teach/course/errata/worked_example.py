"""The worked example of a course text: masked scores of four tokens, and a softmax as it prints it.

Row 1 of the printed softmax divides the sizes of the scores by their sum instead of taking exp.
"""

import numpy as np
import torch

from attnviz import masks
from attnviz.attention import formula
from attnviz.pictures.board import Board, Panel
from attnviz.teach.calculator.presets import preset
from attnviz.teach.course.arrays import Matrix, as_numbers
from attnviz.teach.course.recipe import CardInputs
from attnviz.teach.lessons.cards.card import Card, CellQuestion

ROW, LAST = 1, 3
PRINTED = np.array(
    [
        [1.0, 0.0, 0.0, 0.0],
        [0.67, 0.33, 0.0, 0.0],
        [0.02, 0.54, 0.44, 0.0],
        [0.05, 0.35, 0.52, 0.08],
    ]
)


def _masked(factor: float = 1.0) -> torch.Tensor:
    scores = torch.from_numpy(preset("block").matrices["q"])
    return formula.masked(factor * scores, masks.causal(4, 4))


def _weights(factor: float = 1.0) -> Matrix:
    return as_numbers(formula.weights(_masked(factor)))


def erratum(inputs: CardInputs) -> Card:
    """The question asks for the row that is not the softmax of its scores."""
    weights, blocked = _weights(), ~masks.causal(4, 4).numpy()
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
    }
    return Card("erratum", numbers, (board,), question, (solution,))
