"""A look that is forbidden on Look: cut in every head, told to the pictures with its control."""

from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import attnviz
from attnviz import i18n
from attnviz.app.server.jobs import Job
from attnviz.i18n.numbers import local
from attnviz.pictures import effects, head
from attnviz.pictures.shared.buffer import unpack
from tests.pages.conftest import Visit, parameters, tell

STORE = "When Mary and John went to the store, John gave a book to"
CELL = {"layer": 2, "head": 1, "query": 14, "key": 2}
PLACE = {name: str(at) for name, at in CELL.items()}


def mounted(app: AppTest, element: str) -> list[Any]:
    every = app.main.get("bidi_component")
    return [one for one in every if one.proto.component_name == element]


def told(app: AppTest) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What the pictures are told of effects."""
    (one,) = mounted(app, effects.CANVAS.element)
    return unpack(one.proto.bytes)


def asked(app: AppTest, ask: str, *, on: bool = True, **other: object) -> AppTest:
    """Press a button of the head's card, as its JavaScript says so."""
    (one,) = mounted(app, head.CANVAS.element)
    return tell(app, one, "ask", {"ask": ask, "on": on, **CELL, **other})


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_one_look_is_cut_in_every_head(visit: Visit, lang: i18n.Language) -> None:
    app = visit("head", model="stories", text=STORE, lang=lang, forbid="14.2", **PLACE)
    assert not app.error
    header, arrays = told(app)
    assert header["cell"] == [14, 2]
    moved = arrays["effects"]
    # as forbidden one at a time by a mask in transformers: Mary 99.3 % → John 55.5 %, and nothing
    assert moved[2, 1] == pytest.approx(0.944, abs=2e-3)
    assert moved[2, 3] == pytest.approx(0.004, abs=1e-3)
    assert moved[3, 0] == pytest.approx(0.003, abs=1e-3)
    assert header["least"] < moved[2, 1] and (np.delete(moved.ravel(), 9) < header["least"]).all()
    said = header["sentences"]
    assert "John" in said[2][1] and "John" not in said[2][3]
    nothing = i18n.text(lang, "word_shares.nothing", weight=local(lang, "0.00"))
    weights = attnviz.capture("stories", STORE).all_weights()[:, :, 14, 2]
    assert [[nothing in own for own in layer] for layer in said] == (weights < 0.005).tolist()
    assert header["median"] == pytest.approx(float(np.median(moved)))
    # what the line of the text says: the likeliest answer as it is, and without the head's look
    word, share = header["answers"][2][1]
    assert (word, header["before"][0]) == ("John", "Mary")
    assert (share, header["before"][1]) == (
        pytest.approx(0.555, abs=5e-4),
        pytest.approx(0.993, abs=5e-4),
    )


def test_a_card_asks_and_lets_go(visit: Visit) -> None:
    app = visit("head", model="stories", text=STORE, **PLACE)
    header, _ = unpack(mounted(app, head.CANVAS.element)[0].proto.bytes)
    assert header["forbids"] and told(app)[0]["cell"] is None
    asked(app, "forbid")
    assert parameters(app)["forbid"] == "14.2"
    app.run()
    assert told(app)[0]["cell"] == [14, 2]
    asked(app, "forbid", on=False)
    app.run()
    assert "forbid" not in parameters(app) and told(app)[0]["cell"] is None
    asked(app, "links")
    assert parameters(app)["links"] == "1"


def captions(app: AppTest) -> str:
    return " ".join(caption.value for caption in app.caption)


def test_it_is_said_that_another_row_allows_the_look_again(visit: Visit) -> None:
    """_say_dropped: not while it is forbidden, and not after it was allowed by hand."""
    app = visit("head", model="stories", text=STORE, forbid="14.2", **PLACE)
    assert "allowed again" not in captions(app)
    (one,) = mounted(app, head.CANVAS.element)
    tell(
        app, one, "selection", {**CELL, "query": 9, "key": None, "scale": "sqrt", "special": "show"}
    )
    assert "The look from “to \\(14\\)” at “Mary” is allowed again" in captions(app.run())
    app = visit("head", model="stories", text=STORE, forbid="14.2", **PLACE)
    asked(app, "forbid", on=False)
    assert "allowed again" not in captions(app.run())


