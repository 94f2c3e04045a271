"""Below Head and Steps: the effects of a row and why a cell is attended to; on Output the lens."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import attnviz
from attnviz import i18n
from attnviz.app.server import jobs
from attnviz.app.server.edge import streamlit_patches
from attnviz.app.server.page_queue import PageQueue
from attnviz.app.session import widgets
from attnviz.i18n import numbers
from attnviz.pictures import effects, table
from attnviz.pictures.shared.buffer import unpack
from tests.pages.conftest import Visit, beside_bar, sent

STORE = "When Mary and John went to the store, John gave a drink to"
CELL = {"layer": "2", "head": "1", "query": "14", "key": "2"}


def drawn_tables(app: AppTest) -> list[dict[str, Any]]:
    mounted = [
        one.proto.bytes
        for one in beside_bar(app)
        if one.proto.component_name == table.CANVAS.element
    ]
    return [unpack(data)[0] for data in mounted]


def number(shown: str) -> float:
    return float(shown.replace("−", "-").replace(",", ".").removesuffix("%").strip())


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
@pytest.mark.parametrize("page", ["head", "steps"])
def test_a_row_shows_weight_length_and_effect(visit: Visit, page: str, lang: i18n.Language) -> None:
    app = visit(page, model="stories", text=STORE, lang=lang, edges="1", **CELL)
    assert not app.error
    (table,) = drawn_tables(app)
    assert table["caption"] == i18n.text(lang, "inside.row_title")
    assert len(table["columns"]) == 3
    first = table["rows"][0]
    assert first["label"] == "Mary"
    assert first["mark"] == i18n.text(lang, "inside.strongest")
    stories = attnviz.load("stories")
    on = attnviz.NextToken(" Mary", against=" John")
    found = attnviz.experiment(stories, STORE, on=on).edges("L2.H1", cells=[(14, 2)])
    shown = number(first["cells"][2]["text"])
    assert shown == pytest.approx(found.exact[14, 2], abs=2e-3)
    assert shown < -3


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_why_here_stands_beside_an_intervention(visit: Visit, lang: i18n.Language) -> None:
    app = visit("head", model="stories", text=STORE, lang=lang, why="1", **CELL)
    assert not app.error
    (table,) = drawn_tables(app)
    assert table["caption"] == i18n.text(lang, "inside.why_title")
    said = " ".join(part.value for part in app.main.markdown)
    stories = attnviz.load("stories")
    why = attnviz.experiment(stories, STORE).why("L2.H1", 14, 2)
    assert numbers.number(lang, why.weight, ".3f") in said
    assert (
        i18n.text(lang, "inside.cut_k", sender="§", was="§", now="§", n=0, median="§").split(
            "**§**"
        )[0]
        in said
    )


def test_without_a_cell_one_is_asked_for(visit: Visit) -> None:
    app = visit("head", model="stories", text=STORE, why="1")
    assert [info.value for info in app.info] == [i18n.text("en", "inside.choose_cell")]


def test_with_the_switches_off_nothing_is_computed(visit: Visit) -> None:
    app = visit("head", model="stories", text=STORE)
    assert drawn_tables(app) == []
    toggles = [toggle.value for toggle in beside_bar(app, "toggle")]
    assert toggles == [False] * len(toggles)
    assert len(toggles) >= 2  # one for each view of this page


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_the_lens_ends_with_the_models_own_answer(visit: Visit, lang: i18n.Language) -> None:
    app = visit("output", model="stories", text=STORE, lang=lang)
    (table,) = drawn_tables(app)
    assert table["columns"] == [i18n.text(lang, "inside.embeddings"), "L0", "MLP 0"] + [
        name for layer in (1, 2, 3) for name in (f"L{layer}", f"MLP {layer}")
    ]
    last = table["rows"][-1]
    assert last["label"] == "to"
    assert last["cells"][-1]["text"] == "Mary"
    logits = attnviz.capture(attnviz.load("stories"), STORE).logits
    assert logits is not None
    own = float(logits[0, -1].softmax(-1).max())
    assert last["cells"][-1]["share"] == pytest.approx(own, abs=1e-5)


@pytest.mark.slow
def test_the_lens_of_a_classifier_names_its_classes(visit: Visit) -> None:
    _, table = drawn_tables(visit("output", model="sentiment"))
    assert {cell["text"] for cell in table["rows"][0]["cells"]} <= {"positive", "negative"}


def test_a_busy_server_measures_heads_only_if_asked(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = i18n.text("en", "effects.ask")

    def look(busy_share: float) -> tuple[bool, bool]:
        """Whether the effects are there, and the button that asks for them."""
        monkeypatch.setattr(PageQueue, "busy_share", busy_share)
        app = visit("head", model="stories", text="Lily and Tom went to the park of this test.")
        names = [one.proto.component_name for one in app.main.get("bidi_component")]
        return effects.CANVAS.element in names, ask in [button.label for button in app.main.button]

    monkeypatch.setattr(streamlit_patches, "n_connected", lambda: 50)
    assert look(0.9) == (False, True)
    monkeypatch.setattr(jobs, "waiting", lambda: jobs.MAX_WAITING)
    assert look(0.1) == (False, True)
    monkeypatch.undo()
    monkeypatch.setattr(streamlit_patches, "n_connected", lambda: 50)
    assert look(0.1) == (True, False)
    assert look(0.9) == (True, False), "they have been measured"


@pytest.mark.slow
def test_the_lead_of_a_sure_answer_is_not_measured_unasked_where_many_jobs_wait(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "When Mary and John went to the shop, John gave a book to"
    visit("head", model="stories", text=text)  # its heads are measured
    monkeypatch.setattr(jobs, "waiting", lambda: jobs.MAX_WAITING)
    monkeypatch.setattr(jobs.JobLine, "n_waiting", jobs.MAX_WAITING)
    app = visit("switches", model="stories", text=text)
    assert not app.error
    assert sent(app)[0]["suggested"], "what is known is shown"


def test_change_has_switches_and_no_red_box_where_many_jobs_wait(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "waiting", lambda: jobs.MAX_WAITING)
    monkeypatch.setattr(jobs.JobLine, "n_waiting", jobs.MAX_WAITING)
    app = visit(
        "switches",
        model="stories",
        text="Lily and Tom were at the lake of this test. Lily gave the ball to",
    )
    assert not app.error
    header = sent(app)[0]
    assert (header["suggested"], header["effects"]) == ("", "")
    assert header["words"] is not None
    app = app.button(widgets.key("switches.measure")).click().run()
    (refused,) = app.error
    assert str(jobs.MAX_WAITING) in refused.value
    monkeypatch.undo()
    app = app.run()
    header = sent(app)[0]
    assert header["suggested"]
