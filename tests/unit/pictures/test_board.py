"""The board: what travels, what stays behind until it is revealed, and which cells are believed."""

import numpy as np
import pytest

from attnviz.pictures import board
from attnviz.pictures.board import Board, BoardView, Panel, parse_cell
from attnviz.pictures.shared.buffer import unpack
from attnviz.pictures.shared.canvas import packed

SCORES = np.array([[1.5, -np.inf, -np.inf], [0.25, -2.0, -np.inf]])
WEIGHTS = np.array([[1.0, 0.0, 0.0], [0.875, 0.125, 0.0]])
PANELS = (
    Panel("masked", SCORES, decimals=1, blocked=np.isinf(SCORES), rows=("a", "</script>")),
    Panel(
        "weights",
        WEIGHTS,
        before="→",
        signed=False,
        scale="weight",
        sums="both",
        hidden=True,
        marked=((1, 0),),
        blocked=np.isinf(SCORES),
    ),
)


def shown(revealed: bool) -> bytes:
    captions = {"masked": "Masked", "weights": "<b>Weights</b>"}
    view = BoardView(
        Board(PANELS),
        captions,
        revealed,
        asks=("masked",),
        chosen=(1, 2),
        right=False,
        answers=frozenset({(1, 1), (1, 0)}),
        ranges={"weight": 1.0},
        is_open=True,
        reports=True,
        pointed=(0, 1, 1),
    )
    return packed(board.CANVAS, view, "en")


def test_values_travel_with_their_sums() -> None:
    header, arrays = unpack(shown(revealed=True))
    np.testing.assert_array_equal(arrays["panels.0.values"], SCORES.astype(np.float32))
    np.testing.assert_array_equal(arrays["panels.0.blocked"], np.isinf(SCORES))
    np.testing.assert_array_equal(arrays["panels.0.row_sums"], [1.5, -1.75])  # of the open cells
    np.testing.assert_array_equal(arrays["panels.1.column_sums"], [1.875, 0.125, 0.0])
    first, second = header["panels"]
    assert (first["rows"], first["columns"]) == (["a", "</script>"], ["0", "1", "2"])
    assert (first["asks"], second["asks"]) == (True, False)
    assert (second["before"], second["marked"], second["hidden"]) == ("→", [[1, 0]], False)
    assert (header["chosen"], header["right"]) == ([1, 2], False)
    assert header["answers"] == [[1, 0], [1, 1]]
    assert (first["most"], second["most"]) == (2.0, 1.0)  # its own finite values; those of a scale


def test_what_is_hidden_does_not_travel() -> None:
    header, arrays = unpack(shown(revealed=False))
    assert header["panels"][1]["hidden"]
    assert not arrays["panels.1.values"].any() and not arrays["panels.1.row_sums"].any()
    assert not arrays["panels.1.blocked"].any() and header["panels"][1]["marked"] == []
    own = packed(board.CANVAS, BoardView(Board(PANELS), revealed=False), "en")
    assert unpack(own)[0]["panels"][1]["most"] == 0.0  # not even how large it is
    np.testing.assert_array_equal(arrays["panels.0.values"], SCORES.astype(np.float32))


@pytest.mark.parametrize(
    "sent",
    [
        None,
        [1, 1],
        {"panel": "weights", "row": 0, "column": 0},
        {"panel": "masked", "row": 2, "column": 0},
        {"panel": "masked", "row": 0, "column": -1},
        {"panel": "masked", "row": True, "column": 0},
        {"panel": "masked", "row": "0", "column": 0},
        {"panel": "masked", "row": 0.0, "column": 0},
    ],
)
def test_a_cell_that_does_not_fit_is_none(sent: object) -> None:
    assert parse_cell(sent, PANELS[0]) is None


def test_a_cell_that_fits_is_believed() -> None:
    assert parse_cell({"panel": "masked", "row": 1, "column": 2, "at": 7}, PANELS[0]) == (1, 2)