def test_with_a_second_sentence_it_is_said_that_nothing_is_forbidden(visit: Visit) -> None:
    app = visit("compare", model="stories", text=STORE, forbid="14.2", **PLACE)
    assert "With two sentences no look is forbidden" in captions(app)
    app = visit("compare", model="stories", text=STORE, **PLACE)
    assert "With two sentences no look is forbidden" not in captions(app)


@pytest.mark.parametrize(
    "wrong", [{"query": None}, {"key": 99}, {"head": -1}, {"ask": "shell"}, {"ask": ["forbid"]}]
)
def test_nonsense_asks_nothing(visit: Visit, wrong: dict[str, object]) -> None:
    app = visit("head", model="stories", text=STORE, **PLACE)
    before = parameters(app)
    asked(app, **{"ask": "forbid", **wrong})  # type: ignore[arg-type]
    assert parameters(app) == before


def test_a_row_with_one_key_is_refused_in_words(visit: Visit) -> None:
    first = {**PLACE, "query": "0", "key": "0"}
    app = visit("head", model="stories", text=STORE, forbid="0.0", **first)
    assert [each.value for each in app.info] == [i18n.text("en", "effects.no_look")]


def test_a_look_is_forbidden_only_as_long_as_it_is_chosen(visit: Visit) -> None:
    app = visit("head", model="stories", text=STORE, forbid="14.9", **PLACE)
    assert told(app)[0]["cell"] is None


def test_another_cell_forbids_nothing(visit: Visit) -> None:
    app = visit("head", model="stories", text=STORE, forbid="14.2", **PLACE)
    (one,) = mounted(app, head.CANVAS.element)
    tell(app, one, "selection", {**CELL, "head": 3, "scale": "sqrt", "special": "show"})
    assert parameters(app)["forbid"] == "14.2"  # the same cell of another head
    tell(app, one, "selection", {**CELL, "key": 4, "scale": "sqrt", "special": "show"})
    assert parameters(app)["key"] == "4" and "forbid" not in parameters(app)


def test_forbidding_says_how_far_it_is(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[float] = []
    monkeypatch.setattr(Job, "report", lambda job, fraction: said.append(fraction))
    visit("head", model="stories", text=f"{STORE} Mary", forbid="14.2", **PLACE)
    assert said and said[-1] == 1


def test_look_leads_from_an_open_head_to_all(visit: Visit) -> None:
    app = visit("head", model="stories", text=STORE, **PLACE)
    assert parameters(app)["open"] == "1"
    app.run()
    assert parameters(app)["open"] == "1"
    app.query_params["open"] = "0"  # as the link has it
    app.run()
    assert "open" not in parameters(app)


@pytest.mark.parametrize("face", ["", "masks", "arrows"])
def test_compute_says_that_it_does_not_apply_a_forbidden_look(visit: Visit, face: str) -> None:
    said = (
        "L2\\.H1’s look from “to \\(14\\)” at “Mary” is forbidden on Look and Change, but not here"
    )
    shown = {"model": "stories", "text": STORE, "face": face, **PLACE}
    app = visit("steps", forbid="14.2", **shown)
    assert not app.error and said in captions(app)
    (way,) = [link for link in app.main.get("page_link") if link.proto.label == "See it on Change"]
    assert "forbid=14.2" in way.proto.query_string
    for other in ({}, {"forbid": "10.2"}, {"forbid": "99.2", "query": "99"}):
        app = visit("steps", **{**shown, **other})
        assert not app.error and "forbidden" not in captions(app)
