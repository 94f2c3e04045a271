"""Models that write: how tokens are drawn, what they were drawn from, the player on every page."""

from collections.abc import Callable

import numpy as np
import pytest

import attnviz
from attnviz import i18n
from attnviz.app.session import widgets
from attnviz.capture.generation.settings import Generation
from attnviz.changes import parse
from attnviz.experiment.outputs.next_token import distribution
from attnviz.pictures.shared.buffer import unpack
from attnviz.pictures.writing import CANVAS, NO_SLOT
from tests.pages.conftest import Visit, bar, beside_bar, parameters, sent
from tests.pages.test_selection import view

KEY = widgets.key
TEXT = "the cat sat on"
STORE = "When Mary and John went to the store, John gave a book to"
HOT = {"temperature": "1.5", "top_k": "7", "top_p": "0.8", "seed": "2"}
Tiny = Callable[[str], str]


def test_a_text_alone_shows_what_follows_it(visit: Visit, tiny: Tiny) -> None:
    app = visit("output", text=TEXT, model=tiny("gpt2"))
    assert not app.error
    header, arrays = sent(app)
    assert header["written"] == [0, 0, 0, 0]
    cap = attnviz.capture(attnviz.load(tiny("gpt2")), TEXT)
    assert cap.logits is not None
    expected = np.sort(distribution(cap.logits[0]).before[-1])[::-1][:12]
    np.testing.assert_allclose(arrays["draws.before"][-1, :12], expected, rtol=1e-5)
    assert arrays["draws.drawn"][-1] == NO_SLOT
    assert header["draws"]["sampled"] == 0
    assert header["draws"]["sampling"] == i18n.text("en", "sampling.greedy")


@pytest.mark.some(1)
@pytest.mark.parametrize(
    ("what", "changes"),
    [
        ({"changes": "L0.H0.mixed=zero"}, "L0.H0.mixed=zero"),
        ({"word": "L2.H1@2"}, "L2.H1.weights.14.2=0!"),
    ],
)
def test_the_whole_answer_is_the_one_with_what_is_off(
    visit: Visit, what: dict[str, str], changes: str
) -> None:
    app = visit("output", model="stories", text=STORE, **what)
    assert not app.error
    on, off = (
        distribution(capture.logits[0]).before
        for capture in (attnviz.capture("stories", STORE, changes=c) for c in ((), parse(changes)))
        if capture.logits is not None
    )
    _, arrays = sent(app)
    np.testing.assert_allclose(arrays["draws.before"][:, 0], off.max(-1), rtol=1e-4)
    (choice,) = [each for each in app.button_group if "whole" in str(each.key)]
    assert choice.options[0].startswith(("With all of L0.H0 off", "With L2.H1’s look at"))
    _, arrays = sent(choice.set_value(False).run())
    np.testing.assert_allclose(arrays["draws.before"][:, 0], on.max(-1), rtol=1e-4)
    assert abs(on[-1].max() - off[-1].max()) > 0.3


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_a_button_lets_it_write(visit: Visit, tiny: Tiny, lang: i18n.Language) -> None:
    app = visit("output", lang=lang, text=TEXT, model=tiny("gpt2"))
    button = app.button(KEY("write"))
    assert button.label == i18n.text(lang, "action.write", count=20)
    button.click().run()
    assert not app.error
    assert parameters(app)["generate"] == "20"
    header, arrays = sent(app)
    n = sum(header["written"])
    assert n > 0
    # greedy: each written token was the likeliest after the one before it
    assert arrays["draws.drawn"][3:-1].tolist() == [0] * n
    assert KEY("write") not in [each.key for each in app.button]


@pytest.mark.slow
def test_it_writes_no_more_than_there_is_room(visit: Visit, tiny: Tiny) -> None:
    app = visit("output", text=" ".join(["cat"] * 25), model=tiny("gpt2"))
    assert app.button(KEY("write")).label == i18n.text("en", "action.write", count=7)
    app.button(KEY("write")).click().run()
    assert not app.error
    app = visit("output", text=" ".join(["cat"] * 32), model=tiny("gpt2"))
    assert KEY("write") not in [each.key for each in app.button]


