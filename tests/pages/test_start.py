"""The page Start: the stage with real numbers, the film, and addresses older than the page."""

from dataclasses import replace
from urllib.parse import parse_qs, parse_qsl

import pytest
from streamlit.util import calc_hash

from attnviz import i18n
from attnviz.app.page_parts import start
from attnviz.app.session import address_bar, current, openings, routes, store, widgets
from attnviz.app.session.view import default_view
from attnviz.pictures import film, gallery, resume, stage
from attnviz.pictures.shared.buffer import unpack
from attnviz.pictures.shared.pages import Page
from attnviz.pictures.shared.pages import path as path_of
from attnviz.pictures.stage import STAGED
from tests.pages.conftest import Visit, bar, beside_bar, parameters, sent, tell


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_start_shows_the_stage(visit: Visit, lang: i18n.Language) -> None:
    app = visit("start", lang=lang)
    assert app.title[0].value == i18n.text(lang, "page.start.heading")
    header = _shown(app, stage.CANVAS.element)
    assert (header["scene"], header["winner"], header["key"]) == ("book", "Mary", 2)
    assert header["strings"]["forbid"] == i18n.text(lang, "component.stage.forbid")
    assert [scene for scene, _ in header["examples"]] == ["ball", "animal"]
    assert parameters(app) == {"lang": lang}


def test_a_sentence_of_ones_own_comes_onto_the_stage_of_start(visit: Visit) -> None:
    """The rule that chooses the look prefers a word of the text to the largest effect."""
    app = visit("start")
    app.session_state[f"{store.PREFIX}{openings.STAGE}"] = ("own", STAGED["ball"].text)
    header = _shown(app.run(), stage.CANVAS.element)
    assert not app.error
    assert (header["scene"], header["winner"]) == ("own", "blue")
    assert header["tokens"][header["key"]] == "blue" and "red" in header["winners"]
    assert header["n_tried"] > 10


def test_the_rooms_go_on_with_the_sentence_of_the_stage(visit: Visit) -> None:
    app = visit("start")
    place = {"layer": ["2"], "head": ["1"], "query": ["14"], "key": ["2"]}  # its text is the first
    shown = {"book": (STAGED["book"].text, place), "own": ("Tom had", {"text": ["Tom had"]})}
    for scene, (text, wanted) in shown.items():
        app.session_state[f"{store.PREFIX}{openings.STAGE}"] = (scene, text)
        links = bar(app.run()).get("page_link")
        look = next(link.proto for link in links if link.proto.label == "Look")
        assert parse_qs(look.query_string) == {"model": ["stories"], **wanted}
    app = visit("start")
    app.session_state[f"{store.PREFIX}{current.KEPT}"] = replace(
        default_view("translator"), lang="en"
    )
    look = next(
        link.proto for link in bar(app.run()).get("page_link") if link.proto.label == "Look"
    )
    assert "model=translator" in look.query_string  # chosen by the visitor: it stays


def test_the_film_opens_in_the_place_of_the_stage(visit: Visit) -> None:
    app = visit("start")
    assert _kinds(app) == [stage.CANVAS.element, gallery.CANVAS.element]
    app.session_state[f"{store.PREFIX}{start.FILM}"] = True
    header = _shown(app.run(), film.CANVAS.element)
    assert _kinds(app) == [film.CANVAS.element, gallery.CANVAS.element]
    assert (header["layer"], header["head"]) == (3, 1)
    assert header["first"]["key"]["weight"] == pytest.approx(0.677, abs=5e-4)
    app.button(key=widgets.key("stage.back")).click().run()
    assert _kinds(app) == [stage.CANVAS.element, gallery.CANVAS.element]


def test_a_text_alone_in_the_address_comes_onto_the_stage(visit: Visit) -> None:
    app = visit("start", text=STAGED["ball"].text, lang="ko")
    header = _shown(app, stage.CANVAS.element)
    assert (header["scene"], header["text"]) == ("ball", STAGED["ball"].text)
    assert parameters(app.run()) == {"text": STAGED["ball"].text, "lang": "ko"}
    assert links(visit("start", text="Tom had"))["Look"] == {"model": "stories", "text": "Tom had"}


CELL = {"layer": "2", "head": "1", "query": "14", "key": "2"}
FORBIDDEN = {**CELL, "forbid": "14.2"}


def test_a_look_forbidden_on_start_is_forbidden_in_the_rooms_and_back_on_start(
    visit: Visit,
) -> None:
    app = forbid(visit("start"))
    assert parameters(app) == FORBIDDEN
    app.run()
    there = {"model": "stories", **FORBIDDEN}
    assert links(app)["Change"] == links(app)["Look"] == there
    change = visit("switches", **there)
    header, _ = sent(change)
    assert (header["reader"], header["forbidden"]) == ("L2.H1", "L2.H1’s look at “Mary”")
    best = max(header["answer"]["bars"], key=lambda bar: bar["value"])
    assert (best["label"], best["value"]) == ("John", pytest.approx(0.555, abs=5e-4))
    assert header["words"]["look"] == "L2.H1@2"
    assert links(change)["attnviz"] == FORBIDDEN
    (again,) = beside(visit("start", **FORBIDDEN), stage.CANVAS.element)
    assert unpack(again.proto.bytes)[0]["key"] == 2
    allowed = forbid(app, on=False)
    assert parameters(allowed) == {} and "forbid" not in links(allowed.run())["Change"]


