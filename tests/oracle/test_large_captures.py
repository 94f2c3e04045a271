"""Captures that are kept layer by layer, in files too, and those that would not fit."""

import gc
import math
import os
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

import attnviz
from attnviz.attention import memory
from attnviz.attention.call import AttentionCall
from attnviz.attention.capture import NOT_KEPT, Capture, MissingCall
from attnviz.capture.changed import layout
from attnviz.capture.record import pass_log, room
from attnviz.capture.record.recorder import Recorder
from attnviz.capture.record.room import free_memory
from attnviz.errors import BadInput, TooLarge
from attnviz.models.loaded_model import LoadedModel
from attnviz.types import MIB, Site
from tests.support import folders
from tests.support.server import ROOT
from tests.support.tiny.check import tiny_case

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


@pytest.mark.some(2)
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
    needed = in_layer * (N_LAYERS - 1)
    monkeypatch.setattr(room, "free_memory", lambda: needed - 1)
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


# --- some layers alone --------------------------------------------------------------------------


@pytest.mark.some(2)
@pytest.mark.parametrize("name", MODELS)
def test_the_layers_that_are_kept_are_those_of_the_whole_capture(name: str, tmp_path: Path) -> None:
    lm = model(name, tmp_path)
    whole = attnviz.capture(lm, **MODELS[name])
    layout._layouts.pop(lm)  # they are looked up in a pass of a few tokens
    last = whole.calls[-1]
    kept = attnviz.capture(lm, **MODELS[name], keep=[Site(last.layer, None, last.kind, last.stack)])
    own = [
        c for c in whole.calls if (c.layer, c.kind, c.stack) == (last.layer, last.kind, last.stack)
    ]
    assert [call.name for call in kept.calls] == [call.name for call in own]
    for ours, theirs in zip(kept.calls, own, strict=True):
        assert (ours.layer, ours.kind, ours.stack) == (theirs.layer, theirs.kind, theirs.stack)
        assert ours.projections.keys() == theirs.projections.keys()
        assert ours.absent == theirs.absent
        for left, right in zip(memory.tensors(ours), memory.tensors(theirs), strict=True):
            torch.testing.assert_close(left, right, atol=0, rtol=0)
    kept.verify().require()
    others = {call.module for call in whole.calls if call not in own}
    assert {call for call in kept.missing if call not in whole.missing} == {
        MissingCall(module, NOT_KEPT) for module in others
    }
    assert kept.tokens_by_stack.keys() == whole.tokens_by_stack.keys()


