"""Take with you: each button makes the file that it names, and the code gives the same numbers."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

import attnviz
from attnviz import i18n
from attnviz.ui.session import widgets
from tests.pages.conftest import Visit

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
    """A function that opens a page, switches the offer on and presses every button."""

    def run(page: str, **parameters: str) -> tuple[AppTest, Files]:
        files: Files = {}

        def press(_label: str, data: Callable[[], bytes], name: str, **_options: Any) -> bool:
            files[name] = data()
            return False

        monkeypatch.setattr(st, "download_button", press)
        app = visit(page, **parameters)
        assert not files, "nothing is made before it is asked for"
        app.toggle(widgets.key("take")).set_value(True).run()
        assert not app.exception and not app.error
        return app, files

    return run


FIGURES = {"overview": ["heads"], "head": ["head", "lines"], "steps": ["steps"]}


@pytest.mark.parametrize("page", FIGURES)
def test_each_button_makes_its_file(
    page: str, opened: Callable[..., tuple[AppTest, Files]], tmp_path: Path
) -> None:
    _, files = opened(page, text=TEXT, layer="5", head="11")
    names = [*(f"{view}.svg" for view in FIGURES[page]), "page.html", "numbers.csv"]
    assert list(files) == [f"minilm-L5.H11-{name}" for name in (*names, "capture.safetensors")]
    for name, data in files.items():
        assert data.startswith(BEGINS[Path(name).suffix]) and len(data) > 500
    path = tmp_path / "x.safetensors"
    path.write_bytes(files["minilm-L5.H11-capture.safetensors"])
    expected = attnviz.capture("minilm", TEXT).weights("L5.H11")
    np.testing.assert_array_equal(attnviz.read(path).weights("L5.H11"), expected)


VIEWS = {
    "a text": {"text": TEXT, "layer": "2", "head": "3"},
    "written": {"model": "stories", "text": "Lily has a", "generate": "3"},
    "cross": {
        "model": "translator", "text": "I like red cars.", "target": "j' aime", "stack": "decoder",
        "kind": "cross",
    },
    "a picture": {"model": "shapes"},
}  # fmt: skip


@pytest.mark.parametrize("name", VIEWS)
def test_the_code_for_a_view_gives_its_numbers(
    name: str,
    opened: Callable[..., tuple[AppTest, Files]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    view = VIEWS[name]
    app, files = opened("head", **view)
    for file, data in files.items():
        (tmp_path / file).write_bytes(data)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(app.code[-1].value, names)
    [capture] = tmp_path.glob("*.safetensors")
    head = capture.name.split("-")[-2]
    place = {"kind": view.get("kind", "self"), "stack": view.get("stack")}
    expected = attnviz.read(capture).weights(head, **place)
    np.testing.assert_array_equal(names["weights"], expected)


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_the_offer_speaks_the_language(lang: i18n.Language, visit: Visit) -> None:
    app = visit("head", lang=lang, text=TEXT)
    assert app.toggle(widgets.key("take")).label == i18n.text(lang, "take.title")
