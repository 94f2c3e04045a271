"""`mergeHead` of head/words.js merges tokens into words as `attnviz.tokens.words.merged` does."""

import numpy as np
import pytest

from attnviz.tokens.words import merged
from tests.support.node import in_node, needs_node
from tests.unit.tokens.test_words import random_words

MERGE = """async ({ values, nKey, queries, keys }) => {
    const { mergeHead } = await load("head/words.js");
    return [...mergeHead(Float32Array.from(values), "f32", nKey, queries, keys)];
}"""


@needs_node
@pytest.mark.parametrize("seed", range(5))
def test_mergehead_merges_as_the_library_does(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_query, n_key = (int(n) for n in rng.integers(2, 60, size=2))
    weights = rng.dirichlet(np.full(n_key, 0.3), size=n_query).astype(np.float32)
    queries, keys = random_words(rng, n_query), random_words(rng, n_key)
    sent = {
        "values": weights.ravel().tolist(),
        "nKey": n_key,
        "queries": [["x", word.start, word.stop] for word in queries],
        "keys": [["x", word.start, word.stop] for word in keys],
    }
    found = np.array(in_node(MERGE, sent)).reshape(len(queries), len(keys))
    np.testing.assert_allclose(found, merged(weights, queries, keys), atol=1e-6)
    np.testing.assert_allclose(found.sum(-1), 1, atol=1e-6)
