"""A capture of every family is read from its file bit for bit; so is what is derived from it."""

from pathlib import Path

import pytest

import attnviz
from attnviz.attention.capture import Capture
from attnviz.attention.inputs import AttentionInputs
from attnviz.files.capture_file.read import read
from attnviz.files.save import save
from attnviz.models.loaded_model import LoadedModel
from tests.oracle.families import FAMILIES, Family
from tests.support import captures
from tests.support.tiny.check import tiny_case
from tests.support.tiny.models import set_seed

ROWS = [
    pytest.param(family, id=family.name, marks=[] if family.fast else [pytest.mark.slow])
    for family in FAMILIES
]


def captured(family: Family) -> Capture:
    """A tiny model of the family on the inputs of the oracle suite."""
    model, inputs, _ = tiny_case(family.type_name, family.overrides)
    lm = attnviz.load(model)
    set_seed()
    return attnviz.capture(lm, inputs=inputs)


@pytest.mark.some(2)
@pytest.mark.filterwarnings("ignore")  # transformers' own, of tiny configs
@pytest.mark.parametrize("family", ROWS)
def test_a_family_is_read_as_it_was_saved(family: Family, tmp_path: Path) -> None:
    cap = captured(family)
    path = save(cap, tmp_path / "x.safetensors", with_weights=True, with_outputs=True)
    again = read(path)
    captures.assert_same(cap, again)
    assert again.verify() == cap.verify()
    call, loaded = cap.calls[-1], again.calls[-1]
    if isinstance(call.inputs, AttentionInputs):
        views = (attnviz.derive(of, call.n_heads - 1).views() for of in (call, loaded))
        for saved, derived in zip(*views, strict=True):
            captures.assert_same(saved, derived)


def test_what_a_model_wrote_and_its_text_are_kept(tmp_path: Path) -> None:
    cap = attnviz.capture(attnviz.load("stories"), "Once upon a time there was a dog", generate=5)
    again = read(save(cap, tmp_path / "x.safetensors", with_weights=True, with_outputs=True))
    captures.assert_same(cap, again)
    assert again.n_generated == cap.n_generated == 4 and again.tokens.text == cap.tokens.text


def test_a_batch_in_half_precision_still_verifies(minilm: LoadedModel, tmp_path: Path) -> None:
    cap = attnviz.capture(minilm, ["the cat sat on the mat", "a dog ran"])
    again = read(save(cap, tmp_path / "x.safetensors", dtype="float16"))
    again.verify().require()
    difference = abs(again.all_weights(1) - cap.all_weights(1)).max()
    assert 0 < difference < 4e-3
    assert again.tokens_of(1).labels == cap.tokens_of(1).labels
