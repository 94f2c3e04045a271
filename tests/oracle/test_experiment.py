"""`attnviz.experiment`: one clean pass, the questions on it, and how results print themselves."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

import attnviz
from attnviz.errors import BadInput
from attnviz.experiment import Experiment
from attnviz.models.loaded_model import LoadedModel
from tests.support.questions import MARY, STORE


@pytest.fixture(scope="module")
def stories() -> LoadedModel:
    return attnviz.load("stories")


@pytest.fixture(scope="module")
def run(stories: LoadedModel) -> Experiment:
    return attnviz.experiment(stories, STORE, on=MARY)


@contextmanager
def counted(model: nn.Module) -> Iterator[list[int]]:
    """The number of rows of every pass of the model while the block runs."""
    rows: list[int] = []

    def note(_model: nn.Module, _args: object, inputs: dict[str, torch.Tensor]) -> None:
        rows.append(len(inputs["input_ids"]))

    handle = model.register_forward_pre_hook(note, with_kwargs=True)
    try:
        yield rows
    finally:
        handle.remove()


def asked(run: Experiment) -> None:
    """Every question that a run has."""
    run.answer  # noqa: B018
    run.direct()
    run.lens()
    run.why("L2.H1", 14, 4)
    run.why("L2.H0", 14, 2)
    run.tokens()
    run.edges("L2.H1", exact=3)
    run.effects(to="zero", heads=["L2"])


def test_a_question_after_the_first_runs_no_second_clean_pass(stories: LoadedModel) -> None:
    with counted(stories.model) as rows:
        run = attnviz.experiment(stories, STORE, on=MARY)
        assert rows == [1]
        run.effects(to="zero", heads=["L2"])
        assert rows.count(1) == 1  # the rest are changed copies, in one batch with a clean row
        asked(run)
        # one pass with every operation written down, one with slopes; each serves all questions
        assert rows.count(1) == 3
        before = len(rows)
        asked(run)
        assert 1 not in rows[before:]
        assert 2 not in rows[before:]  # nor the pass whose modules' outputs are kept


def test_with_measure_shares_the_pass_unless_it_lacks_what_is_read(stories: LoadedModel) -> None:
    with counted(stories.model) as rows:
        run = attnviz.experiment(stories, STORE, on=MARY)
        run.direct()
        other = run.with_measure(attnviz.NextToken(" John"))
        assert other.direct().own != run.direct().own
        assert rows == [1, 1]
        earlier = run.with_measure(attnviz.NextToken(" and", at=1))
        assert rows == [1, 1, 1]  # the first run kept the logits of the last token alone
    logits = attnviz.capture(stories, STORE).logits
    assert logits is not None
    number = stories.tokenize(" and", add_special_tokens=False)["input_ids"][0]
    row = logits[0, 1]
    assert earlier.answer.value == pytest.approx(float(row[number] - row.mean()), abs=1e-4)


def test_the_answer_is_that_of_a_capture(stories: LoadedModel, run: Experiment) -> None:
    logits = attnviz.capture(stories, STORE).logits
    assert logits is not None
    expected = logits[0, -1].double().softmax(-1).numpy()
    assert np.abs(run.answer.numbers - expected).max() < 1e-6
    name, share = run.answer.top(1)[0]
    assert (name, share) == ("Mary", pytest.approx(float(expected.max())))
    assert run.answer.unit == "logit" and run.answer.value == run.effects(heads=["L0.H0"]).before


def test_with_changes_reads_the_answer_of_a_changed_capture(
    stories: LoadedModel, run: Experiment
) -> None:
    changed = run.with_changes(attnviz.ablate("L0.H0"))
    logits = attnviz.capture(stories, STORE, changes=[attnviz.ablate("L0.H0")]).logits
    assert logits is not None
    expected = logits[0, -1].double().softmax(-1).numpy()
    assert np.abs(changed.answer.numbers - expected).max() < 2e-5
    assert changed.change == pytest.approx(run.effects(heads=["L0.H0"]).of("L0.H0"), abs=1e-4)
    assert changed.control_changes is not None and 1 < len(changed.control_changes) <= 8
    assert changed.answer.top(1)[0][0] == "John" and changed.writes(2) == " John."


def test_without_a_measure_effects_say_how_far_the_answer_moves(stories: LoadedModel) -> None:
    run = attnviz.experiment(stories, STORE)
    changed = run.with_changes(attnviz.ablate("L0.H0"))
    distance = 0.5 * np.abs(changed.choices.after - changed.choices.before).sum()
    assert run.effects(heads=["L0.H0"]).of("L0.H0") == pytest.approx(distance, abs=2e-5)
    assert changed.change is None and changed.answer.value is None
    with pytest.raises(BadInput, match="on= is missing: give NextToken"):
        run.direct()


def test_a_measure_that_the_answer_does_not_have_is_refused_at_once(stories: LoadedModel) -> None:
    with pytest.raises(BadInput, match="which this measure cannot read"):
        attnviz.experiment(stories, STORE, on=attnviz.Class("negative"))
    with pytest.raises(BadInput, match="takes Experiment as other and was given str"):
        attnviz.experiment(stories, STORE, on=MARY).patched_from(STORE)  # type: ignore[arg-type]


def test_every_result_is_a_line_and_lists(run: Experiment) -> None:
    other = attnviz.experiment(run.prepared.lm, STORE.replace("John gave", "Mary gave"))
    results = (
        run,
        run.answer,
        run.direct(),
        run.lens(count=2),
        run.why("L2.H1", 14, 4),
        run.tokens(),
        run.edges("L2.H1", exact=3),
        run.effects(to="zero", heads=["L2"]),
        run.paths(to="zero", senders=["L0"]),
        run.cut("L0.H1", "L2.H0", "k", to="zero"),
        run.patched_from(other, stages=["mixed"], heads=["L0.H0"]),
        run.with_changes(attnviz.ablate("L0.H0", to="zero")),
    )
    for result in results:
        assert repr(result).startswith(type(result).__name__)
        assert "\n" not in repr(result) and len(repr(result)) < 240
        written = json.loads(json.dumps(result.to_dict()))
        assert written and all(len(str(name)) for name in written)
    for result in results[2:11]:  # tables: lists of one length
        assert len({len(column) for column in result.to_dict().values()}) == 1


def test_a_split_that_does_not_sum_says_so(run: Experiment) -> None:
    parts = run.direct()
    assert "NOT ok" not in repr(parts) and "NOT ok" not in str(parts)
    wrong = replace(parts, own=parts.own + 1)
    assert f"NOT ok: they sum to {parts.total:.4g}" in repr(wrong)
    assert str(wrong).startswith("Direct, NOT ok")
    cell = run.why("L2.H1", 14, 4)
    assert "NOT ok" not in repr(cell)
    assert "NOT ok: off by 1" in repr(replace(cell, centred=cell.centred + 1))
    assert str(replace(cell, centred=cell.centred + 1)).startswith("Why, NOT ok")
