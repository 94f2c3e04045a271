"""Source and target: the model's own answer, another one by hand, and which words it looked at."""

import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import attnviz
from attnviz import i18n
from attnviz.app.host import draw
from attnviz.app.server import sources
from attnviz.app.session import messages, widgets
from attnviz.checks import cards, examples
from attnviz.checks.cards import Description, Figure, HeadNote, TrainingCard, TrainingRecord
from attnviz.experiment.outputs.alignment import align
from attnviz.experiment.outputs.answer import answer
from attnviz.i18n import numbers
from attnviz.models import files, registry
from attnviz.models.registry import EmbeddedModel
from attnviz.pictures.shared.buffer import unpack
from tests.pages.conftest import (
    Visit,
    component_name,
    parameters,
    pieces,
    sent,
    strip,
    tell,
    type_text,
)

KEY = widgets.key
ENGLISH_WORDS = re.compile(r":color\[((?:[^\]\\]|\\.)*)\]")  # marked on pages in other languages
TEXT, TARGET = "the cat sat on a mat", "the dog ran"
OTHER = "a cat slept"
NAME = "echo"
Tiny = Callable[[str], str]
NOTES = (
    HeadNote("L1.H2", "points at the source word", 0.9, 0.2, "cross", "decoder"),
    HeadNote("L1", "the mean of a layer", 0.5, None, "cross", "decoder"),
    HeadNote("L0.H1", "looks <b>back</b> [x](http://192.0.2.1)", 0.75, None, "self", "encoder"),
)


def card_of(heads: tuple[HeadNote, ...] = NOTES) -> TrainingCard:
    what = Description("An *echo*.", "random", ("en",), heads, "everything", ("a | b",))
    figures = (Figure("exact | answers", 0.5, 0.99, cases=500), Figure("loss", 0.25, 1.0, False))
    return TrainingCard(NAME, "Apache-2.0", what, TrainingRecord(7, 1200, 12.4, 2), figures)


