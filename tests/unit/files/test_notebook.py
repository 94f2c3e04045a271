"""`show`: where a frame opens, what it refuses, and the Python half of the live widget."""

import json
import re
import sys
from typing import Any

import pytest

import attnviz
from attnviz.errors import BadInput, MissingExtra
from attnviz.notebook.selection import PageSelection
from attnviz.notebook.widget import LiveWidget
from attnviz.types import HeadId


@pytest.fixture(scope="module")
def capture() -> attnviz.Capture:
    return attnviz.capture("translator", "I like red cars.", target="j' aime")


@pytest.fixture
def widget(capture: attnviz.Capture) -> LiveWidget:
    return attnviz.show(capture, "head", "L1.H1", live=True)


def start(page: str) -> dict[str, Any]:
    index = re.search(r'id="index">([^<]*)</script>', page)
    assert index is not None
    begin: dict[str, Any] = json.loads(index[1])["start"]
    return begin


def test_show_opens_on_a_view_and_a_head_whose_steps_it_has(capture: attnviz.Capture) -> None:
    frame = attnviz.show(capture, "steps", "L1.H1", heads=["L0.H0"])
    assert start(frame.page) == {"layer": 1, "head": 1, "view": "steps"}
    assert start(attnviz.show(capture).page) == {"layer": 0, "head": 0}
    assert '"L1.H1":' in frame.page and '"L0.H0":' in frame.page


@pytest.mark.parametrize(
    "arguments",
    [{"view": "picture"}, {"head": "L9.H0"}, {"head": "head"}, {"height": 10}],
)
def test_show_refuses_what_a_capture_does_not_have(
    capture: attnviz.Capture, arguments: dict[str, Any]
) -> None:
    with pytest.raises(BadInput):
        attnviz.show(capture, **arguments)


def test_a_widget_of_some_heads_chooses_among_those_that_were_kept() -> None:
    cap = attnviz.capture("minilm", "Red cars", keep=["L1.H2", "L4.H11"])
    widget = attnviz.show(cap, live=True)
    assert widget.selection.head == HeadId(1, 2)
    with pytest.raises(BadInput, match=r"heads= has L1\.H3, and .* keeps L1\.H2, L4\.H11 alone"):
        widget.select("L1.H3")
    widget.select("L4.H11", query=1)
    sent = {"layer": 3, "head": 0, "query": 1, "key": None, "view": "steps", "group": 0}
    widget.set_state({"selection": sent})
    assert widget.selection.head == HeadId(4, 11)
    answers: list[int] = []
    widget.send = lambda content, buffers: answers.append(len(buffers))
    for wanted in ("0 steps L4.H11", "0 steps L1.H3", "0 masks L0.H0"):
        widget._handle_custom_msg({"wanted": wanted}, [])
    assert answers == [1, 0, 0]


def test_a_live_widget_without_anywidget_names_the_extra(
    capture: attnviz.Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(MissingExtra, match=re.escape("attnviz[notebook]")):
        attnviz.show(capture, live=True)


def test_a_selection_travels_to_the_page_and_back(widget: LiveWidget) -> None:
    assert widget.get_state()["selection"] == {
        **{"layer": 1, "head": 1, "query": None, "key": None},
        **{"view": "head", "group": 0},
    }
    cross = {"layer": 0, "head": 1, "query": 1, "key": 3, "view": "steps", "group": 2}
    widget.set_state({"selection": cross})
    expected = PageSelection(HeadId(0, 1), 1, 3, "steps", kind="cross", stack="decoder")
    assert widget.selection == expected
    assert widget.get_state()["selection"] == cross


def test_a_selection_of_another_attention_is_made_to_fit(widget: LiveWidget) -> None:
    sent = {"layer": 90, "head": 1, "query": 90, "key": 1, "view": "head", "group": 1}
    widget.set_state({"selection": sent})
    last = widget.groups[1].n_layers - 1
    assert widget.selection.head == HeadId(last, 1)
    assert (widget.selection.query, widget.selection.key) == (None, None)


@pytest.mark.some(2)
@pytest.mark.parametrize(
    "arguments",
    [("L9.H0",), ("L0.H9",), ("L0.H0", 99), ("L0.H0", None, 1)],
)
def test_select_refuses_what_a_capture_does_not_have(
    widget: LiveWidget, arguments: tuple[Any, ...]
) -> None:
    before = widget.selection
    with pytest.raises(BadInput):
        widget.select(*arguments)
    assert widget.selection == before


HOSTILE = (
    3,
    "L0.H0",
    None,
    [0, 1],
    {},
    {"layer": 0, "head": 0, "group": 0, "view": []},
    {"layer": "0"},
    {"layer": 0, "head": 0, "group": 9},
    {"group": True},
)


@pytest.mark.some(3)
@pytest.mark.parametrize("sent", HOSTILE)
def test_a_selection_that_no_page_sends_is_refused(widget: LiveWidget, sent: object) -> None:
    with pytest.raises(BadInput):
        widget.set_state({"selection": sent})


def test_the_kernel_answers_with_the_steps_of_a_head_and_nothing_else(widget: LiveWidget) -> None:
    answers: list[tuple[Any, list[bytes]]] = []
    widget.send = lambda content, buffers: answers.append((content, buffers))
    for wanted in ("0 steps L1.H1", "2 masks L0.H0", "0 steps L9.H9"):
        widget._handle_custom_msg({"wanted": wanted}, [])
    for wanted in ("9 steps L0.H0", "0 overview L0.H0", "", None, 3):
        widget._handle_custom_msg({"wanted": wanted}, [])
    assert [content["wanted"] for content, _ in answers] == [
        *("0 steps L1.H1", "2 masks L0.H0", "0 steps L9.H9")
    ]
    assert [len(buffers) for _, buffers in answers] == [1, 1, 0]


def test_a_widget_has_a_still_picture_and_one_line(widget: LiveWidget) -> None:
    bundle = widget._repr_mimebundle_()
    assert bundle is not None
    types, _ = bundle
    assert "application/vnd.jupyter.widget-view+json" in types
    assert "<img" in types["text/html"] and "<iframe" not in types["text/html"]
    assert types["image/png"].startswith("iVBOR")
    assert types["text/plain"] == repr(widget)
    assert "L1.H1 selected" in repr(widget) and "\n" not in repr(widget)
