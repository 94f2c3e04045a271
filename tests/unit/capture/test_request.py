"""`Request.of`: every argument is used or refused by its name, and `key` names all of them."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from transformers import BatchEncoding

from attnviz.audio import sound
from attnviz.capture.generation.settings import Generation, as_generation
from attnviz.capture.request import Request
from attnviz.errors import BadInput
from tests.support import shapes

PICTURE = np.random.default_rng(5).integers(0, 256, (7, 11, 3), dtype=np.uint8)
SOUND = sound.sample(4_000)
IDS = [[3, 5, 7], [11, 13, 17]]


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        ({}, "example"),
        ({"text": "a"}, "text"),
        ({"text": ["a", "b"], "text_pair": ["c", "d"], "generate": 3, "cut": True}, "text"),
        ({"text": "a", "target": "b"}, "text"),
        ({"text": "a", "chat": True, "cut": True, "generate": 2}, "text"),
        ({"image": PICTURE}, "image"),
        ({"image": PICTURE, "text": "a", "chat": True}, "text-image"),
        ({"sound": SOUND, "generate": 5}, "sound"),
        ({"sound": SOUND, "target": "a", "cut": True}, "sound"),
        ({"inputs": {"input_ids": IDS}, "generate": 2}, "inputs"),
    ],
)
def test_request_of_knows_its_kind(arguments: dict[str, object], kind: str) -> None:
    assert Request.of(**arguments).kind == kind


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"text": "a", "sound": SOUND}, ["text=", "sound="]),
        ({"text": "a", "inputs": {"input_ids": IDS}}, ["text=", "inputs="]),
        ({"image": PICTURE, "inputs": {"input_ids": IDS}}, ["image=", "inputs="]),
        ({"image": PICTURE, "target": "b"}, ["target= does not go with image="]),
        ({"image": PICTURE, "text_pair": "b"}, ["text_pair= does not go with image="]),
        ({"image": PICTURE, "generate": 3}, ["generate= does not go with image="]),
        ({"image": PICTURE, "cut": True}, ["cut= does not go with image="]),
        ({"image": PICTURE, "text": "a", "target": "b"}, ["target=", "text= and image="]),
        ({"sound": SOUND, "text_pair": "b"}, ["text_pair= does not go with sound="]),
        ({"sound": SOUND, "chat": True}, ["chat= does not go with sound="]),
        ({"sound": SOUND, "cut": True}, ["cut= shortens a target="]),
        ({"sound": SOUND, "generate": Generation(3, beams=2)}, ["greedily", "generate=3"]),
        (
            {"sound": SOUND, "generate": Generation(3, temperature=0.5, seed=4)},
            ["greedily", "generate=3"],
        ),
        ({"inputs": {"input_ids": IDS}, "cut": True}, ["cut= does not go with inputs="]),
        ({"inputs": {"input_ids": IDS}, "target": "b"}, ["target= does not go with inputs="]),
        ({"text": "a", "chat": True, "text_pair": "b"}, ["text_pair= does not go with a message"]),
        ({"text": "a", "chat": True, "target": "b"}, ["target= does not go with a message"]),
        ({"cut": True}, ["cut= needs something to read"]),
        ({"target": "b", "generate": 3}, ["target=", "generate="]),
    ],
)
def test_request_of_refuses_what_does_not_go_together(
    arguments: dict[str, object], named: list[str]
) -> None:
    with pytest.raises(BadInput) as caught:
        Request.of(**arguments)
    assert all(part in str(caught.value) for part in named), str(caught.value)
    assert caught.value.code == "what_to_capture"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ({"text": 3}, "not_a_string", "text is int"),
        ({"text": "a", "target": " "}, "empty_text", "target is empty"),
        ({"text": ["a", "b"], "text_pair": "c"}, "pair_count", "text has 2 entries and text_pair"),
        ({"sound": SOUND, "target": ["a", "b"]}, "pair_count", "sound has 1 entries and target 2"),
        ({"image": []}, "not_an_image", "a list of at least one"),
        ({"image": 3}, "not_an_image", "image= is int"),
        (
            {"image": np.zeros((3, 5), np.float32)},
            "not_an_image",
            r"an array of float32 with shape \(3, 5\)",
        ),
        ({"image": "no such.png"}, "no_file", "cannot read no such.png"),
        ({"sound": 3.5}, "not_a_sound", "sound= is float"),
        ({"sound": "no such.wav"}, "no_file", "cannot read no such.wav"),
        ({"inputs": {}}, "bad_inputs", "inputs= is empty"),
        ({"inputs": torch.ones(1, 3)}, "bad_inputs", "inputs= is Tensor; give a mapping"),
        ({"inputs": {"input_ids": [[1, 2], [3]]}}, "bad_inputs", "rows of different lengths"),
        ({"inputs": {"input_ids": [[]]}}, "bad_inputs", r"shape \(1, 0\) and so no numbers"),
        ({"inputs": {"input_ids": [["a"]]}}, "bad_inputs", r"inputs\['input_ids'\] is list"),
        ({"inputs": {"x": [torch.ones(1)]}}, "bad_inputs", r"inputs\['x'\] is list"),
        ({"inputs": {"past_key_values": object()}}, "bad_inputs", "is object; give a tensor"),
        ({"text": "a", "generate": -1}, "bad_generation", "at least one token"),
        ({"text": "a", "generate": 1.5}, "bad_generation", "generate= is 1.5"),
        ({"text": "a", "generate": True}, "bad_generation", "generate= is True"),
    ],
)
def test_request_of_refuses_what_cannot_be_read(
    arguments: dict[str, object], code: str, message: str
) -> None:
    with shapes.unchecked(), pytest.raises(BadInput, match=message) as caught:
        Request.of(**arguments)  # type: ignore[arg-type]
    assert caught.value.code == code


@pytest.mark.parametrize(
    "settings",
    [
        {"top_p": 0.2},
        {"top_k": 5},
        {"seed": 3},
        {"temperature": 0.0},
        {"temperature": float("nan")},
        {"temperature": 1.0, "top_k": -1},
        {"temperature": 1.0, "top_p": 0.0},
        {"temperature": 1.0, "beams": 2},
        {"n_tokens": 0},
        {"beams": 0},
    ],
)
def test_generation_refuses_settings_that_change_nothing(settings: dict[str, float]) -> None:
    with pytest.raises(BadInput, match="cannot generate"):
        Generation(**{"n_tokens": 5, **settings})  # type: ignore[arg-type]


def test_as_generation_of_no_tokens_is_none() -> None:
    assert as_generation(0) is None
    assert as_generation(np.int64(4)) == Generation(4)
    assert as_generation(Generation(4, beams=3)) == Generation(4, beams=3)


def test_a_picture_may_be_a_path(tmp_path: Path) -> None:
    path = tmp_path / "picture.png"
    Image.fromarray(PICTURE).save(path)
    own = Request.of(image=PICTURE)
    assert Request.of(image=path) == Request.of(image=str(path)) == own
    assert hash(Request.of(image=path)) == hash(own)
    (tmp_path / "not one.png").write_text("no picture")
    with pytest.raises(BadInput, match="is not a picture that can be read"):
        Request.of(image=tmp_path / "not one.png")


def test_a_photo_stands_upright_as_its_camera_noted(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # turned by a quarter
    Image.fromarray(PICTURE).save(tmp_path / "photo.png", exif=exif)
    (photo,) = Request.of(image=tmp_path / "photo.png").image
    assert photo.size == (7, 11)


def test_a_sound_may_be_a_path(tmp_path: Path) -> None:
    path = tmp_path / "sound.wav"
    path.write_bytes(SOUND.wav())
    request = Request.of(sound=path)
    assert request.sound is not None and request.sound.rate == SOUND.rate
    np.testing.assert_allclose(request.sound.samples, SOUND.samples, atol=1e-4)


def test_inputs_may_be_tensors_arrays_lists_or_what_a_tokenizer_gives() -> None:
    ways: list[object] = [
        {"input_ids": IDS},
        {"input_ids": np.array(IDS)},
        {"input_ids": torch.tensor(IDS)},
        BatchEncoding({"input_ids": torch.tensor(IDS)}),
    ]
    assert len({Request.of(inputs=way).key for way in ways}) == 1
    assert Request.of(inputs={"input_ids": IDS, "use_cache": True}).inputs["use_cache"] is True


DIFFERENT = [
    {},
    {"text": "a"},
    {"text": ["a", "b"]},
    {"text": "a b"},
    {"text": "a", "text_pair": "b"},
    {"text": "a", "target": "b"},
    {"text": "a", "cut": True},
    {"text": "a", "chat": True},
    {"text": "a", "generate": 3},
    {"text": "a", "generate": 4},
    {"text": "a", "generate": Generation(3, beams=2)},
    {"text": "a", "generate": Generation(3, temperature=0.5)},
    {"text": "a", "generate": Generation(3, temperature=0.5, seed=1)},
    {"image": PICTURE},
    {"image": PICTURE.swapaxes(0, 1)},
    {"image": [PICTURE, PICTURE]},
    {"image": 255 - PICTURE},
    {"text": "a", "image": PICTURE},
    {"sound": SOUND},
    {"sound": sound.Sound(SOUND.samples, 8_000)},
    {"sound": sound.Sound(SOUND.samples * np.float32(0.5), SOUND.rate)},
    {"inputs": {"input_ids": IDS}},
    {"inputs": {"input_ids": [IDS[0]]}},
    {"inputs": {"decoder_input_ids": IDS}},
    {"inputs": {"input_ids": np.array(IDS, np.int32)}},
    {"inputs": {"x": torch.tensor(IDS, dtype=torch.bfloat16)}},
    {"text": "long " * 1000},
    {"text": "long " * 1001},
]


def test_the_key_differs_wherever_the_request_does() -> None:
    keys = [Request.of(**arguments).key for arguments in DIFFERENT]
    assert len(set(keys)) == len(DIFFERENT)
    assert keys == [Request.of(**arguments).key for arguments in DIFFERENT]
    assert max(map(len, keys)) <= 2000


def test_a_lone_surrogate_does_not_break_the_key() -> None:
    assert Request.of(text="a\ud800").key == Request.of(text="a\ufffd").key


def test_a_request_needs_no_torch(root: Path) -> None:
    code = (
        "from attnviz.capture.request import Request; import numpy as np;"
        " Request.of(text='a', generate=3).key;"
        " Request.of(image=np.zeros((2, 3, 3), np.uint8)).key;"
        " Request.of(inputs={'input_ids': [[1, 2]]}).key"
    )
    assert ended_without_torch(code, root) == 0
    assert ended_without_torch("import attnviz.capture.run", root) == 1


def ended_without_torch(code: str, root: Path) -> int:
    """The code with which a program ends where torch and transformers cannot be imported."""
    absent = "import sys; sys.modules.update(torch=None, transformers=None)"
    command = [sys.executable, "-c", f"{absent}; {code}"]
    return subprocess.run(command, cwd=root, capture_output=True, check=False).returncode
