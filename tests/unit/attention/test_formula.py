"""The formulas against numbers worked by hand, and against torch's own attention."""

import math

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from attnviz import masks
from attnviz.attention import formula

E = math.e


def test_weights_give_a_sink_its_share_once() -> None:
    """softmax(0, 0, ln 2) = ¼ ¼ ½ without the last: one sink of each row, for all heads."""
    masked = torch.zeros(3, 5, 2)
    shares = formula.weights(masked, torch.tensor(math.log(2)).expand(3, 1, 1))
    assert shares.shape == (3, 5, 2)
    torch.testing.assert_close(shares, torch.full((3, 5, 2), 0.25))
    blind = formula.weights(torch.full((1, 2), -math.inf), torch.zeros(1, 1))
    assert blind.tolist() == [[0.0, 0.0]]


def test_two_tokens_by_hand() -> None:
    q = torch.tensor([[1.0, 0.0], [0.0, 2.0]])
    k = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    v = torch.tensor([[10.0, 0.0], [0.0, 20.0]])

    scores = formula.scores(q, k)
    # row 0: [1·1 + 0·0, 1·0 + 0·1], row 1: [0·1 + 2·0, 0·0 + 2·1]
    assert scores.tolist() == [[1.0, 0.0], [0.0, 2.0]]
    scaled = formula.scaled(scores, 0.5)
    assert scaled.tolist() == [[0.5, 0.0], [0.0, 1.0]]
    weights = formula.weights(formula.masked(scaled, None))
    half = E**0.5 / (E**0.5 + 1)  # softmax(½, 0)
    one = E / (1 + E)  # softmax(0, 1)
    expected = torch.tensor([[half, 1 - half], [1 - one, one]])
    torch.testing.assert_close(weights, expected)
    mixed = formula.mixed(weights, v)
    by_hand = [[10 * half, 20 * (1 - half)], [10 * (1 - one), 20 * one]]
    torch.testing.assert_close(mixed, torch.tensor(by_hand))


def test_three_tokens_under_a_causal_mask_by_hand() -> None:
    scaled = torch.tensor([[9.0, 9.0, 9.0], [0.0, 1.0, 9.0], [0.0, 0.0, math.log(2.0)]])
    masked = formula.masked(scaled, masks.causal(3))
    assert masked[0].tolist() == [9.0, -math.inf, -math.inf]
    assert masked[1].tolist() == [0.0, 1.0, -math.inf]
    weights = formula.weights(masked)
    # row 0 has one key; row 1 is softmax(0, 1); row 2 is 1 : 1 : 2
    expected = [[1, 0, 0], [1 / (1 + E), E / (1 + E), 0], [0.25, 0.25, 0.5]]
    torch.testing.assert_close(weights, torch.tensor(expected, dtype=torch.float32))


@pytest.mark.parametrize("blocked", [False, True], ids=["open", "masked"])
def test_equals_torch_attention(blocked: bool) -> None:
    # every axis its own prime: no transposition can pass
    n_head, n_query, n_key, d_head, d_value = 3, 5, 7, 11, 13
    draw = torch.Generator().manual_seed(17)
    q = torch.randn(n_head, n_query, d_head, generator=draw)
    k = torch.randn(n_head, n_key, d_head, generator=draw)
    v = torch.randn(n_head, n_key, d_value, generator=draw)
    may_attend = torch.rand(n_query, n_key, generator=draw) > 0.4 if blocked else None
    scaling = d_head**-0.5

    masked = formula.masked(formula.scaled(formula.scores(q, k), scaling), may_attend)
    mixed = formula.mixed(formula.weights(masked), v)

    theirs = scaled_dot_product_attention(q, k, v, attn_mask=may_attend, scale=scaling)
    torch.testing.assert_close(mixed, theirs)
    torch.testing.assert_close(formula.weights(masked).sum(-1), torch.ones(n_head, n_query))


def test_a_row_without_any_key_gets_no_weight_as_in_the_fused_kernel() -> None:
    q, k, v = torch.ones(1, 2, 3), torch.ones(1, 2, 3), torch.ones(1, 2, 3)
    may_attend = torch.tensor([[True, False], [False, False]])
    masked = formula.masked(formula.scores(q, k), may_attend)
    assert formula.weights(masked)[0, 1].tolist() == [0.0, 0.0]
    theirs = scaled_dot_product_attention(q, k, v, attn_mask=may_attend)
    torch.testing.assert_close(formula.mixed(formula.weights(masked), v), theirs)


def test_nan_scores_stay_nan() -> None:
    assert formula.weights(torch.tensor([[math.nan, 0.0]])).isnan().all()
