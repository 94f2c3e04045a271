"""Lesson 0: the story model computed from its weights is the story model."""

import numpy as np
import pytest

from attnviz.models.loader import embedded_tensor
from attnviz.pictures.motion import Motion
from attnviz.teach.course import story
from attnviz.teach.course.where import TEXTS
from attnviz.teach.lessons.cards.card import NumberQuestion
from tests.support.course import captured, card, panel


def test_the_parts_give_the_models_own_logits() -> None:
    for text in TEXTS:
        capture = captured("stories", text)
        assert capture.logits is not None
        run = story.run(np.asarray(capture.tokens.ids))
        np.testing.assert_allclose(run.logits, capture.logits[0].double().numpy(), atol=1e-4)
        np.testing.assert_allclose(run.probabilities().sum(), 1)


def test_without_attention_no_token_knows_of_another() -> None:
    who = card("where", "who")
    numbers, film = who.numbers, next(one for one in who.reveal if isinstance(one, Motion))
    tokens, whole, bare = film.labels["tokens"], film.arrays["whole"], film.arrays["bare"]
    dogs = np.array([token == numbers["animal"] for token in tokens])
    behind = np.arange(len(tokens)) >= dogs.argmax()
    assert ((whole[0] > 0) == dogs).all() and ((bare > 0) == dogs).all()
    assert ((whole[1:] > 0) == behind).all()
    assert numbers["bare"] == 0
    assert float(numbers["whole"]) > 1
    ids = np.asarray(captured("stories", TEXTS[0]).tokens.ids)
    changed = np.concatenate([ids[::-1][1:], ids[-1:]])
    alone, other = (story.run(tokens, "attention").logits[-1] for tokens in (ids, changed))
    np.testing.assert_array_equal(alone, other)
    assert np.abs(story.run(ids).logits[-1] - story.run(changed).logits[-1]).max() > 1


def test_the_stream_is_the_start_and_all_that_was_added() -> None:
    numbers = card("where", "stream").numbers
    assert float(numbers["error"]) < 1e-12
    assert numbers["parts"] == 2 * story.LAYERS


def test_norm_and_logits_are_computed() -> None:
    norm, logits = card("where", "norm"), card("where", "logits")
    assert isinstance(norm.question, NumberQuestion) and isinstance(logits.question, NumberQuestion)
    np.testing.assert_allclose(norm.question.answer, (1 - 4) / np.sqrt(5))
    ratio = float(logits.numbers["first_probability"]) / float(logits.numbers["second_probability"])
    np.testing.assert_allclose(logits.question.answer, ratio, rtol=0.01)


def test_a_sign_takes_its_bytes_and_hangul_its_letters() -> None:
    script = card("where", "script", text="학 学 习 learn")
    assert isinstance(script.question, NumberQuestion)
    assert script.question.answer == len("学".encode()) == 3
    # MiniLM: three jamo, 学, an unknown sign, learn; the story model: 3 bytes for each sign
    assert (script.numbers["pieces"], script.numbers["unknown"]) == (6, 1)
    own = captured("stories", "학 学 习 learn").tokens
    assert script.numbers["bytes"] == int((~own.special).sum()) > 9


def test_inside_mlp_is_what_the_pass_adds() -> None:
    ids = np.array([0, 5, 9])
    hidden, passed = story.inside_mlp(ids)
    assert hidden.shape == (story.hidden_width(),)
    assert passed[hidden < 0].min() > -0.2 and np.all(passed[hidden < -4] > -1e-3)  # GELU
    weight = embedded_tensor(story.MODEL, "transformer.h.0.mlp.c_proj.weight")
    bias = embedded_tensor(story.MODEL, "transformer.h.0.mlp.c_proj.bias")
    assert passed @ weight + bias == pytest.approx(story.run(ids).added[0][1][-1], abs=1e-5)


def test_each_label_of_the_tokens_has_one_number() -> None:
    for seed in range(len(TEXTS)):
        tokens = card("where", "tokens", seed)
        asked = panel(tokens, "ids")
        pairs = set(zip(asked.columns, asked.values[0], strict=True))
        assert len(pairs) == len(set(asked.columns)) == len(np.unique(asked.values))
        assert asked.values.shape[1] <= 16, "the page draws wider ones without their numbers"


def test_the_number_of_a_sign_tells_its_bytes() -> None:
    for seed in range(3):
        script = card("where", "script", seed)
        assert isinstance(script.question, NumberQuestion)
        number = int(script.numbers["code_point"])
        assert script.question.answer == 1 + sum(number > end for end in (127, 2047, 65535))
