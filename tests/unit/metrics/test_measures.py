"""The numbers that heads are sorted by, on heads made so that the right number is known."""

import math

import numpy as np
import pytest

from attnviz import metrics
from attnviz.metrics.measures import SHARES, UNITS, induction_keys, measured
from attnviz.types import MEASURES, Tokens
from tests.unit.metrics.test_roles import planted, tokens

IDS = [0, 1, 2, 3, 1, 2, 3, 1, 2, 3, 9]


def test_measures_are_the_patterns_and_four_more() -> None:
    assert MEASURES == (*metrics.PATTERNS, "induction", "entropy", "distance", "peak")
    assert SHARES == MEASURES[:7]
    assert {name for name in MEASURES if UNITS[name] == "share"} == {*SHARES, "peak"}


@pytest.mark.parametrize("pattern", metrics.PATTERNS)
def test_a_pattern_measures_what_its_score_is(pattern: metrics.PatternName) -> None:
    of = tokens(ids=IDS)
    weights = np.concatenate([planted(pattern, of, 0.9), planted("self", of, 0.5)], axis=1)
    table = metrics.scores(weights, of)
    expected = table.fractions[..., table.patterns.index(pattern)]
    np.testing.assert_allclose(measured(weights, of)[pattern], expected, rtol=1e-6)


def test_by_hand() -> None:
    # [CLS] a b [SEP]; a asks with (0.5, 0.25, 0.25, 0), b with (0, 0, 1, 0)
    weights = np.array(
        [[1, 0, 0, 0], [0.5, 0.25, 0.25, 0], [0, 0, 1, 0], [1, 0, 0, 0]], dtype=np.float32
    )[None, None]
    found = {name: float(values[0, 0]) for name, values in measured(weights, tokens(4)).items()}
    assert found["entropy"] == pytest.approx((0.5 * 1 + 0.25 * 2 + 0.25 * 2 + 0) / 2)
    assert found["distance"] == pytest.approx((0.5 * 1 + 0.25 * 1 + 0) / 2)
    assert found["peak"] == pytest.approx((0.5 + 1) / 2)
    assert math.isnan(found["induction"])  # no word comes twice


def test_induction_keys_follow_an_earlier_copy() -> None:
    of = tokens(7, ids=[0, 5, 6, 5, 7, 5, 9])
    keys = induction_keys(of)
    assert np.flatnonzero(keys[1]).tolist() == []
    assert np.flatnonzero(keys[3]).tolist() == [2]  # after the 5 at 1 stands position 2
    assert np.flatnonzero(keys[5]).tolist() == [2, 4]
    weights = np.zeros((1, 1, 7, 7), dtype=np.float32)
    weights[..., 0] = 1.0
    weights[0, 0, 3, :3] = (0.4, 0, 0.6)
    weights[0, 0, 5, :5] = (0.1, 0, 0.2, 0, 0.7)
    assert measured(weights, of)["induction"][0, 0] == pytest.approx((0.6 + 0.9) / 2)


def test_what_no_query_can_see_is_no_number() -> None:
    of = tokens()
    causal = np.tril(np.ones((1, len(of), len(of)), dtype=np.bool_))
    found = measured(planted("previous", of, 0.9), of, visible=causal)
    assert np.isnan(found["next"]).all()
    assert np.isfinite(found["previous"]).all()


def test_two_texts_have_no_positions_to_compare() -> None:
    queries, keys = tokens(5), tokens(7)
    even = np.full((2, 3, 5, 7), 1 / 7, dtype=np.float32)
    found = measured(even, queries, keys)
    for name in ("previous", "next", "self", "distance", "induction"):
        assert np.isnan(found[name]).all(), name
    np.testing.assert_allclose(found["entropy"], np.full((2, 3), math.log2(7)), rtol=1e-6)


def test_padding_neither_asks_nor_answers() -> None:
    long, short = tokens(9, n_padding=4), tokens(5)
    weights = np.zeros((1, 1, 9, 9), dtype=np.float32)
    weights[..., :5, :5] = planted("same", short, 0.5)
    weights[..., 5:, 8] = 1.0
    wide, narrow = measured(weights, long), measured(weights[..., :5, :5].copy(), short)
    for name in MEASURES:
        np.testing.assert_allclose(wide[name], narrow[name], err_msg=name)


def test_tokens_without_words_are_measured_all_the_same() -> None:
    of = tokens(2)
    assert isinstance(of, Tokens)
    found = measured(np.full((1, 1, 2, 2), 0.5, dtype=np.float32), of)
    assert found["entropy"][0, 0] == pytest.approx(1.0)
