"""`openings`: each model opens on a cell whose head was chosen by a measure with a control."""

import pytest

import attnviz
from attnviz import i18n
from attnviz.app.session import model_images
from attnviz.checks import examples
from attnviz.checks.examples import OPENINGS, SIGHTS, sight
from attnviz.experiment.outputs.answer import answer
from attnviz.models.registry import REGISTRY
from attnviz.pictures.group import groups
from attnviz.pictures.group.groups import Group, chosen
from attnviz.pictures.group.ranking import links


def first_example(model: str) -> Group:
    """The attentions of a model's opening, on what the model reads first."""
    lm, text = attnviz.load(model), examples.texts(model)[0]
    if lm.kind == "module":
        capture = attnviz.capture(lm)
    elif lm.kind == "vision":
        capture = attnviz.capture(lm, image=model_images.made(model_images.default(model)))
    else:
        target = answer(lm, text) if lm.kind == "encoder-decoder" else None
        capture = attnviz.capture(lm, text, target=target)
    return chosen(groups.groups(capture), OPENINGS[model].stack, OPENINGS[model].kind)


def test_every_embedded_model_has_an_opening() -> None:
    assert set(OPENINGS) == set(REGISTRY)


@pytest.mark.parametrize("model", OPENINGS)
def test_an_opening_is_the_head_with_the_largest_difference_to_its_other_rows(model: str) -> None:
    opening, group = OPENINGS[model], first_example(model)
    assert groups.queries(group).labels[opening.query] == opening.query_token
    assert groups.keys(group).labels[opening.key] == opening.key_token
    first, second = links(group, opening.query, opening.key)[:2]
    assert first.head == opening.head
    assert (round(first.share, 2), round(first.control, 2)) == (opening.weight, opening.others)
    assert first.difference > max(second.difference, 0.15)


def test_the_stripe_does_not_pass_the_control() -> None:
    """In L5.H11 of MiniLM every row attends to "animal": 0.67 of "it", 0.40 of the others."""
    by_head = {str(link.head): link for link in links(first_example("minilm"), 10, 2)}
    assert by_head["L5.H11"].share == pytest.approx(0.67, abs=0.01)
    assert by_head["L5.H11"].control == pytest.approx(0.40, abs=0.01)
    assert by_head["L3.H1"].difference > 2 * by_head["L5.H11"].difference


def test_the_head_of_the_film_rests_on_the_first_token_on_average_but_not_in_its_row() -> None:
    """The numbers of the last line of `page.start.explain` and `page.atlas.explain`."""
    weights = attnviz.capture("minilm", examples.texts("minilm")[0]).weights("L3.H1")
    opening = OPENINGS["minilm"]
    row = weights[opening.query]
    assert round(float(weights[1:-1, 0].mean()), 2) == 0.50  # rows of words
    assert (round(float(row[0]), 2), round(float(row[opening.key]), 2)) == (0.10, 0.68)


@pytest.mark.parametrize("name", SIGHTS)
def test_a_sight_is_the_head_with_the_largest_difference_from_its_query_to_its_key(
    name: str,
) -> None:
    text = i18n.text("en", f"example.{name}")
    seen = sight("minilm", text)
    assert seen is not None
    group = groups.groups(attnviz.capture("minilm", text))[0]
    assert groups.queries(group).labels[seen.query] == seen.query_token
    assert groups.keys(group).labels[seen.key] == seen.key_token
    first = links(group, seen.query, seen.key)[0]
    assert first.head == seen.head
    assert (round(first.share, 2), round(first.control, 2)) == (seen.weight, seen.others)
    assert first.difference > 0.15


def test_a_sight_belongs_to_its_sentence_and_model() -> None:
    bank = i18n.text("en", "example.bank")
    assert sight("minilm", bank) == SIGHTS["bank"]
    assert sight("stories", bank) is None
    assert sight("minilm", f"{bank} ") is None
