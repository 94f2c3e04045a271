"""The engine beside torch: every family, several lengths, heads off; what it refuses."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import attnviz
from attnviz.capture.arguments import as_pictures
from attnviz.capture.plan.images import pixel_inputs
from attnviz.live import prepared
from attnviz.models.loaded_model import LoadedModel
from attnviz.worlds import shapes
from tests.support.live_worker import answers, model_files, opening
from tests.support.node import needs_node

pytestmark = needs_node

STORY = (
    "Anna has a red ball. Tom has a blue hat. Tom gives the hat to Anna, and Anna is happy. They go"
    " to the park. In the park is a dog. The dog wants the ball. "
)
TEXTS = {
    "minilm": STORY,
    "sentiment": "the film was not good at all , but the music was . ",
    "stories": STORY,
    "stories-llama": STORY,
    "translator": "the big black dog sees a small bird in the garden . ",
    "dates": "Monday January 12 1948",
}
LENGTHS = (2, 9, 40, 200)  # words, as far as the model reads so many
WEIGHTS = 1e-5


def reference_of(lm: LoadedModel, n_words: int) -> bytes:
    words = (TEXTS[lm.name] * 8).split()[:n_words]
    text = " ".join(words)
    if lm.kind == "encoder-decoder":
        return prepared.reference(attnviz.capture(lm, text, target="les oiseaux", cut=True), text)
    return prepared.reference(attnviz.capture(lm, text, cut=True), text)


def verified(lm: LoadedModel, reference: bytes, folder: Path) -> dict[str, Any]:
    info = model_files(lm, folder, reference=reference)
    *_, loaded, found = answers([*opening(info), {"kind": "verify", "model": lm.name}])
    assert loaded["kind"] == "loaded", loaded
    assert found["kind"] == "verified", found
    return found


@pytest.mark.parametrize(
    "n_words", [LENGTHS[1], *(pytest.param(n, marks=pytest.mark.slow) for n in (2, 40, 200))]
)
@pytest.mark.parametrize("name", TEXTS)
def test_verify_finds_torchs_weights(name: str, n_words: int, tmp_path: Path) -> None:
    lm = attnviz.load(name)
    found = verified(lm, reference_of(lm, n_words), tmp_path)
    assert found["ok"] and found["weights"] <= WEIGHTS, found
    assert found["output"] <= 1e-4 and found["compared"] > 0
    assert found["ids"]


def test_verify_finds_torchs_weights_of_a_picture(tmp_path: Path) -> None:
    lm = attnviz.load("shapes")
    picture = shapes.sample(3).picture()
    capture = attnviz.capture(lm, image=picture)
    pixels = pixel_inputs(lm, as_pictures(picture))["pixel_values"][0].numpy()
    found = verified(lm, prepared.reference(capture, "", pixels), tmp_path)
    assert found["ok"] and found["weights"] <= WEIGHTS, found


def test_verify_finds_a_wrong_weight(tmp_path: Path) -> None:
    from safetensors.numpy import load, save

    lm = attnviz.load("stories")
    tensors = {name: np.array(array) for name, array in load(reference_of(lm, 9)).items()}
    tensors["self"][2, 1, 5, 3] += 1e-3
    found = verified(lm, save(tensors, metadata={"text": "", "torch": ""}), tmp_path)
    assert not found["ok"] and 0.9e-3 < found["weights"] < 1.1e-3
    assert not found["ids"]
