"""One constant between a layer's output and what a call used: found, and what is none."""

import numpy as np
import pytest
import torch

from attnviz.capture.locate import scale

HEADS, TOKENS, D_HEAD = 3, 7, 5
S = 0.447


def drawn(*shape: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


@pytest.mark.parametrize("factor", [S, -2.0, 1 / 64])
def test_the_factor_of_all_heads_is_measured(factor: float) -> None:
    blocks = drawn(HEADS, TOKENS, D_HEAD)
    found = scale.find(blocks, np.float32(factor) * blocks, torch.float32)
    assert found is not None and found.order == (0, 1, 2)
    assert found.factor == pytest.approx(factor, rel=1e-7)


def test_heads_of_a_fused_layer_are_found_by_their_direction() -> None:
    blocks = drawn(11, TOKENS, D_HEAD)
    found = scale.find(blocks, np.float32(S) * blocks[[7, 2, 5]], torch.float32)
    assert found is not None and found.order == (7, 2, 5)


def test_a_copy_has_the_factor_one() -> None:
    blocks = drawn(HEADS, TOKENS, D_HEAD)
    assert scale.find(blocks, blocks.copy(), torch.float32) == scale.Multiple((0, 1, 2), 1.0)
    twice_rounded = (blocks * np.float32(3)) / np.float32(3)
    found = scale.find(blocks, twice_rounded, torch.float32)
    assert found is not None and found.factor == 1.0


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_rounds_more(dtype: torch.dtype) -> None:
    layer = torch.from_numpy(drawn(HEADS, TOKENS, D_HEAD)).to(dtype)
    pair = [x.float().numpy() for x in (layer, layer * S)]
    found = scale.find(pair[0], pair[1], dtype)
    assert found is not None and found.factor == pytest.approx(S, rel=4e-3)
    assert scale.find(pair[0], pair[1], torch.float32) is None


def no_multiple() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    x = drawn(HEADS, TOKENS, D_HEAD)
    by_head, by_token, by_component, one_off = (np.float32(S) * x for _ in range(4))
    by_head[2] *= np.float32(1.001)
    by_token[:, 6] *= np.float32(1.001)
    by_component[:, :, 4] *= np.float32(1.001)
    one_off[1, 3, 2] += np.float32(1e-5)
    return {
        "another factor for one head": (x, by_head),
        "another factor for one token": (x, by_token),
        "another factor for one component": (x, by_component),
        "one number off": (x, one_off),
        "another tensor": (x, drawn(HEADS, TOKENS, D_HEAD, seed=2)),
        "a shift": (x, np.float32(S) * x + np.float32(0.01)),
        "all zero": (x, np.zeros_like(x)),
        "zeros made into something": (np.zeros_like(x), x),
        "NaN": (x, np.full_like(x, np.nan)),
        "two numbers": (x[:1, :1, :2], np.float32(S) * x[:1, :1, :2]),
        "fewer blocks than heads": (x[:1], np.float32(S) * x),
        "two heads of one block": (
            drawn(11, TOKENS, D_HEAD),
            S * drawn(11, TOKENS, D_HEAD)[[4, 4]],
        ),
    }


@pytest.mark.parametrize("name", no_multiple())
def test_nothing_else_is_taken_for_one(name: str) -> None:
    before, after = no_multiple()[name]
    assert scale.find(before, after, torch.float32) is None


def test_all_tokens_of_all_rows_have_to_agree() -> None:
    output = torch.from_numpy(drawn(2, TOKENS, 4 * D_HEAD))
    heads = output.unflatten(-1, (4, D_HEAD)).transpose(1, 2)[:, [2, 0, 3]]
    found = scale.Multiple((2, 0, 3), S)
    assert scale.holds(found, output, S * heads)
    cached = torch.cat([torch.zeros(2, 3, 4, D_HEAD), S * heads], dim=2)  # older keys stand before
    assert scale.holds(found, output, cached)
    wrong = S * heads
    wrong[1, 2, 5, 1] *= 1.001
    assert not scale.holds(found, output, wrong)
    whole = S * output.unflatten(-1, (4, D_HEAD)).transpose(1, 2)
    assert scale.holds(scale.Multiple((0, 1, 2, 3), S), output, whole)
