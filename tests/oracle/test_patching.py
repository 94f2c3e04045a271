"""`patching`: against captures patched one by one, its control, and what it refuses."""

from typing import Any

import numpy as np
import pytest
import torch

import attnviz
from attnviz.changes import ablate, patch
from attnviz.errors import BadInput
from attnviz.experiment import AnswerMeasure, Patching
from attnviz.experiment.answer_measures import Class, NextToken, Target
from attnviz.models.loaded_model import LoadedModel
from attnviz.worlds import shapes
from tests.support.questions import MARY, STORE

SWAPPED = STORE.replace("John gave", "Mary gave")
ROUNDING = 2e-5


@pytest.fixture(scope="module")
def stories() -> LoadedModel:
    return attnviz.load("stories")


def carried(lm: LoadedModel, text: str, source: str, on: AnswerMeasure, **choices: Any) -> Patching:
    """The shares that the heads of one text carry into another."""
    run = attnviz.experiment(lm, text, on=on)
    return run.patched_from(attnviz.experiment(lm, source, on=on), **choices)


@pytest.fixture(scope="module")
def patched(stories: LoadedModel) -> Patching:
    return carried(stories, SWAPPED, STORE, MARY)


def gap(lm: LoadedModel, capture: attnviz.Capture) -> float:
    tokenizer = lm.text_tokenizer()
    mary, john = (
        tokenizer(name, add_special_tokens=False)["input_ids"][0] for name in (" Mary", " John")
    )
    assert capture.logits is not None
    return float(capture.logits[0, -1, mary] - capture.logits[0, -1, john])


def test_each_patch_is_a_capture_with_that_stage_of_the_source(
    stories: LoadedModel, patched: Patching
) -> None:
    source = attnviz.capture(stories, STORE)
    assert patched.source == pytest.approx(gap(stories, source), abs=ROUNDING)
    for stage in patched.stages:
        for head in ("L0.H0", "L2.H1", "L3.H3"):
            changes = [patch(head, source, stage)]
            capture = attnviz.capture(stories, SWAPPED, changes=changes)
            share = (gap(stories, capture) - patched.before) / (patched.source - patched.before)
            assert patched.of(head, stage) == pytest.approx(share, abs=1e-5)
    assert patched.spread <= ROUNDING


def test_one_heads_values_carry_the_name_and_its_pattern_does_not(patched: Patching) -> None:
    """98 % · 1 % · 98 %; and a random token in the name's place brings half of it as well."""
    assert patched.strongest()[0] == patched.heads[0]
    assert patched.of("L0.H0") == pytest.approx(0.98, abs=0.01)
    assert patched.of("L0.H0", "weights") == pytest.approx(0.01, abs=0.01)
    assert patched.of("L0.H0", "v") == pytest.approx(0.98, abs=0.01)
    control = patched.control_of("L0.H0")
    assert control is not None and 0.4 < control[1] <= control[0] <= control[2] < 0.6
    assert patched.control_of(patched.heads[-1]) is None
    assert patched.differing == (10,)
    assert "L0.H0 carries mixed 98%, weights 1%, v 98%" in repr(patched)


@pytest.mark.slow
def test_the_control_is_a_patch_from_a_run_with_another_token(
    stories: LoadedModel, patched: Patching
) -> None:
    """The mean of the controls lies among those of runs with other names there."""
    shares = []
    for name in ("Tom", "Lily", "Anna"):
        other = attnviz.capture(stories, STORE.replace("John gave", f"{name} gave"))
        capture = attnviz.capture(stories, SWAPPED, changes=[patch("L0.H0", other)])
        shares.append((gap(stories, capture) - patched.before) / (patched.source - patched.before))
    control = patched.control_of("L0.H0")
    assert control is not None
    assert control[0] == pytest.approx(np.mean(shares), abs=0.1)
    again = carried(stories, SWAPPED, STORE, MARY, heads=["L0"], rows=5)
    assert np.allclose(again.controls[:, 0, 0], patched.controls[:, 0, 0], atol=ROUNDING)
    without = carried(stories, SWAPPED, STORE, MARY, heads=["L0.H0"], draws=0)
    assert without.control_of("L0.H0") is None


