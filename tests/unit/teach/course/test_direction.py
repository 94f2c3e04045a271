"""The lesson "What a direction means": identities, controls, the same heads in transformers."""

import numpy as np
import pytest
import torch

from attnviz.pictures.motion import Motion
from attnviz.teach.course import story
from attnviz.teach.course.arrays import softmax
from attnviz.teach.course.direction import (
    LAYER,
    LISTS,
    MOMENTS,
    N_BARS,
    START,
    RealQK,
    clouds,
    copying,
    real_qk,
)
from attnviz.teach.course.recipe import CardInputs
from attnviz.teach.lessons.cards.card import Card, ChoiceQuestion
from tests.support import course


def _inputs(seed: int = 0) -> CardInputs:
    return CardInputs({"times": 1.0}, seed, course.captured)


def _film(card: Card) -> Motion:
    (film,) = card.reveal
    assert isinstance(film, Motion)
    return film


@pytest.fixture(scope="module")
def head() -> RealQK:
    return real_qk(_inputs())


def test_angle_is_the_product_of_lengths_and_cosine() -> None:
    numbers = course.card("direction", "angle").numbers
    assert numbers["answer"] == 4 * 3 * 0.5
    assert course.card("direction", "angle", seed=2).numbers["answer"] == 3 * 2 * -0.5


def test_nearest_has_the_words_of_one_kind_and_the_mistakes_are_farther() -> None:
    for seed, alike in enumerate(("cat", "silver", "three")):
        card = course.card("direction", "nearest", seed)
        assert card.numbers["alike"] == alike
        best = float(card.numbers["best"])
        for other in ("spelled_cosine", "beside_cosine"):
            assert float(card.numbers[other]) < best - 0.3
        # far above chance: more than three standard deviations of all pairs
        assert best > float(card.numbers["mean"]) + 3 * float(card.numbers["deviation"])
    animals = course.panel(course.card("direction", "nearest"), "nearest").columns
    assert animals == ("cat", "cow", "lion", "duck", "goat", "owl")


def test_real_qk_is_the_captured_head(head: RealQK) -> None:
    call = course.captured("minilm", START).call(LAYER)
    stages = call.stages(1)
    assert np.abs(head.q @ head.k.T - stages["scores"].double().numpy()).max() < 2e-5


def test_matrix_gives_the_same_scores_and_has_the_rank_of_the_head(head: RealQK) -> None:
    numbers = course.card("direction", "matrix").numbers
    assert float(numbers["difference"]) < 1e-12
    assert numbers["rank"] == numbers["d_head"] == 32 and numbers["d_model"] == 384
    assert float(numbers["there"]) != pytest.approx(float(numbers["back"]), abs=1)


def test_clouds_lie_on_each_other_and_weights_stay(head: RealQK) -> None:
    plane = clouds(head.q, head.k)
    moved = head.k + plane.shift
    assert np.abs(moved.mean(axis=0) - head.q.mean(axis=0)).max() < 1e-12
    wide = [of.std(axis=0) @ of.std(axis=0) for of in (head.q * plane.factor, moved / plane.factor)]
    assert wide[0] == pytest.approx(wide[1])
    numbers = course.card("direction", "together").numbers
    assert float(numbers["keys_change"]) < 1e-12 and float(numbers["laid_change"]) < 1e-12
    assert float(numbers["queries_change"]) > 0.5
    # nearness is what changes
    assert (numbers["near_before"], numbers["near_after"]) == (13, 6)


def test_together_lets_a_hand_move_the_queries_as_the_library_does(head: RealQK) -> None:
    """The film adds t·k to the scores: the same as queries that were moved in the plane."""
    arrays = _film(course.card("direction", "together")).arrays
    plane, row = clouds(head.q, head.k), head.labels.index("it")
    by = np.array([1.5, -0.5])
    drawn = softmax(arrays["scores"] + (arrays["along"] @ by)[None])[0]
    moved = head.q[row] + by @ plane.axes
    assert np.abs(drawn - softmax((moved @ head.k.T / head.root)[None])[0]).max() < 1e-12


def test_head_pass_adds_up_to_the_attention_of_the_layer() -> None:
    ids = copying(_inputs()).ids
    heads = [story.head_pass(ids, 2, number) for number in range(story.HEADS)]
    total = sum(one.weights @ one.arrows for one in heads)
    bias = story.run(ids).added[2][0] - total
    assert np.abs(bias - bias[0]).max() < 1e-12, "what is left is W_O's bias, the same in each row"
    cap = course.captured("stories", " ".join([*LISTS[0], *LISTS[0][:2]]))
    assert np.abs(heads[1].weights - cap.weights(2, 1)).max() < 1e-5
    with torch.no_grad():
        logits = course.loaded("stories").model(torch.from_numpy(ids)[None]).logits[0].double()
    assert np.abs(story.run(ids).logits - logits.numpy()).max() < 1e-3


@pytest.mark.parametrize("seed", (0, 1, 2))
def test_carries_points_to_the_own_word_more_than_other_heads_do(seed: int) -> None:
    numbers = course.card("direction", "carries", seed).numbers
    cosines = course.panel(course.card("direction", "carries", seed), "cosines")
    diagonal = np.diag(cosines.values)
    assert (cosines.values.argmax(axis=1) == np.arange(len(diagonal))).all()
    assert int(numbers["own"]) >= int(numbers["n"]) - 1
    assert float(numbers["mean"]) > float(numbers["others"]) + 0.15


@pytest.mark.parametrize("seed", (0, 1, 2))
def test_moves_does_what_no_random_arrow_does(seed: int) -> None:
    card = course.card("direction", "moves", seed)
    numbers = {name: float(card.numbers[name]) for name in ("before", "after", "mean", "most")}
    assert numbers["after"] > 2 * numbers["most"] > numbers["mean"]
    assert numbers["mean"] < numbers["before"] + 0.01
    assert isinstance(card.question, ChoiceQuestion) and card.question.right == "little"


def test_moves_film_has_the_card_numbers() -> None:
    card = course.card("direction", "moves", times=0.0)
    film = _film(card)
    assert card.numbers["at"] == card.numbers["before"]
    assert film.arrays["head"].shape == (len(MOMENTS), N_BARS)
    word = film.labels["words"].index(str(card.numbers["word"]))
    at = [int(np.abs(MOMENTS - times).argmin()) for times in (0.0, 1.0)]
    drawn = film.arrays["head"][at, word]
    assert drawn == pytest.approx([float(card.numbers["before"]), float(card.numbers["after"])])
    assert film.arrays["random"][at[0], word] == drawn[0]
