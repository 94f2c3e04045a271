"""The box: every embedded model is whole, small, free of pickles, and has a card of its own."""

import shutil
from pathlib import Path

import pytest
from safetensors import safe_open

import attnviz
from attnviz.checks import MODULES, card
from attnviz.errors import ModelNotFound
from attnviz.models import files, loader, registry
from attnviz.models.registry import EMBEDDED, ENTRIES, EmbeddedModel

BOXED = [entry for entry in ENTRIES if isinstance(entry, EmbeddedModel)]
NAMES = [entry.card.name for entry in BOXED]
MAX_MB = 25
ENDINGS = {".json", ".safetensors", ".txt"}
each_model = pytest.mark.parametrize("entry", BOXED, ids=NAMES)


def test_all_of_them_together_are_small() -> None:
    stored = [path for path in EMBEDDED.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in stored) <= MAX_MB * 1e6
    assert {path.suffix for path in stored} <= ENDINGS
    assert sorted(path.name for path in EMBEDDED.iterdir()) == sorted(NAMES)


@each_model
def test_the_weights_are_the_registered_ones_in_half_precision(entry: EmbeddedModel) -> None:
    weights = entry.folder / files.WEIGHTS
    assert files.sha256(weights) == entry.sha256
    with safe_open(weights, framework="numpy") as stored:
        types = {str(stored.get_slice(name).get_dtype()) for name in stored.keys()}
    assert types == {"F16"}


@pytest.mark.some(3)
@each_model
def test_the_registry_says_what_is_loaded(entry: EmbeddedModel) -> None:
    lm = attnviz.load(entry.card.name)
    assert lm.card == entry.card
    assert sum(of.numel() for of in lm.model.parameters()) == entry.card.parameters
    found = attnviz.load(entry.folder).card
    assert (found.kind, found.layers, found.heads) == (
        entry.card.kind,
        entry.card.layers,
        entry.card.heads,
    )
    assert entry.card.size_mib == round((entry.folder / files.WEIGHTS).stat().st_size / 2**20, 1)


@each_model
def test_the_card_tells_how_it_was_made(entry: EmbeddedModel) -> None:
    found = card(entry.card.name)
    assert found is not None
    assert found.name == entry.card.name
    assert found.licence == entry.card.licence
    assert 0 < found.training.minutes * found.training.threads <= 120
    assert found.figures and found.description.what and found.description.limits
    assert entry.card.name in MODULES
    for note in found.description.heads:
        assert note.does and 0 <= note.score <= 1


def test_damaged_weights_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "EMBEDDED", tmp_path)
    shutil.copytree(EMBEDDED / NAMES[0], tmp_path / NAMES[0])
    weights = tmp_path / NAMES[0] / files.WEIGHTS
    damaged = bytearray(weights.read_bytes())
    damaged[-1] ^= 1
    weights.write_bytes(damaged)
    with pytest.raises(ModelNotFound, match="reinstall attnviz") as error:
        loader.load(NAMES[0])
    assert error.value.code == "damaged_weights"
    weights.unlink()
    with pytest.raises(ModelNotFound, match="no file"):
        loader.load(NAMES[0])
