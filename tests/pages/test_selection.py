"""Messages of a component: stored, checked, and followed to another page."""

import json
from typing import Any

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.testing.v1 import AppTest

from attnviz.app.frame import fragments
from attnviz.app.session import address, store
from attnviz.app.session.view import View
from attnviz.pictures.shared.pages import BEHIND, Door
from tests.pages.conftest import Visit, bar, beside_bar, send_state, sent, tell

TEXT = "The cat sat."
CHOSEN = {"layer": 3, "head": 5, "query": 1, "key": 2, "scale": "log", "special": "hide"}


def commit(app: AppTest, name: str, value: Any) -> AppTest:
    """Send a component's state, or a trigger, as its JavaScript does."""
    (component,) = beside_bar(app)
    if name == "open":
        return tell(app, component, name, value)
    widget = WidgetState()
    widget.id = component.proto.id
    widget.json_value = json.dumps({name: value})
    return send_state(app, widget)


def view(app: AppTest) -> View:
    found = app.session_state[f"{store.PREFIX}view"]
    assert isinstance(found, View)
    return found


@pytest.mark.some(2)
@pytest.mark.parametrize("page", ["overview", "head", "steps", "masks"])
def test_a_commit_is_kept(visit: Visit, page: str) -> None:
    app = commit(visit(page, text=TEXT), "selection", CHOSEN)
    now = view(app)
    assert {name: address.PARAMETERS[name].value(now) for name in CHOSEN} == CHOSEN


@pytest.mark.slow
@pytest.mark.parametrize("page", ["steps", "masks"])
def test_another_head_is_derived(visit: Visit, page: str) -> None:
    app = commit(visit(page, text=TEXT), "selection", CHOSEN)
    header, _ = sent(app)
    assert (header["layer"], header["head"]) == (3, 5)


@pytest.mark.some(3)
@pytest.mark.parametrize(
    "nonsense",
    [
        {"layer": 6, "head": 0},
        {"layer": 0, "head": 12},
        {"layer": "0", "head": 0},
        {"layer": 0, "head": 0, "query": 99},
        {"layer": 0, "head": 0, "scale": "cubic"},
        {"layer": True, "head": 0},
        [],
        "x",
        7,
    ],
)
def test_nonsense_is_not_kept(visit: Visit, nonsense: object) -> None:
    app = visit("overview", text=TEXT)
    before = view(app)
    assert view(commit(app, "selection", nonsense)) == before


def test_links_follow_a_commit(visit: Visit) -> None:
    app = commit(visit("overview", text=TEXT), "selection", CHOSEN)
    _, *others = bar(app).get("page_link")  # the start page shows no view
    view = "text=The+cat+sat.&layer=3&head=5&query=1&key=2&scale=log&special=hide"
    for link in others:
        closes = "&open=0" if link.proto.page == "look" else ""  # from an open head to all
        assert link.proto.query_string == view + closes


@pytest.fixture
def followed(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, str]]]:
    """Pages that a click asked for: without a browser, callbacks cannot change the page."""
    asked: list[tuple[str, dict[str, str]]] = []
    monkeypatch.setattr(
        fragments.st,
        "switch_page",
        lambda path, query_params: asked.append((path.stem, query_params)),
    )
    return asked


@pytest.mark.parametrize("page", ["head", "steps", "masks"])
def test_a_click_opens_a_page(
    visit: Visit, followed: list[tuple[str, dict[str, str]]], page: Door
) -> None:
    there, more = BEHIND.get(page, (page, {}))
    asked = {"page": page, "layer": 2, "head": 4, "query": None, "key": None}
    commit(visit("overview", text=TEXT), "open", asked)
    assert followed == [(there, {"text": TEXT, "layer": "2", "head": "4", **more})]


@pytest.mark.some(2)
@pytest.mark.parametrize("page", ["", "../../etc", "nowhere", None, 3])
def test_a_click_opens_no_other_page(
    visit: Visit, followed: list[tuple[str, dict[str, str]]], page: object
) -> None:
    asked = {"page": page, "layer": 2, "head": 4, "query": None, "key": None}
    app = commit(visit("overview", text=TEXT), "open", asked)
    assert not followed
    assert view(app).place.layer is None
