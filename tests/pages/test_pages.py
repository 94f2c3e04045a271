"""Every page in every language: translated, complete, and with the library's own numbers."""

import numpy as np
import pytest

import attnviz
from attnviz import i18n
from attnviz.app.session import address_bar, routes, widgets
from attnviz.app.session.view import default_view
from attnviz.masks.spec import MASK_NAMES
from attnviz.pictures.shared.buffer import unpack
from attnviz.teach.lessons.cards.symbols import with_formulas
from tests.pages.conftest import Visit, bar, beside_bar, component_name, pieces, sent, strip, told

KEY = widgets.key
PAGES = ("overview", "steps", "masks")
TEXT = "The cat sat."
SECOND = "Dogs ran home fast."


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
@pytest.mark.parametrize("page", PAGES)
def test_a_page_speaks_the_language(visit: Visit, page: str, lang: i18n.Language) -> None:
    app = visit(page, lang=lang, text=TEXT)
    assert [title.value for title in app.title] == [i18n.text(lang, f"page.{page}.title")]
    intro = with_formulas(i18n.text(lang, f"page.{page}.intro"))
    assert any(intro in each.value for each in app.main.markdown)
    header, _ = sent(app)
    templates = set(i18n.section(lang, "component").values())
    assert header["strings"]
    assert set(header["strings"].values()) <= templates
    assert pieces(app)["text"]["label"] == i18n.text(lang, "menu.text")
    assert not app.error
    assert not app.warning


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_the_navigation_is_translated(visit: Visit, lang: i18n.Language) -> None:
    app = visit("overview", lang=lang, text=TEXT)
    links = [link.proto.label for link in bar(app).get("page_link")]
    rooms = [i18n.text(lang, f"room.{room}") for room in routes.ROOMS if room != routes.DEFAULT]
    faces = [i18n.text(lang, f"page.{page}.title") for page in routes.ROOMS["look"]]
    assert links == [i18n.text(lang, "app.name"), *rooms, *faces]


def test_overview_shows_the_librarys_weights(visit: Visit, minilm: attnviz.LoadedModel) -> None:
    header, arrays = sent(visit("overview", text=TEXT))
    cap = attnviz.capture(minilm, TEXT)
    assert header["tokens"] == list(cap.tokens.labels)
    assert header["special"] == [int(flag) for flag in cap.tokens.special]
    assert (header["n_layers"], header["n_heads"]) == (6, 12)
    weights = cap.all_weights()
    assert arrays["weights"].dtype == np.uint8
    shown = (arrays["weights"].astype(np.float64) / 255) ** 2
    # half a step of the square root, 1/510, on either side
    assert np.abs(np.sqrt(shown) - np.sqrt(weights)).max() <= 0.5 / 255 + 1e-6


def test_head_shows_the_librarys_weights(visit: Visit, minilm: attnviz.LoadedModel) -> None:
    _, arrays = sent(visit("head", text=TEXT))
    weights = attnviz.capture(minilm, TEXT).all_weights()
    assert arrays["weights"].dtype == np.uint16
    shown = np.sqrt((arrays["weights"].astype(np.float64) / 65535) ** 2)
    assert np.abs(shown - np.sqrt(weights)).max() <= 0.5 / 65535 + 1e-6


def test_every_head_has_a_sentence(visit: Visit, minilm: attnviz.LoadedModel) -> None:
    app = visit("overview", text=TEXT)
    assert sent(app)[0]["sentences"] == [], "the first picture waits for no measure"
    header = told(app)
    cap = attnviz.capture(minilm, TEXT)
    roles = attnviz.metrics.describe(cap.all_weights(), cap.tokens)
    assert [len(row) for row in header["sentences"]] == [12] * 6
    role = roles[0][2]
    assert role.role == "previous"
    assert header["sentences"][0][2] == i18n.text(
        "en",
        "role.previous",
        percent=f"{100 * role.fraction:.0f}",
        share="its attention",
        chance=f"{100 * role.baseline:.0f}",
    )


