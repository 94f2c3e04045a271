"""Rotations recovered from before and after: pairs, factors, and what is none."""

import numpy as np
import pytest

from attnviz.attention.rotary import Rotation, find

HEADS, TOKENS, D_HEAD = 3, 7, 20
EXACT = 1e-5


def drawn(*shape: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def rotated(x: np.ndarray, width: int, halves: bool, stretch: float = 1.0) -> np.ndarray:
    """Position t turns pair i by t · 100^(−2i/width), written out pair by pair."""
    out = x.copy()
    for t in range(x.shape[1]):
        for i in range(width // 2):
            one, other = (i, i + width // 2) if halves else (2 * i, 2 * i + 1)
            angle = t * 100.0 ** (-2 * i / width)
            cos, sin = stretch * np.cos(angle), stretch * np.sin(angle)
            out[:, t, one] = x[:, t, one] * cos - x[:, t, other] * sin
            out[:, t, other] = x[:, t, other] * cos + x[:, t, one] * sin
    return out


@pytest.mark.parametrize("halves", [True, False])
@pytest.mark.parametrize("stretch", [1.0, 1.3])
@pytest.mark.parametrize("width", [20, 10, 8])
def test_a_rotation_is_recovered(width: int, halves: bool, stretch: float) -> None:
    if width < D_HEAD and stretch != 1:
        return  # a model that stretches turns every component
    x = drawn(HEADS, TOKENS, D_HEAD)
    after = rotated(x, width, halves, stretch)
    found = find(x, after, EXACT)
    # neighbours that stay where they are turn by nothing
    assert found == (Rotation("halves", width) if halves else Rotation("neighbours", D_HEAD))
    factors = found.factors(x, after)
    np.testing.assert_allclose(found.rotated(x, factors), after, atol=1e-5)
    np.testing.assert_allclose(np.abs(factors[:, : width // 2]), stretch, atol=1e-4)
    angles = np.angle(factors[1, : width // 2])
    np.testing.assert_allclose(angles, 100.0 ** (-2 * np.arange(width // 2) / width), atol=1e-4)


def test_keys_of_padding_that_are_zero_hide_no_rotation() -> None:
    """As in a batch of two sounds (Dots3 Note): keys without a bias behind a norm of zeros."""
    x = drawn(HEADS, TOKENS, D_HEAD)
    x[:, 4:] = 0
    after = rotated(x, 10, halves=True)
    assert find(x, after, EXACT) == Rotation("halves", 10)
    after[1, 5, 0] = 1e-3
    assert find(x, after, EXACT) is None
    assert find(np.zeros_like(x), np.zeros_like(x), EXACT) is None


def test_the_factors_of_one_head_turn_another() -> None:
    x, rotation = drawn(HEADS, TOKENS, D_HEAD), Rotation("halves", D_HEAD)
    after = rotated(x, D_HEAD, halves=True)
    factors = rotation.factors(x[:2], after[:2])
    np.testing.assert_allclose(rotation.rotated(x[2], factors), after[2], atol=1e-5)


def not_a_rotation() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    x = drawn(HEADS, TOKENS, D_HEAD)
    turned = rotated(x, D_HEAD, halves=True)
    normed = x / np.linalg.norm(x, axis=-1, keepdims=True)
    one_head_else = turned.copy()
    one_head_else[2] = rotated(x[2:, ::-1], D_HEAD, halves=True)[0, ::-1]
    nothing = np.zeros_like(x)
    return {
        "another tensor": (drawn(HEADS, TOKENS, D_HEAD, seed=2), turned),
        "normalised per head before": (x, rotated(normed, D_HEAD, halves=True)),
        "a constant factor": (x, 0.25 * x),
        "nothing turns": (x, x),
        "one head by other angles": (x, one_head_else),
        "one head alone": (x[:1], turned[:1]),
        "zeros": (nothing, nothing),
        "NaN": (x, np.full_like(x, np.nan)),
    }


@pytest.mark.parametrize("name", not_a_rotation())
def test_nothing_else_is_taken_for_one(name: str) -> None:
    assert find(*not_a_rotation()[name], EXACT) is None
