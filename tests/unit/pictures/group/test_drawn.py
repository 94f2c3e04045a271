"""`shares`: attention on painted cells, beside chance; `palette`: the named patterns."""

import time

import numpy as np
import pytest

import attnviz
from attnviz.models.loaded_model import LoadedModel
from attnviz.pictures.group.groups import Group, groups
from attnviz.pictures.group.ranking import palette, shares
from benchmarks.texts import text_of
from tests.support.captures import call, capture, qkv

N_QUERY, N_KEY = 7, 7
MAX_S = 0.1


def group_of(*, causal: bool) -> Group:
    return groups(capture(call(qkv(causal=causal))))[0]


@pytest.mark.parametrize("causal", [False, True])
def test_shares_are_means_over_the_painted_rows_beside_chance(causal: bool) -> None:
    group = group_of(causal=causal)
    weights = group.calls[0].weights(batch=0).cpu().numpy()
    cells = np.zeros(weights.shape[1:], np.bool_)
    cells[4, 2] = cells[4, 3] = cells[5, 0] = True
    n_seen = np.array([5, 6]) if causal else np.array([7, 7])
    chance = float(np.mean([2 / n_seen[0], 1 / n_seen[1]]))
    ranked = shares(group, cells)
    for share in ranked:
        of_head = weights[share.head.head]
        expected = (of_head[4, 2] + of_head[4, 3] + of_head[5, 0]) / 2
        assert (share.share, share.control) == pytest.approx((expected, chance), abs=1e-6)
    differences = [share.difference for share in ranked]
    assert differences == sorted(differences, reverse=True) and len(ranked) == len(weights)


def test_shares_of_cells_that_nobody_may_see_are_none() -> None:
    cells = np.zeros((N_QUERY, N_KEY), np.bool_)
    assert shares(group_of(causal=True), cells) == ()
    cells[2, 5] = True  # in the future
    assert shares(group_of(causal=True), cells) == ()


def test_the_palette_finds_the_heads_that_attend_to_the_previous_token(minilm: LoadedModel) -> None:
    cap = attnviz.capture(minilm, "The cat sat on the mat.")
    group = groups(cap)[0]
    patterns = palette(group)
    best = shares(group, patterns["previous"])[0]
    scores = attnviz.metrics.score(cap)["previous"]
    assert best.share == pytest.approx(float(scores.max()), abs=1e-6)
    place = np.unravel_index(scores.argmax(), scores.shape)
    assert (best.head.layer, best.head.head) == place
    assert patterns["block"][3, 1] and not patterns["block"][3, 3] and not patterns["block"][3, 6]


@pytest.mark.slow
def test_256_tokens_are_ranked_in_a_tenth_of_a_second(minilm: LoadedModel) -> None:
    group = groups(attnviz.capture(minilm, text_of(minilm, 256)))[0]
    cells = palette(group)["previous"]
    samples = []
    for _ in range(3):
        start = time.process_time()
        assert len(shares(group, cells)) == 72
        samples.append(time.process_time() - start)
    assert min(samples) < MAX_S
