"""Head roles on planted heads: weights made so that the right answer is known."""

import numpy as np
import pytest

from attnviz import metrics
from attnviz.errors import BadInput
from attnviz.metrics import patterns, roles
from attnviz.types import Tokens
from tests.support.calls import call, capture

N = 11


def tokens(n: int = N, ids: list[int] | None = None, n_padding: int = 0) -> Tokens:
    special = np.zeros(n, dtype=np.bool_)
    special[0] = True
    special[n - n_padding - 1 :] = True
    padding = np.zeros(n, dtype=np.bool_)
    padding[n - n_padding :] = n_padding > 0
    return Tokens(
        text="",
        ids=np.array(ids or range(n), dtype=np.int64),
        pieces=("x",) * n,
        labels=("x",) * n,
        offsets=((0, 0),) * n,
        special=special,
        padding=padding,
    )


def planted(pattern: metrics.PatternName, of: Tokens, share: float) -> np.ndarray:
    """One head that gives `share` of each row to the pattern and the rest evenly to real keys."""
    keys = metrics.pattern_keys(pattern, of).astype(np.float32)
    count = keys.sum(axis=1, keepdims=True)
    real = np.tile((~of.padding).astype(np.float32), (len(of), 1))
    even = real / real.sum(axis=1, keepdims=True)
    on_pattern = np.divide(keys, count, out=even.copy(), where=count > 0)
    return (share * on_pattern + (1 - share) * even)[None, None].astype(np.float32)


@pytest.mark.parametrize("pattern", metrics.PATTERNS)
def test_a_planted_head_is_named_after_its_pattern(pattern: metrics.PatternName) -> None:
    ids = [0, 1, 2, 3, 1, 2, 3, 1, 2, 3, 9]  # every word has twins, for "same"
    of = tokens(ids=ids)
    [[role]] = metrics.describe(planted(pattern, of, 0.9), of)
    assert role.role == pattern
    assert role.fraction >= 0.9
    assert role.fraction > roles.MIN_RATIO * role.baseline


def test_uniform_attention_is_spread_and_scores_its_own_baseline() -> None:
    of = tokens()
    even = np.full((1, 1, N, N), 1 / N, dtype=np.float32)
    [[role]] = metrics.describe(even, of)
    assert role.role == "spread"
    table = metrics.scores(even, of)
    np.testing.assert_allclose(table.fractions[0, 0], table.baselines[0], rtol=1e-5)


def test_fraction_by_hand() -> None:
    # [CLS] a b [SEP]: the words ask; a gives 0.5 to its previous token, b gives 0.7
    weights = np.array(
        [[1, 0, 0, 0], [0.5, 0.25, 0.25, 0], [0.1, 0.7, 0.1, 0.1], [1, 0, 0, 0]], dtype=np.float32
    )[None, None]
    table = metrics.scores(weights, tokens(4))
    fraction = dict(zip(table.patterns, table.fractions[0, 0], strict=True))
    assert fraction["previous"] == pytest.approx((0.5 + 0.7) / 2)
    assert fraction["first"] == pytest.approx((0.5 + 0.1) / 2)
    assert fraction["separator"] == pytest.approx((0.0 + 0.1) / 2)
    assert np.isnan(fraction["same"])  # no word occurs twice


def test_heads_that_rest_on_the_first_token_are_told_apart_by_the_rest() -> None:
    of = tokens()
    resting = 0.8 * planted("first", of, 1.0) + 0.2 * planted("previous", of, 1.0)
    [[role]] = metrics.describe(resting.astype(np.float32), of)
    assert role.role == "first"
    assert role.rest is not None
    assert role.rest.role == "previous"
    assert role.rest.fraction > 0.85


def test_padding_neither_asks_nor_answers() -> None:
    of = tokens(n_padding=4)
    assert not metrics.pattern_keys("next", of)[:, of.padding].any()
    assert not patterns.counted_queries(of)[of.padding].any()
    [[role]] = metrics.describe(planted("next", of, 0.9), of)
    assert role.role == "next"


def test_the_weights_are_left_as_they_were() -> None:
    of = tokens()
    weights = planted("first", of, 0.8)
    before = weights.copy()
    metrics.describe(weights, of)
    np.testing.assert_array_equal(weights, before)


# --- captures: chance is taken from the mask of each call ----------------------------------------


def test_score_takes_chance_from_the_mask_of_each_call() -> None:
    table = metrics.score(capture(call(0, n_query=4), call(1, n_query=4, causal=True)))
    baseline = {name: table.baselines[:, place] for place, name in enumerate(metrics.PATTERNS)}
    # without a mask each of 4 keys gets 1/4; under a causal mask row i gives 1/(i + 1) to each
    assert baseline["first"].tolist() == pytest.approx([1 / 4, (1 + 1 / 2 + 1 / 3 + 1 / 4) / 4])
    assert baseline["previous"].tolist() == pytest.approx([1 / 4, (1 / 2 + 1 / 3 + 1 / 4) / 3])
    assert baseline["next"][0] == pytest.approx(1 / 4)
    assert np.isnan(baseline["next"][1]) and np.isnan(table["next"][1]).all()


