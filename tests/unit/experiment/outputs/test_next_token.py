"""The next token: filters as transformers applies them, and ranks worked out by hand."""

import math

import numpy as np
import pytest
import torch
from transformers.generation import (
    LogitsProcessorList,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from attnviz.attention.capture import Capture
from attnviz.errors import BadInput
from attnviz.experiment.outputs import next_token
from attnviz.experiment.outputs.next_token import (
    CUT_BY_TOP_K,
    CUT_BY_TOP_P,
    KEPT,
    NONE,
    distribution,
    ranked,
)
from attnviz.types import ModelKey, Tokens

# softmax of these logits is 1/2, 1/4, 1/8, 1/8
HALVES = torch.tensor([math.log(part) for part in (4, 2, 1, 1)])


def theirs(logits: torch.Tensor, temperature: float, top_k: int, top_p: float) -> torch.Tensor:
    """The scores that `generate` draws from, by its own classes in its own order."""
    chain = LogitsProcessorList()
    if temperature != 1.0:
        chain.append(TemperatureLogitsWarper(temperature))
    if top_k:
        chain.append(TopKLogitsWarper(top_k))
    if top_p < 1:
        chain.append(TopPLogitsWarper(top_p))
    return chain(torch.zeros(len(logits), 1, dtype=torch.long), logits)


@pytest.mark.parametrize("top_p", [1.0, 0.97, 0.5, 0.01])
@pytest.mark.parametrize("top_k", [0, 1, 5, 31, 500])
@pytest.mark.parametrize("temperature", [0.05, 0.7, 1.0, 2.0])
def test_filters_are_those_of_transformers(temperature: float, top_k: int, top_p: float) -> None:
    torch.manual_seed(3)
    logits = torch.cat([torch.randn(5, 37) * 3, torch.randint(0, 4, (4, 37)).float()])  # with ties
    ours = distribution(logits, temperature, top_k, top_p)
    expected = theirs(logits, temperature, top_k, top_p)
    np.testing.assert_array_equal(ours.after, expected.softmax(-1).numpy())
    np.testing.assert_array_equal(ours.before, logits.softmax(-1).numpy())
    np.testing.assert_array_equal(ours.cut == KEPT, expected.isfinite().numpy())


def test_filters_by_hand() -> None:
    plain = distribution(HALVES)
    np.testing.assert_allclose(plain.before, [0.5, 0.25, 0.125, 0.125], rtol=1e-6)
    np.testing.assert_array_equal(plain.after, plain.before)
    # the third and the fourth are equal: top-k 3 keeps both
    assert distribution(HALVES, top_k=3).cut.tolist() == [KEPT] * 4
    two = distribution(HALVES, top_k=2)
    assert two.cut.tolist() == [KEPT, KEPT, CUT_BY_TOP_K, CUT_BY_TOP_K]
    np.testing.assert_allclose(two.after, [2 / 3, 1 / 3, 0, 0], rtol=1e-6)
    # of 2/3 and 1/3 the smaller one is within 1 − 0.6
    both = distribution(HALVES, top_k=2, top_p=0.6)
    assert both.cut.tolist() == [KEPT, CUT_BY_TOP_P, CUT_BY_TOP_K, CUT_BY_TOP_K]
    assert both.after.tolist() == [1, 0, 0, 0]
    # half the temperature squares the odds: 16 : 4 : 1 : 1
    cold = distribution(HALVES, temperature=0.5)
    np.testing.assert_allclose(cold.after, np.array([16, 4, 1, 1]) / 22, rtol=1e-5)


def test_greedy_takes_the_likeliest() -> None:
    greedy = distribution(HALVES, temperature=0.0, top_k=3, top_p=0.1)
    assert greedy.after.tolist() == [1, 0, 0, 0]
    assert greedy.cut.tolist() == [KEPT] * 4


@pytest.mark.parametrize(
    "wrong", [{"temperature": -1.0}, {"top_k": -1}, {"top_p": 0.0}, {"top_p": 1.5}]
)
def test_what_makes_no_sense_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(BadInput, match="cannot draw"):
        distribution(HALVES, **wrong)  # type: ignore[arg-type]


def captured(ids: list[int], logits: torch.Tensor | None) -> Capture:
    n = len(ids)
    no = np.zeros(n, dtype=np.bool_)
    labels = tuple(map(str, ids))
    tokens = Tokens("", np.array(ids), labels, labels, ((0, 0),) * n, no, no)
    return Capture(ModelKey("m", "r", "float32", "cpu"), (), {None: (tokens,)}, logits=logits)


def test_ranks_by_hand() -> None:
    rows = torch.stack([HALVES, HALVES.flip(0), HALVES])
    found = ranked(captured([2, 0, 3], rows[None]), count=2, top_k=2)
    assert (found.first, found.n_vocabulary) == (0, 4)
    # after token 2 the likeliest are 0 and 1, and 0 follows
    # after token 0 they are 3 and 2, and 3 follows; after the last nothing does
    assert found.ids.tolist() == [[0, 1, NONE], [3, 2, NONE], [0, 1, NONE]]
    assert found.drawn.tolist() == [0, 0, NONE]
    assert found.rank.tolist() == [1, 1, NONE]
    np.testing.assert_allclose(found.others_before, [0.25] * 3, rtol=1e-6)
    assert found.others_after.tolist() == [0, 0, 0]
    assert found.n_left.tolist() == [2, 2, 2]


def test_a_token_that_was_not_likely_has_a_slot_of_its_own() -> None:
    found = ranked(captured([2, 3], HALVES.expand(1, 2, 4)), count=1, top_p=0.9)
    assert found.ids.tolist() == [[0, 3], [0, NONE]]
    assert found.drawn.tolist() == [1, NONE]
    assert found.rank.tolist() == [3, NONE]  # 2 and 3 are equal: both share place 3
    assert found.before[1].tolist() == [0.5, 0]
    np.testing.assert_allclose(found.others_before, [0.375, 0.5], rtol=1e-6)


def test_only_the_last_rows_may_be_there() -> None:
    """A long text keeps the logits of its last tokens."""
    found = ranked(captured([0, 1, 2, 1], HALVES.expand(1, 2, 4)), count=4)
    assert found.first == 2
    assert found.drawn.tolist() == [1, NONE]
    assert ranked(captured([0, 1], HALVES.expand(1, 2, 4)), count=3, most=1).first == 1


def test_a_large_vocabulary_is_ranked_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(5)
    ids, logits = torch.randint(0, 53, (11,)).tolist(), torch.randn(1, 11, 53)
    whole = ranked(captured(ids, logits), 7, temperature=0.8, top_k=13, top_p=0.9)
    monkeypatch.setattr(next_token, "CHUNK_CELLS", 2 * 53)
    parts = ranked(captured(ids, logits), 7, temperature=0.8, top_k=13, top_p=0.9)
    for name, value in vars(whole).items():
        np.testing.assert_array_equal(getattr(parts, name), value)
    full = distribution(logits[0], 0.8, 13, 0.9)
    for row in range(10):
        order = np.argsort(-full.before[row], kind="stable")
        assert whole.ids[row, :7].tolist() == order[:7].tolist()
        assert whole.rank[row] == 1 + order.tolist().index(ids[row + 1])
    total = whole.before.sum(-1) + whole.others_before
    np.testing.assert_allclose(total, np.ones(11), rtol=1e-5)


def test_a_model_without_scores_says_so() -> None:
    with pytest.raises(BadInput, match="no scores"):
        ranked(captured([1, 2], None), 3)