def test_patching_leaves_the_model_as_it_was(stories: LoadedModel, patched: Patching) -> None:
    assert gap(stories, attnviz.capture(stories, SWAPPED)) == pytest.approx(
        patched.before, abs=ROUNDING
    )


def test_translators_classifiers_and_pictures_are_patched() -> None:
    translator = attnviz.load("translator")
    target = Target("le petit chat dort .")
    texts = "the little dog sleeps .", "the little cat sleeps ."
    found = carried(translator, *texts, target, stages=["mixed"], draws=0)
    assert found.source > found.before + 1
    assert found.shares.max() > 0.3

    sentiment = attnviz.load("sentiment")
    praise, blame = "the hotel was very good .", "the hotel was very bad ."
    on = Class("positive", against="negative")
    found = carried(sentiment, blame, praise, on, stages=["mixed", "q"], draws=0)
    source = attnviz.capture(sentiment, praise)
    head = found.strongest()[0]
    changed = attnviz.capture(sentiment, blame, changes=[patch(head, source)]).logits
    assert changed is not None
    number = float(changed[0, 1] - changed[0, 0])
    assert found.after[0, found.heads.index(head)] == pytest.approx(number, abs=ROUNDING)

    vision = attnviz.load("shapes")
    pictures = [shapes.sample(seed).picture() for seed in (12, 13)]
    found = attnviz.experiment(vision, on=Class(0), image=pictures[0]).patched_from(
        attnviz.experiment(vision, image=pictures[1]), stages=["mixed"]
    )
    assert found.differing == () and np.isnan(found.controls).all()
    assert np.abs(found.shares).max() > 0


def test_ready_inputs_are_patched(stories: LoadedModel, patched: Patching) -> None:
    tokenizer = stories.text_tokenizer()
    text, source = (
        {"input_ids": tokenizer(words, return_tensors="pt")["input_ids"]}
        for words in (SWAPPED, STORE)
    )
    found = attnviz.experiment(stories, on=MARY, inputs=text).patched_from(
        attnviz.experiment(stories, inputs=source), heads=["L0.H0"]
    )
    assert found.of("L0.H0") == pytest.approx(patched.of("L0.H0"), abs=1e-5)


REFUSED = (
    (STORE.replace("John gave", "then John gave"), MARY, "have 17 and 15 tokens"),
    ("When Mary and John went to the the store, gave a book to", MARY, "'store' is token 9"),
    (STORE, MARY, "the two answers are the same"),
)


@pytest.mark.parametrize(("text", "on", "message"), REFUSED)
def test_texts_that_cannot_be_compared_are_refused_by_name(
    stories: LoadedModel, text: str, on: NextToken, message: str
) -> None:
    with pytest.raises(BadInput, match=message):
        carried(stories, text, STORE, on)


def test_names_that_change_places_are_still_aligned(stories: LoadedModel) -> None:
    swapped = STORE.replace("Mary and John", "John and Mary")
    assert carried(stories, swapped, STORE, MARY, heads=["L0.H0"]).differing == (2, 4)


def test_stages_and_heads_that_were_not_patched_are_refused(
    stories: LoadedModel, patched: Patching
) -> None:
    with pytest.raises(BadInput, match="stages is 'scores'"):
        carried(stories, SWAPPED, STORE, MARY, stages=["scores"])
    with pytest.raises(BadInput, match="give one of mixed, weights, v"):
        patched.of("L0.H0", "k")
    with pytest.raises(BadInput, match=r"L9\.H0 was not patched; these were: L0\.H0"):
        patched.of("L9.H0")


def test_changes_of_a_block_around_it_are_left_out_of_patching(stories: LoadedModel) -> None:
    """Inside a block of other changes, the rows are those of the plain model."""
    inputs = {"input_ids": torch.tensor([stories.text_tokenizer()(SWAPPED)["input_ids"]])}
    with torch.no_grad(), attnviz.changed(stories, ablate("L0.H1", "zero")):
        found = carried(stories, SWAPPED, STORE, MARY, heads=["L0.H0"])
        changed = stories.model(**inputs).logits
    assert found.of("L0.H0") == pytest.approx(0.98, abs=0.01)
    assert not torch.allclose(changed, stories.model(**inputs).logits, atol=1e-3)