@pytest.fixture
def echo(saved: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tiny T5 as an embedded model of the registry, with a card."""
    folder = tmp_path / NAME
    shutil.copytree(saved("t5"), folder)
    cards.write(folder, card_of())
    loaded = attnviz.load(folder)
    entry = EmbeddedModel(replace(loaded.card, name=NAME), files.sha256(folder / files.WEIGHTS))
    monkeypatch.setattr(registry, "EMBEDDED", tmp_path)
    monkeypatch.setitem(registry.REGISTRY, NAME, entry)
    named = {f"model.{NAME}.label": "Echo", f"model.{NAME}.description": "It echoes."}
    known = {lang: MappingProxyType({**i18n.catalogue(lang), **named}) for lang in i18n.LANGUAGES}
    monkeypatch.setattr(i18n, "catalogue", known.__getitem__)
    return folder


def test_a_model_that_translates_opens_with_its_own_answer(visit: Visit, echo: Path) -> None:
    app = visit("output", model=NAME, text=TEXT)
    (error,) = app.error  # of the switches above: an echo has no texts to take a mean over
    assert "no reference texts" in error.value
    written = answer(attnviz.load(echo), TEXT)
    assert parameters(app)["target"] == written
    assert pieces(app)["target"]["text"] == written
    assert component_name(app) == "attnviz.alignment"
    header, _ = sent(app)
    assert [word["text"] for word in header["target"]] == [*written.split(), "</s>"]


@pytest.mark.slow
def test_another_text_is_translated_anew(visit: Visit, echo: Path) -> None:
    app = visit("output", model=NAME, text=TEXT)
    type_text(app, OTHER)
    assert parameters(app)["target"] == answer(attnviz.load(echo), OTHER)


def test_a_target_by_hand_stays_until_the_model_is_asked(visit: Visit, echo: Path) -> None:
    app = visit("output", model=NAME, text=TEXT)
    type_text(app, TARGET, "target")
    assert parameters(app)["target"] == TARGET
    assert [word["text"] for word in sent(app)[0]["target"]] == [*TARGET.split(), "</s>"]
    tell(app, strip(app), "write", True)
    assert parameters(app)["target"] == answer(attnviz.load(echo), TEXT)


@pytest.mark.slow
@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_an_unknown_model_writes_when_it_is_told_to(
    visit: Visit, tiny: Tiny, lang: i18n.Language
) -> None:
    app = visit("output", lang=lang, text=TEXT, model=tiny("t5"))
    assert not app.error
    assert app.subheader[0].value == i18n.text(lang, "empty.target_title")
    header, _ = unpack(strip(app).proto.bytes)
    assert header["action"] == i18n.text(lang, "action.let_write")
    app.button(KEY("start.write")).click().run()
    assert parameters(app)["target"] == answer(attnviz.load(tiny("t5")), TEXT)
    assert component_name(app) == "attnviz.alignment"


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_an_empty_answer_is_said(visit: Visit, tiny: Tiny, lang: i18n.Language) -> None:
    app = visit("output", lang=lang, text=TEXT, model=tiny("marian"))
    tell(app, strip(app), "write", True)
    assert not app.error
    assert [each.value for each in app.info] == [i18n.text(lang, "empty.target_answer")]
    assert "target" not in parameters(app)


@pytest.mark.some(1)
@pytest.mark.parametrize("name", ["marian", "t5"])
def test_what_is_shown_is_the_librarys_alignment(visit: Visit, tiny: Tiny, name: str) -> None:
    header, arrays = sent(visit("output", text=TEXT, target=TARGET, model=tiny(name)))
    lm = attnviz.load(tiny(name))
    found = align(lm, attnviz.capture(lm, TEXT, target=TARGET), TARGET)
    assert [word["text"] for word in header["source"]] == [word.text for word in found.source]
    assert [word["at"] for word in header["target"]] == [word.start for word in found.target]
    shown = (arrays["weights"].astype(np.float64) / 65535) ** 2
    assert np.abs(np.sqrt(shown) - np.sqrt(found.weights)).max() <= 0.5 / 65535 + 1e-6
    assert found.probabilities is not None
    given = [word["probability"] for word in header["target"]]
    np.testing.assert_allclose(given, found.probabilities, rtol=1e-5)
    assert header["stated"] == {"layer": 0, "head": 0, "mean": "all", "does": ""}


def test_the_head_that_the_card_states_is_shown_first(visit: Visit, echo: Path) -> None:
    header, _ = sent(visit("output", model=NAME, text=TEXT))
    stated = {"layer": 1, "head": 2, "mean": None}
    assert stated.items() <= header["stated"].items()
    assert header["stated"]["does"] == NOTES[0].does


@pytest.mark.slow
@pytest.mark.parametrize(
    ("head", "stated"),
    [("L1", (1, 0, "layer")), ("mean", (0, 0, "all")), ("L9.H0", (0, 0, "all"))],
)
def test_a_card_may_state_a_mean(
    visit: Visit, echo: Path, head: str, stated: tuple[int, int, str | None]
) -> None:
    cards.write(echo, card_of((replace(NOTES[0], head=head),)))
    cards.read.cache_clear()
    draw.kept_bytes.clear()  # what was stated is in the buffer
    header, _ = sent(visit("output", model=NAME, text=TEXT))
    assert tuple(header["stated"][name] for name in ("layer", "head", "mean")) == stated


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_the_card_is_shown_in_every_language(visit: Visit, echo: Path, lang: i18n.Language) -> None:
    app = visit("output", lang=lang, model=NAME, text=TEXT)
    said = "\n".join(each.value for each in app.main.markdown)
    said = ENGLISH_WORDS.sub(r"\1", said)
    assert i18n.text(lang, "card.title") in [each.value for each in app.subheader]
    assert "An \\*echo\\*\\." in said
    assert f"| exact \\| answers | {numbers.number(lang, 0.5, 'g')} (" in said
    assert f"| ≥\N{NARROW NO-BREAK SPACE}{numbers.number(lang, 0.99, 'g')} | 500 |" in said
    assert f"| loss | {numbers.number(lang, 0.25, 'g')} | ≤\N{NARROW NO-BREAK SPACE}1 |  |" in said
    assert numbers.number(lang, 1200) in said and "12" in said
    assert any(f"`attnviz check {NAME}`" in each.value for each in app.main.caption)


def head_buttons(app: AppTest) -> list[str]:
    return [each.label for each in app.button if each.key.startswith(KEY("card.head."))]


def test_a_head_of_the_card_is_opened(visit: Visit, echo: Path) -> None:
    app = visit("output", model=NAME, text=TEXT)
    # the mean of a layer is no head to open
    assert head_buttons(app) == [
        NOTES[0].head.replace(".", "\\."),
        NOTES[2].head.replace(".", "\\."),
    ]
    said = [each.value for each in app.main.markdown if "back" in each.value]
    assert len(said) == 1 and "\\<b\\>" in said[0] and "\\[x\\]" in said[0]
    app.button(KEY("card.head.0")).click().run()
    assert not app.error
    found = parameters(app)
    wanted = {"stack": "decoder", "kind": "cross", "layer": "1", "head": "2"}
    assert wanted.items() <= found.items()


@pytest.mark.slow
def test_a_model_without_a_card_says_only_what_it_opens_on(visit: Visit) -> None:
    app = visit("output")
    assert not head_buttons(app) and not app.table
    opening = next(block.value for block in app.markdown if "L3.H1" in block.value)
    assert "from “it” to “animal” is 0.68" in opening
    assert opening.count("0.11") == 1


def test_a_model_with_neither_card_nor_opening_shows_no_card(
    visit: Visit, saved: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = saved("bert")
    monkeypatch.setenv(sources.VARIABLE, str(folder.parent))
    app = visit("output", model=str(folder), text=TEXT)
    assert i18n.text("en", "card.title") not in [heading.value for heading in app.subheader]


@pytest.mark.slow
def test_another_model_forgets_the_target_and_shows_its_own_example(
    visit: Visit, echo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = "a cat sat"  # the address of a view is remembered: no other test shows this text
    monkeypatch.setitem(examples.OWN_EXAMPLES, NAME, (examples.Example("short", own),))
    app = visit("output")
    app.selectbox(KEY("model.en")).set_value(NAME).run()
    assert pieces(app)["text"]["text"] == own
    assert parameters(app) == {
        "answer": "1",
        "model": NAME,
        "target": answer(attnviz.load(echo), own),
    }
    app.selectbox(KEY("model.en")).set_value("minilm").run()
    assert parameters(app) == {"layer": "3", "head": "1", "query": "10", "key": "2", "answer": "1"}


@pytest.mark.slow
@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_dates_open_with_a_date(visit: Visit, lang: i18n.Language) -> None:
    app = visit("output", lang=lang, model="dates")
    assert not app.error and not app.info
    assert pieces(app)["text"]["text"] == examples.texts("dates")[0]
    assert parameters(app)["target"] == "1948-01-12"  # Monday, January 12, 1948
    known = cards.card("dates")
    assert known is not None
    assert head_buttons(app)[0] == known.description.heads[0].head.replace(".", "\\.")


@pytest.mark.slow
def test_dates_say_what_they_do_not_know(visit: Visit) -> None:
    app = visit("overview", model="dates", text="Monday morning")
    assert [each.value for each in app.info] == [i18n.text("en", "notice.no_date")]
    app = visit("overview", model="dates", text="A parrot hatched on 4 July 1976.")
    said = i18n.text("en", "notice.unknown_words", words=messages.plain("A, parrot, hatched"))
    assert [each.value for each in app.info] == [said]
