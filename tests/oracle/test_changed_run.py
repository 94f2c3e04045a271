"""A switch: the answer before and after, its controls, and models that nobody else sees changed."""

import threading

import numpy as np
import pytest
import torch

import attnviz
from attnviz.changes import Change, ablate, mask, patch, pattern
from attnviz.errors import BadInput
from attnviz.experiment import Experiment
from attnviz.experiment.answers import AnswerReader, answer_of
from attnviz.experiment.changed_run import changed_numbers, continued
from attnviz.experiment.clean_run import CleanRun
from attnviz.models.loaded_model import LoadedModel

STORE = "When Mary and John went to the store, John gave a drink to"
ROUNDING = 2e-5
N_THREADS = 8


@pytest.fixture(scope="module")
def stories() -> LoadedModel:
    return attnviz.load("stories")


@pytest.fixture(scope="module")
def asked(stories: LoadedModel) -> tuple[CleanRun, AnswerReader]:
    prepared = attnviz.experiment(stories, STORE).prepared
    return prepared, answer_of(prepared)


def captured(lm: LoadedModel, changes: list[Change]) -> np.ndarray:
    logits = attnviz.capture(lm, STORE, changes=changes).logits
    assert logits is not None
    probabilities: np.ndarray = logits[0, -1].softmax(-1).double().numpy()
    return probabilities


def test_the_numbers_are_what_a_changed_capture_gives(
    stories: LoadedModel, asked: tuple[CleanRun, AnswerReader]
) -> None:
    changes = [ablate("L0.H0"), pattern("L2.H1", "even")]
    found = changed_numbers(asked[0], asked[1].read, changes)
    assert np.abs(found.before - captured(stories, [])).max() < ROUNDING
    assert np.abs(found.after - captured(stories, changes)).max() < ROUNDING
    for heads, row in zip(found.control_heads, found.controls, strict=True):
        others = [ablate(heads[0]), pattern(heads[1], "even")]
        assert np.abs(row - captured(stories, others)).max() < ROUNDING
        assert not {str(head) for head in heads} & {"L0.H0", "L2.H1"}


def test_a_head_with_another_mask_has_other_heads_with_it_beside(
    stories: LoadedModel, asked: tuple[CleanRun, AnswerReader]
) -> None:
    change = mask("L2.H1", "causal+window:4")
    found = changed_numbers(asked[0], asked[1].read, [change])
    assert np.abs(found.after - captured(stories, [change])).max() < ROUNDING
    assert 1 < len(found.controls) == len({heads for (heads,) in found.control_heads})
    for (head,), row in zip(found.control_heads, found.controls, strict=True):
        wanted = captured(stories, [mask(head, "causal+window:4")])
        assert np.abs(row - wanted).max() < ROUNDING


def test_a_patched_layer_gets_the_numbers_of_each_head(
    stories: LoadedModel, asked: tuple[CleanRun, AnswerReader]
) -> None:
    source = attnviz.capture(stories, STORE.replace("John gave", "Mary gave"))
    change = patch("L0", source)
    found = changed_numbers(asked[0], asked[1].read, [change])
    assert np.abs(found.after - found.before).max() > 100 * ROUNDING
    assert np.abs(found.after - captured(stories, [change])).max() < ROUNDING


def test_one_head_decides_who_gets_the_drink(asked: tuple[CleanRun, AnswerReader]) -> None:
    prepared, answer = asked
    found = changed_numbers(prepared, answer.read, [ablate("L0.H0")])
    before, after = (int(row.argmax()) for row in (found.before, found.after))
    assert (answer.name(before), answer.name(after)) == ("Mary", "John")
    assert found.before.max() > 0.99
    assert found.after[before] < 0.15
    assert continued(prepared, [], 2) == " Mary."
    assert continued(prepared, [ablate("L0.H0")], 2) == " John."
    moved = Experiment(prepared).effects()
    assert str(moved.order[0]) == "L0.H0"
    own = np.abs(found.after - found.before).sum() / 2
    assert moved.of("L0.H0") == pytest.approx(own, abs=ROUNDING)


def test_without_changes_nothing_moves(asked: tuple[CleanRun, AnswerReader]) -> None:
    found = changed_numbers(asked[0], asked[1].read, [])
    assert np.array_equal(found.before, found.after)
    assert len(found.controls) == 0


def test_a_head_that_does_not_exist_is_refused(asked: tuple[CleanRun, AnswerReader]) -> None:
    with pytest.raises(BadInput):
        changed_numbers(asked[0], asked[1].read, [ablate("L9.H0")])


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("minilm", "The cat sat.", "cosines"),
        ("sentiment", "This is not a good film.", "classes"),
        ("translator", "The little cat sleeps.", "target"),
    ],
)
def test_answer_of_each_kind_of_model(name: str, text: str, kind: str) -> None:
    lm = attnviz.load(name)
    target = {"target": "Le petit chat dort."} if name == "translator" else {}
    prepared = attnviz.experiment(lm, text, **target).prepared
    answer = answer_of(prepared, ("A dog.",))
    assert answer.kind == kind
    assert float(answer.moved(prepared.clean)[0]) == pytest.approx(0, abs=1e-6)
    assert bool((answer.clean <= 1 + 1e-6).all())
    if kind == "classes":
        assert float(answer.clean.sum()) == pytest.approx(1)


@pytest.mark.parametrize("n_captures", [5, pytest.param(25, marks=pytest.mark.slow)])
def test_threads_do_not_see_each_others_changes(
    asked: tuple[CleanRun, AnswerReader], n_captures: int
) -> None:
    """Plain and changed captures in eight threads: each gives the bits that it gives alone."""
    lm = asked[0].lm
    changes = [[], [ablate("L0.H0", to="zero")], [pattern("L2.H1", "even")], [ablate("L1.H2")]]
    wanted = [captured(lm, one) for one in changes]
    before = {name: value.clone() for name, value in lm.model.state_dict().items()}
    wrong: list[int] = []

    def work(start: int) -> None:
        torch.set_num_threads(1)
        for n in range(start, start + n_captures):
            if not np.array_equal(captured(lm, changes[n % 4]), wanted[n % 4]):
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(N_THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert all(torch.equal(value, before[name]) for name, value in lm.model.state_dict().items())
    assert np.array_equal(captured(lm, []), wanted[0])


def test_an_answer_is_held_against_the_likeliest_other_token_of_its_text() -> None:
    """Not against Sara, whom the text does not name: both Mary and John can have been copied."""
    text = "When Mary and John went to the store, John gave a book to"
    lm = attnviz.load("stories")
    seen = attnviz.capture(lm, text)
    assert seen.logits is not None
    order = seen.logits[0, -1].argsort(descending=True).tolist()
    rank = min(order.index(int(token)) for token in seen.tokens.ids if token != order[0])
    assert lm.labels_of([order[0], order[1], order[rank]]) == ("Mary", "Sara", "John")
    reader = attnviz.experiment(lm, text).reader
    assert reader.pair == (order[0], order[rank])
    lead = seen.logits[0, -1, order[0]] - seen.logits[0, -1, order[rank]]
    measured = attnviz.experiment(lm, text, on=reader.lead).answer.value
    assert measured == pytest.approx(float(lead), abs=1e-4) and f"{lead:.1f}" == "9.1"
