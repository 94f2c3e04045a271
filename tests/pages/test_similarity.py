"""Similarity of sentences on the page Output, and what is said where it means less."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import attnviz
from attnviz import i18n
from attnviz.app.frame.run_again import OTHERS
from attnviz.app.session import widgets
from attnviz.app.session.view import default_view
from attnviz.changes import parse
from attnviz.experiment.outputs.similarity import similarity
from tests.pages.conftest import Visit, component_name, parameters, sent

KEY = widgets.key
Tiny = Callable[[str], str]


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_a_sentence_encoder_shows_similarities(visit: Visit, lang: i18n.Language) -> None:
    app = visit("output", lang=lang)
    assert not app.error and not app.info
    assert i18n.text(lang, "similarity.title") in [each.value for each in app.subheader]
    assert component_name(app) == "attnviz.similarity"
    header, arrays = sent(app)
    default = default_view().input
    texts = (default.text, default.text2, *OTHERS)
    assert (header["sentences"], header["n_own"]) == (list(texts), 2)
    expected = similarity(attnviz.load("minilm"), texts).cosine
    np.testing.assert_allclose(arrays["cosine"], expected, atol=1e-6)


def test_another_second_sentence_is_compared(visit: Visit) -> None:
    app = visit("output", layer="0")
    app.text_input(KEY("text2")).set_value(OTHERS[0]).run()
    assert parameters(app) == {"layer": "0", "text2": OTHERS[0], "answer": "1"}
    header, arrays = sent(app)
    assert len(header["sentences"]) == 1 + len(OTHERS)  # said once, though it stands there twice
    assert 0.85 < arrays["cosine"][0, 1] < 0.95
    app.text_input(KEY("text2")).set_value("").run()
    assert sent(app)[0]["n_own"] == 1


def test_with_a_head_off_the_first_sentence_alone_is_run_anew(visit: Visit) -> None:
    change = "L5.H11.mixed=zero"
    app = visit("output", changes=change)
    assert i18n.text("en", "similarity.changed") in [each.value for each in app.markdown]
    lm, typed = attnviz.load("minilm"), default_view().input
    hidden = attnviz.capture(lm, typed.text, changes=parse(change)).hidden
    assert hidden is not None
    own = hidden[0].mean(dim=0).numpy()
    vectors = similarity(lm, (typed.text, typed.text2, *OTHERS)).vectors
    expected = vectors[1:] @ (own / np.linalg.norm(own))
    shown = sent(app)[1]["cosine"]
    np.testing.assert_allclose(shown[0, 1:], expected, atol=1e-6)
    np.testing.assert_allclose(shown[1:, 1:], vectors[1:] @ vectors[1:].T, atol=1e-6)
    assert abs(expected - vectors[1:] @ vectors[0]).max() > 0.01


@pytest.fixture
def bare(tiny: Tiny) -> str:
    """The name of a tiny encoder without a head: it gives hidden states and nothing else."""
    from tests.support import folders

    folder = Path(tiny("bert")).parent / "bare"
    folders.model("bert").bert.save_pretrained(folder)
    folders.tokenizer("encoder").save_pretrained(folder)
    return str(folder)


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_of_another_encoder_no_meaning_is_claimed(
    visit: Visit, bare: str, lang: i18n.Language
) -> None:
    app = visit("output", lang=lang, text="the cat sat", text2="a dog", model=bare)
    assert not app.error
    titles = [each.value for each in app.subheader]
    assert i18n.text(lang, "similarity.title_hidden") in titles
    assert i18n.text(lang, "similarity.title") not in titles
    assert i18n.text(lang, "similarity.intro_hidden") in [each.value for each in app.markdown]


@pytest.mark.slow
@pytest.mark.parametrize("lang", i18n.LANGUAGES)
@pytest.mark.parametrize("page", ["overview", "output"])
def test_a_model_of_english_says_so_for_other_letters(
    visit: Visit, lang: i18n.Language, page: str
) -> None:
    app = visit(page, lang=lang, text="The cat 東京 sat")
    learned = i18n.text(lang, "spoken.en")
    said = i18n.text(lang, "notice.language", languages=learned, letters="東京")
    assert [each.value for each in app.info] == [said]