def test_sampling_is_what_the_library_samples(visit: Visit, tiny: Tiny) -> None:
    app = visit("output", text=TEXT, model=tiny("llama"), generate="6", **HOT)
    assert not app.error
    header, arrays = sent(app)
    how = Generation(7, temperature=1.5, top_k=7, top_p=0.8, seed=2)
    cap = attnviz.capture(attnviz.load(tiny("llama")), TEXT, generate=how)
    assert header["tokens"] == list(cap.tokens.labels)
    assert cap.logits is not None
    after = distribution(cap.logits[0], 1.5, 7, 0.8).after
    np.testing.assert_allclose(arrays["draws.after"][:, 0], after.max(-1), rtol=1e-5)
    assert arrays["draws.n_left"].tolist() == (after > 0).sum(-1).tolist()
    assert header["draws"]["sampled"] == 1
    assert "1.5" in header["draws"]["sampling"]
    for name in HOT:
        assert parameters(app)[name] == HOT[name]


@pytest.mark.slow
def test_the_menu_changes_how_it_draws(visit: Visit, tiny: Tiny) -> None:
    app = visit("output", text=TEXT, model=tiny("gpt2"), generate="5", query="2")
    assert app.number_input(KEY("top_k")).disabled
    before = sent(app)[0]["tokens"]
    app.slider(KEY("temperature")).set_value(2.0).run()
    assert not app.error
    assert view(app).generating.temperature == 2.0
    assert view(app).place.query is None
    assert not app.number_input(KEY("top_k")).disabled
    app.number_input(KEY("seed")).set_value(4).run()
    app.number_input(KEY("top_k")).set_value(9).run()
    app.slider(KEY("top_p")).set_value(0.9).run()
    assert not app.error
    found = parameters(app)
    assert [found[name] for name in HOT] == ["2.0", "9", "0.9", "4"]
    assert sent(app)[0]["tokens"] != before


def test_a_seed_means_nothing_when_it_is_greedy(visit: Visit, tiny: Tiny) -> None:
    one, other = (
        visit("output", text=TEXT, model=tiny("gpt2"), generate="5", seed=seed, top_k="3")
        for seed in ("0", "9")
    )
    assert sent(one)[0]["tokens"] == sent(other)[0]["tokens"]
    assert sent(one)[0]["draws"]["sampled"] == 0


@pytest.mark.slow
def test_an_encoder_is_asked_for_no_sampling(visit: Visit) -> None:
    app = visit("output", text=TEXT, temperature="1.0")
    assert not app.error
    assert not app.slider


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_the_controls_speak_every_language(visit: Visit, tiny: Tiny, lang: i18n.Language) -> None:
    app = visit("output", lang=lang, text=TEXT, model=tiny("gpt2"), generate="3", **HOT)
    assert not app.error
    assert i18n.text(lang, "sampling.title") in [each.label for each in bar(app).expander]
    assert app.slider(KEY("top_p")).label == i18n.text(lang, "sampling.top_p")


@pytest.mark.some(1)
@pytest.mark.parametrize("page", ["overview", "head", "steps"])
def test_the_player_stands_above_what_was_written(visit: Visit, tiny: Tiny, page: str) -> None:
    app = visit(page, text=TEXT, model=tiny("gpt2"), generate="4")
    assert not app.error
    header, arrays = sent(app, player=True)
    assert header["written"] == [0] * 4 + [1] * 4
    assert not arrays
    again = visit(page, text=TEXT, model=tiny("gpt2"))
    assert len(beside_bar(again)) == 1


@pytest.mark.slow
def test_a_translators_player_belongs_to_the_stack_that_writes(visit: Visit, tiny: Tiny) -> None:
    asked = {"text": TEXT, "model": tiny("t5"), "generate": "5"}
    app = visit("overview", **asked, stack="decoder", kind="cross")
    assert not app.error
    header, _ = sent(app, player=True)
    assert header["cross"] == 1
    app = visit("overview", **asked, stack="encoder", kind="self")
    assert len(beside_bar(app)) == 1


@pytest.mark.slow
def test_a_translator_shows_what_it_drew_from(visit: Visit, tiny: Tiny) -> None:
    app = visit("output", text=TEXT, model=tiny("t5"), generate="5")
    assert not app.error
    (component,) = [each for each in beside_bar(app) if each.proto.component_name == CANVAS.element]
    header, arrays = unpack(component.proto.bytes)
    cap = attnviz.capture(attnviz.load(tiny("t5")), TEXT, generate=6)
    assert header["tokens"] == list(cap.tokens_of(0, "decoder").labels)
    assert header["key_tokens"] == list(cap.tokens_of(0, "encoder").labels)
    assert arrays["draws.drawn"][:-1].tolist() == [0] * cap.n_generated