def test_steps_shows_the_librarys_stages(visit: Visit, minilm: attnviz.LoadedModel) -> None:
    header, arrays = sent(visit("steps", text=TEXT, layer="2", head="7"))
    assert (header["layer"], header["head"]) == (2, 7)
    derived = attnviz.derive(attnviz.capture(minilm, TEXT).call(2), head=7)
    views = derived.views()
    assert {view.stage for view in views} <= arrays.keys()
    for view in views:  # another number of threads sums in another order: float32 rounding
        np.testing.assert_allclose(arrays[view.stage], view.values, rtol=0, atol=1e-5)
    badges = {panel["stage"]: panel["error"] for panel in header["panels"]}
    assert badges["mixed"] is not None
    assert badges["mixed"] <= derived.comparisons["mixed"].tolerance
    assert badges["scores"] is None
    assert not arrays["blocked"].any()


def test_masks_shows_what_each_mask_does(visit: Visit, minilm: attnviz.LoadedModel) -> None:
    header, arrays = sent(visit("masks", text=TEXT, text2=SECOND, layer="1", head="4"))
    cap = attnviz.capture(minilm, [TEXT, SECOND])
    call = cap.call(1)
    assert header["as_model"] == 1
    assert header["padding"] == [[int(flag) for flag in cap.tokens_of(b).padding] for b in (0, 1)]
    assert header["padding"][0][-1] == 1
    for batch in (0, 1):
        own = attnviz.derive(call, 4, batch)
        np.testing.assert_allclose(arrays["weights"][batch], own.weights, atol=1e-6)
        np.testing.assert_allclose(arrays["scaled"][batch], own.scaled, atol=1e-5)
        padded = cap.tokens_of(batch).padding
        assert header["key_padding"][batch] == padded.astype(int).tolist()
        assert (arrays["model_blocks"][batch] == padded[None, :]).all()
        assert np.isneginf(arrays["sinks"][batch]).all()
        np.testing.assert_allclose(arrays["weights"][batch].sum(-1), 1, atol=1e-5)


def test_one_sentence_is_enough_for_masks(visit: Visit) -> None:
    header, arrays = sent(visit("masks", text=TEXT, text2=""))
    assert len(header["tokens"]) == 1
    assert arrays["weights"].shape == (1, *arrays["scaled"].shape[1:])
    assert header["mask_names"] == list(MASK_NAMES)
    assert header["as_model"] == 1


@pytest.mark.some(1)
@pytest.mark.parametrize("page", PAGES)
def test_a_page_says_how_far_its_numbers_are_from_the_models(visit: Visit, page: str) -> None:
    app = visit(page, text=TEXT)
    (caption,) = [element.value for element in app.main.caption if "✓" in element.value]
    texts = [TEXT, default_view().input.text2] if page == "masks" else [TEXT]
    worst = attnviz.capture("minilm", texts).verify().worst
    assert worst is not None
    error = i18n.numbers.number("en", worst.error, ".1e")
    tolerance = i18n.numbers.number("en", worst.tolerance, ".0e")
    said = f"largest difference {error}, tolerance {tolerance}"
    recorded = "; recorded pass, without edits" if page in ("steps", "masks") else ""
    assert caption == f"✓ The same numbers as the model ({said}{recorded})"


def test_each_page_has_its_component(visit: Visit) -> None:
    names = {component_name(visit(page, text=TEXT)) for page in PAGES}
    assert len(names) == len(PAGES)


def test_a_rerun_sends_the_same_bytes(visit: Visit) -> None:
    app = visit("overview", text=TEXT)
    (before,) = beside_bar(app)
    app.run()
    (after,) = beside_bar(app)
    assert before.proto.bytes == after.proto.bytes
    assert before.proto.id == after.proto.id


def test_the_default_is_an_example(visit: Visit) -> None:
    app = visit("overview")
    assert pieces(app)["text"]["text"] == default_view().input.text
    header, _ = unpack(strip(app).proto.bytes)
    assert header["examples"][0]["text"] == default_view().input.text
    assert header["examples"][0]["hint"] == i18n.text("en", "example_hint.tired")


@pytest.mark.some(2)
@pytest.mark.parametrize("page", ["head", "steps", "masks", "geometry", "calculator"])
def test_a_picture_stands_alone_in_a_frame(
    page: str, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(address_bar, "is_embedded", lambda: True)
    app = visit(page, layer="2", head="3", lang="en")
    assert not app.error and not app.title and not app.main.get("page_link")
    [link] = app.get("link_button")
    assert "layer=2" in link.proto.url and "embed" not in link.proto.url
    if page != "calculator":
        assert component_name(app) == f"attnviz.{page}"
        assert any("tolerance" in caption.value for caption in app.caption)
        assert not app.toggle and not app.selectbox and not app.expander
