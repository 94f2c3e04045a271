"""Alignment between words: rows, mass, probabilities; by hand and on tiny models."""

from collections.abc import Callable

import numpy as np
import pytest
import torch

import attnviz
from attnviz.experiment.outputs.alignment import align, token_probabilities
from attnviz.experiment.outputs.answer import answer
from attnviz.models.loaded_model import LoadedModel
from attnviz.tokens.words import Word, merged

SOURCE, TARGET = "the cat sat on a mat", "the dog ran"
Tiny = Callable[[str], LoadedModel]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    """A function that loads a tiny model."""
    from tests.support import folders

    root = tmp_path_factory.mktemp("models")
    return lambda name: attnviz.load(folders.saved(root, name))


def test_keys_are_summed_and_queries_averaged() -> None:
    weights = np.array([[[[0.5, 0.25, 0.25], [0.125, 0.125, 0.75], [1, 0, 0]]]], dtype=np.float32)
    source = (Word("a", 0, 1), Word("bc", 1, 3))
    target = (Word("x", 0, 1), Word("yz", 1, 3))
    found = merged(weights, target, source)
    # yz: rows (0.125, 0.875) and (1, 0), their mean
    np.testing.assert_array_equal(found[0, 0], [[0.5, 0.5], [0.5625, 0.4375]])
    np.testing.assert_allclose(found.sum(-1), 1)


def test_nothing_written_has_no_rows() -> None:
    weights = np.ones((2, 3, 1, 5), dtype=np.float32) / 5
    assert merged(weights, (), (Word("a", 0, 5),)).shape == (2, 3, 0, 1)


def test_a_tokens_probability_is_read_in_its_own_row() -> None:
    logits = torch.log(torch.tensor([[0.5, 0.25, 0.25], [0.125, 0.75, 0.125], [0.2, 0.2, 0.6]]))
    found = token_probabilities(logits, np.array([1, 2]))
    np.testing.assert_allclose(found, [0.25, 0.125], rtol=1e-6)


@pytest.mark.parametrize("name", ["marian", "t5"])
def test_a_target_words_row_is_the_one_that_predicts_it(tiny: Tiny, name: str) -> None:
    lm = tiny(name)
    cap = attnviz.capture(lm, SOURCE, target=TARGET)
    found = align(lm, cap, TARGET)
    assert [word.text for word in found.source] == [*SOURCE.split(), "</s>"]
    assert [word.text for word in found.target] == [*TARGET.split(), "</s>"]
    weights = cap.all_weights(kind="cross", stack="decoder")
    # row 0 has read the start token only and predicts "the"; every word here is one token
    np.testing.assert_allclose(found.weights, weights, atol=1e-7)
    np.testing.assert_allclose(found.weights.sum(-1), 1, atol=1e-5)


@pytest.mark.parametrize("name", ["marian", "t5"])
def test_probabilities_are_the_models_own_loss(tiny: Tiny, name: str) -> None:
    lm = tiny(name)
    found = align(lm, attnviz.capture(lm, SOURCE, target=TARGET), TARGET)
    encoded = lm.text_tokenizer()(SOURCE, return_tensors="pt")
    labels = lm.text_tokenizer()(text_target=TARGET, return_tensors="pt")["input_ids"]
    with torch.no_grad():
        loss = lm.model(input_ids=encoded["input_ids"], labels=labels).loss
    assert found.probability is not None
    assert np.isclose(np.log(found.probability), -float(loss) * labels.shape[1], rtol=1e-4)


def test_another_target_has_other_probabilities(tiny: Tiny) -> None:
    lm = tiny("t5")
    both = [align(lm, attnviz.capture(lm, SOURCE, target=of), of) for of in (TARGET, "a mat")]
    assert both[0].probability != both[1].probability


def test_what_was_written_is_aligned_without_the_row_that_predicts_the_unknown(tiny: Tiny) -> None:
    lm = tiny("t5")
    cap = attnviz.capture(lm, SOURCE, generate=5)
    found = align(lm, cap)
    assert len(found.target) == cap.n_generated == 4
    weights = cap.all_weights(kind="cross", stack="decoder")
    np.testing.assert_allclose(found.weights, weights[:, :, :4], atol=1e-7)


def test_padding_is_no_word(tiny: Tiny) -> None:
    lm = tiny("marian")
    cap = attnviz.capture(lm, [SOURCE, "the dog ran"], target=[TARGET, "a cat sat on a mat"])
    found = align(lm, cap, "a cat sat on a mat", batch=1)
    assert [word.text for word in found.source] == ["the", "dog", "ran", "</s>"]
    np.testing.assert_allclose(found.weights.sum(-1), 1, atol=1e-5)
    alone = align(lm, attnviz.capture(lm, SOURCE, target=TARGET), TARGET)
    first = align(lm, cap, TARGET)
    np.testing.assert_allclose(first.weights, alone.weights, atol=1e-5)


def test_an_answer_is_the_models_greedy_text(tiny: Tiny) -> None:
    lm = tiny("t5")
    encoded = lm.text_tokenizer()(SOURCE, return_tensors="pt")
    ids = lm.model.generate(input_ids=encoded["input_ids"], max_new_tokens=31, do_sample=False)
    expected = lm.text_tokenizer().decode(ids[0].tolist(), skip_special_tokens=True)
    assert answer(lm, SOURCE) == expected.strip() != ""


def test_an_answer_may_be_empty(tiny: Tiny) -> None:
    assert answer(tiny("marian"), SOURCE) == ""


def test_a_model_that_cannot_write_says_so(tiny: Tiny) -> None:
    with pytest.raises(attnviz.BadInput, match="cannot write"):
        answer(tiny("bert"), SOURCE)
