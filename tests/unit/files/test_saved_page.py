"""`page_bytes`: what the file holds, each number once, and what it refuses."""

import base64
import gzip
import hashlib
import io
import json
import re
import tomllib
from dataclasses import astuple
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
import torch
from PIL import Image
from transformers import LlamaConfig, LlamaForCausalLM

import attnviz
from attnviz.attention.capture import Capture
from attnviz.errors import BadInput, TooLarge
from attnviz.files.saved_page import arrays as page_arrays
from attnviz.files.saved_page import page_bytes, rebuilt
from attnviz.files.saved_page.first_view import PageOpening
from attnviz.notebook.frame import FAINT
from attnviz.pictures.group.groups import groups
from attnviz.pictures.shared.buffer import Lower, SomeHeads, n_kept, quantise, unpack
from attnviz.pictures.shared.bundle import FOLDER
from attnviz.pictures.shared.canvas import SentView
from attnviz.pictures.shared.html_parts import page_style
from attnviz.types import HeadId
from tests.support.hostile import SCRIPT

ROOT = FOLDER.parents[1]
HEAD = "L2.H3"
KEPT = ("L1.H2", "L1.H7", HEAD, "L5.H11")
WORDS = "The cat sat on the mat because it was tired"


@pytest.fixture(scope="module")
def capture() -> Capture:
    return attnviz.capture("minilm", WORDS)


@pytest.fixture(scope="module")
def page(capture: Capture) -> str:
    return page_bytes(capture, heads=[HEAD]).decode()


@pytest.fixture(scope="module")
def some() -> Capture:
    return attnviz.capture("minilm", WORDS, keep=KEPT)


def block(page: str, name: str) -> bytes:
    match = re.search(rf'data-part="{name}">([^<]*)</script>', page)
    assert match is not None
    return gzip.decompress(base64.b64decode(match[1]))


def index(page: str) -> dict[str, Any]:
    match = re.search(r'id="index">([^<]*)</script>', page)
    assert match is not None
    read: dict[str, Any] = json.loads(match[1])
    return read


def stored_arrays(page: str) -> dict[str, np.ndarray]:
    found = {**unpack(block(page, "first"))[1], **unpack(block(page, "later"))[1]}
    return {name: np.asarray(array) for name, array in found.items()}


def bytes_of(
    source: dict[str, Any], recipes: dict[str, Any], stored: dict[str, np.ndarray]
) -> bytes:
    """The bytes of an array, made of others where the page says how."""
    name = source["from"]
    raw = rebuilt_bytes(recipes[name], recipes, stored) if name in recipes else stored[name]
    if "times" in source:
        return (np.frombuffer(raw, "<f4") * np.float32(source["times"])).tobytes()
    return bytes(raw)


def rebuilt_bytes(
    recipe: dict[str, Any], recipes: dict[str, Any], stored: dict[str, np.ndarray]
) -> bytes:
    sizes = recipe["sizes"]
    rows = {"products": (*sizes[:2], sizes[-1]), "blocked": sizes[:1] * 2, "softmax": sizes[:1]}
    dtypes = {"products": ("<f4", "<f4"), "blocked": ("<f4", "u1"), "softmax": ("<f4",)}
    rule = recipe["rule"]
    inputs = [
        np.frombuffer(bytes_of(source, recipes, stored), dtype)[
            : n_rows * (sizes[2] if rule == "products" else sizes[1])
        ].reshape(n_rows, -1)
        for source, dtype, n_rows in zip(recipe["sources"], dtypes[rule], rows[rule], strict=False)
    ]
    predicted = getattr(rebuilt, rule)(*inputs)
    steps = stored[recipe["near"]][: predicted.size].astype(np.int64)
    far = stored[recipe["far"]].view("<i4") if "far" in recipe else np.zeros(0, "<i4")
    bits = predicted.view(np.int32).ravel() + np.where(steps, steps - 128, 0)
    bits[steps == 0] += far
    return bits.astype("<i4").tobytes()


