"""A head's output replaced by edited numbers, against captures that are changed by other means."""

import numpy as np
import pytest
import torch

import attnviz
from attnviz.attention import edits
from attnviz.changes import Site, cut
from attnviz.errors import BadInput
from attnviz.experiment.answers import answer_of
from attnviz.experiment.clean_run import CleanRun, prepare
from attnviz.experiment.output_replacement import replaced
from attnviz.models.loaded_model import LoadedModel

STORE = "When Mary and John went to the store, John gave a drink to"
HEAD = Site(0, 0)
ROUNDING = 2e-5


@pytest.fixture(scope="module")
def prepared() -> CleanRun:
    return prepare(attnviz.load("stories"), STORE, None)


def changed(lm: LoadedModel, query: int, key: int | None) -> np.ndarray:
    logits = attnviz.capture(lm, STORE, changes=[cut(HEAD, query, key)]).logits
    assert logits is not None
    probabilities: np.ndarray = logits[0, -1].softmax(-1).double().numpy()
    return probabilities


@pytest.mark.parametrize(("key", "least"), [(None, 0.1), (3, 0.0)])
def test_a_blocked_cell_moves_the_answer_as_a_cut_edge_does(
    prepared: CleanRun, key: int | None, least: float
) -> None:
    query = prepared.n_token - 1
    text = f"masked.{query}.{'*' if key is None else key}=-inf"
    steps = attnviz.derive(prepared.calls[0], 0, edits=edits.parse(text))
    found = replaced(prepared, answer_of(prepared), HEAD, steps.mixed)
    assert np.abs(found.after - changed(prepared.lm, query, key)).max() < ROUNDING
    assert np.abs(found.after - found.before).max() > least
    assert len(found.controls) == 8


def test_the_models_own_numbers_leave_its_bits(prepared: CleanRun) -> None:
    own = prepared.calls[0].stages(0)["mixed"]
    found = replaced(prepared, answer_of(prepared), HEAD, own)
    assert np.array_equal(found.before, found.after)
    assert all(np.array_equal(found.before, row) for row in found.controls)


def test_a_random_change_is_as_large_as_the_edit(prepared: CleanRun) -> None:
    own = prepared.calls[0].stages(0)["mixed"]
    moved = own.clone()
    moved[-1] += 1
    first = replaced(prepared, answer_of(prepared), HEAD, moved, draws=2)
    again = replaced(prepared, answer_of(prepared), HEAD, moved, draws=2)
    assert np.array_equal(first.controls, again.controls)
    assert np.abs(first.controls[0] - first.controls[1]).max() > 0


def test_a_head_that_does_not_exist_is_refused(prepared: CleanRun) -> None:
    with pytest.raises(BadInput):
        replaced(prepared, answer_of(prepared), Site(7, 0), torch.zeros(15, 32))
