"""Roles over texts on planted heads: shares, both baselines, intervals, and who is awake."""

import numpy as np
import pytest

from attnviz.metrics import describe
from attnviz.metrics.measures import SHARES
from attnviz.metrics.over_texts import (
    TextShares,
    awake,
    bootstrap,
    role_table,
    text_shares,
)
from attnviz.types import Tokens

N = 13
CAUSAL = np.tril(np.ones((N, N), dtype=np.bool_))


def tokens(ids: list[int]) -> Tokens:
    n = len(ids)
    return Tokens(
        text="",
        ids=np.array(ids, dtype=np.int64),
        pieces=("x",) * n,
        labels=("x",) * n,
        offsets=((0, 0),) * n,
        special=np.arange(n) == 0,
        padding=np.zeros(n, dtype=np.bool_),
    )


def previous() -> np.ndarray:
    """A head that gives 0.8 to the token before and the rest to the first one."""
    weights = 0.8 * np.eye(N, k=-1, dtype=np.float32)
    weights[:, 0] += 1 - weights.sum(1)
    return weights


def induction(ids: list[int]) -> np.ndarray:
    """A head that looks behind the latest earlier copy of its token, else at the first one."""
    weights = np.zeros((N, N), dtype=np.float32)
    for query, token in enumerate(ids):
        earlier = [at for at in range(query) if ids[at] == token]
        weights[query, earlier[-1] + 1 if earlier else 0] = 1
    return weights


REPEATED = [0, 1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6]


def shares_of(seed: int) -> TextShares:
    order = 1 + np.random.default_rng(seed).permutation(6)
    ids = [0, *map(int, order), *map(int, order)]
    heads = np.stack(
        [previous(), induction(ids), np.tril(np.ones((N, N))) / np.arange(1, N + 1)[:, None]]
    )
    return text_shares(heads.astype(np.float32), tokens(ids), CAUSAL, seed=seed)


def test_text_shares_of_planted_heads_and_their_even_baseline() -> None:
    table = role_table([shares_of(seed) for seed in range(7)])
    names = table.patterns
    at = {name: names.index(name) for name in names}
    assert table.share.mean[0, at["previous"]] == pytest.approx(0.8, abs=0.03)
    assert table.share.mean[1, at["induction"]] == pytest.approx(1.0)
    # the query at position q of a causal text sees q + 1 keys, the words are 1 … 12
    even = np.mean([1 / (q + 1) for q in range(1, N)])
    assert table.even[at["previous"]] == pytest.approx(even)
    assert table.share.mean[2, at["previous"]] == pytest.approx(even, abs=1e-6)


def test_a_role_holds_where_it_beats_both_baselines() -> None:
    table = role_table([shares_of(seed) for seed in range(7)])
    assert table.roles(0)[0] == "previous"
    assert table.roles(1)[0] == "induction"
    assert table.roles(2) == ()
    at = table.patterns.index("induction")
    assert table.other_words.high[1, at] < 0.5 < table.share.low[1, at]


def test_other_words_is_what_the_same_positions_reach_with_the_words_exchanged() -> None:
    """Of a text of one word, shuffled, it is the share itself: only the positions count there."""
    weights = np.zeros((N, N), dtype=np.float32)
    weights[np.arange(N), np.maximum(np.arange(N) - 5, 0)] = 1
    one = text_shares(weights[None], tokens([0, *[7] * 12]), CAUSAL)
    at = list(SHARES).index("induction")
    assert one.other_words[0, at] == one.share[0, at] > 0.5
    assert np.isnan(one.other_words[0, list(SHARES).index("previous")])


def test_bootstrap_is_the_interval_of_means_and_leaves_texts_without_a_value_out() -> None:
    draws = np.random.default_rng(3)
    values = draws.normal(5.0, 2.0, size=(400, 2))
    interval = bootstrap(values)
    assert np.allclose(interval.mean, values.mean(0))
    half = 1.96 * values.std(0) / np.sqrt(400)
    assert np.allclose(interval.high - interval.low, 2 * half, rtol=0.1)
    values[::2, 0] = np.nan
    values[:, 1] = np.nan
    partly = bootstrap(values)
    assert partly.mean[0] == pytest.approx(np.nanmean(values[:, 0]))
    assert np.isnan([partly.mean[1], partly.low[1], partly.high[1]]).all()
    assert np.array_equal(bootstrap(values).low, partly.low, equal_nan=True)


def test_awake_is_told_from_effects() -> None:
    draws = np.random.default_rng(1)
    effects = draws.normal(0.0, 1.0, size=(20, 3)) * [1.0, 0.3, 0.001]
    found = awake(effects)
    assert found.dormant.tolist() == [False, False, True]
    assert (found.effect.low <= found.effect.mean).all()


def test_describe_names_the_key_that_gets_most_where_no_pattern_holds() -> None:
    weights = np.full((N, N), 0.6 / (N - 1), dtype=np.float32)
    weights[:, 7] = 0.4
    [[role]] = describe(weights[None, None], tokens(list(range(N))))
    assert (role.role, role.key) == ("spread", 7)
    [[held]] = describe(previous()[None, None], tokens(list(range(N))))
    assert (held.role, held.key) == ("previous", None)
