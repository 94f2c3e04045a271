"""The files that `attnviz.models.rehearsal` hands to its child; tests/oracle has the child."""

from pathlib import Path

import pytest

from attnviz.errors import ModelNotFound
from attnviz.models import rehearsal_worker
from attnviz.models.rehearsal import Rehearsal

OPEN = Rehearsal.open  # the tests of pages leave it out


def test_open_copies_the_small_files_and_no_link_to_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "stored").write_bytes(b"weights")
    model = tmp_path / "model"
    model.mkdir()
    (model / "config.json").write_text("{}")
    (model / "model.safetensors").symlink_to(tmp_path / "stored")
    read: list[dict[str, str]] = []

    def opened(_: Rehearsal, folder: str) -> str:
        read.append({file.name: file.read_text() for file in Path(folder).iterdir()})
        return rehearsal_worker.FINE if len(read) == 1 else rehearsal_worker.FAILED

    monkeypatch.setattr(Rehearsal, "_opened", opened)
    rehearsal = Rehearsal()
    OPEN(rehearsal, model, "a model")
    rehearsal.close()
    with pytest.raises(ModelNotFound, match="reading another"):
        OPEN(Rehearsal(), model, "another")
    assert read == [{"config.json": "{}"}] * 2
