"""The page Switches: the answer before and after, in every language, for every kind of model."""

from collections.abc import Callable

import numpy as np
import pytest

import attnviz
from attnviz import changes, i18n
from attnviz.app.session import widgets
from tests.pages.conftest import Visit, component_name, parameters, sent
from tests.support.cases import mostly_slow
from tests.support.hostile import TEXT as HOSTILE

STORE = "When Mary and John went to the store, John gave a book to"


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_at_first_sight_all_heads_are_on_and_the_strongest_is_suggested(
    visit: Visit, lang: i18n.Language
) -> None:
    app = visit("switches", lang=lang, model="stories", text=STORE)
    assert not app.error
    assert [title.value for title in app.title] == [i18n.text(lang, "page.switches.title")]
    assert component_name(app) == "attnviz.switches"
    header, arrays = sent(app)
    assert header["off"] == []
    assert header["suggested"] == "L0.H0"
    assert "L0.H0" in header["effects"]
    assert int(np.nanargmax(arrays["groups.0.effects"])) == 0
    assert all(bar["second"] is None for bar in header["answer"]["bars"])
    assert "changes" not in parameters(app)


def test_the_example_turns_mary_into_john(visit: Visit) -> None:
    app = visit("switches", model="minilm")
    app = app.button(widgets.key("switches.example")).click().run()
    header, _ = sent(app)
    assert header["off"] == [{"head": "L0.H0", "to": "zero", "change": "L0.H0.mixed=zero"}]
    bars = {bar["label"]: bar for bar in header["answer"]["bars"]}
    assert bars["Mary"]["second"] == pytest.approx(0.993, abs=5e-4)
    assert bars["Mary"]["value"] == pytest.approx(0.311, abs=5e-4)
    assert bars["John"]["value"] == pytest.approx(0.531, abs=5e-4)
    assert header["answer"]["control"]


def test_a_link_shows_the_same_heads_off(visit: Visit) -> None:
    text = "L2.H1.mixed=zero,L0.H3.weights=even"
    header, _ = sent(visit("switches", model="stories", text=STORE, changes=text))
    assert ",".join(switch["change"] for switch in header["off"]) == text
    stories = attnviz.load("stories")
    logits = attnviz.capture(stories, STORE, changes=changes.parse(text)).logits
    assert logits is not None
    largest = max(header["answer"]["bars"], key=lambda bar: bar["value"])
    assert largest["value"] == pytest.approx(float(logits[0, -1].softmax(-1).max()), abs=1e-4)


def test_other_pages_say_that_their_heads_are_on(visit: Visit) -> None:
    off = {"model": "stories", "text": STORE, "changes": "L2.H1.mixed=zero,L0.H3.weights=even"}
    said = i18n.text("en", "verify.switched", heads="L2.H1, L0.H3")
    assert said in [caption.value for caption in visit("overview", **off).caption]
    assert said not in [caption.value for caption in visit("switches", **off).caption]


@pytest.mark.parametrize(
    "model", mostly_slow(["sentiment", "shapes", "translator", "minilm", "dates"], 3)
)
def test_every_kind_of_model_has_an_answer(visit: Visit, model: str) -> None:
    app = visit("switches", model=model)
    assert not app.error
    header, arrays = sent(app)
    assert header["answer"]["bars"]
    assert len(header["groups"]) == (3 if model in ("translator", "dates") else 1)
    assert [name for name in arrays if name.endswith(".weights")]


def test_a_model_of_unknown_speed_is_measured_when_asked(
    visit: Visit, tiny: Callable[[str], str]
) -> None:
    name = tiny("gpt2")
    app = visit("switches", model=name, text="The cat sat.")
    header, arrays = sent(app)
    assert (header["suggested"], header["effects"]) == ("", "")
    assert "groups.0.effects" not in arrays
    header, arrays = sent(visit("switches", model=name, text="The cat sat.", effects="1"))
    assert header["effects"]
    assert np.isfinite(arrays["groups.0.effects"]).all()


def test_a_change_that_makes_no_sense_is_dropped_and_one_that_fits_no_head_is_said(
    visit: Visit,
) -> None:
    app = visit("switches", model="stories", text=STORE, changes=HOSTILE)
    assert not app.error
    assert sent(app)[0]["off"] == []
    app = visit("switches", model="stories", text=STORE, changes="L9.H9.mixed=mean")
    (error,) = app.error
    assert "L9" in error.value


def test_hostile_text_stays_text(visit: Visit) -> None:
    app = visit("switches", model="stories", text=HOSTILE)
    assert not app.error
    assert sent(app)[0]["answer"]["bars"]
