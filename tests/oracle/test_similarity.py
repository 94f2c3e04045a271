"""Sentence similarity of minilm, against sentence-transformers' recipe written out once more."""

from pathlib import Path

import numpy as np
import pytest
import torch

import attnviz
from attnviz.app.frame.run_again import OTHERS
from attnviz.errors import BadInput
from attnviz.experiment.outputs.similarity import pooled, similarity
from attnviz.models.loaded_model import LoadedModel
from tests.support import folders

TIRED = "The animal didn't cross the street because it was too tired."
SENTENCES = (TIRED, *OTHERS)


def reference(lm: LoadedModel, text: str) -> np.ndarray:
    """One sentence at a time: no padding, no mask; mean over tokens, then length 1."""
    with torch.no_grad():
        hidden = lm.model(**lm.text_tokenizer()(text, return_tensors="pt")).last_hidden_state[0]
    mean = hidden.numpy().astype(np.float64).mean(axis=0)
    return np.asarray(mean / np.sqrt((mean**2).sum()))


def test_vectors_are_those_of_the_recipe(minilm: LoadedModel) -> None:
    found = similarity(minilm, SENTENCES)
    expected = np.stack([reference(minilm, text) for text in SENTENCES])
    np.testing.assert_allclose(found.vectors, expected, atol=2e-6)
    np.testing.assert_allclose(found.cosine, expected @ expected.T, atol=2e-6)
    np.testing.assert_allclose(np.diag(found.cosine), 1, atol=1e-6)


def test_a_paraphrase_is_near_and_an_unrelated_sentence_is_not(minilm: LoadedModel) -> None:
    cosine = dict(zip(SENTENCES, similarity(minilm, SENTENCES).cosine[0], strict=True))
    assert 0.85 < cosine["The animal was too exhausted to cross the road."] < 0.95
    assert abs(cosine["How do I bake bread at home?"]) < 0.05
    assert abs(cosine["Bread tastes best fresh from the oven."]) < 0.05


def test_it_is_the_captures_own_hidden_state(minilm: LoadedModel) -> None:
    hidden = attnviz.capture(minilm, TIRED).hidden
    assert hidden is not None
    unit = pooled(hidden, torch.ones(hidden.shape[:2], dtype=torch.bool))
    np.testing.assert_allclose(similarity(minilm, SENTENCES).vectors[0], unit[0], atol=2e-6)


def test_padding_takes_no_part() -> None:
    hidden = torch.tensor([[[3.0, 4.0], [9.0, 12.0], [100.0, -100.0]]])
    attended = torch.tensor([[True, True, False]])
    torch.testing.assert_close(pooled(hidden, attended), torch.tensor([[0.6, 0.8]]))


def test_a_model_without_vectors_is_refused(tmp_path: Path) -> None:
    lm = attnviz.load(folders.save(tmp_path / "bert", "bert"))
    with pytest.raises(BadInput, match="gives no vectors of tokens"):
        similarity(lm, ["the cat", "a dog"])
