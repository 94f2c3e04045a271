"""A model that reads a picture as part of its text, and writes: the same as one run over all of it,
and as what transformers itself writes."""

from pathlib import Path

import numpy as np
import pytest
import torch

import attnviz
from attnviz.app.session import model_images
from attnviz.capture.generation.settings import Generation
from attnviz.capture.plan import images
from attnviz.errors import BadInput, TooLarge
from attnviz.experiment.outputs.next_token import ranked
from attnviz.models.loaded_model import LoadedModel
from attnviz.tokens.words import words
from tests.support import folders

TEXT = "the cat sat on"
N_PIECE = 16


@pytest.fixture(scope="module")
def lm(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return attnviz.load(folders.save(tmp_path_factory.mktemp("llava") / "llava", "llava"))


@pytest.fixture(scope="module")
def picture() -> object:
    return model_images.drawn("landscape")


def prompt(lm: LoadedModel) -> torch.Tensor:
    """The picture's pieces before the text, as the model's own processor would put them."""
    ids = lm.text_tokenizer()(TEXT)["input_ids"]
    return torch.tensor([[folders.WORDS.index("[UNK]")] * N_PIECE + ids])


@pytest.mark.parametrize(
    "how",
    [
        Generation(5),
        Generation(5, temperature=1.5, top_k=8, seed=3),
        Generation(4, beams=3),
    ],
    ids=["greedy", "sampled", "beams"],
)
def test_writing_is_one_run_over_all_of_it(
    lm: LoadedModel, picture: object, how: Generation
) -> None:
    found = attnviz.capture(lm, TEXT, image=picture, generate=how)
    tokens = found.tokens_of(stack="text")
    assert len(tokens) == N_PIECE + 4 + found.n_generated
    assert found.n_generated == how.n_tokens - 1
    ids = torch.from_numpy(tokens.ids)[None]
    whole = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    forced = attnviz.capture(lm, inputs=whole | images.pixel_inputs(lm, [picture]))
    for layer in range(2):
        np.testing.assert_allclose(
            found.weights(layer, stack="text"), forced.weights(layer, stack="text"), atol=2e-5
        )
        np.testing.assert_allclose(
            found.weights(layer, stack="vision"), forced.weights(layer, stack="vision"), atol=2e-5
        )
    assert found.logits is not None and forced.logits is not None
    np.testing.assert_allclose(found.logits, forced.logits, atol=2e-4)
    assert found.verify().ok


def test_what_is_written_is_what_transformers_writes(lm: LoadedModel, picture: object) -> None:
    ids = prompt(lm)
    with torch.no_grad():
        whole = lm.model.generate(
            input_ids=ids, **images.pixel_inputs(lm, [picture]), max_new_tokens=5, do_sample=False
        )
    found = attnviz.capture(lm, TEXT, image=picture, generate=5)
    assert found.tokens_of(stack="text").ids.tolist() == whole[0, :-1].tolist()
    best = ranked(found, 1)
    assert best.ids[N_PIECE + 3 :, 0].tolist() == whole[0, N_PIECE + 4 :].tolist()
    assert best.first == 0 and len(best.ids) == whole.shape[1] - 1


def test_pieces_of_the_picture_keep_their_places(lm: LoadedModel, picture: object) -> None:
    found = attnviz.capture(lm, TEXT, image=picture, generate=3)
    tokens = found.tokens_of(stack="text")
    assert tokens.labels[:6] == ("r0c0", "r0c1", "r0c2", "r0c3", "r1c0", "r1c1")
    assert tokens.labels[N_PIECE : N_PIECE + 4] == ("the", "cat", "sat", "on")
    assert found.grid == (4, 4) and len(found.tokens_of(stack="vision")) == 17
    spelled = words(tokens, lm.text_tokenizer().convert_tokens_to_string)
    assert [word.text for word in spelled] == list(tokens.labels)


@pytest.mark.some(1)
@pytest.mark.parametrize("name", ["clip", "siglip", "blip"])
def test_a_model_whose_picture_is_no_part_of_its_text_does_not_write(
    tmp_path: Path, picture: object, name: str
) -> None:
    other = attnviz.load(folders.save(tmp_path / name, name))
    assert not other.card.writes_of_pictures
    with pytest.raises(BadInput) as raised:
        attnviz.capture(other, TEXT, image=picture, generate=3)
    assert raised.value.code == "cannot_write_of_pictures"
    assert attnviz.capture(other, TEXT, image=picture).n_generated == 0


def test_the_pieces_take_room(lm: LoadedModel, picture: object) -> None:
    with pytest.raises(TooLarge) as raised:
        attnviz.capture(lm, TEXT, image=picture, generate=14)
    assert (raised.value.code, raised.value.found) == ("no_room_to_write", 33)
