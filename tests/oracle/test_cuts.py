"""`Experiment.cuts`: the truth that Start tells, against captures with that edge cut."""

import threading

import numpy as np
import pytest

import attnviz
from attnviz.changes import cut
from attnviz.errors import BadInput, Cancelled, TooLarge
from attnviz.experiment import Experiment, cuts
from attnviz.experiment.cuts import Cuts

BOOK = "When Mary and John went to the store, John gave a book to"
TO, MARY = 14, 2
ROUNDING = 2e-5


@pytest.fixture(scope="module")
def run() -> Experiment:
    return attnviz.experiment("stories", BOOK)


@pytest.fixture(scope="module")
def every(run: Experiment) -> Cuts:
    return run.cuts(choices=[])


@pytest.mark.slow
def test_cuts_says_that_one_look_of_all_changes_the_word(every: Cuts) -> None:
    """16 heads × (15·16/2 − 1) looks: the first row has a single key."""
    assert len(every.edges) == 16 * (15 * 16 // 2 - 1) == 1904
    assert [(str(head), query, key) for head, query, key in every.edges if query == 0] == []
    (only,) = every.flips
    head, query, key = every.edges[only]
    assert (str(head), query, key) == ("L2.H1", TO, MARY)
    assert every.names[only] == "John"
    assert every.moved[only] == pytest.approx(0.944, abs=0.001)


@pytest.mark.slow
def test_cuts_says_that_looking_is_not_moving(every: Cuts) -> None:
    strong, moves = every.weights > 0.5, every.moved > 0.01
    assert (strong.sum(), (strong & moves).sum(), moves.sum()) == (132, 4, 5)
    assert np.corrcoef(every.weights, every.moved)[0, 1] == pytest.approx(0.12, abs=0.005)
    assert every.spread < ROUNDING


@pytest.mark.parametrize("renormalise", [True, False])
def test_cuts_are_captures_with_that_edge_cut(run: Experiment, renormalise: bool) -> None:
    """Heads of several layers in one batch, each edge in its own row."""
    edges = [("L2.H1", TO, MARY), ("L0.H2", 7, 3), ("L3.H0", TO, MARY)]
    found = run.cuts(edges, renormalise=renormalise)
    assert [(str(head), query, key) for head, query, key in found.edges] == edges
    for row, (head, query, key) in zip(found.numbers, edges, strict=True):
        changes = [cut(head, query, key, renormalise=renormalise)]
        logits = attnviz.capture("stories", BOOK, changes=changes).logits
        assert logits is not None
        after = logits[0, -1].softmax(-1).numpy()
        assert np.abs(row - after).max() < ROUNDING
        clean = run.answer.numbers
        moved = found.moved[edges.index((head, query, key))]
        assert moved == pytest.approx(np.abs(after - clean).sum() / 2, abs=ROUNDING)


def test_cuts_keeps_the_choices_that_are_asked_for(run: Experiment) -> None:
    whole = run.cuts([("L2.H1", TO, MARY)])
    some = run.cuts([("L2.H1", TO, MARY)], choices=[5, 7])
    assert np.abs(some.numbers[0] - whole.numbers[0, [5, 7]]).max() < ROUNDING
    assert some.winners == whole.winners and some.choices == (5, 7)


def test_cuts_of_a_sentence_encoder_turn_its_vector() -> None:
    """L3.H1's look from "it" at "animal" is strong, 0.68, and moves next to nothing."""
    text = "The animal didn't cross the street because it was too tired."
    found = attnviz.experiment("minilm", text).cuts([("L3.H1", 10, 2)])
    assert found.weights[0] == pytest.approx(0.677, abs=0.001)
    assert 1e-5 < found.moved[0] < 2e-4


def test_cuts_names_an_edge_that_a_mask_hides(run: Experiment) -> None:
    with pytest.raises(BadInput, match="may not attend from 2 to 5"):
        run.cuts([("L2.H1", 2, 5)])
    with pytest.raises(BadInput, match="L9"):
        run.cuts([("L9.H1", 2, 1)])


def test_the_same_look_of_all_other_heads_is_the_control_of_one(run: Experiment) -> None:
    """Each of 15 captures with that look cut moves the answer so far; L2.H3's farthest."""
    found = run.cuts(run.same_look(TO, MARY))
    assert [str(head) for head, _, _ in found.edges] == [f"L{n // 4}.H{n % 4}" for n in range(16)]
    others = found.others("L2.H1")
    assert len(others.heads) == 15 and "L2.H1" not in map(str, others.heads)
    clean, moved = run.answer.numbers, {}
    for head in map(str, others.heads):
        logits = attnviz.capture("stories", BOOK, changes=[cut(head, TO, MARY)]).logits
        assert logits is not None
        moved[head] = float(np.abs(logits[0, -1].softmax(-1).numpy() - clean).sum() / 2)
    assert others.most == pytest.approx(max(moved.values()), abs=ROUNDING)
    assert others.median == pytest.approx(sorted(moved.values())[7], abs=ROUNDING)
    assert str(others.strongest) == max(moved, key=lambda head: moved[head]) == "L2.H3"
    with pytest.raises(BadInput, match="L9.H1"):
        found.others("L9.H1")


def test_the_others_of_a_look_are_of_its_own_cell(run: Experiment) -> None:
    found = run.cuts([*run.same_look(TO, MARY), *run.same_look(TO, 4)])
    others = found.others("L2.H1").changes
    assert others.tolist() == np.delete(found.moved[:16], 9).tolist()


def test_a_head_without_the_look_or_a_choice_is_no_control(run: Experiment) -> None:
    """A mask hides 5 from 2, and leaves 0 a single key; local layers hide what global ones show."""
    assert run.same_look(2, 5) == run.same_look(0, 0) == ()
    assert len(run.same_look(1, 0)) == 16
    with pytest.raises(BadInput, match="no 'cross' attention"):
        run.same_look(2, 1, "cross")
    with pytest.raises(BadInput, match="key"):
        run.same_look(TO, 99)


def test_cuts_refuses_more_numbers_than_fit(
    run: Experiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cuts, "MOST_MIB", 0)
    with pytest.raises(TooLarge, match="give fewer edges, or the choices="):
        run.cuts([("L2.H1", TO, key) for key in range(15)] * 20)


def test_cuts_come_in_pieces_that_say_how_far_they_are(run: Experiment) -> None:
    edges = [("L2.H1", TO, key) for key in range(7)]
    said: list[float] = []
    whole = run.cuts(edges, choices=[])
    pieces = run.cuts(edges, choices=[], rows=3, progress=said.append)
    assert said == pytest.approx([3 / 7, 6 / 7, 1])
    assert np.abs(pieces.moved - whole.moved).max() < ROUNDING
    assert (pieces.winners == whole.winners).all()


def test_cuts_stop_between_two_pieces(run: Experiment) -> None:
    cancel = threading.Event()
    said: list[float] = []

    def progress(fraction: float) -> None:
        said.append(fraction)
        cancel.set()

    with pytest.raises(Cancelled):
        run.cuts([("L2.H1", TO, key) for key in range(7)], rows=3, progress=progress, cancel=cancel)
    assert said == pytest.approx([3 / 7])


def test_no_cut_moves_nothing(run: Experiment) -> None:
    assert run.cuts([]).moved.shape == (0,) and run.cuts([]).spread == 0
