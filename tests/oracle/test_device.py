"""A model on another device than the CPU: everything derived there is what it is on the CPU.

The device is simulated (tests/support/elsewhere.py): whatever would ask a GPU to work with a tensor
that lies on the CPU, or numpy to read one that does not, raises here as it would there.
"""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import attnviz
from attnviz import tiles
from attnviz.app.session import model_images
from attnviz.attention import memory
from attnviz.attention.call import AttentionCall
from attnviz.attention.capture import Capture
from attnviz.attention.edits import Edit
from attnviz.audio import sound
from attnviz.capture.generation.settings import Generation
from attnviz.errors import UnsupportedAttention
from attnviz.experiment.outputs import similarity
from attnviz.models.loaded_model import LoadedModel
from tests.support import elsewhere, folders
from tests.support.cases import mostly_slow

TEXT, TARGET = "the cat sat on", "a dog ran"
PICTURE = model_images.drawn("landscape")
SOUND = sound.sample(16_000)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    root = tmp_path_factory.mktemp("models")

    return partial(folders.saved, root)


@pytest.fixture
def away() -> Iterator[str]:
    with elsewhere.device() as name:
        yield name


CASES: dict[str, tuple[str, tuple[Any, ...], dict[str, Any]]] = {
    "encoder, padded": ("bert", ([TEXT, TARGET],), {}),
    "decoder, padded": ("gpt2", ([TEXT, TARGET],), {}),
    "attention code of its own": ("deberta", (TEXT,), {}),
    "softcap and window": ("gemma2", (TEXT,), {}),
    "rotary, grouped, greedy": ("llama", (TEXT,), {"generate": 4}),
    "sampled": ("gpt2", (TEXT,), {"generate": Generation(4, temperature=1.2, seed=3)}),
    "beams": ("llama", (TEXT,), {"generate": Generation(4, beams=3)}),
    "position bias": ("t5", (TEXT,), {"target": TARGET}),
    "cross": ("marian", (TEXT,), {"target": TARGET}),
    "cross, beams": ("marian", (TEXT,), {"generate": Generation(4, beams=2)}),
    "picture": ("vit", (), {"image": PICTURE}),
    "windows": ("swinv2", (), {"image": PICTURE}),
    "text and picture": ("llava", (TEXT,), {"image": PICTURE}),
    "text across at a picture": ("blip", (TEXT,), {"image": PICTURE}),
    "sound, written": ("whisper", (), {"sound": SOUND, "generate": 4}),
    "sound": ("wav2vec2", (), {"sound": SOUND}),
    "kept in main memory": ("gpt2", (TEXT,), {"offload": True}),
    "rotary, kept in main memory": ("llama", (TEXT,), {"offload": True, "store": "float16"}),
    "own code, kept in main memory": ("deberta", (TEXT,), {"offload": True}),
}


# an encoder, and both sides of what a model writes by beams
QUICK = ("encoder, padded", "cross, beams")


def stages_of(call: AttentionCall) -> dict[str, np.ndarray]:
    """Every step of a head with the model's mask, and of a what-if; or the weights alone."""
    try:
        plain = attnviz.derive(call, 0)
    except UnsupportedAttention:
        return {"weights": call.weights(0).cpu().numpy()}
    mask = torch.ones(call.n_query, call.n_key, dtype=torch.bool)
    mask[0, -1] = False
    edited = attnviz.derive(call, 0, edits=(Edit("scores", 0, 0, 0.5),), before=plain)
    ways = {"": plain, "masked ": attnviz.derive(call, 0, mask=mask), "edited ": edited}
    return {f"{way}{v.stage}": v.values for way, of in ways.items() for v in of.views()}


def require_same(there: Capture, here: Capture) -> None:
    assert len(there.calls) == len(here.calls)
    assert there.verify().ok
    # a layer of each kind: the others run the same code
    last = {(call.stack, call.kind, call.n_heads): n for n, call in enumerate(here.calls)}
    for ours, theirs in ((there.calls[n], here.calls[n]) for n in last.values()):
        made, wanted = stages_of(ours), stages_of(theirs)
        assert made.keys() == wanted.keys()
        for stage, values in wanted.items():
            np.testing.assert_allclose(made[stage], values, atol=2e-5, err_msg=stage)


@pytest.mark.some(1)
@pytest.mark.parametrize("case", mostly_slow(CASES, QUICK))
def test_another_device_gives_the_same_numbers(folder: Callable[[str], Path], case: str) -> None:
    name, given, options = CASES[case]
    here = attnviz.capture(attnviz.load(folder(name)), *given, **options)
    with elsewhere.device() as device:
        lm = attnviz.load(folder(name), device=device)
        assert lm.key.device == device
        there = attnviz.capture(lm, *given, **options)
        kept = {tensor.device.type for call in there.calls for tensor in memory.tensors(call)}
        assert kept == {"cpu" if options.get("offload") else device}
        require_same(there, here)


def test_modules_of_torch(away: str) -> None:
    layer = nn.TransformerEncoderLayer(24, 3, 40, batch_first=True)
    module = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval().to(away)
    padding = torch.tensor([[False] * 5, [False] * 3 + [True] * 2], device=away)
    with attnviz.record(module) as calls:
        module(torch.randn(2, 5, 24, device=away), src_key_padding_mask=padding)
    assert [call.n_key for call in calls] == [5, 5]
    assert all(call.verify().ok for call in calls)


def test_a_long_text_is_read_by_tiles(folder: Callable[[str], Path]) -> None:
    here = attnviz.capture(attnviz.load(folder("gpt2")), TEXT)
    wanted = tiles.build(here.call(1), 2)
    with elsewhere.device() as device:
        there = attnviz.capture(attnviz.load(folder("gpt2"), device=device), TEXT)
        made = tiles.build(there.call(1), 2)
        np.testing.assert_array_equal(made.tile(0, 0, 0), wanted.tile(0, 0, 0))
        np.testing.assert_allclose(made.row(3), wanted.row(3), atol=1e-6)


@pytest.mark.slow
def test_sentences_are_compared(minilm: LoadedModel) -> None:
    here = similarity.similarity(minilm, [TEXT, TARGET])
    with elsewhere.device() as device:
        there = similarity.similarity(attnviz.load("minilm", device=device), [TEXT, TARGET])
    np.testing.assert_allclose(there.cosine, here.cosine, atol=1e-5)


def test_the_simulated_device_is_strict(away: str) -> None:
    there, here = torch.ones(2, device=away), torch.ones(2)
    with pytest.raises(RuntimeError, match="same device"):
        there + here
    with pytest.raises((RuntimeError, TypeError, NotImplementedError)):
        there.numpy()
    assert (there.cpu() + here).tolist() == [2.0, 2.0]
