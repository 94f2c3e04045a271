"""Codes keep a weight to half a step of 24/255 octaves, and pooling never loses the largest."""

import math

import numpy as np
import pytest
import torch

from attnviz.tiles.pyramid import MAX_CODE, OCTAVES, bound, decoded, encoded, halved, pooled

HALF_STEP = 0.5 * OCTAVES / MAX_CODE


def test_codes_by_hand() -> None:
    weights = torch.tensor([[1.0, 0.5, 2.0**-24, 2.0**-25, 0.0]])
    codes = encoded(weights.log())
    # 255 · (1 − octaves below 1 / 24): 255, 244.4 → 244, 0, below the scale, nothing at all
    assert codes.tolist() == [[255, 244, 0, 0, 0]]
    assert decoded(np.array([255, 0], dtype=np.uint8)).tolist() == [1.0, 0.0]


def test_a_code_is_at_most_half_a_step_away() -> None:
    weights = torch.logspace(-7, 0, 4999)[None]
    codes = encoded(weights.log()).numpy()
    off = np.abs(np.log2(decoded(codes)) - np.log2(weights.numpy()))
    assert off.max() <= HALF_STEP + 1e-4
    assert off.max() > 0.9 * HALF_STEP  # the claim is not looser than it must be
    assert all(w <= bound(int(c)) for w, c in zip(weights[0].tolist(), codes[0], strict=True))


@pytest.mark.parametrize("factor", [1, 2, 8])
@pytest.mark.parametrize("shape", [(13, 29), (16, 32), (1, 7)])
def test_pooling_takes_the_largest_also_at_the_edges(shape: tuple[int, int], factor: int) -> None:
    values = torch.randn(shape, generator=torch.Generator().manual_seed(3))
    found = pooled(values, factor)
    down, across = (math.ceil(size / factor) for size in shape)
    assert found.shape == (down, across)
    for row in range(down):
        for column in range(across):
            part = values[row * factor : (row + 1) * factor, column * factor :][:, :factor]
            assert found[row, column] == part.max()


def test_halving_takes_the_largest_also_at_the_edges() -> None:
    codes = np.array([[1, 2, 3], [4, 0, 9], [7, 5, 6]], dtype=np.uint8)
    assert halved(codes).tolist() == [[4, 9], [7, 6]]
