"""`rebuilt`: scores and weights made of other numbers, and what is left as it is."""

import numpy as np

import attnviz
from attnviz.files.saved_page.rebuilt import NEAR, blocked, differ, products, rebuilt_stage, softmax

RANDOM = np.random.default_rng(0)


def test_scores_masked_scores_and_weights_of_a_model_are_predicted() -> None:
    cap = attnviz.capture("stories", "Lily gave the red ball to Tom and")
    stages = {view.stage: view.values for view in cap.head("L2.H1").views()}
    n_tokens = len(cap.tokens)
    stages["blocked"] = np.triu(np.ones((n_tokens, n_tokens), np.uint8), 1)
    rules = {name: rebuilt_stage(name, stages) for name in ("scores", "masked", "weights")}
    for made, rule in zip(rules.values(), ("products", "blocked", "softmax"), strict=True):
        assert made is not None and made.rule == rule
        assert made.differences.far.size <= n_tokens
    assert rebuilt_stage("mixed", stages) is None


def test_a_stage_that_no_rule_predicts_is_kept_as_it_is() -> None:
    query, key = (RANDOM.standard_normal((40, 8)).astype(np.float32) for _ in range(2))
    other = RANDOM.standard_normal((40, 40)).astype(np.float32)
    assert rebuilt_stage("scores", {"q": query, "k": key, "scores": other}) is None
    assert rebuilt_stage("scores", {"q": query, "k": key, "scores": other[:, :39]}) is None
    assert rebuilt_stage("weights", {"weights": other}) is None


def test_weights_beside_a_sink_are_kept_as_they_are() -> None:
    masked = RANDOM.standard_normal((40, 40)).astype(np.float32)
    weights = softmax(masked) * np.float32(0.7)  # a sink takes the rest of each row
    assert rebuilt_stage("weights", {"masked": masked, "weights": weights}) is None


def test_softmax_is_that_of_doubles_and_zero_where_nothing_is_seen() -> None:
    masked = (30 * RANDOM.standard_normal((50, 60))).astype(np.float32)
    masked[3], masked[:, 5] = -np.inf, -np.inf
    made = softmax(masked)
    assert not made[3].any() and not made[:, 5].any()
    seen = np.delete(masked, 3, axis=0).astype(np.float64)
    powers = np.exp(seen - seen.max(axis=1, keepdims=True))
    expected = powers / powers.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(np.delete(made, 3, axis=0), expected, rtol=1e-6, atol=1e-38)


def test_products_and_blocked_cells() -> None:
    query, key = (RANDOM.standard_normal((5, 8)).astype(np.float32) for _ in range(2))
    scores = products(query, key)
    np.testing.assert_allclose(scores, query @ key.T, rtol=1e-5, atol=1e-6)
    bits = np.eye(5, dtype=np.uint8) * 4
    assert (np.isneginf(blocked(scores, bits)) == (bits > 0)).all()


def test_differences_restore_every_bit() -> None:
    predicted = np.linspace(-2, 2, 4096, dtype=np.float32)
    exact = (predicted.view(np.int32) + RANDOM.integers(-NEAR, NEAR + 1, 4096)).astype(np.int32)
    exact[[3, 700]] = np.float32([np.nan, -np.inf]).view(np.int32)
    made = differ(exact.view(np.float32), predicted)
    assert made is not None and len(made.far) == 2
    steps = np.where(made.near, made.near.astype(np.int64) - NEAR - 1, 0)
    bits = predicted.view(np.int32) + steps
    bits[made.near == 0] += made.far
    assert (bits.astype(np.int32) == exact).all()
    assert differ(exact[:, None].view(np.float32), predicted) is None
