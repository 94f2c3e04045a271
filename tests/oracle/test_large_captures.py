"""Captures that are kept layer by layer, in files too, and those that would not fit."""

import gc
import os
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

import attnviz
from attnviz.attention import memory
from attnviz.attention.capture import Capture
from attnviz.capture.record import room
from attnviz.capture.record.recorder import Recorder
from attnviz.capture.record.room import free_memory
from attnviz.errors import BadInput, TooLarge
from attnviz.models.loaded_model import LoadedModel
from tests.support import folders

MODELS: dict[str, dict[str, Any]] = {
    "minilm": {"text": "The cat sat on the mat because it was tired."},
    "stories": {"text": "Once upon a time there was a dog."},
    "stories-llama": {"text": ["Once upon a time there was a dog.", "a cat"]},
    "translator": {"text": "The cat sleeps.", "target": "Le chat dort."},
    "gpt2": {"text": "the cat sat on a mat", "generate": 3},
    "deberta": {"text": "the cat sat on a mat"},
}
N_LAYERS, N_TOKENS = 6, 600


def model(name: str, folder: Path) -> LoadedModel:
    return attnviz.load(folders.saved(folder, name) if name in ("gpt2", "deberta") else name)


def tensors(cap: Capture) -> list[torch.Tensor]:
    return [tensor for call in cap.calls for tensor in memory.tensors(call)]


@pytest.mark.parametrize("name", MODELS)
def test_files_keep_the_very_same_numbers_and_leave_nothing(name: str, tmp_path: Path) -> None:
    lm, folder = model(name, tmp_path / "model"), tmp_path / "kept"
    folder.mkdir()
    whole = attnviz.capture(lm, **MODELS[name])
    kept = attnviz.capture(lm, **MODELS[name], offload=folder)
    assert not list(folder.iterdir())  # the files have no names
    for ours, theirs in zip(kept.calls, whole.calls, strict=True):
        assert (ours.layer, ours.kind, ours.stack) == (theirs.layer, theirs.kind, theirs.stack)
        assert ours.projections.keys() == theirs.projections.keys()
        assert ours.absent == theirs.absent
        torch.testing.assert_close(ours.weights(), theirs.weights(), atol=0, rtol=0)
        for left, right in zip(memory.tensors(ours), memory.tensors(theirs), strict=True):
            torch.testing.assert_close(left, right, atol=0, rtol=0)
    kept.verify().require()
    assert str(kept.verify()) == str(whole.verify())


@pytest.fixture(scope="module")
def llama() -> LoadedModel:
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=50, hidden_size=64, intermediate_size=64, num_hidden_layers=N_LAYERS,
        num_attention_heads=4, max_position_embeddings=1024,
    )  # fmt: skip
    return attnviz.load(LlamaForCausalLM(config).eval())


def long_text() -> dict[str, Any]:
    return {"inputs": {"input_ids": torch.randint(50, (1, N_TOKENS)).tolist()}}


@pytest.mark.parametrize("where", ["folder", "float16"])
def test_layers_are_kept_while_the_model_runs(
    llama: LoadedModel, where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a layer before the last one, nothing is left in memory but what is kept."""
    alive: list[int] = []
    take = Recorder.take

    def watched(self: Recorder, module: Any, inputs: Any, output: Any) -> None:
        take(self, module, inputs, output)
        gc.collect()
        alive.append(sum(int(call.inputs.query.dtype == torch.float32) for call in self.calls))
        names = {call.inputs.query.untyped_storage().filename for call in self.calls[:-1]}
        is_mapped = all(name is not None for name in names)
        assert is_mapped or where == "float16" or len(self.calls) == 1

    monkeypatch.setattr(Recorder, "take", watched)
    options: dict[str, Any] = {"store": "float16"} if where == "float16" else {"offload": tmp_path}
    cap = attnviz.capture(llama, **long_text(), **options)
    if where == "float16":
        assert alive == [1] * N_LAYERS  # the newest alone has its own type
    cap.verify().require()


def test_a_capture_that_would_not_fit_is_refused_after_the_first_layer(
    llama: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[int] = []
    for number, layer in enumerate(llama.model.model.layers):
        layer.register_forward_pre_hook(lambda *_, number=number: ran.append(number))
    one = attnviz.capture(llama, **long_text())
    in_layer = memory.nbytes(t for t in memory.tensors(one.calls[0]) if t.dtype != torch.bool)
    monkeypatch.setattr(room, "SMALL", 0)
    needed = in_layer * (N_LAYERS - 1)  # W_O's rows are a sample and come later
    monkeypatch.setattr(room, "free_memory", lambda: needed * 9 // 10)
    ran.clear()
    words = re.escape(f"{N_TOKENS} tokens keep") + ".*5 layers to come.*shorter text"
    with pytest.raises(TooLarge, match=words) as refusal:
        attnviz.capture(llama, **long_text())
    assert refusal.value.code == "run_too_large" and ran == [0]
    # half of it fits, and so does what is just enough
    attnviz.capture(llama, **long_text(), store="float16")
    monkeypatch.setattr(room, "free_memory", lambda: needed)
    assert len(attnviz.capture(llama, **long_text()).calls) == N_LAYERS


def test_what_a_folder_has_room_for_is_asked_of_its_disk(
    llama: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "SMALL", 0)
    monkeypatch.setattr(room, "free_memory", lambda: 0)
    assert len(attnviz.capture(llama, **long_text(), offload=tmp_path).calls) == N_LAYERS
    full = type("Usage", (), {"free": 10})
    monkeypatch.setattr(room.shutil, "disk_usage", lambda _: full)
    with pytest.raises(TooLarge, match="are free"):
        attnviz.capture(llama, **long_text(), offload=tmp_path)


def test_free_memory_is_told() -> None:
    free = free_memory()
    assert free is not None and free > 0


def test_a_folder_that_is_none_is_refused(llama: LoadedModel, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    for place in (tmp_path / "absent", file):
        with pytest.raises(BadInput, match="no folder that can be written to") as refusal:
            attnviz.capture(llama, **long_text(), offload=place)
        assert os.fspath(tmp_path) not in str(refusal.value)
