"""`load_foreign`: a child process reads a hostile model first, and each text for its tokenizer.

One process imports the libraries for all tests here, which takes seconds: so they are slow ones.
"""

import json
import os
import shutil
import signal
from pathlib import Path

import pytest

from attnviz.errors import AttnVizError, BadInput, ModelNotFound
from attnviz.models import rehearsal, rehearsal_worker
from attnviz.models.admission import tokenizer
from attnviz.models.loaded_model import LoadedModel
from attnviz.models.loader import load_foreign
from attnviz.models.rehearsal import Rehearsal
from tests.support import folders

pytestmark = pytest.mark.slow
CANARY = "canary-of-the-environment"


def opened(folder: Path) -> LoadedModel:
    return load_foreign(str(folder), [folder.parent])


def set_tokenizer(folder: Path, **parts: object) -> None:
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | parts))


@pytest.mark.parametrize("name", ["bert", "vit", "whisper", "llava-chat"])
def test_an_honest_model_is_opened_as_by_load(tmp_path: Path, name: str) -> None:
    loaded = opened(folders.save(tmp_path / name, name))
    assert loaded.rehearse is not None
    if loaded.tokenizer is not None:
        assert loaded.tokenize("the cat")["input_ids"]


def test_a_tokenizer_that_takes_all_memory_ends_its_child_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokenizer, "MAX_GROWTH", 10**12)
    folder = folders.save(tmp_path / "bert", "bert")
    step = {"type": "Replace", "pattern": {"String": "a"}, "content": "a" * 10}
    set_tokenizer(folder, normalizer={"type": "Sequence", "normalizers": [step] * 9})
    with pytest.raises(ModelNotFound, match="in a process with limits"):
        opened(folder)
    step["pattern"] = {"String": "k"}
    step["content"] = "k" * 10
    set_tokenizer(folder, normalizer={"type": "Sequence", "normalizers": [step] * 9})
    loaded = opened(folder)  # the word that is tried at first has no k
    for _ in range(2):
        with pytest.raises(BadInput, match="did not survive this text"):
            loaded.tokenize("k" * 60)
        assert loaded.tokenize("the cat")["input_ids"] == [2, 6, 7, 3]


def test_an_expression_without_end_is_broken_off(tmp_path: Path) -> None:
    folder = folders.save(tmp_path / "bert", "bert")
    split = {"type": "Split", "pattern": {"Regex": "(a+)+$"}, "behavior": "Isolated"}
    set_tokenizer(folder, pre_tokenizer={**split, "invert": False})
    loaded = opened(folder)
    with pytest.raises(BadInput) as caught:
        loaded.tokenize("a" * 60 + "!")
    assert caught.value.code in ("tokenizer_failed", "tokenizer_broke_off")


def test_a_child_sees_no_other_file_and_no_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The attack of a tokenizer whose vocabulary is a file elsewhere, without the check before."""
    monkeypatch.setenv("ATTNVIZ_CANARY", CANARY)
    folder = folders.save(tmp_path / "bert", "bert")
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "EsmTokenizer"}')
    secret = tmp_path / "secret.txt"
    secret.write_text(CANARY)
    for target in (secret, Path("/proc/self/environ"), Path(f"/proc/{os.getpid()}/environ")):
        tokens = {"vocab_file": str(target)}
        (folder / "special_tokens_map.json").write_text(json.dumps(tokens))
        with pytest.raises(ModelNotFound) as caught:
            opened(folder)
        assert caught.value.code == "field_not_allowed"
        process = Rehearsal()
        with pytest.raises(ModelNotFound, match="read another file"):
            process.open(folder, "hostile")


def test_a_link_or_a_swap_does_not_lead_outside(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    folder = folders.save(inside / "bert", "bert")
    away = shutil.copytree(folder, tmp_path / "away")
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors").symlink_to(away / "model.safetensors")
    with pytest.raises(AttnVizError) as caught:
        load_foreign(str(folder), [inside])
    assert caught.value.code == "file_outside"
    shutil.rmtree(folder)
    folder.symlink_to(away)  # after the app has looked at the folder
    with pytest.raises(AttnVizError) as caught:
        load_foreign(str(folder), [inside])
    assert caught.value.code == "file_outside"


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGSTOP])
def test_a_text_is_not_blamed_for_a_child_that_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: signal.Signals
) -> None:
    """As one that the system ended for lack of memory, or that does not answer."""
    monkeypatch.setattr(rehearsal, "SLACK_S", 1.0)
    monkeypatch.setattr(rehearsal_worker, "TEXT_SECONDS", 5)
    folder = folders.save(tmp_path / "bert", "bert")
    loaded = opened(folder)
    shutil.rmtree(folder)
    for text in ("the cat", "the cat sat"):
        for child in children():
            os.kill(child, end)
        assert loaded.tokenize(text)["input_ids"][:3] == [2, 6, 7]
    for child in children():
        os.kill(child, signal.SIGKILL)


def children() -> list[int]:
    """The processes that the fork server has forked."""
    process = rehearsal._fork_server()._process
    assert process is not None
    listed = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
    return [int(child) for child in listed.split()]


def test_a_worker_that_was_killed_is_started_anew(tmp_path: Path) -> None:
    folder = folders.save(tmp_path / "bert", "bert")
    opened(folder)
    process = rehearsal._fork_server()._process
    assert process is not None
    process.kill()
    process.wait()
    assert opened(folder).tokenize("the cat")["input_ids"] == [2, 6, 7, 3]
    assert rehearsal_worker.MAX_BYTES >= 2**30
