"""Every level of a pyramid against the whole matrix, at sizes that no tile divides."""

import dataclasses
import threading

import numpy as np
import pytest
import torch

from attnviz import tiles
from attnviz.attention import memory
from attnviz.attention.call import AttentionCall
from attnviz.attention.inputs import AttentionInputs
from attnviz.attention.stored_weights import StoredWeights
from attnviz.errors import BadInput, Cancelled
from attnviz.tiles.pyramid import KEPT, TILE, Pyramid, top_level

HALF_STEP = 0.5 * tiles.OCTAVES / 255
HEADS, D_HEAD = 3, 5


def make_call(n_query: int, n_key: int, causal: bool = False, scale: float = 1.5) -> AttentionCall:
    """A call with random q and k whose heads and rows differ."""
    draw = torch.Generator().manual_seed(n_query)
    q = torch.randn(1, HEADS, n_query, D_HEAD, generator=draw) * scale
    k = torch.randn(1, HEADS, n_key, D_HEAD, generator=draw) * scale
    inputs = AttentionInputs(q, k, k.clone(), None, causal, D_HEAD**-0.5)
    return AttentionCall("m", 0, 0, None, "self", inputs, torch.zeros(1, n_query, HEADS, D_HEAD))


def pooled_weights(weights: np.ndarray, factor: int, row: int, column: int) -> np.ndarray:
    """The maxima of one tile, straight from the whole matrix."""
    side = TILE * factor
    whole = np.zeros((side, side), dtype=np.float32)
    part = weights[row * side : (row + 1) * side, column * side : (column + 1) * side]
    whole[: part.shape[0], : part.shape[1]] = part
    return whole.reshape(TILE, factor, TILE, factor).max(axis=(1, 3))


def assert_tiles_are_maxima(pyramid: Pyramid, weights: np.ndarray) -> None:
    for level in range(pyramid.top + 1):
        for row in range(pyramid.tiles(level)[0]):
            for column in range(pyramid.tiles(level)[1]):
                expected = pooled_weights(weights, 1 << level, row, column)
                found = tiles.decoded(pyramid.tile(level, row, column))
                seen = expected > 2.0**-23
                with np.errstate(divide="ignore"):
                    off = np.abs(np.log2(found[seen]) - np.log2(expected[seen]))
                assert seen.any() == (off.size > 0) and (off <= HALF_STEP + 1e-3).all()
                assert not found[expected == 0].any()


@pytest.mark.some(2)
@pytest.mark.parametrize(
    ("n_query", "n_key", "causal"),
    [(701, 701, True), (701, 1103, False), (37, 521, False), (2311, 2311, True), (3, 7, False)],
)
def test_all_tiles_hold_the_maxima(n_query: int, n_key: int, causal: bool) -> None:
    call = make_call(n_query, n_key, causal)
    pyramid, weights = tiles.build(call, 1), call.weights(1).numpy()
    assert pyramid.tiles(pyramid.top) == (1, 1)
    assert_tiles_are_maxima(pyramid, weights)


def test_a_wrong_matrix_is_noticed() -> None:
    call = make_call(701, 701)
    with pytest.raises(AssertionError):
        assert_tiles_are_maxima(tiles.build(call, 1), call.weights(2).numpy())


def test_exact_values() -> None:
    call = make_call(701, 523)
    pyramid, weights = tiles.build(call, 2), call.weights(2).numpy()
    block = pyramid.weights(slice(250, 300), slice(500, 523))
    np.testing.assert_allclose(block, weights[250:300, 500:523], atol=1e-6)
    np.testing.assert_allclose(pyramid.row(700), weights[700], atol=1e-6)
    assert pyramid.exact(699, 522) == pytest.approx(weights[699, 522], abs=1e-6)
    assert pyramid.row(0).sum() == pytest.approx(1, abs=1e-5)


def test_large_scores_lose_no_digits() -> None:
    # scores beyond 1000: a single log-sum-exp in float32 would be off by 1e-4 here
    call = make_call(301, 301, scale=30.0)
    weights = call.weights(0).numpy()
    assert float(call.inputs.masked(0).max()) > 1000
    found = tiles.build(call, 0).weights(slice(None), slice(None))
    np.testing.assert_allclose(found, weights, atol=1e-6)


def test_weights_that_were_stored_are_shown_too() -> None:
    kept = torch.softmax(torch.randn(1, HEADS, 301, 301), dim=-1)
    call = make_call(301, 301)
    stored = dataclasses.replace(call, inputs=StoredWeights(kept))
    pyramid = tiles.build(stored, 1)
    np.testing.assert_allclose(
        pyramid.weights(slice(None), slice(None)), kept[0, 1].numpy(), rtol=1e-5
    )
    assert_tiles_are_maxima(pyramid, kept[0, 1].numpy())


def test_the_rest_of_the_call_can_be_freed() -> None:
    call = make_call(4099, 4099)
    pyramid = tiles.build(call, 0)
    assert isinstance(pyramid.inputs, AttentionInputs)
    kept = {t.untyped_storage().data_ptr() for t in pyramid.inputs.tensors()}
    assert not kept & {t.untyped_storage().data_ptr() for t in memory.tensors(call)}
    # q, k: 4099·5 floats each; two numbers a row; 513² codes and a third of that above
    assert pyramid.nbytes < 2 * 4099 * 5 * 4 + 2 * 4099 * 4 + 1.4 * 513**2
    assert pyramid.nbytes < 4 * 4099**2 / 100  # a hundredth of the matrix


def test_progress_rises_to_one_and_cancel_stops() -> None:
    call = make_call(1301, 1301)
    seen: list[float] = []
    tiles.build(call, 0, progress=seen.append)
    assert seen == sorted(seen) and len(seen) == 6 and seen[-1] == 1
    cancel, after = threading.Event(), []

    def stop_at_second(fraction: float) -> None:
        after.append(fraction)
        if len(after) == 2:
            cancel.set()

    with pytest.raises(Cancelled):
        tiles.build(call, 0, progress=stop_at_second, cancel=cancel)
    assert len(after) == 2


@pytest.mark.parametrize(
    ("tile", "code"),
    [((4, 0, 0), "bad_level"), ((-1, 0, 0), "bad_level"), ((0, 3, 0), "bad_tile")],
)
def test_a_tile_that_does_not_exist(tile: tuple[int, int, int], code: str) -> None:
    pyramid = tiles.build(make_call(701, 701), 0)
    with pytest.raises(BadInput) as raised:
        pyramid.tile(*tile)
    assert raised.value.code == code


def test_other_places_that_do_not_exist() -> None:
    pyramid = tiles.build(make_call(11, 13), 0)
    for wrong in (lambda: pyramid.exact(11, 0), lambda: pyramid.exact(0, 13)):
        with pytest.raises(BadInput):
            wrong()
    with pytest.raises(BadInput):
        tiles.build(make_call(11, 13), HEADS)


def test_the_top_is_one_tile_and_the_level_below_is_not() -> None:
    assert [top_level(n, n) for n in (1, 256, 257, 512, 513, 16_384, 16_385)] == [
        *(0, 0, 1, 1, 2, 6, 7)
    ]
    assert top_level(3, 4096) == 4
    assert KEPT in tiles.build(make_call(11, 13), 0).kept
