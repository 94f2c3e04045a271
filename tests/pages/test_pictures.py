"""Pictures and classes: which picture a model is shown, what it says of it, the picture view."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

import attnviz
from attnviz import i18n
from attnviz.app.bar import picture
from attnviz.app.session import model_images, widgets
from attnviz.experiment.outputs.classes import Classes, classes
from attnviz.pictures.shared.buffer import unpack
from tests.pages.conftest import Visit, beside_bar, parameters
from tests.support import folders

KEY = widgets.key
TEXT = "the cat sat on a mat"
Tiny = Callable[[str], str]


@pytest.fixture
def sampled(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a model that stands in for the one that learned from generated pictures."""
    monkeypatch.setattr(model_images, "SAMPLED", (tiny("forms"),))
    return tiny("forms")


def shown(app: AppTest, name: str) -> list[tuple[dict[str, Any], dict[str, np.ndarray]]]:
    """The data that the components of one name on the page were sent."""
    return [
        unpack(each.proto.bytes)
        for each in beside_bar(app)
        if each.proto.component_name == f"attnviz.{name}"
    ]


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_a_vision_classifier_says_what_it_sees(
    visit: Visit, tiny: Tiny, lang: i18n.Language
) -> None:
    app = visit("output", lang=lang, text="", model=tiny("forms"), image="landscape")
    assert not app.error
    lm = attnviz.load(tiny("forms"))
    cap = attnviz.capture(lm, image=model_images.drawn("landscape"))
    found = classes(lm, cap)
    all_bars, first, second = (header for header, _ in shown(app, "bars"))
    assert [bar["label"] for bar in all_bars["bars"]] == [found.names[i] for i in found.order]
    values = [bar["value"] for bar in all_bars["bars"]]
    np.testing.assert_allclose(values, found.probabilities[list(found.order)], rtol=1e-6)
    assert sum(values) == pytest.approx(1, abs=1e-5)
    assert all_bars["rest"] is None
    assert not any(bar["mark"] for bar in all_bars["bars"])  # what this picture shows is not known
    assert first["title"] == i18n.text(lang, "classes.first_word")
    assert {bar["label"] for bar in second["bars"]} == {"circle", "square"}
    ((header, arrays),) = shown(app, "patches")
    assert header["patches"] == {"rows": 4, "columns": 4, "first": 1}
    roots = arrays["weights"].astype(np.float64) / 65535
    assert np.abs(roots - np.sqrt(cap.all_weights())).max() <= 0.5 / 65535 + 1e-6
    assert arrays["patches.picture"].shape == (24, 24, 3)


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_a_text_classifier_says_what_it_reads(
    visit: Visit, tiny: Tiny, lang: i18n.Language
) -> None:
    app = visit("output", lang=lang, text=TEXT, model=tiny("verdict"))
    assert not app.error
    ((header, _),) = shown(app, "bars")
    assert {bar["label"] for bar in header["bars"]} == {"negative", "positive"}
    assert header["note"] == i18n.text(lang, "classes.softmax", count=2)
    assert not shown(app, "patches")


def test_classes_that_may_hold_together_are_no_shares(visit: Visit, tiny: Tiny) -> None:
    app = visit("output", text=TEXT, model=tiny("topics"))
    ((header, _),) = shown(app, "bars")
    lm = attnviz.load(tiny("topics"))
    logits = attnviz.capture(lm, TEXT).logits[0].numpy()
    values = {bar["label"]: bar["value"] for bar in header["bars"]}
    for name, logit in zip(("sport", "<b>art</b>", "food"), logits, strict=True):
        assert values[name] == pytest.approx(1 / (1 + np.exp(-logit)), rel=1e-4)
    assert header["note"] == i18n.text("en", "classes.sigmoid", count=3)


def test_a_name_of_a_class_is_no_markup(
    visit: Visit, tiny: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Classes, "best", "<b>*art*</b>")
    app = visit("output", text=TEXT, model=tiny("topics"))
    (said,) = [each.value for each in app.main.markdown if "The model's answer" in each.value]
    assert r"\<b\>\*art\*\<\/b\>" in said


