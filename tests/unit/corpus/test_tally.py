"""Tallies: the same bits in any order, the heaviest pairs, and files that are checked."""

import itertools
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from attnviz import BadInput
from attnviz.corpus.archive import read_tally, write_tally
from attnviz.corpus.tally import BINS, EXAMPLES, NO_TICKET, SurveyTally, WeightSums, fixed, smallest
from tests.support.tallies import drawn


def same(one: SurveyTally, other: SurveyTally) -> bool:
    """True if two tallies are equal to the last bit."""
    for entry in fields(SurveyTally):
        mine, yours = getattr(one, entry.name), getattr(other, entry.name)
        if isinstance(mine, WeightSums):
            if not all(map(np.array_equal, vars(mine).values(), vars(yours).values())):
                return False
        elif not np.array_equal(mine, yours):
            return False
    return True


def test_the_sum_is_the_same_in_any_order_and_grouping() -> None:
    parts = [drawn(seed) for seed in range(4)]
    total = parts[0] + parts[1] + parts[2] + parts[3]
    assert total.n_text == 4
    for order in itertools.permutations(parts):
        assert same(total, (order[0] + order[1]) + (order[2] + order[3]))
    assert not same(total, parts[0] + parts[1] + parts[2])


def test_weights_of_one_code_are_added_and_the_heaviest_of_each_head_stay() -> None:
    pairs = WeightSums.summed(
        np.array([5, 3, 5, 12]), np.array([1, 2, 3, 9]), np.ones(4, dtype=int)
    )
    assert pairs.code.tolist() == [3, 5, 12]
    assert pairs.weight.tolist() == [2, 4, 9]
    assert pairs.count.tolist() == [1, 2, 1]
    kept = pairs.pruned(pairs.code // 10, 1)
    assert kept.code.tolist() == [5, 12]


def test_the_smallest_tickets_stay_and_of_equal_ones_the_earlier_text() -> None:
    tickets, examples = smallest(
        np.array([[9, 2, 2, NO_TICKET, 5]], dtype=np.uint64), np.array([[0, 7, 3, -1, 4]])
    )
    assert tickets.tolist() == [[2, 2, 5]]
    assert examples.tolist() == [[3, 7, 4]]
    assert tickets.shape[-1] == EXAMPLES


def test_fractions_are_kept_in_steps_of_a_millionth() -> None:
    values = np.random.default_rng(0).random(1000)
    assert np.abs(fixed(values) / 2**20 - values).max() <= 2**-21


def test_a_file_gives_the_same_tally_back(tmp_path: Path) -> None:
    total = drawn(1) + drawn(2)
    write_tally(tmp_path / "a.npz", total)
    assert same(read_tally(tmp_path / "a.npz"), total)
    assert [path.name for path in tmp_path.iterdir()] == ["a.npz"]


def test_a_damaged_file_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    write_tally(path, drawn(1))
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(BadInput, match=r"a\.npz: it is no archive"):
        read_tally(path)
    np.savez(path, described=np.array([object()]))
    with pytest.raises(BadInput, match="described has the shape"):
        read_tally(path)


def test_a_file_with_numbers_of_another_shape_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    write_tally(path, drawn(1))
    with np.load(path) as archive:
        arrays = dict(archive)
    arrays["histogram"] = arrays["histogram"][:, :, : BINS // 2]
    np.savez(path, **arrays)
    with pytest.raises(BadInput, match=r"histogram has the shape \(4, 10, 50\)"):
        read_tally(path)
