"""`cut` against the numbers of `paths`, `weights_without` and a patched capture."""

import threading

import numpy as np
import pytest

import attnviz
from attnviz.errors import BadInput, Cancelled
from attnviz.experiment import Experiment
from attnviz.experiment.paths import FedSide, weights_without

STORE = "When Mary and John went to the store, John gave a drink to"


@pytest.fixture(scope="module")
def stories() -> Experiment:
    return attnviz.experiment("stories", STORE)


@pytest.mark.parametrize("side", ["q", "k", "v"])
def test_cut_moves_what_paths_measured(stories: Experiment, side: FedSide) -> None:
    circuit = stories.paths()
    path = circuit.strongest(1, (side,))[0]
    cut = stories.cut(path.sender, path.receiver, side)
    assert cut.moved == pytest.approx(path.moved, abs=1e-6)
    others = [circuit.of(head, path.receiver, side) for head in cut.controls]
    assert cut.moved_by_controls == pytest.approx(others, abs=1e-6)
    assert path.sender not in cut.controls


def test_cut_path_leaves_the_weight_that_weights_without_finds(stories: Experiment) -> None:
    cut = stories.cut("L0.H1", "L2.H0", "k")
    (query, key), *_ = cut.cells(3)
    before, others = weights_without(stories.prepared, ["L0.H1"], "L2.H0", query, key, "k")
    (after,) = others.values()
    assert (cut.before[query, key], cut.after[query, key]) == pytest.approx((before, after))
    assert abs(before - after) == pytest.approx(float(cut.change.max()), abs=1e-6)
    rows = cut.after.sum(-1)
    assert rows == pytest.approx(np.ones(len(rows)), abs=1e-5)


@pytest.mark.parametrize("side", ["q", "k", "v"])
def test_the_answer_of_cut_path_is_that_of_a_patched_capture(
    stories: Experiment, side: FedSide
) -> None:
    lm = stories.prepared.lm
    cut = stories.cut("L0.H3", "L2.H0", side)
    without = attnviz.capture(lm, STORE, changes=[attnviz.ablate("L0.H3")])
    patch = attnviz.patch("L2.H0", source=without, stage=side)
    logits = attnviz.capture(lm, STORE, changes=[patch]).logits
    assert logits is not None
    expected = logits[0, -1].double().softmax(-1).numpy()
    assert np.abs(cut.answer.after - expected).max() < 1e-5
    assert np.abs(cut.answer.after - cut.answer.before).max() > 1e-4
    assert len(cut.answer.controls) == len(cut.controls)


def test_the_public_cut_path_reads_a_measure_and_prints_its_control(stories: Experiment) -> None:
    lm, on = stories.prepared.lm, attnviz.NextToken(" Mary", against=" John")
    cut = attnviz.experiment(lm, STORE, on=on).cut((0, 3), "L2.H0", "v")
    same = stories.cut("L0.H3", "L2.H0", "v")
    assert cut.moved == pytest.approx(same.moved, abs=1e-6)
    assert len(same.answer.after) > 1 == len(cut.answer.after)
    without = attnviz.capture(lm, STORE, changes=[attnviz.ablate("L0.H3")])
    patched = attnviz.capture(lm, STORE, changes=[attnviz.patch("L2.H0", without, "v")])
    tokenizer = lm.text_tokenizer()
    mary, john = (tokenizer.get_vocab()[tokenizer.tokenize(name)[0]] for name in (" Mary", " John"))
    assert patched.logits is not None
    expected = float(patched.logits[0, -1, mary] - patched.logits[0, -1, john])
    assert cut.answer.after == pytest.approx([expected], abs=1e-4)
    assert cut.answer.controls.shape == (len(cut.controls), 1)
    assert repr(cut).startswith(f"CutPath {cut.sender} → L2.H0.v: moves {cut.moved:.3f}, ")
    with pytest.raises(BadInput, match="side is 'z'; give q, k or v"):
        attnviz.experiment(lm, STORE).cut("L0.H3", "L2.H0", "z")  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="L0 is 4 heads; give one"):
        attnviz.experiment(lm, STORE).cut("L0", "L2.H0", "v")


def test_cut_path_refuses_what_is_no_path(stories: Experiment) -> None:
    with pytest.raises(BadInput, match="must run after the sender"):
        stories.cut("L2.H0", "L0.H1", "k")
    with pytest.raises(BadInput, match="must run after the sender"):
        stories.cut("L1.H0", "L1.H1", "k")


def test_paths_tells_progress_and_stops(stories: Experiment) -> None:
    told: list[float] = []
    stories.paths(rows=8, progress=told.append)
    assert told == [0.5, 1.0]
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(Cancelled):
        stories.paths(cancel=cancel)