def test_start_forbids_the_look_that_its_address_names(visit: Visit) -> None:
    """At another word than the stage would choose; one that the last word may not see is none."""
    for key, shown in (("4", 4), ("99", 2)):
        named = {**FORBIDDEN, "key": key, "forbid": f"14.{key}"}
        header = _shown(visit("start", **named), stage.CANVAS.element)
        assert (header["scene"], header["key"]) == ("book", shown)


@pytest.mark.some(3)
@pytest.mark.parametrize("page", ["start", "overview", "switches", "steps"])
@pytest.mark.parametrize("named", [{}, {"layer": "2"}, {"head": "1"}])
def test_a_look_that_an_address_forbids_in_no_head_is_no_end(
    visit: Visit, page: Page, named: dict[str, str]
) -> None:
    place = {"query": "14", "key": "2", "forbid": "14.2"}
    text = {} if page == "start" else {"model": "stories", "text": STAGED["book"].text}
    app = visit(page, **text, **place, **named)
    assert not app.exception and not app.error


@pytest.mark.parametrize("wrong", [{"layer": -1}, {"query": None}, {"ask": "shell"}])
def test_nonsense_forbids_nothing_on_start(visit: Visit, wrong: dict[str, object]) -> None:
    assert parameters(forbid(visit("start"), **wrong)) == {}


def forbid(app, *, on: bool = True, **other):  # type: ignore[no-untyped-def]
    """Switch a look of the stage, as its JavaScript says so."""
    (mounted,) = beside(app, stage.CANVAS.element)
    cell = {name: int(value) for name, value in CELL.items()}
    return tell(app, mounted, "ask", {"ask": "forbid", "on": on, **cell, **other})


def beside(app, element: str) -> list:  # type: ignore[no-untyped-def, type-arg]
    return [part for part in beside_bar(app) if part.proto.component_name == element]


def links(app) -> dict[str, dict[str, str]]:  # type: ignore[no-untyped-def]
    """The parameters of each link of the bar."""
    found = [link.proto for link in bar(app).get("page_link")]
    return {link.label: dict(parse_qsl(link.query_string)) for link in found}


def test_an_address_with_a_view_opens_it_as_before_there_was_a_start_page(visit: Visit) -> None:
    app = visit("start", text="Hello there.", layer="2", head="3")
    assert app.title[0].value == i18n.text("en", "page.overview.title")
    assert parameters(app) == {"text": "Hello there.", "layer": "2", "head": "3"}


def test_who_goes_back_to_the_start_page_sees_it(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Streamlit writes the next page's parameters into an address of the page that is left."""
    view = {"layer": "3", "head": "1", "query": "10", "key": "2"}
    app = visit("start")
    with monkeypatch.context() as patched:
        patched.setattr(address_bar, "_went_back_or_forward", lambda: True)
        for name, value in view.items():
            app.query_params[name] = value
        app.run()
    for _ in range(2):  # and in the runs that follow
        assert app.title[0].value == i18n.text("en", "page.start.heading")
        assert parameters(app) == view  # another address would be one more step back
        app.run()


@pytest.mark.slow
def test_the_start_page_alone_offers_to_lead_back(visit: Visit) -> None:
    app = visit("start")
    assert (_recall(app)["page"], _recall(app)["offers"]) == ("start", 1)
    app.switch_page("../../pages/overview.py").run()
    header = _recall(app)
    assert (header["page"], header["offers"]) == ("overview", 0)
    assert "layer=3" in header["query"]


def test_a_class_is_not_kept(visit: Visit) -> None:
    app = visit("learn", room="ABCD", seat="me")
    assert resume.CANVAS.element not in [
        part.proto.component_name for part in app.get("bidi_component")
    ]


def test_every_page_stands_in_one_room() -> None:
    assert [page for pages in routes.ROOMS.values() for page in pages] == list(routes.files())


def _recall(app) -> dict:  # type: ignore[no-untyped-def, type-arg]
    (mounted,) = [
        part
        for part in app.get("bidi_component")
        if part.proto.component_name == resume.CANVAS.element
    ]
    return unpack(mounted.proto.bytes)[0]


def _kinds(app) -> list[str]:  # type: ignore[no-untyped-def]
    """The pictures of the page, from its top."""
    return [part.proto.component_name for part in beside_bar(app)]


def _shown(app, element: str) -> dict:  # type: ignore[no-untyped-def, type-arg]
    (mounted,) = [part for part in beside_bar(app) if part.proto.component_name == element]
    return unpack(mounted.proto.bytes)[0]


def test_who_leaves_by_a_room_has_the_model_and_sentence_of_the_stage(visit: Visit) -> None:
    app = visit("start")
    links = bar(app).get("page_link")
    change = next(link.proto for link in links if link.proto.label == "Change")
    for name, (value,) in parse_qs(change.query_string).items():
        app.query_params[name] = value
    app._page_hash = calc_hash(path_of("switches"))
    app.run()
    assert parameters(app).items() >= {"model": "stories", "layer": "2", "query": "14"}.items()
