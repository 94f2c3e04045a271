"""Lesson 2: one example from X to the output, and the erratum of a text."""

import numpy as np
import pytest

from attnviz.teach.course.block import WORDS, example
from tests.support.course import card, panel


def test_every_card_goes_on_with_the_same_numbers() -> None:
    first, last = card("block", "mix"), card("block", "softmax")
    values, weights = panel(first, "values").values, panel(last, "weights").values
    np.testing.assert_array_equal(panel(first, "weights").values, weights[3:])
    np.testing.assert_array_equal(panel(card("block", "qkv"), "v").values, values)
    scaled = panel(card("block", "scale"), "scaled").values
    np.testing.assert_array_equal(panel(card("block", "mask"), "scaled").values, scaled)
    np.testing.assert_allclose(
        scaled * np.sqrt(2), panel(card("block", "products"), "scores").values
    )
    output = panel(card("block", "output"), "output").values
    assert output.shape == example(0).x.shape == (len(WORDS), 4)


def test_scores_of_the_future_exist_before_the_mask() -> None:
    masked = card("block", "mask")
    future = np.triu_indices(4, 1)
    assert (panel(masked, "scaled").values[future] != 0).any()
    assert np.isneginf(panel(masked, "masked").values[future]).all()


def test_the_output_is_what_torch_computes() -> None:
    import torch

    steps = example(0)
    tensors = [torch.from_numpy(x) for x in (steps.heads[0].q, steps.heads[0].k, steps.heads[0].v)]
    q, k, v = (tensor[None, None] for tensor in tensors)
    mixed = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    np.testing.assert_allclose(steps.heads[0].mixed, mixed[0, 0].numpy())
    assert steps.heads[0].weights[3].argmax() == 1, "“tired” finds “cat”"


def test_the_printed_terms_give_the_printed_result() -> None:
    for seed in range(3):
        numbers = card("block", "mix", seed).numbers
        terms = str(numbers["terms"]).replace("−", "-").split(" + ")
        printed = sum(
            float(weight) * float(value) for weight, value in (t.split("·") for t in terms)
        )
        assert f"{printed:.2f}" == f"{float(numbers['mixed']):.2f}"


def test_a_picture_does_not_count_the_open_cells() -> None:
    assert panel(card("block", "mask"), "masked").hidden


def test_rank_keeps_what_the_nearest_scores_of_that_rank_keep() -> None:
    """By power: the residual of the best rank-8 matrix, built; and a circle has rank 2."""
    numbers = card("block", "rank").numbers
    random = np.random.default_rng(0).normal(size=(64, 64))
    left, sizes, right = np.linalg.svd(random)
    nearest = (left[:, :8] * sizes[:8]) @ right[:8]
    assert np.linalg.matrix_rank(nearest) == 8
    lost = ((random - nearest) ** 2).sum() / (random**2).sum()
    assert float(numbers["kept"]) == pytest.approx(1 - lost)
    assert 0.95 < float(numbers["pointed"]) < 1 and numbers["heads"] == 8
