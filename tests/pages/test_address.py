"""The address: a deep link restores the view, a change is written back, a strange one is said."""

import pytest
from streamlit.testing.v1 import AppTest

from attnviz import i18n
from attnviz.app.bar import menus
from attnviz.app.session import address, address_bar, store, widgets
from attnviz.app.session.view import default_view
from attnviz.checks.examples import SIGHTS
from attnviz.pictures.shared.pages import BEHIND, Door
from tests.pages.conftest import (
    Visit,
    bar,
    beside_bar,
    parameters,
    pieces,
    sent,
    type_text,
)

TEXT = "The cat sat."
KEY = widgets.key


def texts(app: AppTest) -> list[str]:
    return [each.value for kind in (app.error, app.warning, app.info) for each in kind]


def test_a_deep_link_restores_the_view(visit: Visit) -> None:
    wanted = {
        "text": TEXT,
        "lang": "ko",
        "layer": "4",
        "head": "9",
        "query": "2",
        "key": "1",
        "scale": "log",
        "special": "hide",
    }
    app = visit("steps", **wanted)
    header, _ = sent(app)
    assert (header["layer"], header["head"]) == (4, 9)
    assert pieces(app)["text"]["text"] == TEXT
    assert app.selectbox(KEY("lang")).value == "ko"
    assert parameters(app) == wanted


def test_an_address_without_parameters_opens_on_the_models_opening(visit: Visit) -> None:
    opening = {"layer": "3", "head": "1", "query": "10", "key": "2"}
    assert parameters(visit("overview")) == opening
    assert parameters(visit("overview", model="sentiment")) == {
        "model": "sentiment",
        **{"layer": "0", "head": "3", "query": "5", "key": "3"},
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    "chosen",
    [{"text": TEXT}, {"layer": "0"}, {"masks": "causal"}, {"model": "stories", "cut": "1"}],
)
def test_an_address_that_chooses_anything_stays_so(visit: Visit, chosen: dict[str, str]) -> None:
    assert parameters(visit("overview", **chosen)) == chosen


@pytest.mark.parametrize("page", ["learn", "calculator"])
def test_a_page_without_a_model_names_no_head(visit: Visit, page: Door) -> None:
    assert parameters(visit(page)) == ({} if page == "learn" else BEHIND[page][1])


def test_a_new_text_is_written_into_the_address(visit: Visit) -> None:
    app = visit("overview", layer="3", head="1")
    type_text(app, TEXT)
    opened = parameters(app)  # at a row worth seeing
    assert {*opened} == {"text", "layer", "head", "query", "key"} and opened["text"] == TEXT
    assert sent(app)[0]["tokens"][:3] == ["[CLS]", "The", "cat"]


@pytest.mark.slow
def test_a_chosen_head_stays_with_every_new_text(visit: Visit) -> None:
    app = visit("overview", layer="0", head="0")
    for typed in (TEXT, "The trophy did not fit in the suitcase because it was too big."):
        type_text(app, typed)
        assert parameters(app)["layer"] == parameters(app)["head"] == "0"


def test_an_address_is_not_read_again_on_a_rerun(visit: Visit) -> None:
    """The browser reports what it remembers; a newer selection must not be undone by it."""
    app = visit("steps", text=TEXT, layer="1", head="1")
    name = f"{store.PREFIX}view"
    app.session_state[name] = address.changed(app.session_state[name], {"layer": 5, "head": 2})
    app.query_params["layer"] = "1"
    app.run()
    assert sent(app)[0]["layer"] == 5
    assert parameters(app)["layer"] == "5"


def test_back_and_forward_read_the_address(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    app = visit("steps", text=TEXT, layer="1", head="1", lang="ja")
    (before,) = beside_bar(app)
    monkeypatch.setattr(address_bar, "_went_back_or_forward", lambda: True)
    app.query_params.clear()
    app.query_params["head"] = "3"
    app.run()
    header, _ = sent(app)
    assert (header["layer"], header["head"]) == (0, 3)
    assert pieces(app)["text"]["text"] == default_view().input.text
    assert parameters(app) == {"head": "3"}
    (after,) = beside_bar(app)
    assert before.proto.id != after.proto.id  # mounts anew and reads the address itself


def test_another_page_keeps_the_view(visit: Visit) -> None:
    app = visit("overview", text=TEXT, lang="zh", layer="2", head="6")
    app.query_params.clear()
    app.switch_page("../../pages/steps.py").run()
    header, _ = sent(app)
    assert (header["layer"], header["head"]) == (2, 6)
    assert app.title[0].value == i18n.text("zh", "page.steps.title")
    assert parameters(app) == {"text": TEXT, "lang": "zh", "layer": "2", "head": "6"}


def test_the_language_can_be_switched(visit: Visit) -> None:
    app = visit("head", text=TEXT)
    app.selectbox(KEY("lang")).set_value("ja").run()
    assert app.title[0].value == i18n.text("ja", "page.overview.title")
    assert parameters(app) == {"text": TEXT, "lang": "ja", "open": "1"}


@pytest.mark.slow
def test_an_example_can_be_chosen(visit: Visit) -> None:
    app = visit("overview", cut="1")
    type_text(app, i18n.text("en", "example.short"))
    assert pieces(app)["text"]["text"] == i18n.text("en", "example.short")
    there = SIGHTS["short"]
    assert parameters(app) == {
        "text": i18n.text("en", "example.short"),
        "layer": str(there.head.layer),
        "head": str(there.head.head),
        "query": str(there.query),
        "key": str(there.key),
    }


def test_a_second_sentence_can_be_typed(visit: Visit) -> None:
    app = visit("masks", text=TEXT)
    type_text(app, "", "text2")
    assert len(sent(app)[0]["tokens"]) == 1
    assert parameters(app) == {"text": TEXT, "text2": "", "face": "masks"}


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_a_strange_address_is_said(visit: Visit, lang: i18n.Language) -> None:
    app = visit("overview", text=TEXT, lang=lang, layer="-3", scale="cubic")
    names = i18n.joined(lang, ("layer", "scale"))
    assert texts(app) == [i18n.text(lang, "notice.adjusted", names=names)]
    assert parameters(app) == {"text": TEXT, "lang": lang} or lang == "en"


def test_links_carry_the_view(visit: Visit) -> None:
    app = visit("overview", text=TEXT, layer="3")
    start, *others = bar(app).get("page_link")
    assert start.proto.query_string == "", "the start page shows no view"
    assert len(others) == 7  # five rooms, two faces
    for link in others:
        closes = "&open=0" if link.proto.page == "look" else ""  # from an open head to all
        assert link.proto.query_string == "text=The+cat+sat.&layer=3" + closes


def test_the_room_and_the_face_that_are_shown_are_marked(visit: Visit) -> None:
    def current(page: Door) -> list[str | None]:
        app = visit(page, text=TEXT)
        return [each.key for each in app.container if "current." in (each.key or "")]

    assert current("weights") == [KEY("current.look"), KEY("current.weights")]
    # the faces of Compute are at the stops of its rail
    assert current("masks") == current("steps") == [KEY("current.compute")]


def test_a_language_that_no_browser_offers_is_not_looked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A language names a file: who writes messages by hand must not choose which."""
    taken = list[object]()
    monkeypatch.setattr(menus.current, "take", taken.append)
    for said in ("../../README", "", None, "ja"):
        monkeypatch.setattr(menus.widgets, "value", lambda _name, said=said: said)
        menus._take_language()
    assert taken == [{"lang": "ja"}]
