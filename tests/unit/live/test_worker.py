"""The worker as a page meets it: weights that come in parts, hostile texts, refusals by name."""

import copy
import json
import os
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import load, save

import attnviz
from attnviz.live import prepared
from attnviz.live.planes import SHARD_ROWS, TABLE, plane_files, planes
from attnviz.models.loaded_model import LoadedModel
from attnviz.models.registry import REGISTRY
from attnviz.pictures.shared.buffer import unpack
from scripts.build_kernels import BINARY, build
from tests.support.hostile import TOKENS
from tests.support.live_worker import ROOM, answers, model_files, opening, own_folder, show
from tests.support.node import in_node, needs_node

pytestmark = needs_node

TEXT = "the film was not good at all , but the music was good ."
VIEWS = ["grid", "head", "steps", "masks", "switches", "bars", "writing", "alignment"]
HOSTILE = (
    *TOKENS,
    "",
    " ",
    "\x00",
    "\u202eabc",
    "__proto__ constructor toString",
    "[CLS] [SEP] </s> <|endoftext|>",
    "the cat sat on the mat " * 900,
    "a" * 5000,
    "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466" * 400,
)


# --- weights in two planes ------------------------------------------------------------------------


def dequantised(lm: LoadedModel, tensors: dict[str, np.ndarray], exact: bool) -> LoadedModel:
    """The model with the weights that its planes stand for."""
    model = copy.deepcopy(lm.model)
    state = model.state_dict()
    files, _ = plane_files(tensors)
    split = {*load(files["layers.low.safetensors"]), *(n for n in tensors if n.endswith(TABLE))}
    for name in split:
        state[name] = torch.from_numpy(planes(tensors[name]).values(exact))
    model.load_state_dict(state)
    return replace(lm, model=model, card=lm.card)


def in_planes(lm: LoadedModel, folder: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    stored = load((own_folder(lm.name) / "model.safetensors").read_bytes())
    tensors = {name: array.astype(np.float32) for name, array in stored.items()}
    files, about = plane_files(tensors)
    for name, data in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(data)
    addresses = ("high", "low", "high_shards", "low_shards")
    placed = {
        key: str(folder / str(value)) if key in addresses else value for key, value in about.items()
    }
    return placed, tensors


@pytest.mark.some(1)
@pytest.mark.parametrize("exact", [False, True], ids=["high", "both"])
def test_planes_are_computed_as_torch_computes_them(exact: bool, tmp_path: Path) -> None:
    lm = attnviz.load("sentiment")
    placed, tensors = in_planes(lm, tmp_path)
    coarse = dequantised(lm, tensors, exact)
    reference = prepared.reference(attnviz.capture(coarse, TEXT), TEXT)
    info = model_files(lm, tmp_path, reference=reference) | {"weights": placed}
    refine = [{"kind": "refine", "model": lm.name, "most_bytes": 50_000}] * 12 if exact else []
    verify = {"kind": "verify", "model": lm.name}
    shown = show(lm.name, ["grid"], text=TEXT)
    _, loaded, first, *refined, found, last = answers(
        [*opening(info), shown, *refine, verify, shown]
    )
    assert not loaded["exact"] and not first["exact"]
    assert found["weights"] <= 1e-5 and found["output"] <= 1e-4, found
    assert last["exact"] == exact and (last["views"] != first["views"]) == exact
    if exact:
        lefts = [answer["left"] for answer in refined]
        assert lefts == sorted(lefts, reverse=True) and lefts[0] > 0 == lefts[-1]
        assert refined[-1]["exact"] and not refined[0]["exact"]


def test_effects_of_8_bit_weights_go_when_the_exact_ones_come(tmp_path: Path) -> None:
    lm = attnviz.load("sentiment")
    placed, _ = in_planes(lm, tmp_path)
    info = model_files(lm, tmp_path) | {"weights": placed}
    measure = {"kind": "effects", "model": lm.name, "input": {"text": TEXT}, "to": "zero"}
    board = show(lm.name, ["switches"], text=TEXT, to="zero")
    refine = {"kind": "refine", "model": lm.name}
    found = answers([*opening(info), measure, board, refine, board, measure, board])
    coarse, shown, refined, between, exact, last = found[2:]
    most = [unpack(each["views"]["switches"])[0]["most"] for each in (shown, between, last)]
    assert refined["exact"] and most[0] > 0 and most[1] == 0 and most[2] not in (0, most[0])
    assert coarse["effects"] != exact["effects"]


def test_a_text_fetches_only_the_shards_of_its_words(tmp_path: Path) -> None:
    lm = attnviz.load("sentiment")
    placed, _ = in_planes(lm, tmp_path)
    text = "the film"
    needed = {token // SHARD_ROWS for token in lm.tokenize(text)["input_ids"]}
    shards = sorted((tmp_path / "words").glob("*.high.safetensors"))
    for number, path in enumerate(shards):
        if number not in needed:
            path.unlink()
    assert len(needed) < len(shards)
    info = model_files(lm, tmp_path) | {"weights": placed}
    found = answers([*opening(info), show(lm.name, ["grid"], text=text)])[-1]
    assert found["kind"] == "shown" and found["views"]["grid"]


# --- hostile texts --------------------------------------------------------------------------------


@pytest.mark.some(1)
@pytest.mark.parametrize(
    ("name", "views"),
    [("stories", ["grid"]), *((name, VIEWS) for name in ("stories", "sentiment", "translator"))],
)
def test_show_takes_any_text(name: str, views: list[str], tmp_path: Path) -> None:
    lm = attnviz.load(name)
    requests = [show(name, views, text=text, controls=2, off="") for text in HOSTILE]
    _, _, *found = answers([*opening(model_files(lm, tmp_path)), *requests])
    for text, answer in zip(HOSTILE, found, strict=True):
        assert answer["kind"] == "shown", (text[:40], answer)
        assert answer["views"]["grid"] and len(answer["queries"]) <= lm.max_tokens
    dropped = [answer["dropped"] for answer in found]
    assert dropped[0] == 0 < max(dropped)


# --- refusals -------------------------------------------------------------------------------------


def refused(*requests: dict[str, Any]) -> dict[str, Any]:
    found = answers(requests)[-1]
    assert found["kind"] == "refused", found
    return found


def changed_file(folder: Path, name: str, **values: object) -> str:
    source = own_folder("stories") / name
    path = folder / name
    path.write_text(json.dumps(json.loads(source.read_text(encoding="utf-8")) | values))
    return str(path)


CONFIGS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"architectures": ["MambaForCausalLM"]}, "MambaForCausalLM"),
    ({"architectures": None}, "names no architecture"),
    ({"architectures": ["__proto__"]}, "__proto__"),
    ({"activation_function": "mish"}, "mish"),
    ({"scale_attn_by_inverse_layer_idx": True}, "scale_attn_by_inverse_layer_idx"),
    ({"quantization_config": {"bits": 4}}, "quantization_config"),
    ({"n_head": 7}, "7 heads"),
    ({"n_layer": "4"}, "n_layer"),
)


