"""The menu Share: each button makes the file that it names, and the code gives the same numbers."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

import attnviz
from attnviz import i18n
from attnviz.app.frame import link
from attnviz.app.session import widgets
from attnviz.attention import edits
from attnviz.attention.steps import Steps
from attnviz.changes import parse
from attnviz.pictures.stage import STAGED
from tests.pages.conftest import Visit, bar

TEXT = "The cat sat."
BEGINS = {
    ".svg": b"<svg",
    ".html": b"<!doctype html>",
    ".csv": b"\xef\xbb\xbf",
    ".safetensors": b"",
}
Files = dict[str, bytes]


@pytest.fixture
def opened(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[AppTest, Files]]:
    """A function that opens a page and its menu Share, and presses every button."""

    def offered(page: str, **parameters: str) -> tuple[AppTest, Files]:
        files: Files = {}

        def press(_label: str, data: Callable[[], bytes], name: str, **_options: Any) -> bool:
            files[name] = data()
            return False

        monkeypatch.setattr(st, "download_button", press)
        app = visit(page, **parameters)
        assert not files, "nothing is made before it is asked for"
        app.session_state[widgets.key("take")] = True
        app.run()
        assert not app.exception and not app.error
        return app, files

    return offered


FIGURES = {
    "overview": ["heads", "head", "lines"],
    "steps": ["steps"],
    "masks": ["head"],
    "output": [],
    "switches": [],
    "circuit": [],
    "geometry": [],
}


def assert_same(found: Any, expected: Any) -> None:
    """Alike but for the order of float32's sums.

    A page computes with one thread and a test with all: weights of `minilm` by one thread and by
    two are up to 7.5e-7 apart.
    """
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=2e-6)


@pytest.mark.some(2)
@pytest.mark.parametrize("page", FIGURES)
def test_each_button_makes_its_file(
    page: str, opened: Callable[..., tuple[AppTest, Files]], tmp_path: Path
) -> None:
    _, files = opened(page, text=TEXT, text2="", layer="5", head="11")
    names = [*(f"{view}.svg" for view in FIGURES[page]), "page.html", "numbers.csv"]
    assert list(files) == [f"minilm-L5.H11-{name}" for name in (*names, "capture.safetensors")]
    for name, data in files.items():
        assert data.startswith(BEGINS[Path(name).suffix]) and len(data) > 500
    path = tmp_path / "x.safetensors"
    path.write_bytes(files["minilm-L5.H11-capture.safetensors"])
    expected = attnviz.capture("minilm", TEXT).weights("L5.H11")
    assert_same(attnviz.read(path).weights("L5.H11"), expected)


def run(app: AppTest, files: Files, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The names that the code of a page defines, run beside its files."""
    for file, data in files.items():
        (folder / file).write_bytes(data)
    monkeypatch.chdir(folder)
    names: dict[str, Any] = {}
    exec(bar(app).code[-1].value, names)
    return names


PLACE = {"text": TEXT, "layer": "2", "head": "3"}
NUMBERS = {
    "overview": lambda cap: {"weights": cap.all_weights()},
    "head": lambda cap: {"weights": cap.weights("L2.H3")},
    "steps": lambda cap: {"mixed": edited(cap)["mixed"]},
    "masks": lambda cap: {"weights": np.tril(cap.weights("L2.H3")) > 0},
    "geometry": lambda cap: {"weights": cap.weights("L2.H3")},
    "output": lambda cap: {"hidden": cap.hidden},
    "circuit": lambda cap: {
        "paths": attnviz.experiment(attnviz.load("minilm"), TEXT).paths().moved
    },
}


def edited(cap: attnviz.Capture) -> Steps:
    return attnviz.derive(cap.call(2), 3, edits=edits.parse("q.1.2=0.5"))


