"""The strongest cells are those of the whole matrix without the places that are left out."""

import threading

import numpy as np
import pytest

from attnviz import tiles
from attnviz.errors import BadInput, Cancelled
from attnviz.tiles.pyramid import Pyramid
from tests.unit.tiles.test_pyramid import make_call


def expected(weights: np.ndarray, diagonal: int | None, first_keys: int) -> np.ndarray:
    """All weights, strongest first, without those that are left out."""
    query, key = np.indices(weights.shape)
    out = key < first_keys
    if diagonal is not None:
        out |= np.abs(query - key) <= diagonal
    return np.sort(weights[~out])[::-1]


@pytest.mark.parametrize(("diagonal", "first_keys"), [(1, 1), (0, 0), (300, 5), (None, 0)])
@pytest.mark.parametrize("causal", [True, False])
def test_equals_a_full_sort(diagonal: int | None, first_keys: int, causal: bool) -> None:
    call = make_call(701, 701, causal)
    pyramid, weights = tiles.build(call, 1), call.weights(1).numpy()
    found = tiles.strongest(pyramid, 97, diagonal=diagonal, first_keys=first_keys)
    wanted = expected(weights, diagonal, first_keys)[:97]
    np.testing.assert_allclose([cell.weight for cell in found], wanted, atol=1e-6)
    for cell in found:
        assert weights[cell.query, cell.key] == pytest.approx(cell.weight, abs=1e-6)
        assert cell.key >= first_keys
        assert diagonal is None or abs(cell.query - cell.key) > diagonal
    assert len({(cell.query, cell.key) for cell in found}) == 97


def test_uniform_attention_has_no_favourites_and_ends() -> None:
    call = make_call(601, 601, scale=0.0)
    found = tiles.strongest(tiles.build(call, 0), 9)
    assert [cell.weight for cell in found] == pytest.approx([1 / 601] * 9)


def test_only_promising_tiles_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    call = make_call(2311, 2311)
    pyramid, read = tiles.build(call, 0), []
    original = Pyramid.weights

    def counted(self: Pyramid, rows: slice, keys: slice) -> np.ndarray:
        read.append((rows, keys))
        return original(self, rows, keys)

    monkeypatch.setattr(Pyramid, "weights", counted)
    tiles.strongest(pyramid, 5)
    assert 0 < len(read) < 0.6 * 10 * 10


def test_a_text_too_short_for_so_many_gives_what_there_is() -> None:
    call = make_call(5, 5, causal=True)
    found = tiles.strongest(tiles.build(call, 0), 50)
    # causal, further than 1 from the diagonal, not in column 0: (3, 1), (4, 1), (4, 2)
    assert {(cell.query, cell.key) for cell in found} == {(3, 1), (4, 1), (4, 2)}


def test_cancel_and_progress() -> None:
    pyramid, cancel, seen = tiles.build(make_call(701, 701), 0), threading.Event(), []
    tiles.strongest(pyramid, 3, progress=seen.append)
    assert seen == sorted(seen) and seen[-1] == 1
    cancel.set()
    with pytest.raises(Cancelled):
        tiles.strongest(pyramid, 3, cancel=cancel)


@pytest.mark.parametrize("count", [0, -1, 1001])
def test_a_count_that_makes_no_sense(count: int) -> None:
    with pytest.raises(BadInput):
        tiles.strongest(tiles.build(make_call(11, 13), 0), count)
