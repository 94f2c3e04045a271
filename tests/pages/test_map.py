"""The page Map: the model's own texts and the visitor's, with the library's planes and weights."""

import numpy as np
import pytest

import attnviz
from attnviz import i18n
from attnviz.app.page_parts.map import BOX
from attnviz.app.server import answer_runs
from attnviz.app.session import widgets
from attnviz.corpus import neighbours, samples
from attnviz.corpus.samples import map_texts
from attnviz.pictures.map import scales
from tests.pages.conftest import Visit, component_name, sent
from tests.support.hostile import TEXT as HOSTILE

TEXT = "The cat sat on the mat."


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_the_visitors_text_stands_where_the_library_places_it(
    visit: Visit, lang: i18n.Language
) -> None:
    app = visit("map", lang=lang, model="stories", text=TEXT)
    assert not app.error
    assert [title.value for title in app.title] == [i18n.text(lang, "page.map.title")]
    assert component_name(app) == "attnviz.map"
    header, arrays = sent(app)
    lm = attnviz.load("stories")
    texts = map_texts(lm)
    assert len(header["texts"]) == len(texts) + 1
    start, stop, own, openable = header["texts"][-1]
    assert (own, openable) == (1, 1)
    cap = attnviz.capture(lm, TEXT)
    assert [header["labels"][at] for at in arrays["label_of"][start:stop]] == list(
        cap.tokens.labels
    )
    maps = attnviz.embed(lm, texts)
    placed = maps.place(cap)
    codes = arrays["places"][:, :, start:stop].astype(np.float64)
    words = np.isin(arrays["kind"], range(4))
    half = scales(((arrays["places"].astype(np.float32) - 32768) / 32767)[:, :, words])
    assert np.allclose(half, 1, atol=0.06), "the words fill the plane"
    products = np.einsum("hqa,hka->hqk", placed.queries, placed.keys)
    shown = [(codes[:, side] - 32768) / 32767 for side in (0, 1)]
    inside = (np.abs(shown[0]).max(-1) < 1)[:, :, None] & (np.abs(shown[1]).max(-1) < 1)[:, None]
    mine = np.einsum("hqa,hka->hqk", *shown)
    for head in range(len(maps.heads)):  # one scale for each head
        a, b = products[head][inside[head]], mine[head][inside[head]]
        assert np.allclose(a, b * (a @ b) / (b @ b), atol=2e-3 * np.abs(a).max())
    n = stop - start
    weights = (arrays["weights"][:, -n * n :].reshape(-1, n, n) / 65535) ** 2
    assert np.abs(weights[5] - cap.weights("L1.H1")).max() < 2e-5
    kept = maps.table()["kept"]
    assert np.allclose([head["kept"] for head in header["heads"]], kept, atol=1e-4)


def test_patches_of_pictures_are_on_a_map_and_translations_are_not(visit: Visit) -> None:
    app = visit("map", model="shapes")
    assert not app.error
    header, _ = sent(app)
    assert [text[3] for text in header["texts"]] == [0] * (len(header["texts"]) - 1) + [1]
    app = visit("map", model="translator")
    assert i18n.text("en", "map.not_here") in [info.value for info in app.info]


def test_a_long_or_hostile_text_leaves_the_map_as_it_is(visit: Visit) -> None:
    app = visit("map", model="stories", text=HOSTILE)
    assert not app.error
    header, _ = sent(app)
    assert header["texts"][-1][2] == 1
    app = visit("map", model="stories", text="cat " * 300)
    assert any("256" in info.value for info in app.info) or app.error


def test_several_texts_of_the_visitor_stand_where_the_library_places_them(visit: Visit) -> None:
    app = visit("map", model="stories", text=TEXT)
    before, _ = sent(app)
    box = widgets.key(BOX)
    typed = f"Lily had two cakes.\n\n{HOSTILE}\nLily had two cakes.\n{'cat ' * 300}"
    app.text_area(box).set_value(typed).run()
    assert not app.error
    header, arrays = sent(app)
    n = len(before["texts"]) - 1
    assert header["texts"][:n] == before["texts"][:n]
    assert [text[2:] for text in header["texts"][n:]] == [[2, 1], [2, 1], [1, 1]]
    assert i18n.text("en", "map.more_cut", n=2, of=3) in [line.value for line in app.caption]
    start, stop, *_ = header["texts"][n]
    cap = attnviz.capture("stories", "Lily had two cakes.")
    assert [header["labels"][at] for at in arrays["label_of"][start:stop]] == list(
        cap.tokens.labels
    )
    cells = sum((text[1] - text[0]) ** 2 for text in header["texts"][:n])
    weights = arrays["weights"][6, cells : cells + (stop - start) ** 2] / 65535
    assert np.abs(weights.reshape(stop - start, -1) ** 2 - cap.weights("L1.H2")).max() < 2e-5
    app.text_area(box).set_value("").run()
    assert sent(app)[0]["texts"] == before["texts"]


@pytest.mark.slow
def test_the_chosen_head_is_drawn_by_tsne_and_back_in_its_plane(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = ("Tom gave the red ball to Anna. Anna gave it to Tom.", "Lily had two cakes.")
    monkeypatch.setattr(samples, "map_texts", lambda lm: texts)
    monkeypatch.setattr(neighbours, "ITERATIONS", 50)
    monkeypatch.setattr(neighbours, "EXAGGERATED", 50)
    lm = attnviz.load("stories-llama")
    answer_runs.forget_measurement(f"map map {lm.key}")
    try:
        app = visit("map", model="stories-llama", text=TEXT, layer="2", head="3")
        header, before = sent(app)
        assert header["tsne"] is None
        app.button(widgets.key("tsne.draw")).click().run()
        header, arrays = sent(app)
        row = header["tsne"]["head"]
        assert (header["heads"][row]["layer"], header["heads"][row]["head"]) == (2, 3)
        drawn = attnviz.embed(lm, [*texts, TEXT], method="tsne", head="L2.H3")
        assert header["tsne"]["plane"] == pytest.approx(drawn.kept_by_plane, abs=1e-3)
        others = np.arange(len(header["heads"])) != row
        assert np.array_equal(arrays["places"][others], before["places"][others])
        assert not np.array_equal(arrays["places"][row], before["places"][row])
        app.button(widgets.key("tsne.plane")).click().run()
        assert sent(app)[0]["tsne"] is None
    finally:
        answer_runs.forget_measurement(f"map map {lm.key}")


def test_the_patches_of_pictures_travel_as_small_pictures(visit: Visit) -> None:
    header, arrays = sent(visit("map", model="shapes"))
    start, stop, *_ = header["texts"][0]
    picture = samples.sample_pictures(attnviz.load("shapes"))[0]
    small = arrays["thumbs"][start + 1 : stop]  # [CLS] is no patch
    side = round(len(small) ** 0.5)
    middles = ((np.arange(side) + 4.5 / 8) * 64 / side).astype(int)
    assert np.array_equal(small[:, 4, 4].reshape(side, side, 3), picture[np.ix_(middles, middles)])
    assert len(np.unique(small.reshape(-1, 3), axis=0)) > 3