@pytest.mark.some(2)
@pytest.mark.parametrize("page", NUMBERS)
def test_the_code_of_a_page_gives_what_it_shows(
    page: str,
    opened: Callable[..., tuple[AppTest, Files]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    more = {"steps": {"edits": "q.1.2=0.5"}, "masks": {"masks": "causal"}}.get(page, {})
    names = run(*opened(page, **PLACE, **more), tmp_path, monkeypatch)
    [(name, expected)] = NUMBERS[page](attnviz.capture("minilm", TEXT)).items()
    value = names[name] if name in names else names["steps"][name]
    value = getattr(value, "moved", value)  # of paths
    if page == "masks":  # with the second sentence in a batch, whose padding is no key
        n_token = len(expected)
        value = value[:n_token, :n_token] > 0
    assert_same(np.asarray(value), np.asarray(expected))


@pytest.mark.slow
def test_the_code_of_compare_gives_both_sides(
    opened: Callable[..., tuple[AppTest, Files]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app, files = opened("compare", **PLACE, text_b="A dog ran.", layer_b="1", head_b="4")
    names = run(app, files, tmp_path, monkeypatch)
    expected = (("L2.H3", TEXT), ("L1.H4", "A dog ran."))
    for (head, text), weights in zip(expected, names["weights"], strict=True):
        assert_same(weights, attnviz.capture("minilm", text).weights(head))
    saved = attnviz.read(tmp_path / "minilm-L2.H3-capture_b.safetensors")
    assert_same(saved.weights("L1.H4"), names["weights"][1])


@pytest.mark.slow
def test_the_code_of_switches_takes_the_head_away(
    opened: Callable[..., tuple[AppTest, Files]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, off = "Lily gave the red ball to", "L2.H1.mixed=zero"
    app, files = opened("switches", model="stories", text=text, changes=off)
    names = run(app, files, tmp_path, monkeypatch)
    changes = parse(off)
    expected = attnviz.capture("stories", text, changes=changes).logits
    assert_same(names["off"].logits, expected)
    assert not np.array_equal(names["cap"].logits, expected)


def test_link_and_code_forbid_the_look_that_is_forbidden(
    opened: Callable[..., tuple[AppTest, Files]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = {"layer": "2", "head": "1", "query": "14", "key": "2", "forbid": "14.2"}
    start, _ = opened("start", **look)
    assert bar(start).code[0].value.endswith("?layer=2&head=1&query=14&key=2&forbid=14.2")
    text = STAGED["book"].text
    app, files = opened("switches", model="stories", text=text, **look)
    names = run(app, files, tmp_path, monkeypatch)
    without = attnviz.capture("stories", text, changes=[attnviz.cut("L2.H1", 14, 2)]).logits
    assert_same(names["off"].logits, without)


def test_the_link_says_what_it_does_not_carry(
    opened: Callable[..., tuple[AppTest, Files]],
) -> None:
    app, _ = opened("head", text=TEXT, layer="2", head="3")
    assert bar(app).code[0].value.endswith("?text=The+cat+sat.&layer=2&head=3&open=1")
    assert i18n.text("en", "take.qr_long") not in [caption.value for caption in app.caption]
    app, _ = opened("head", text="x" * 1200)  # one token
    assert i18n.text("en", "take.qr_long") in [caption.value for caption in app.caption]


def test_qr_code_is_a_drawing_of_the_standard() -> None:
    """45 bytes take version 3: 29 modules a side, and four of quiet zone around them."""
    drawing = link.qr_code("https://example.org/head?lesson=heads&card=12")
    assert drawing.startswith("<svg") and f'width="{6 * (29 + 8)}"' in drawing
    assert "<script" not in drawing and "http://www.w3.org/2000/svg" in drawing
    # a style sheet may set its size, as on paper: without a view box its corner would be cut out
    size = re.search(r'viewBox="0 0 (\d+) (\d+)"', drawing)
    assert size is not None
    assert f'width="{size[1]}" height="{size[2]}"' in drawing


VIEWS = {
    "a text": {"text": TEXT, "layer": "2", "head": "3"},
    "written": {"model": "stories", "text": "Lily has a", "generate": "3"},
    "cross": {
        "model": "translator", "text": "I like red cars.", "target": "j' aime", "stack": "decoder",
        "kind": "cross",
    },
    "a picture": {"model": "shapes"},
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", VIEWS)
def test_the_code_for_a_view_gives_its_numbers(
    name: str,
    opened: Callable[..., tuple[AppTest, Files]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    view = VIEWS[name]
    app, files = opened("head", **view)
    names = run(app, files, tmp_path, monkeypatch)
    [capture] = tmp_path.glob("*.safetensors")
    head = capture.name.split("-")[-2]
    place = {"kind": view.get("kind", "self"), "stack": view.get("stack")}
    expected = attnviz.read(capture).weights(head, **place)
    assert_same(names["weights"], expected)


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_the_offer_speaks_the_language(lang: i18n.Language, visit: Visit) -> None:
    app = visit("head", lang=lang, text=TEXT)
    [menu] = [each for each in bar(app) if getattr(each, "key", None) == widgets.key("take")]
    assert menu.proto.popover.label == i18n.text(lang, "take.title")