def test_of_layers_that_are_not_kept_nothing_stays_while_the_model_runs(
    llama: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    alive: list[list[int]] = []
    take = Recorder.take

    def watched(self: Recorder, module: Any, inputs: Any, output: Any) -> None:
        take(self, module, inputs, output)
        full = [n for n, call in enumerate(self.calls) if not call.inputs.query.is_meta]
        alive.append(full)

    attnviz.capture(llama, **long_text())
    monkeypatch.setattr(Recorder, "take", watched)
    cap = attnviz.capture(llama, **long_text(), keep=[1, "L3"])
    assert alive == [[0], [1], [1, 2], [1, 3], [1, 3, 4], [1, 3, 5]]
    assert [call.layer for call in cap.calls] == [1, 3] and len(cap.missing) == N_LAYERS - 2
    with pytest.raises(BadInput, match="layer 0 of 'self' .* is not in this capture, .* 1, 3"):
        cap.weights("L0.H0")
    assert {(row.layer) for row in cap.table("entropy").heads} == {1, 3}


def test_only_the_layers_that_are_kept_need_room(
    llama: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = attnviz.capture(llama, **long_text())
    in_layer = memory.nbytes(t for t in memory.tensors(one.calls[0]) if t.dtype != torch.bool)
    monkeypatch.setattr(room, "SMALL", 0)
    monkeypatch.setattr(room, "free_memory", lambda: in_layer * 3 // 2)
    with pytest.raises(TooLarge, match="5 layers to come"):
        attnviz.capture(llama, **long_text())
    assert len(attnviz.capture(llama, **long_text(), keep=[4]).calls) == 1
    with pytest.raises(TooLarge, match="2 layers to come"):
        attnviz.capture(llama, **long_text(), keep=[4, 5])


@pytest.mark.some(3)
@pytest.mark.parametrize(
    ("keep", "words"),
    [
        ([], "keep= is empty"),
        (["L1.H4"], "L1.H4 does not exist: this model has L0 .4 heads"),
        (["layer 3"], "'layer 3' names no head: write L2.H1"),
        (["L1.H1-3"], "'L1.H1-3' names no head"),
        ([-1], "-1, which is no layer"),
        ([0, 6], "L6 does not exist: this model has L0 .4 heads"),
        (["cross.L0"], "cross.L0 does not exist"),
    ],
)
def test_what_cannot_be_kept_is_refused(llama: LoadedModel, keep: Any, words: str) -> None:
    ran: list[int] = []
    handle = llama.model.register_forward_pre_hook(lambda *_: ran.append(1))
    attnviz.capture(llama, **long_text())
    with pytest.raises(BadInput, match=words):
        attnviz.capture(llama, **long_text(), keep=keep)
    handle.remove()
    assert len(ran) <= 2  # the pass that knows the layers, and one of a few tokens


def test_what_needs_all_layers_is_refused(llama: LoadedModel, tmp_path: Path) -> None:
    cap = attnviz.capture(llama, **long_text(), keep=5)
    for use in (lambda: attnviz.save(cap, tmp_path / "heads.svg"), cap.rollout):
        with pytest.raises(BadInput, match="keeps the layers 5 alone, and this needs all"):
            use()
    attnviz.save(cap, tmp_path / "kept.safetensors")
    again = attnviz.read(tmp_path / "kept.safetensors")
    assert [call.layer for call in again.calls] == [5]
    torch.testing.assert_close(again.calls[0].weights(), cap.calls[0].weights(), atol=0, rtol=0)


# --- what a capture keeps -----------------------------------------------------------------------


def in_a_layer(
    n: int, d: int, heads: int, kv: int, width: int, n_bytes: int, some: bool = False
) -> int:
    """The formulas of docs/guide/long-texts.md, for all heads or some of them."""
    q, k = heads * width, kv * width
    if some:
        r = math.ceil(n / math.ceil(n / 8))
        of_rows = r * (3 * d + 2 * q + 2 * k)
        return n_bytes * (n * (3 * q + 3 * k + d) if n <= 512 else n * (q + 2 * k) + of_rows)
    if n <= 512:
        return n_bytes * n * (3 * q + 3 * k + 2 * d)
    r = math.ceil(n / math.ceil(n / 8))
    return n_bytes * (n * (q + 2 * k) + r * (4 * d + 3 * q + 2 * k))


@pytest.mark.some(3)
@pytest.mark.parametrize("n", [64, 512, 600, 2048])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_bytes_of_a_layer_are_those_of_the_formula(n: int, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    sizes = {"num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 24}
    config = LlamaConfig(
        vocab_size=50, hidden_size=64, intermediate_size=32, num_hidden_layers=2,
        max_position_embeddings=2048, **sizes,
    )  # fmt: skip
    lm = attnviz.load(LlamaForCausalLM(config).to(dtype).eval())
    ids = torch.randint(50, (1, n))
    cap = attnviz.capture(lm, inputs={"input_ids": ids})
    assert in_call(cap) == in_a_layer(n, 64, 4, 2, 24, dtype.itemsize)
    for heads, n_kv in ((["L0.H1"], 1), (["L0.H2", "L0.H3"], 1), (["L0.H0", "L0.H3"], 2)):
        some = attnviz.capture(lm, inputs={"input_ids": ids}, keep=heads)
        assert in_call(some) == in_a_layer(n, 64, len(heads), n_kv, 24, dtype.itemsize, some=True)


def in_call(cap: Capture) -> int:
    """The bytes of the first call, masks aside."""
    return memory.nbytes(t for t in memory.tensors(cap.calls[0]) if t.dtype != torch.bool)


def test_the_table_of_the_guide_is_that_of_the_formula() -> None:
    guide = (ROOT / "docs" / "guide" / "long-texts.md").read_text()
    for n in (512, 2048, 8192, 32768):
        layer = in_a_layer(n, 4096, 32, 8, 128, 2)
        assert f"| {n:,} | {layer / MIB:.1f} MiB | {32 * layer / 2**30:.2f} GiB |" in guide


# --- what is told before ------------------------------------------------------------------------

# shared keys, a window, one product for q, k and v, an encoder beside a decoder, a bias that layers
# share, one of each layer's own, two calls in a layer, stacks of two kinds
TOLD: dict[str, dict[str, Any]] = {
    "llama": {"num_hidden_layers": 4},
    "mistral": {"num_hidden_layers": 4},
    "gpt2": {"n_layer": 4},
    "marian": {"encoder_layers": 3, "decoder_layers": 4},
    "t5": {"num_layers": 3, "num_decoder_layers": 4},
    "beit": {"num_hidden_layers": 4},
    "diffllama": {"num_hidden_layers": 4},
    "clip": {},
}
# the layer that shows that each has a bias of its own, that W_O reads no single call
FIRST = {"beit": 2, "diffllama": 1}
WAYS: dict[str, dict[str, Any]] = {
    "whole": {},
    "float16": {"store": "float16"},
    "layers": {"keep": "layers"},
    "heads": {"keep": "heads"},
    "heads in float16": {"keep": "heads", "store": "float16"},
}


def kept_sites(cap: Capture, way: str | None) -> list[Site] | None:
    """The last two layers of each attention; or one head of them, and two of the very last."""
    if way is None:
        return None
    groups = dict.fromkeys((call.kind, call.stack) for call in cap.calls)
    layers = [
        Site(layer, None, *group)
        for group in groups
        for layer in sorted({c.layer for c in cap.calls if (c.kind, c.stack) == group})[-2:]
    ]
    if way == "layers":
        return layers
    return [layers[-1].with_head(0), *(layer.with_head(2) for layer in layers)]


@pytest.mark.some(4)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", TOLD)
def test_the_room_that_is_told_is_what_the_layers_take(
    name: str, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After each layer: the bytes of the calls of its kind that come, but for what they have."""
    model, inputs, _ = tiny_case(name, TOLD[name])
    lm, told = attnviz.load(model), {}
    whole = attnviz.capture(lm, inputs=inputs)
    needed = room.FreeRoom.needed

    def watched(self: room.FreeRoom, kind: Any, call: Any, n_more: int) -> int:
        told[call.name] = n_bytes = needed(self, kind, call, n_more)
        return n_bytes

    monkeypatch.setattr(room, "SMALL", 0)
    monkeypatch.setattr(pass_log, "MOST_BYTES", 0)  # what is only noted is small, and asks for none
    monkeypatch.setattr(room.FreeRoom, "needed", watched)
    options = {**WAYS[way], "keep": kept_sites(whole, WAYS[way].get("keep"))}
    cap = attnviz.capture(lm, inputs=inputs, **options)
    kept = {call.name: call for call in cap.calls}
    n_compared, first = 0, FIRST.get(name, 0)
    for place, call in enumerate(whole.calls):
        if call.name in told and call.layer >= first:
            before = [kept[c.name] for c in whole.calls[: place + 1] if c.name in kept]
            later = [
                kept[c.name]
                for c in whole.calls[place + 1 :]
                if c.name in kept and stem(c) == stem(call) and c.module != call.module
                and c.index <= call.index
            ]  # fmt: skip
            assert told[call.name] == bytes_of(later, before), call.name
            n_compared += bool(later)
    assert n_compared


def stem(call: AttentionCall) -> str:
    return re.sub("[0-9]", "", call.module)


def bytes_of(calls: list[AttentionCall], before: list[AttentionCall]) -> int:
    """The bytes of calls, masks aside, but for memory that earlier ones have."""
    shared = {t.untyped_storage().data_ptr() for call in before for t in memory.tensors(call)}
    own = [t for call in calls for t in memory.tensors(call) if t.dtype != torch.bool]
    return memory.nbytes(t for t in own if t.untyped_storage().data_ptr() not in shared)