def arrays(page: str, view: str, head: str = "") -> dict[str, np.ndarray]:
    """The arrays of a view as the browser makes them."""
    dtypes = {"u8": "u1", "u16": "<u2", "f32": "<f4"}
    listed, stored = index(page), stored_arrays(page)
    made = {}
    for entry in listed["groups"][0]["views"][view]["heads"][head]["arrays"]:
        raw = bytes_of(entry, listed["rebuilt"], stored)
        if entry.get("coarse"):
            codes = np.frombuffer(raw, "<u2").astype(np.uint32)
            raw = ((codes + 128) // 257).astype(np.uint8).tobytes()
        full, places = entry["shape"], entry.get("places")
        shape = full if places is None else [len(places), *full[-2:]]
        stored_shape = (*shape[:-2], n_kept(shape, entry["first"])) if "first" in entry else shape
        values = np.frombuffer(raw, dtypes[entry["dtype"]])[: int(np.prod(stored_shape))]
        matrices: Any = values.reshape(stored_shape)
        if "first" in entry:
            matrices = Lower(matrices, tuple(shape), entry["first"]).whole()
        if places is not None:
            matrices = SomeHeads(matrices, tuple(full), tuple(places)).whole()
        made[entry["name"]] = matrices
    return made


def test_the_stages_of_a_page_are_those_of_derive(page: str, capture: Capture) -> None:
    shown = arrays(page, "steps", HEAD)
    views = capture.head(HEAD).views()
    assert len(views) == 11
    for view in views:
        np.testing.assert_array_equal(shown[view.stage], view.values)
    masked = arrays(page, "masks", HEAD)
    np.testing.assert_array_equal(masked["weights"][0], capture.weights(HEAD))


def test_the_weights_of_all_heads_travel_once_for_overview_and_head(
    page: str, capture: Capture
) -> None:
    whole = capture.all_weights()
    root = np.sqrt(whole.clip(0, 1))
    fine = arrays(page, "head")["weights"]
    assert np.abs(fine / 65535 - root).max() <= 0.5 / 65535 + 1e-7
    coarse = arrays(page, "overview")["weights"]
    assert coarse.dtype == np.uint8
    assert np.abs(coarse / 255 - root).max() <= 0.5 / 255 + 1e-5
    (entry,) = [
        entry
        for entry in index(page)["groups"][0]["views"]["overview"]["heads"][""]["arrays"]
        if entry["name"] == "weights"
    ]
    assert entry["coarse"] == 1


def test_a_page_of_some_heads_has_the_numbers_of_the_whole_capture(
    some: Capture, page: str, capture: Capture
) -> None:
    shown = page_bytes(some, heads="all").decode()
    views = index(shown)["groups"][0]["views"]
    assert index(shown)["start"] == {"layer": 1, "head": 2}
    assert [*views["steps"]["heads"]] == [*views["masks"]["heads"]] == [*KEPT]
    kept = {name: np.array(weights) for name, weights in arrays(shown, "head").items()}["weights"]
    whole = arrays(page, "head")["weights"]
    for name in KEPT:
        place = astuple(HeadId.parse(name))
        assert whole[place].any()
        np.testing.assert_array_equal(kept[place], whole[place])
        kept[place] = 0
    assert kept.shape == whole.shape and not kept.any()
    steps, stages = arrays(shown, "steps", HEAD), capture.head(HEAD).views()
    assert {view.stage for view in stages} - steps.keys() == {"concat", "projected"}
    for view in stages:
        if view.stage in steps:
            np.testing.assert_array_equal(steps[view.stage], view.values)
    np.testing.assert_array_equal(arrays(shown, "masks", HEAD)["weights"][0], capture.weights(HEAD))


@pytest.mark.parametrize("n_token", [230, pytest.param(2000, marks=pytest.mark.slow)])
def test_a_page_of_some_heads_holds_these_alone_however_many_the_model_has(
    n_token: int, tmp_path: Path
) -> None:
    config = LlamaConfig(
        **{"vocab_size": 101, "hidden_size": 64, "intermediate_size": 16},
        **{"num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8},
    )
    model = LlamaForCausalLM(config).eval()
    inputs = {"input_ids": torch.randint(0, 101, (1, n_token))}
    kept = ["L0.H3", "L5.H31", "L17.H0", "L17.H9", "L30.H16", "L31.H31"]
    whole = attnviz.capture(model, inputs=inputs)
    with pytest.raises(TooLarge, match="all heads together have"):
        page_bytes(whole)
    cap = attnviz.capture(model, inputs=inputs, keep=kept)
    attnviz.save(attnviz.read(attnviz.save(cap, tmp_path / "x.safetensors")), tmp_path / "x.html")
    shown = (tmp_path / "x.html").read_text()
    (entry,) = (
        entry
        for entry in index(shown)["groups"][0]["views"]["head"]["heads"][""]["arrays"]
        if entry["name"] == "weights"
    )
    places = [32 * at.layer + at.head for at in map(HeadId.parse, kept)]
    assert (entry["shape"], entry["places"]) == ([32, 32, n_token, n_token], places)
    bits: Literal[8, 16] = 8 if n_token == 2000 else 16
    weights = arrays(shown, "head")["weights"]
    for name in kept:
        shown_head = weights[astuple(HeadId.parse(name))].astype(int)
        assert np.abs(shown_head - quantise(whole.weights(name), bits)).max() <= 1


@pytest.mark.parametrize("choices", [{"heads": ["L0.H0"]}, {"heads": ["L1.H3"]}])
def test_a_page_names_the_heads_that_were_kept(some: Capture, choices: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match="keeps L1.H2, L1.H7, L2.H3, L5.H11 alone"):
        page_bytes(some, **choices)
    with pytest.raises(BadInput, match="6 × 12 layers × heads"):
        page_bytes(some, heads=["L9.H0"])


def test_a_page_of_some_cross_attention_has_no_alignment_and_says_why() -> None:
    lm = attnviz.load("translator")
    cap = attnviz.capture(lm, "I like red cars.", target="j' aime", keep=["decoder.cross.L1.H1"])
    (group,) = index(page_bytes(cap, model=lm).decode())["groups"]
    assert group["views"].keys() == {"head", "overview", "steps", "masks"}
    with pytest.raises(BadInput, match="keeps the layers 1 alone, and this needs all"):
        page_bytes(cap, model=lm, opening=PageOpening("alignment"))


def test_scaled_scores_are_made_of_the_scores() -> None:
    cap = attnviz.capture("minilm", " ".join(["cat"] * 40))
    page = page_bytes(cap).decode()
    entries = index(page)["groups"][0]["views"]["steps"]["heads"]["L0.H0"]["arrays"]
    [scaled] = [entry for entry in entries if entry["name"] == "scaled"]
    assert scaled["times"] == np.float32(32**-0.5)
    np.testing.assert_array_equal(
        arrays(page, "steps", "L0.H0")["scaled"], cap.head("L0.H0")["scaled"]
    )


def test_multiple_is_exact_or_none() -> None:
    scores = np.linspace(-7, 5, 2048, dtype=np.float32)
    scores[3] = -np.inf
    scaled = scores * np.float32(0.1)
    as_bytes = scores.view(np.uint8), scaled.view(np.uint8)
    assert page_arrays.multiple(*as_bytes) == np.float32(0.1)
    scaled[7] = np.nextafter(scaled[7], np.float32(1))
    assert page_arrays.multiple(*as_bytes) is None
    assert page_arrays.multiple(np.zeros(8192, np.uint8), as_bytes[1]) is None


def test_a_lone_surrogate_in_a_view_becomes_a_question_mark_as_in_a_packed_one() -> None:
    view = SentView({}, {"label": "a\ud800b"}, {})
    header, _ = unpack(view.packed())
    assert page_arrays.Store().add(view, {})["header"]["label"] == header["label"] == "a?b"


def test_equal_arrays_are_kept_once(page: str) -> None:
    stored = [*unpack(block(page, "first"))[1].values(), *unpack(block(page, "later"))[1].values()]
    digests = [hashlib.sha256(np.asarray(array).tobytes()).digest() for array in stored]
    assert len(digests) > 10 and len(set(digests)) == len(digests)


def test_the_policy_names_both_scripts_and_the_style_and_allows_no_connection(page: str) -> None:
    policy = re.search(r'Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    style = re.search(r"<style>(.*?)</style>", page, re.S)
    boot = re.search(r"<script>(.*?)</script>", page, re.S)
    assert style is not None and boot is not None
    for source in (style[1], boot[1], block(page, "script").decode()):
        digest = base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy[1]
    assert policy[1].startswith("default-src 'none'; ")
    assert "connect-src" not in policy[1] and "unsafe" not in policy[1]
    assert re.findall(r"(?:src|href)=", page) == []


def test_a_title_is_escaped_and_says_where_the_numbers_come_from(capture: Capture) -> None:
    page = page_bytes(capture, title=SCRIPT).decode()
    assert SCRIPT not in page and "&lt;/script&gt;&lt;img src=x" in page
    assert WORDS in page and capture.model.revision in page and attnviz.__version__ in page
    assert "The same numbers as the model (largest difference" in page


def test_long_texts_leave_the_widest_matrices_out() -> None:
    cap = attnviz.capture("minilm", " ".join(["cat"] * 60))
    assert len(cap.tokens) > 48
    page = page_bytes(cap).decode()
    assert arrays(page, "steps", "L0.H0").keys() == {
        *("q", "k", "v", "scores", "scaled", "masked", "weights", "mixed", "blocked", "reach")
    }
    panels = index(page)["groups"][0]["views"]["steps"]["heads"]["L0.H0"]["header"]["panels"]
    absent = {panel["stage"]: panel["absent"] for panel in panels if panel["absent"]}
    assert absent.keys() == {"x", "concat", "projected"}
    assert "more than 48 tokens" in absent["concat"]


@pytest.mark.parametrize(
    "choices",
    [{"lang": "xx"}, {"heads": ["L9.H0"]}, {"heads": [HeadId(0, 99)]}, {"heads": ["nonsense"]}],
)
def test_what_does_not_exist_is_refused(capture: Capture, choices: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        page_bytes(capture, **choices)


def test_more_numbers_than_a_browser_holds_are_refused(
    capture: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_arrays, "MAX_BYTES", 2**12)
    with pytest.raises(TooLarge, match="fewer heads="):
        page_bytes(capture)


def test_save_writes_the_page_where_a_path_says(capture: Capture, tmp_path: Path) -> None:
    path = attnviz.save(capture, tmp_path / "cat.html")
    assert path == tmp_path / "cat.html" and path.read_bytes() == page_bytes(capture)


def test_the_colours_of_a_page_are_those_of_the_app() -> None:
    css = page_style()
    config = (ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8")
    theme = tomllib.loads(config)["theme"]
    names = {
        "primaryColor": "primary-color",
        "backgroundColor": "background-color",
        "secondaryBackgroundColor": "secondary-background-color",
        "textColor": "text-color",
        "linkColor": "link-color",
        "borderColor": "border-color",
        "redColor": "red-text-color",
    }
    light, media, dark = re.split(r"@media \(prefers|:root\[data-theme=\"dark\"\]", css)[:3]
    for part, scheme in ((light, "light"), (media, "dark"), (dark, "dark")):
        for name, variable in names.items():
            assert f"--st-{variable}: {theme[scheme][name]};" in part, (scheme, name)


def test_a_still_picture_crosses_out_the_heads_that_were_not_kept(
    some: Capture, capture: Capture
) -> None:
    of_some, of_all = (
        np.asarray(Image.open(io.BytesIO(attnviz.show(cap).still)).convert("RGB"))
        for cap in (some, capture)
    )
    assert of_some.shape == of_all.shape == (164, 332, 3)  # of 6 × 12 squares, 24 pixels and 4
    for place in groups(capture)[0].heads:
        at = np.s_[28 * place.layer :, 28 * place.head :]
        drawn, whole = of_some[at][:24, :24], of_all[at][:24, :24]
        if str(place) in KEPT:
            np.testing.assert_array_equal(drawn, whole)
        else:
            assert {*drawn.ravel()} == {FAINT, 255} and (drawn[:2] == FAINT).all()


def test_a_frame_has_the_page_and_a_still_picture(capture: Capture) -> None:
    frame = attnviz.show(capture, height=300)
    bundle = frame._repr_mimebundle_()
    assert base64.b64decode(bundle["image/png"])[:8] == b"\x89PNG\r\n\x1a\n"
    assert 'sandbox="allow-scripts allow-downloads"' in bundle["text/html"]
    assert bundle["text/html"].count("<iframe") == 1
    assert "minilm" in repr(frame) and len(base64.b64decode(bundle["image/png"])) < 60_000
    for height in (10, 10**6):
        with pytest.raises(BadInput, match="height="):
            attnviz.show(capture, height=height)