def test_score_and_describe_agree_on_fraction_and_chance() -> None:
    cap = capture(
        *(call(layer, n_query=10, n_head=8, causal=True, scaling=2.0) for layer in range(3))
    )
    causal = np.tril(np.ones((3, 10, 10), dtype=np.bool_))
    table = metrics.score(cap)
    roles_by_layer = metrics.describe(cap.all_weights(), cap.tokens, visible=causal)
    assert metrics.describe(cap) == roles_by_layer
    assert metrics.describe(cap.all_weights(), cap.tokens) != roles_by_layer, "no case"
    named = [
        (layer, head, role)
        for layer, roles_of_layer in enumerate(roles_by_layer)
        for head, role in enumerate(roles_of_layer)
        if role.role not in ("spread", "token")
    ]
    assert named, "no head of these follows a pattern: no case"
    for layer, head, role in named:
        place = metrics.PATTERNS.index(role.role)
        assert role.fraction == pytest.approx(float(table.fractions[layer, head, place]))
        assert role.baseline == pytest.approx(float(table.baselines[layer, place]))


def column(key: int, weights: np.ndarray) -> np.ndarray:
    """One head whose queries give one key these weights, and the rest evenly to the others."""
    head = np.repeat((1 - weights)[:, None] / (N - 1), N, axis=1)
    head[:, key] = weights
    return head[None, None].astype(np.float32)


def test_a_head_whose_words_attend_to_one_word_is_named_after_it() -> None:
    [[role]] = metrics.describe(column(4, np.full(N, 0.4)), tokens())
    assert (role.role, role.key) == ("token", 4)
    assert role.fraction == pytest.approx(0.4)
    assert role.baseline == pytest.approx(1 / N)
    [[first]] = metrics.describe(column(0, np.full(N, 0.4)), tokens())
    assert (first.role, first.key) == ("first", None)


def test_some_strong_rows_are_no_habit_of_a_head() -> None:
    weights = np.full(N, 0.05)
    weights[2:6] = 0.9  # four of nine words
    [[role]] = metrics.describe(column(4, weights), tokens())
    assert (role.role, role.key) == ("spread", 4)
    weights[6] = 0.9
    [[role]] = metrics.describe(column(4, weights), tokens())
    assert (role.role, role.key) == ("token", 4)


def test_a_causal_mask_leaves_the_even_share_of_those_who_see_the_word() -> None:
    causal = np.tril(np.ones((1, N, N), dtype=np.bool_))
    head = np.where(causal[0], 1.0, 0.0) / causal[0].sum(axis=1, keepdims=True)
    head[3:, 3] += 0.5
    head /= head.sum(axis=1, keepdims=True)
    [[role]] = metrics.describe(head[None, None].astype(np.float32), tokens(), visible=causal)
    assert (role.role, role.key) == ("token", 3)
    assert role.fraction == pytest.approx(head[3 : N - 1, 3].mean())
    assert role.baseline == pytest.approx(np.mean([1 / (row + 1) for row in range(3, N - 1)]))
    clear = sum(head[row, 3] >= 2 / (row + 1) for row in range(3, N - 1))
    assert role.rows == (clear, N - 4)  # the last token is a separator, whose row does not count


def test_describe_takes_a_capture_alone_and_an_array_with_tokens() -> None:
    cap = capture(call(0, n_head=2, n_query=6), call(1, n_head=3, n_query=4))
    assert [len(layer) for layer in metrics.describe(cap)] == [2, 3]
    with pytest.raises(BadInput, match=r"a capture has its own; leave it out"):
        metrics.describe(cap, cap.tokens)
    with pytest.raises(BadInput, match=r"describe\(cap\), or an array with its tokens"):
        metrics.describe(np.zeros((1, 1, 2, 2), dtype=np.float32))


def test_score_takes_layers_that_differ_in_heads_and_tokens() -> None:
    table = metrics.score(capture(call(0, n_head=2, n_query=6), call(1, n_head=3, n_query=4)))
    assert table.fractions.shape == (2, 3, len(metrics.PATTERNS))
    assert np.isnan(table["self"][0, 2]) and np.isfinite(table["self"][1]).all()


def test_score_refuses_an_array_and_names_the_function_for_it() -> None:
    with pytest.raises(BadInput, match=r"score\(\) takes a Capture.*metrics\.scores\(weights"):
        metrics.score(np.zeros((1, 1, 2, 2), dtype=np.float32))


def test_scores_refuse_a_pattern_that_does_not_exist() -> None:
    with pytest.raises(BadInput, match="pattern is 'induction'; give one of previous, next"):
        metrics.score(capture(call(0)))["induction"]
