"""Lesson 1: three roles of a token, and what a query that turns finds."""

import math

import numpy as np
import pytest

from attnviz.attention.capture import Capture
from attnviz.pictures.board import Board
from attnviz.pictures.motion import Motion
from attnviz.teach.course.arrays import apart, entropy_bits, softmax
from attnviz.teach.course.ask import HEAD, LAYER, LESSON, MODEL, START, pointed
from attnviz.teach.course.recipe import CaptureText, CardInputs
from attnviz.teach.lessons.cards.card import Card, CellQuestion, Chart, Value
from tests.support.course import captured, card, panel

# as the note prints them
PRINTED = """0.173 0.105 0.163 0.301 0.240
0.432 0.384 0.447 0.206 0.189
0.129 0.284 0.152 0.209 0.112
0.127 0.065 0.100 0.123 0.289
0.139 0.162 0.138 0.160 0.170"""
ROW_SUMS = [0.982, 1.658, 0.886, 0.704, 0.769]
FIRST_OUTPUT = [-0.48113832, 0.37745091, -0.75004649]


def _no_model(*_: object) -> Capture:
    raise AssertionError("this card needs no model")


def _card(name: str, seed: int = 0, capture: CaptureText = _no_model, **values: Value) -> Card:
    recipe = LESSON.recipe(name)
    return recipe.build(CardInputs(recipe.start_values() | values, seed, capture))


def _panel(card: Card, name: str, board: int = 0, reveal: bool = False) -> np.ndarray:
    picture = (card.reveal if reveal or not card.pictures else card.pictures)[board]
    assert isinstance(picture, Board)
    return next(panel.values for panel in picture.panels if panel.name == name)


@pytest.mark.parametrize("seed", range(4))
def test_one_hot_weights_return_the_value_exactly(seed: int) -> None:
    card = _card("onehot", seed)
    assert card.numbers["difference"] == 0.0
    assert isinstance(card.question, CellQuestion)
    row = {cell[0] for cell in card.question.right}
    assert np.array_equal(_panel(card, "output")[0], _panel(card, "values")[row.pop()])


def test_other_values_change_the_output_alone() -> None:
    card = _card("values")
    assert np.array_equal(_panel(card, "weights"), _panel(card, "weights", reveal=True))
    assert not np.allclose(_panel(card, "output"), _panel(card, "output", reveal=True))
    terms = 1 / (1 + math.exp(-3 / math.sqrt(2)) + math.exp(-2 / math.sqrt(2)))
    assert _panel(card, "weights")[0, 0] == pytest.approx(terms)


def test_a_query_halfway_between_two_keys_shares_between_them() -> None:
    halfway, onto = _card("turn", angle=60.0), _card("turn", angle=120.0)
    weights = _panel(halfway, "changed", board=2)[0]
    assert weights[0] == pytest.approx(weights[1]) and weights[2] < 0.01
    assert onto.numbers["key"] == 1
    assert _panel(onto, "control", board=1)[0] == pytest.approx([1 / 3] * 3)
    film, *_, chart = onto.reveal
    assert isinstance(film, Motion)  # it moves through the same weights
    assert film.arrays["weights"][60] == pytest.approx(weights)
    assert isinstance(chart, Chart)
    assert np.allclose(sum(line.y for line in chart.series), 1)
    assert onto.numbers["half"] == pytest.approx(weights[0])


def test_the_real_card_names_the_strongest_pair_of_words() -> None:
    card = _card("real", capture=captured, text="  ")
    assert MODEL == "minilm"
    assert (card.numbers["query"], card.numbers["key"]) == ("it", "animal")
    assert card.numbers["weight"] == pytest.approx(0.6768, abs=1e-3)
    assert card.numbers["others"] == pytest.approx(0.112, abs=1e-3)
    assert card.numbers["uniform"] == pytest.approx(1 / 16)
    assert card.link is not None and card.link.view["text"] == START
    lonely = _card("real", capture=captured, text="Yes")
    assert lonely.numbers["tokens"] == 3


def test_entropy_is_in_bits_and_mistakes_stay_apart() -> None:
    assert entropy_bits(np.array([[0.25] * 4, [1, 0, 0, 0]])) == pytest.approx([2.0, 0.0])
    assert apart(1.0, {"same": 1.005, "far": 2.0, "none": math.inf}, 0.006) == {"far": 2.0}
    assert softmax(np.array([[0.0, -math.inf]]))[0] == pytest.approx([1.0, 0.0])


def test_the_outputs_of_the_turned_query_come_from_values_on_the_card() -> None:
    turned = card("ask", "turn", angle=90.0)
    values = panel(turned, "values").values
    for weights, output in (("control", "control_output"), ("changed", "output")):
        expected = panel(turned, weights).values @ values
        np.testing.assert_allclose(panel(turned, output).values, expected)


def test_what_it_gives_a_noun_is_the_models_own_weight() -> None:
    """Against transformers' eager attention, and by hand for a noun of several pieces."""
    import torch

    import attnviz

    lm = attnviz.load(MODEL)
    sentence = "The chandelier swung because it was loose."
    encoded = lm.tokenizer(sentence, return_tensors="pt", return_offsets_mapping=True)
    places = encoded.pop("offset_mapping")[0].tolist()
    pieces = lm.tokenizer.convert_ids_to_tokens(encoded["input_ids"][0])
    lm.model.set_attn_implementation("eager")
    try:
        with torch.no_grad():
            given = torch.stack(lm.model(**encoded, output_attentions=True).attentions)[:, 0]
    finally:
        lm.model.set_attn_implementation("sdpa")
    noun = [at for at, (start, stop) in enumerate(places) if 4 <= start < stop <= 14]
    assert len(noun) > 1 and sentence[4:14] == "chandelier"
    row = given[:, :, pieces.index("it"), noun].sum(dim=2).double().numpy()
    found = pointed(captured, sentence, "Chandelier")
    assert found is not None and str(found.head) == f"L{LAYER}.H{HEAD}"
    assert found.weight == pytest.approx(float(row[LAYER, HEAD]), abs=1e-5)
    assert found.chance == pytest.approx(len(noun) / len(pieces))
    others = (row.sum() - row[LAYER, HEAD]) / (row.size - 1)
    assert found.others == pytest.approx(float(others), abs=1e-5)


@pytest.mark.parametrize(
    ("sentence", "noun"),
    [("The dog ran.", "dog"), ("It ran.", "dog"), ("It ran.", "it"), ("It ran.", "[CLS]")],
)
def test_without_it_or_its_noun_nothing_is_measured(sentence: str, noun: str) -> None:
    assert pointed(captured, sentence, noun) is None
