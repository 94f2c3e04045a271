"""`film`: the numbers of the start page's film are the library's, each beside its control."""

import pytest

import attnviz
from attnviz.checks import examples
from attnviz.checks.examples import OPENINGS
from attnviz.models.loaded_model import LoadedModel
from attnviz.pictures.film import film
from attnviz.pictures.group.groups import groups

OPENING = OPENINGS["minilm"]
FIRST = examples.texts("minilm")[0]
SECOND = examples.contrast("minilm", FIRST)


def test_film_shows_the_numbers_of_two_captures(minilm: LoadedModel) -> None:
    captures = [attnviz.capture(minilm, text) for text in (FIRST, SECOND)]
    view = film(*(groups(cap)[0] for cap in captures), OPENING.head, OPENING.query, OPENING.key)
    labels = view.first.tokens.labels
    assert [labels[at] for at in (view.query, view.key, view.rival)] == ["it", "animal", "street"]
    assert (labels[view.changed], view.second.tokens.labels[view.changed]) == ("tired", "wide")
    for cap, reading in zip(captures, (view.first, view.second), strict=True):
        weights = cap.weights(OPENING.head.layer, OPENING.head.head)
        assert reading.weights == pytest.approx(weights)
        assert reading.row == pytest.approx(weights[view.query])
        links = {
            view.key: reading.key,
            view.rival: reading.rival,
            view.special_key: reading.special,
        }
        for key, link in links.items():
            column = weights[:, key]
            others = (column.sum() - column[view.query]) / (len(column) - 1)
            assert (link.weight, link.others) == pytest.approx((column[view.query], others))
    before, after = view.first, view.second
    assert before.key.weight > 2 * after.key.weight  # what the film says of its head
    assert before.key.weight - before.key.others > 0.5
    assert after.rival.weight > 2 * before.rival.weight
    assert (view.special_key, labels[0]) == (0, "[CLS]")
    lost = before.key.weight - after.key.weight
    rest = lost - (after.rival.weight - before.rival.weight)
    assert after.special.weight - before.special.weight > rest / 2  # "most of the rest"


def test_film_takes_sentences_that_differ_in_one_token(minilm: LoadedModel) -> None:
    group = groups(attnviz.capture(minilm, FIRST))[0]
    with pytest.raises(ValueError, match="not enough values"):
        film(group, group, OPENING.head, OPENING.query, OPENING.key)
