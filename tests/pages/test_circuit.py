"""The page Circuit: the strongest paths at first sight, and the cut of one beside its control."""

import numpy as np
import pytest

import attnviz
from attnviz import i18n
from attnviz.attribution.feeds import weight_without
from attnviz.ui.effects import measuring
from tests.pages.conftest import Visit, component_name, parameters, sent
from tests.support.hostile import TEXT as HOSTILE

REPEATED = "Tom garden ball river Anna bread Tom garden ball river Anna bread"
INDUCTION = "L0.H1-L2.H1.k"


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """However busy the machine is, the paths are there when the page is drawn."""
    monkeypatch.setattr(measuring, "PATIENCE_S", 50.0)


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_the_circuit_of_induction_is_the_first_sight(visit: Visit, lang: i18n.Language) -> None:
    app = visit("circuit", lang=lang, model="stories", text=REPEATED)
    assert not app.error
    assert [title.value for title in app.title] == [i18n.text(lang, "page.circuit.title")]
    assert component_name(app) == "attnviz.circuit"
    header, arrays = sent(app)
    sender, receiver, side = np.unravel_index(np.nanargmax(arrays["moved"][:, :, :2]), (16, 16, 2))
    assert (sender, receiver, side) == (1, 9, 1)  # L0.H1 → the keys of L2.H1
    assert "L0.H1 → L2.H1" in header["summary"]
    assert "L0.H1 → L2.H2" in header["summary"]
    assert (header["chosen"], header["detail"]) == ("", None)
    assert not {"path", "least", "sides"} & set(parameters(app))


def test_a_link_shows_the_cut_of_a_path(visit: Visit) -> None:
    header, _ = sent(visit("circuit", model="stories", text=REPEATED, path=INDUCTION, sides="k"))
    assert (header["chosen"], header["sides"]) == (INDUCTION, "k")
    detail = header["detail"]
    cell = detail["cells"][0]
    lm = attnviz.load("stories")
    before, after = weight_without(lm, REPEATED, "L0.H1", "L2.H1", cell["query"], cell["key"], "k")
    assert cell["values"][:2] == [f"{before:.3f}", f"{after:.3f}"]
    assert before > 0.8 and after < 0.1 < float(cell["values"][2])  # the control leaves it
    said = " ".join(detail["sentences"])
    assert "from 7 other heads" in said and f"{after:.3f}" in said


@pytest.mark.parametrize("model", ["minilm", "translator"])
def test_a_path_of_every_kind_of_model_is_cut(visit: Visit, model: str) -> None:
    header, _ = sent(visit("circuit", model=model))
    heads = [[head["name"] for head in column["heads"]] for column in header["columns"]]
    path = f"{heads[0][0]}-{heads[-1][0]}.v"
    app = visit("circuit", model=model, path=path)
    assert not app.error
    assert sent(app)[0]["detail"]["cells"]


def test_what_makes_no_sense_is_dropped(visit: Visit) -> None:
    app = visit("circuit", model="stories", text=HOSTILE, path=HOSTILE, least="7", sides="x")
    assert not app.error
    header, _ = sent(app)
    assert (header["chosen"], header["least"], header["sides"]) == ("", None, "qk")
    header, _ = sent(visit("circuit", model="stories", text=REPEATED, path="L7.H7-L9.H9.k"))
    assert (header["chosen"], header["detail"]) == ("", None)


def test_a_path_that_runs_backwards_is_refused_in_words(visit: Visit) -> None:
    app = visit("circuit", model="stories", text=REPEATED, path="L2.H1-L0.H1.k")
    (error,) = app.error
    assert "runs after its sender" in error.value