@pytest.mark.some(3)
@pytest.mark.parametrize(("values", "said"), CONFIGS)
def test_load_refuses_an_architecture_by_name(
    values: dict[str, Any], said: str, tmp_path: Path
) -> None:
    info = model_files(attnviz.load("stories"), tmp_path)
    info["config"] = changed_file(tmp_path, "config.json", **values)
    found = refused({"kind": "load", "model": info})
    assert found["reason"] == "architecture" and said in found["values"]["found"]
    assert "LlamaForCausalLM" in found["values"]["known"]


TOKENIZERS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"pre_tokenizer": {"type": "Digits"}}, "Digits"),
    ({"normalizer": {"type": "Precompiled"}}, "Precompiled"),
    ({"model": {"type": "Unigram", "vocab": {}}}, "Unigram"),
    ({"post_processor": {"type": "RobertaProcessing"}}, "RobertaProcessing"),
    ({"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": True}}, "add_prefix_space"),
    ({"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "("}}}, "Split"),
    ({"decoder": {"type": "constructor"}}, "constructor"),
)


@pytest.mark.some(3)
@pytest.mark.parametrize(("values", "said"), TOKENIZERS)
def test_load_refuses_a_part_of_a_tokenizer_by_name(
    values: dict[str, Any], said: str, tmp_path: Path
) -> None:
    info = model_files(attnviz.load("stories"), tmp_path)
    info["tokenizer"] = changed_file(tmp_path, "tokenizer.json", **values)
    found = refused({"kind": "load", "model": info})
    assert found["reason"] == "tokenizer" and said in found["values"]["found"], found


def damaged(data: bytes) -> dict[str, bytes]:
    """Files that are no weights, or not all of them."""
    tensors = dict(load(data))
    tensors.pop("transformer.h.1.ln_1.weight")
    doubled = {name: array.astype(np.float64) for name, array in load(data).items()}
    return {
        "empty": b"",
        "no safetensors": b"<html>not found</html>" * 9,
        "cut off": data[: len(data) // 2],
        "a tensor is missing": save(tensors),
        "64-bit numbers": save(doubled),
    }


@pytest.mark.some(2)
@pytest.mark.parametrize(
    "case", damaged((own_folder("stories") / "model.safetensors").read_bytes())
)
def test_load_refuses_broken_weights(case: str, tmp_path: Path) -> None:
    info = model_files(attnviz.load("stories"), tmp_path)
    whole = (own_folder("stories") / "model.safetensors").read_bytes()
    (tmp_path / "broken").write_bytes(damaged(whole)[case])
    info["weights"] = {"form": "plain", "file": str(tmp_path / "broken")}
    found = refused({"kind": "load", "model": info})
    assert found["reason"] == "file" and "broken" in found["values"]["file"], found


def test_the_worker_goes_on_after_a_refusal(tmp_path: Path) -> None:
    lm = attnviz.load("stories")
    info = model_files(lm, tmp_path)
    missing = info | {"weights": {"form": "plain", "file": "missing:weights"}}
    wrong = [show("stories", ["grid"], text="a b", off=off) for off in WRONG_CHANGES]
    _, lost, _, early, loaded, *found, last = answers(
        [
            {"kind": "texts", "texts": prepared.worker_texts("en")},
            {"kind": "load", "model": missing},
            {"kind": "files", "files": {}},
            show("stories", ["grid"], text="a b"),
            {"kind": "load", "model": info},
            *wrong,
            show("stories", ["grid"], input={"picture": {"rows": 1, "columns": 1, "rgb": [0, 0]}}),
            show("stories", ["grid"], text="a b"),
        ]
    )
    assert (lost["reason"], early["reason"]) == ("fetch", "internal")
    assert lost["values"]["file"] == "missing:weights"
    assert loaded["kind"] == "loaded"
    assert [answer["reason"] for answer in found] == ["changes"] * len(WRONG_CHANGES) + ["input"]
    assert last["kind"] == "shown" and last["views"]["grid"]


WRONG_CHANGES = (
    "L9.H0.mixed=mean",
    "L0.H9.mixed=zero",
    "encoder.L0.H0.mixed=mean",
    "L0.H0.mixed=resample",
    "L0.H0",
    "__proto__.mixed=mean",
    ",",
)


def test_every_registered_model_has_a_family_here() -> None:
    known = in_node(
        """async (configs) => {
          const { architectureOf } = await load("../live/engine/families.js");
          return configs.map((config) => architectureOf(JSON.parse(config)).family);
        }""",
        [
            (own_folder(name) / "config.json").read_text(encoding="utf-8")
            for name in REGISTRY
            if hasattr(REGISTRY[name], "folder")
        ],
    )
    assert set(known) == {"bert", "gpt2", "llama", "marian", "vit"}


# --- small parts ----------------------------------------------------------------------------------


def test_python_random_draws_what_python_draws() -> None:
    sizes = [1, 2, 5, 16, 72, 1000, 3]
    found = in_node(
        """async ({ seeds, sizes }) => {
          const { PythonRandom } = await load("../live/views/random.js");
          return seeds.map((seed) => {
            const random = new PythonRandom(seed);
            return [...sizes.map((n) => random.choice([...Array(n).keys()])), random.real()];
          });
        }""",
        {"seeds": [0, 1, 4294967295], "sizes": sizes},
    )
    for seed, drawn in zip((0, 1, 4294967295), found, strict=True):
        python = random.Random(seed)
        assert drawn == [*(python.choice(range(n)) for n in sizes), python.random()]


def test_numbers_are_printed_as_python_prints_them() -> None:
    values = [
        0.0,
        0.5,
        1.5,
        2.5,
        12.25,
        6.25,
        0.049,
        0.005,
        0.00051,
        99.95,
        33.3333,
        1e-7,
        123456.5,
    ]
    found = in_node(
        """async (values) => {
          const { fixed, general } = await load("../live/views/numbers.js");
          const printed = [fixed, fixed, fixed, general, general];
          const digits = [0, 1, 4, 1, 2];
          const forms = (x) => printed.map((form, place) => form(x, digits[place]));
          return values.map(forms);
        }""",
        values,
    )
    formats = (".0f", ".1f", ".4f", ".1g", ".2g")
    assert found == [[format(value, form) for form in formats] for value in values]


@pytest.mark.slow
@pytest.mark.skipif("ATTNVIZ_ZIGLANG" not in os.environ, reason="no ziglang")
def test_the_binary_is_the_source_compiled(tmp_path: Path) -> None:
    folder = os.environ["ATTNVIZ_ZIGLANG"]
    build(tmp_path / "kernels.wasm", os.environ | {"PYTHONPATH": folder})
    assert (tmp_path / "kernels.wasm").read_bytes() == BINARY.read_bytes()


def test_the_binary_has_the_functions_of_the_source() -> None:
    source = (ROOM / "engine" / "kernels.c").read_text(encoding="utf-8")
    declared = [line for line in source.splitlines() if line.startswith("EXPORT ")]
    names = {line.split("(")[0].split()[-1] for line in declared}
    exported = in_node(
        """async (path) => {
          const { readFileSync } = await import("node:fs");
          const module = new WebAssembly.Module(readFileSync(path));
          return WebAssembly.Module.exports(module).map(({ name }) => name);
        }""",
        str(BINARY),
    )
    assert set(exported) == names