def test_beyond_ten_classes_the_rest_is_one_bar(
    visit: Visit, sampled: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("attnviz.app.page_parts.output.classes.MAX_BARS", 4)
    header, _ = shown(visit("output", text="", model=sampled), "bars")[0]
    assert len(header["bars"]) == 4
    assert header["rest"]["count"] == 2
    total = sum(bar["value"] for bar in header["bars"]) + header["rest"]["value"]
    assert total == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_a_model_of_generated_pictures_is_shown_one(
    visit: Visit, sampled: str, lang: i18n.Language
) -> None:
    app = visit("output", lang=lang, text="", model=sampled)
    assert not app.error
    assert "image" not in parameters(app)
    assert app.selectbox(KEY(f"image.{lang}")).value == "sample"
    assert i18n.text(lang, "sample.what", number=1) in [each.value for each in app.main.caption]
    headers = [header for header, _ in shown(app, "bars")]
    assert headers[1]["title"] == i18n.text(lang, "classes.colour")
    marked = [bar["label"] for of in headers for bar in of["bars"] if bar["mark"]]
    truth = model_images.truth("sample-1")
    assert set(marked) <= {truth, *truth.split()}


def test_the_next_sample_is_a_click_away(visit: Visit, sampled: str) -> None:
    app = visit("overview", text="", model=sampled, query="3", layer="1")
    app.button(KEY("sample.next")).click().run()
    assert not app.error
    found = parameters(app)
    assert (found["image"], found["layer"]) == ("sample-2", "1")
    assert "query" not in found
    for expected in ("sample-1", "sample-0", "sample-99999"):
        app.button(KEY("sample.previous")).click().run()
        assert parameters(app)["image"] == expected


def test_a_sample_marks_what_it_shows(visit: Visit, sampled: str) -> None:
    labels = set(folders.FORM_LABELS.values())
    seed = next(i for i in range(99) if model_images.truth(f"sample-{i}") in labels)
    app = visit("output", text="", model=sampled, image=f"sample-{seed}")
    colour, form = model_images.truth(f"sample-{seed}").split()
    marked = [
        [bar["label"] for bar in header["bars"] if bar["mark"]] for header, _ in shown(app, "bars")
    ]
    assert marked == [[f"{colour} {form}"], [colour], [form]]


def test_a_sample_is_offered_to_the_models_that_know_them(visit: Visit, tiny: Tiny) -> None:
    app = visit("overview", text="", model=tiny("vit"))
    assert app.selectbox(KEY("image.en")).options == [
        i18n.text("en", f"picture.{name}") for name in model_images.DRAWN
    ]
    assert not [each for each in app.button if each.key == KEY("sample.next")]


@pytest.mark.slow
def test_another_picture_replaces_a_sample(visit: Visit, sampled: str) -> None:
    app = visit("output", text="", model=sampled)
    app.selectbox(KEY("image.en")).set_value("stripes").run()
    assert parameters(app)["image"] == "stripes"
    app.selectbox(KEY("image.en")).set_value("sample").run()
    assert parameters(app)["image"] == "sample-1"
    assert not app.error


def test_a_hostile_picture_in_the_address_is_replaced(visit: Visit, sampled: str) -> None:
    app = visit("output", text="", model=sampled, image="sample-<script>")
    assert i18n.text("en", "notice.adjusted", names="image") in [each.value for each in app.warning]
    assert "image" not in parameters(app)
    assert not app.error


def test_the_pad_lies_in_the_strip_of_models_that_see(visit: Visit, tiny: Tiny) -> None:
    for model, expected in (("vit", True), ("bert", False)):
        app = visit("overview", text=TEXT, model=tiny(model))
        mounted = [part.proto.component_name for part in app.main.get("bidi_component")]
        assert ("attnviz.drawing_pad" in mounted) == expected


@pytest.mark.slow
def test_shapes_says_what_a_sample_shows(visit: Visit) -> None:
    app = visit("output", text="", model="shapes")
    assert not app.error
    headers = [header for header, _ in shown(app, "bars")]
    assert len(headers) == 3
    truth = model_images.truth("sample-1")
    likeliest = [header["bars"][0] for header in headers]
    assert [bar["label"] for bar in likeliest] == [truth, *truth.split()]
    assert all(bar["mark"] and bar["value"] > 0.5 for bar in likeliest)
    ((header, _),) = shown(app, "patches")
    assert header["patches"] == {"rows": 6, "columns": 6, "first": 1}


@pytest.mark.parametrize(("size", "shown"), [((4000, 1), (192, 1)), ((1, 4000), (192, 768))])
def test_the_preview_of_a_narrow_picture_has_a_height_that_can_be_drawn(
    monkeypatch: pytest.MonkeyPatch, size: tuple[int, int], shown: tuple[int, int]
) -> None:
    drawn: list[tuple[int, int]] = []
    monkeypatch.setattr(picture.uploads, "picture", lambda: Image.new("RGB", size))
    monkeypatch.setattr(picture.st, "image", lambda image, **_: drawn.append(image.size))
    picture._preview("en")
    assert drawn == [shown]
