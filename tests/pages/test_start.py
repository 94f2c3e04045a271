"""The page Start: the film with real numbers, the doors, and addresses older than the page."""

from urllib.parse import parse_qsl

import pytest

from attnviz import i18n
from attnviz.app.page_parts import start
from attnviz.app.session import address_bar, routes, store
from attnviz.pictures import film, resume
from attnviz.pictures import gallery as component
from attnviz.pictures.shared.buffer import unpack
from tests.pages.conftest import Visit, beside_bar, parameters


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_start_shows_the_film_and_a_door_to_each_group(visit: Visit, lang: i18n.Language) -> None:
    app = visit("start", lang=lang)
    assert app.title[0].value == i18n.text(lang, "page.start.heading")
    (mounted,) = [
        part for part in beside_bar(app) if part.proto.component_name == film.CANVAS.element
    ]
    header, _ = unpack(mounted.proto.bytes)
    assert (header["layer"], header["head"]) == (3, 1)
    assert header["strings"]["yours"] == i18n.text(lang, "component.film.yours")
    assert header["first"]["key"]["weight"] == pytest.approx(0.677, abs=5e-4)
    captions = [caption.value for caption in app.main.caption]
    for door in ("explore", "apart", "learn", "teach"):
        assert i18n.text(lang, f"start.{door}_text") in captions
    assert parameters(app) == {"lang": lang}


def test_a_link_has_what_its_page_will_have_in_its_address(visit: Visit) -> None:
    """A parameter that a page adds to its address itself is one more step for Back."""
    links = [part.proto for part in visit("start").get("page_link")]
    sent = {
        dict(parse_qsl(link.query_string)).get("head") for link in links if "steps" in link.page
    }
    assert sent == {parameters(visit("steps"))["head"]} == {"1"}


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


def test_the_start_page_alone_offers_to_lead_back(visit: Visit) -> None:
    app = visit("start")
    assert (_recall(app)["page"], _recall(app)["offers"]) == ("start", 1)
    app.switch_page("../../pages/head.py").run()
    header = _recall(app)
    assert (header["page"], header["offers"]) == ("head", 0)
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


def test_the_gallery_has_the_miniatures_that_were_asked_for(visit: Visit) -> None:
    app = visit("start")
    assert _gallery(app)["translator"] is None
    app.session_state[f"{store.PREFIX}{start.N_LOOKED_AT}"] = 3
    header = _gallery(app.run())
    assert not app.error
    assert header["translator"]["source"][:2] == ["The", "little"]
    assert header["picture"]["probability"] > 0.9
    assert len(header["story"]["tokens"]) > header["story"]["n_given"] == 8
    assert header["birth"] is None


def _gallery(app) -> dict:  # type: ignore[no-untyped-def, type-arg]
    (mounted,) = [
        part for part in beside_bar(app) if part.proto.component_name == component.CANVAS.element
    ]
    return unpack(mounted.proto.bytes)[0]
