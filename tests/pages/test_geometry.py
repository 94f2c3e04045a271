"""The page Geometry: a real head beside its control, own frequencies, and what a link restores."""

import numpy as np
import pytest

import attnviz
from attnviz import i18n
from attnviz.metrics.plane import best_plane, plane_shares
from tests.pages.conftest import Visit, component_name, parameters, sent
from tests.support.hostile import TEXT as HOSTILE

SHORT = "The cat sat on the mat."


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_a_head_stands_beside_the_median_head(visit: Visit, lang: i18n.Language) -> None:
    app = visit("geometry", lang=lang, text=SHORT, layer="3", head="1", query="2")
    assert not app.error
    assert [title.value for title in app.title] == [i18n.text(lang, "page.geometry.title")]
    assert component_name(app) == "attnviz.geometry"
    header, arrays = sent(app)
    cap = attnviz.capture(attnviz.load("minilm"), SHORT)
    words = np.flatnonzero(~cap.tokens.special)
    cells = np.ix_(words, words)
    scores = {
        f"L{layer}.H{head}": attnviz.derive(cap.call(layer), head)["scaled"][cells]
        for layer in range(6)
        for head in range(12)
    }
    plane = best_plane(scores["L3.H1"])
    head = header["plane"]
    assert head["share"] == pytest.approx(plane.share)
    shares = [plane_shares(each[None])[0] for each in scores.values()]
    assert head["median"] == pytest.approx(np.median(shares))
    assert (head["n_measured"], head["query_at"][head["query"]]) == (72, 2)
    np.testing.assert_allclose(
        arrays["plane.queries"] @ arrays["plane.keys"].T, plane.queries @ plane.keys.T, atol=1e-5
    )
    weights = cap.weights("L3.H1")[cells]
    np.testing.assert_allclose(
        arrays["plane.weights"], weights / weights.sum(1, keepdims=True), atol=1e-6
    )


def test_a_rotary_model_shows_its_own_frequencies_and_its_mask(visit: Visit) -> None:
    header, arrays = sent(visit("geometry", model="stories-llama"))
    lm = attnviz.load("stories-llama")
    width = lm.model.config.head_dim
    base = lm.model.config.rope_parameters["rope_theta"]
    angles = base ** (-2 * np.arange(width // 2) / width)
    assert header["frequencies"]["own"]
    np.testing.assert_allclose(header["frequencies"]["angles"], angles, atol=2e-5)
    assert header["plane"]["turned"]
    n = len(header["plane"]["tokens"])
    np.testing.assert_array_equal(arrays["plane.may"], np.tri(n))


def test_a_link_restores_arrows_tab_and_positions(visit: Visit) -> None:
    choice = {"tab": "rotary", "vectors": "1,2/0.5,-0.5,1,0", "turns": "9.4.3"}
    app = visit("geometry", text=SHORT, **choice)
    header, _ = sent(app)
    assert {name: header[name] for name in choice} == choice
    assert choice.items() <= parameters(app).items()
    header, _ = sent(visit("geometry", text=HOSTILE, tab=HOSTILE, vectors="1/2", turns="x"))
    assert (header["tab"], header["vectors"]) == ("arrows", header["start"])


def test_without_text_or_scores_the_other_tabs_are_there(visit: Visit) -> None:
    header, _ = sent(visit("geometry", text=" "))
    assert header["plane"] is None and header["reason"]
    header, _ = sent(visit("geometry", text="word " * 300))
    assert header["plane"] is None and "256" in header["reason"]


def test_only_the_tab_with_the_numbers_of_the_model_says_that_they_were_checked(
    visit: Visit,
) -> None:
    for tab, checked in {"arrows": False, "rotary": False, "clocks": False, "head": True}.items():
        app = visit("geometry", lang="en", text=SHORT, tab=tab)
        assert not app.error
        assert any("tolerance" in caption.value for caption in app.caption) is checked, tab
