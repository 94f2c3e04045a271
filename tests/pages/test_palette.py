"""The palette: its entries in each language, and what taking one opens."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from attnviz import i18n
from attnviz.app.bar import palette as app_palette
from attnviz.pictures import palette
from attnviz.pictures.shared.buffer import unpack
from attnviz.pictures.shared.pages import BEHIND, PAGES
from attnviz.teach.course import SLUGS
from tests.pages.conftest import Visit, bar, parameters, tell

TEXT = "The cat sat."


def component(app: AppTest) -> Any:
    """The palette itself, not its door in the menu."""
    of_kind = [
        each
        for each in bar(app).get("bidi_component")
        if each.proto.component_name == palette.CANVAS.element
    ]
    (one,) = [each for each in of_kind if not unpack(each.proto.bytes)[0]["door"]]
    assert len(of_kind) == 2
    return one


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
@pytest.mark.parametrize("page", ["start", "overview", "calculator", "learn"])
def test_every_page_can_open_everything(visit: Visit, page: str, lang: i18n.Language) -> None:
    entries = unpack(component(visit(page, lang=lang)).proto.bytes)[0]["entries"]
    by_kind: dict[str, list[str]] = {}
    for entry in entries:
        by_kind.setdefault(entry["kind"], []).append(entry["value"])
    assert tuple(by_kind["page"]) == (*PAGES, *(door for door in BEHIND if door != "head"))
    assert sorted(by_kind["lesson"]) == sorted(SLUGS)
    assert by_kind["language"] == list(i18n.LANGUAGES)
    assert by_kind["scheme"] == ["light", "dark", "system"] and by_kind["save"] == ["svg"]
    assert all(entry["label"] for entry in entries)


def test_heads_are_those_of_the_model_and_its_card(visit: Visit) -> None:
    header, _ = unpack(component(visit("head", model="stories", text=TEXT)).proto.bytes)
    assert (header["n_layers"], header["n_heads"]) == (4, 4)
    notes = [entry for entry in header["entries"] if entry["kind"] == "head"]
    assert any("induction" in entry["more"] for entry in notes)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Pages that were asked for: without a browser, callbacks cannot change the page."""
    asked: list[str] = []
    monkeypatch.setattr(
        app_palette.st, "switch_page", lambda path, query_params: asked.append(path.stem)
    )
    return asked


@pytest.mark.some(6)
@pytest.mark.parametrize(
    ("kind", "value", "page", "wanted"),
    [
        ("page", "masks", ["steps"], {"face": "masks"}),
        ("head", "L3.H7", ["overview"], {"layer": "3", "head": "7", "open": "1"}),
        ("lesson", "birth", ["learn"], {"lesson": "birth"}),
        ("model", "stories", ["overview"], {"model": "stories"}),
        ("language", "ja", [], {"lang": "ja"}),
        ("page", "../../x", [], {}),
        ("lesson", "..", [], {}),
        ("model", "gpt-9", [], {}),
        ("head", "L3.H", [], {}),
        ("head", "L3.H7" + "7" * 390, [], {}),
        ("head", "L99999.H99999", [], {}),
        ("head", "L\u0663.H7", [], {}),
        ("lesson", "birth\0", [], {}),
        ("model", "\ud83d", [], {}),
        (["page"], "masks", [], {}),
        ("shell", "x", [], {}),
    ],
)
def test_what_is_taken_is_opened(
    visit: Visit,
    opened: list[str],
    kind: object,
    value: str,
    page: list[str],
    wanted: dict[str, str],
) -> None:
    app = visit("overview", text=TEXT)
    before = parameters(app)
    tell(app, component(app), "pick", {"kind": kind, "value": value})
    assert opened == page
    assert parameters(app) == {**before, **wanted} or kind == "model"
    assert wanted.items() <= parameters(app).items()
