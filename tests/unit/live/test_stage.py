"""The worker's stage beside the library's: each look cut, of decoders and a sentence encoder."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import attnviz
from attnviz.capture.request import Request
from attnviz.experiment.clean_run import prepare_request
from attnviz.experiment.run import Experiment
from attnviz.pictures import stage
from attnviz.pictures.group.app_capture import AppCapture
from attnviz.pictures.shared.buffer import unpack
from attnviz.pictures.shared.canvas import packed
from attnviz.pictures.stage import STAGED, Scene, StageView, fill
from tests.support.live_worker import answers, model_files, opening, show
from tests.support.node import needs_node

pytestmark = needs_node

OWN = {
    "stories": "Sam has a hat and Lily has a ball. Sam's mom gave Lily's ball to",
    "stories-llama": "Anna has a red ball. Tom has a blue hat. Tom gives the hat to",
}


def library(name: str, text: str, scene: Scene) -> StageView:
    lm = attnviz.load(name)
    captured = AppCapture.alone(attnviz.capture(lm, text), lm)
    staged = STAGED.get(scene)
    others = () if staged is None else tuple(other for _, other in staged.yardsticks)
    captured = replace(captured, request=Request.of((text,)))
    run = Experiment(prepare_request(lm, Request.of((text,))), others)
    if staged is None:
        return fill.next_word(captured, run, scene)
    if not staged.yardsticks:
        return fill.next_word(captured, run, scene, key=staged.key, tried=staged.tried)
    names = [name for name, _ in staged.yardsticks]
    return fill.meaning(captured, run, scene, (staged.query, staged.key), names)


def asked(scene: Scene, text: str) -> dict[str, Any]:
    """`Staged` of index.d.ts."""
    staged = STAGED.get(scene)
    given = {"scene": scene, "text": text, "examples": [], "isTyped": False}
    if staged is None:
        return {**given, "cell": None, "tried": None, "yardsticks": []}
    cell = {"query": staged.query, "key": staged.key}
    return {**given, "cell": cell, "tried": None, "yardsticks": staged.yardsticks}


@pytest.mark.some(1)
@pytest.mark.parametrize(
    ("name", "scene"),
    [
        ("stories", "book"),
        ("stories", "ball"),
        ("stories", "own"),
        ("stories-llama", "own"),
        pytest.param("minilm", "animal", marks=pytest.mark.slow),
    ],
)
def test_stage_bytes_are_the_librarys(name: str, scene: Scene, tmp_path: Path) -> None:
    found = assert_alike(name, scene, OWN[name] if scene == "own" else STAGED[scene].text, tmp_path)
    assert found["moved"] > (0.9 if scene == "book" else 1e-4)  # a cut really cuts


def test_a_stage_without_a_guess_is_the_librarys(tmp_path: Path) -> None:
    assert not assert_alike("stories", "own", "Tom loves his", tmp_path)["guesses"]


def assert_alike(name: str, scene: Scene, text: str, tmp_path: Path) -> dict[str, Any]:
    view = replace(library(name, text, scene), tried=None, has_box=False)
    wanted, wanted_arrays = unpack(packed(stage.CANVAS, view, "en"))
    request = show(name, ["stage"], text=text, staged=asked(scene, text))
    info = model_files(attnviz.load(name), tmp_path)
    *_, found = answers([*opening(info), request])
    header, arrays = unpack(found["views"]["stage"])
    for name_ in ("share", "shares"):
        assert header.pop(name_) == pytest.approx(wanted.pop(name_), abs=2e-5)
    assert header == wanted
    assert arrays.keys() == wanted_arrays.keys()
    for name_, array in wanted_arrays.items():
        assert arrays[name_].shape == array.shape
        close = np.abs(arrays[name_].astype(float) - array.astype(float))
        assert close.max(initial=0) <= (1 if array.dtype == np.uint8 else 2e-5), name_
    return {**header, "moved": max(arrays["moved"])}


def test_the_words_that_lead_are_the_likeliest_of_the_next_word() -> None:
    """`fill.next_word` beside a pass of the model with transformers alone."""
    text = "The doctor gave Anna the keys because Anna asked for the"
    stage_of = library("stories", text, "own")
    answers = stage_of.answers
    lm = attnviz.load("stories")
    assert lm.tokenizer is not None
    with torch.no_grad():
        scores = lm.model(**lm.tokenizer(text, return_tensors="pt")).logits[0, -1]
    shares, ids = torch.softmax(scores, -1).sort(descending=True)
    likeliest = [lm.tokenizer.decode([at]).strip() for at in ids]
    assert answers.leading >= 5
    assert list(answers.choices[: answers.leading]) == likeliest[: answers.leading]
    np.testing.assert_allclose(answers.before[:5], shares[:5], atol=1e-5)
    risen = answers.choices[answers.leading :]
    assert risen and likeliest[answers.leading] not in risen  # a line must stand above them
    looks = stage_of.looks
    heads = [f"L{at // looks.n_heads}.H{at % looks.n_heads}" for at in range(len(looks.moved))]
    cuts = attnviz.experiment("stories", text).cuts([(at, looks.query, looks.key) for at in heads])
    listed = [int(ids[likeliest.index(name)]) for name in answers.choices]
    others = np.delete(cuts.numbers, listed, axis=1).max(axis=1)  # the likeliest that is not listed
    counted = (cuts.numbers[:, listed] > others[:, None]).sum(axis=1)
    assert list(answers.leading_after) == counted.tolist() and min(counted) < 5


def test_a_stage_whose_cell_does_not_exist_chooses_one(tmp_path: Path) -> None:
    text = STAGED["book"].text
    given = {**asked("book", text), "cell": {"query": 14, "key": 99}}
    request = show("stories", ["stage"], text=text, staged=given)
    info = model_files(attnviz.load("stories"), tmp_path)
    *_, found = answers([*opening(info), request])
    header, _ = unpack(found["views"]["stage"])
    assert header["n_tried"] > 0 and header["tokens"][header["key"]] == "Mary"


@pytest.mark.slow
@pytest.mark.parametrize("scene", ["book", "own"])
def test_cuts_in_pieces_are_the_whole_ones(scene: Scene, tmp_path: Path) -> None:
    text = OWN["stories"] if scene == "own" else STAGED[scene].text
    request = show("stories", ["stage"], text=text, staged=asked(scene, text))
    pieces = [{**request, "most_ms": most} for most in (0, *[2] * 60)]
    info = model_files(attnviz.load("stories"), tmp_path)
    *_, whole = answers([*opening(info), request])
    first, second, *_, last = answers([*opening(info), *pieces])[-len(pieces) :]
    assert first["uncut"] > 0 == whole["uncut"] == last["uncut"]
    assert last["views"] == whole["views"]
    if scene == "own":
        assert "stage" not in first["views"]  # the look to show is not chosen yet
    else:
        header, arrays = unpack(first["views"]["stage"])
        assert np.isnan(arrays["moved"]).all() and header["winner"] == "Mary"
        assert second["uncut"] < first["uncut"] == 16
