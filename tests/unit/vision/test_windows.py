"""Windows of a picture, on boards small enough to be counted by hand."""

import pytest

from attnviz.vision.windows import EMPTY, Windows


def test_windows_stand_row_by_row() -> None:
    board = Windows(count=6, side=2, grid=(4, 6))
    assert board.board == (2, 3)
    assert board.places(0) == ((0, 0), (0, 1), (1, 0), (1, 1))
    assert board.places(4) == ((2, 2), (2, 3), (3, 2), (3, 3))


def test_a_shifted_board_comes_round() -> None:
    board = Windows(count=4, side=2, shift=1, grid=(4, 4))
    assert board.places(0) == ((1, 1), (1, 2), (2, 1), (2, 2))
    assert board.places(3) == ((3, 3), (3, 0), (0, 3), (0, 0))


def test_places_beyond_the_picture_are_empty() -> None:
    board = Windows(count=4, side=2, grid=(3, 3))
    assert board.places(3) == ((2, 2), None, None, None)
    tokens = board.tokens(3, 4)
    assert tokens.labels == ("r2c2", EMPTY, EMPTY, EMPTY)
    assert tokens.special.tolist() == [False, True, True, True]
    assert tokens.ids.tolist() == [8, -1, -1, -1]


def test_without_a_known_order_tokens_are_numbers() -> None:
    board = Windows(count=5, side=2)
    assert board.board == (1, 5)
    assert board.tokens(3, 4).labels == ("0", "1", "2", "3")
    assert [board.covering(*board.centre(window)) for window in range(5)] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("shift", [0, 2])
def test_the_middle_of_a_window_is_in_it(shift: int) -> None:
    board = Windows(count=9, side=5, shift=shift, grid=(15, 15))
    found = [board.covering(*board.centre(window)) for window in range(9)]
    assert found == list(range(9))


def test_a_coarser_board_shows_the_same_place() -> None:
    fine, coarse = Windows(16, 4, grid=(16, 16)), Windows(4, 4, grid=(8, 8))
    found = [coarse.covering(*fine.centre(window)) for window in range(16)]
    assert found == [0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3]
