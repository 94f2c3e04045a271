"""Lesson 10: the circuit by hand works and fails as it says; the kept curves show the moment."""

import json

import numpy as np
import pytest
import torch

from attnviz.models.registry import embedded_folder
from attnviz.teach.course import toy_model
from attnviz.teach.course.birth import LESSON, SHARE_REPEATED, births, circuit
from attnviz.teach.course.recipe import CardInputs
from attnviz.teach.course.toy_model import train
from attnviz.teach.lessons.cards import glossary
from attnviz.teach.lessons.cards.card import Card
from attnviz.types import HeadId
from scripts import measure_births
from scripts.train import stories, stories_llama

TOKENS = torch.tensor([1, 3, 0, 2, 1, 3, 0, 2])


def no_capture(*_given: object, **_options: object) -> None:
    raise AssertionError("this lesson runs no registered model")


def built(name: str, seed: int = 0, **values: float | str) -> Card:
    recipe = LESSON.recipe(name)
    return recipe.build(CardInputs(recipe.start_values() | values, seed, no_capture))  # type: ignore[arg-type]


def test_the_circuit_by_hand_finds_what_followed() -> None:
    made = circuit(TOKENS)
    assert made.induction[5:].argmax(dim=1).tolist() == [2, 3, 4]
    assert made.previous[1:].argmax(dim=1).tolist() == list(range(7))
    torch.testing.assert_close(made.induction.sum(dim=1), torch.ones(8, dtype=torch.float64))
    # the first letter looks at itself, so two keys carry it
    assert float(made.induction[4, :2].sum()) > 0.95 and float(made.induction[4, 1]) < 0.5


def test_without_the_previous_token_head_nothing_is_left_but_chance() -> None:
    gone = circuit(TOKENS, "previous")
    by_hand = np.mean([1 / 5, 1 / 6, 1 / 7, 1 / 8])
    assert gone.score == pytest.approx(by_hand) == pytest.approx(toy_model.chance(8).induction)


def test_the_control_head_is_read_by_nobody() -> None:
    torch.testing.assert_close(circuit(TOKENS, "other").induction, circuit(TOKENS).induction)
    card = built("removed", without="other")
    assert card.numbers["now"] == card.numbers["whole"]
    assert built("removed", without="previous").numbers["now"] == pytest.approx(0.15863, abs=1e-5)


@pytest.mark.parametrize(("seed", "model"), [(0, "stories"), (1, "stories-llama")])
def test_the_moment_lies_between_two_measurements(seed: int, model: str) -> None:
    folder = embedded_folder(model)
    assert folder is not None
    rows = {row["step"]: row for row in json.loads((folder / "curve.json").read_text("utf-8"))}
    numbers = built("moment", seed).numbers
    first, last = int(numbers["before_step"]), int(numbers["after_step"])
    assert rows[first]["induction"] < 0.5 < rows[last]["induction"]
    assert last == first + 200
    # the loss of the batches, two fifths of which repeat, falls off a cliff in these steps
    earlier = [row["loss"] for step, row in rows.items() if step <= first]
    later = [row["loss"] for step, row in rows.items() if step >= last]
    assert numbers["loss_before"] == rows[first]["loss"] >= min(earlier) > max(later)
    assert numbers["loss_after"] == rows[last]["loss"] < 0.6 * rows[first]["loss"]


def test_the_share_of_repeats_is_that_of_the_training() -> None:
    for trained in (stories, stories_llama):
        assert trained.SHARE_REPEATED == SHARE_REPEATED
    assert built("moment").numbers["repeated"] == 40


def test_the_loss_of_stories_hardly_shows_it() -> None:
    numbers = {name: float(of) for name, of in built("buys").numbers.items() if name != "model"}
    fell = numbers["loss_before"] - numbers["loss_after"]
    assert 0 < fell < 0.05 * numbers["loss_before"]
    assert numbers["training_before"] - numbers["training_after"] > 50 * fell
    assert numbers["rise"] > 0.7 and numbers["copy_after"] > 90 > 2 > numbers["copy_before"]


@pytest.mark.slow
def test_a_live_run_bears_out_what_the_cards_say() -> None:
    """The control stays below a quarter; without the previous-token head nearly all is lost."""
    *_, last = train(0)
    even = toy_model.chance(toy_model.MAX_LETTERS).induction
    control = last.fresh.induction[-1]
    assert last.repeated.best_induction > 0.9
    assert float(control.max()) < min(0.25, 3.5 * even)
    assert float(np.abs(control - even).max()) > 0.01, "low, but not what even attention gives"
    effects, previous = toy_model.effects(toy_model.restore(last)), last.repeated.previous_head
    other = HeadId(0, 1 - previous.head)
    for ablation in toy_model.ABLATIONS:
        assert effects.of(previous, ablation).best_induction < 5 * even
        assert effects.of(previous, ablation).accuracy < 0.2
        assert effects.of(other, ablation).best_induction > 0.9


def test_births_of_all_seeds_say_what_the_cards_say() -> None:
    """The induction score is first, it goes by the letters, and it needs the one head alone."""
    trained = births()
    assert len(trained["seed"]) >= 12
    assert (trained["control"] < 0.25).all() and (trained["induction"] > 0.8).all()
    assert (trained["without_previous"] < 0.5 * trained["without_other"]).all()
    numbers = built("live").numbers
    assert numbers["first_times"] == numbers["trials"]


@pytest.mark.slow
def test_births_is_what_a_training_gives() -> None:
    """One row, measured again: a whole training."""
    trained, again = births(), measure_births.of_seed(1)
    for name, values in trained.items():
        assert values[1] == pytest.approx(again[name], abs=0.02), name


def test_the_map_of_a_card_has_the_parts_of_the_model_that_it_trains() -> None:
    layers, missing = glossary.model_of("birth", "live")
    model = toy_model.untrained(torch.Generator().manual_seed(0))
    modules = {name.split(".")[-1] for name, _ in model.named_modules()}
    assert layers == toy_model.LAYERS == len(model.layers)
    assert "mlp" in missing and "mlp" not in modules
    assert "norm" not in missing and "norm" in modules
    assert glossary.model_of("birth", "moment") == glossary.model_of("where", "next") == (4, ())


def test_the_steps_of_a_circuit_are_one_step_where_they_are_the_same() -> None:
    steps = births()["induction_step"]
    whole = sorted({int(step) for step in steps})
    said = str(built("live").numbers["induction_steps"])
    assert said == (f"{whole[0]}–{whole[-1]}" if len(whole) > 1 else f"{whole[0]}")
