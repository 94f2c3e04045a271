"""`Why.without` against the softmax of the row's scores, pair by pair."""

import numpy as np
import pytest

import attnviz

STORE = "When Mary and John went to the store, John gave a drink to"
QUERY, KEY = 14, 2


@pytest.mark.some(1)
@pytest.mark.parametrize("name", ["stories", "stories-llama"])
def test_why_without_a_pair_is_the_softmax_without_its_part(name: str) -> None:
    run = attnviz.experiment(name, STORE)
    row = [run.why("L1.H1", QUERY, key) for key in range(QUERY + 1)]
    shares = np.stack([cell.shares for cell in row])  # centred: a softmax ignores the rest
    weights = np.array([cell.weight for cell in row])
    left = weights[:, None, None] * np.exp(-shares)
    left /= left.sum(0)
    cell = row[KEY]
    assert cell.without is not None
    assert np.abs(cell.without - left[KEY]).max() < 1e-5
    assert np.abs(cell.without - cell.weight).max() > 1e-3
