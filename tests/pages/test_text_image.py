"""Models that read a text and a picture: both in the menu, a choice of stacks, every page."""

from collections.abc import Callable

import numpy as np
import pytest

import attnviz
from attnviz import i18n
from attnviz.app.session import model_images, uploads, widgets
from attnviz.errors import BadInput
from tests.pages.conftest import Visit, bar, parameters, pieces, sent, type_text

KEY = widgets.key
TEXT = "the cat sat on a mat"
Tiny = Callable[[str], str]
PAGES = ("overview", "head", "steps", "masks")
STACKS = {
    "clip": ["vision_self", "text_self"],
    "siglip": ["vision_self", "vision_cross", "text_self"],
    "blip": ["vision_self", "text_self", "text_cross"],
    "llava": ["vision_self", "text_self"],
}


@pytest.mark.some(1)
@pytest.mark.parametrize("model", list(STACKS))
def test_both_are_read_and_stacks_are_chosen(visit: Visit, tiny: Tiny, model: str) -> None:
    app = visit("overview", text=TEXT, model=tiny(model), image="landscape")
    assert not app.error
    assert pieces(app)["text"]["field"] and app.selectbox(KEY("image.en")).value == "landscape"
    (control,) = app.segmented_control
    names = [i18n.text("en", f"attention.{name}") for name in STACKS[model]]
    assert [option.content for option in control.proto.options] == names
    assert sent(app)[0]["n_layers"] == 2


@pytest.mark.some(1)
@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("stack", ["vision", "text"])
def test_each_page_shows_each_stack(visit: Visit, tiny: Tiny, page: str, stack: str) -> None:
    app = visit(page, text=TEXT, model=tiny("clip"), image="stripes", stack=stack)
    assert not app.error
    header, arrays = sent(app)
    labels = header["tokens"][0] if page == "masks" else header["tokens"]
    assert labels == TEXT.split() if stack == "text" else labels[:2] == ["[CLS]", "r0c0"]
    assert parameters(app)["image"] == "stripes"
    if page == "head":
        assert (header["patches"] is not None) == (stack == "vision")
        cap = attnviz.capture(attnviz.load(tiny("clip")), TEXT, image=model_images.drawn("stripes"))
        own = np.stack([cap.weights(layer, stack=stack) for layer in (0, 1)])
        shown = np.sqrt((arrays["weights"].astype(np.float64) / 65535) ** 2)
        assert np.abs(shown - np.sqrt(own)).max() <= 0.5 / 65535 + 1e-6


def test_a_text_looks_across_at_a_picture(visit: Visit, tiny: Tiny) -> None:
    app = visit("head", text=TEXT, model=tiny("blip"), stack="text", kind="cross")
    assert not app.error
    header, _ = sent(app)
    assert header["tokens"] == TEXT.split()
    assert header["key_tokens"][:2] == ["[CLS]", "r0c0"] and len(header["key_tokens"]) == 17
    assert header["cross"] == 1 and header["patches"] is None


def test_a_picture_stands_in_the_text(visit: Visit, tiny: Tiny) -> None:
    app = visit("steps", text=TEXT, model=tiny("llava"), stack="text")
    assert not app.error
    header, arrays = sent(app)
    assert header["tokens"][:2] == ["r0c0", "r0c1"]
    assert header["tokens"][16:] == TEXT.split()
    n = len(header["tokens"])
    assert (arrays["blocked"] == np.triu(np.full((n, n), 2), 1)).all()  # what is to come


@pytest.mark.slow
def test_a_picture_stands_where_the_text_names_it(tiny: Tiny) -> None:
    lm = attnviz.load(tiny("llava"))
    cap = attnviz.capture(lm, "the cat [UNK] sat", image=model_images.drawn("shapes"))
    labels = cap.tokens_of(stack="text").labels
    assert labels[:3] == ("the", "cat", "r0c0") and labels[18:] == ("sat",)
    assert cap.verify().ok


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_a_text_and_a_picture_are_asked_for(visit: Visit, tiny: Tiny, lang: i18n.Language) -> None:
    app = visit("overview", lang=lang, text=TEXT, model=tiny("clip"), image="own")
    assert not app.error
    assert app.subheader[0].value == i18n.text(lang, "empty.picture_title")
    type_text(app, " ")
    assert app.subheader[0].value == i18n.text(lang, "empty.title")


@pytest.mark.some(1)
@pytest.mark.parametrize(
    ("model", "found"),
    # 80 words, and in a template six tokens around them
    [("clip", 80), ("llava", 80), ("llava-chat", 86)],
)
def test_a_text_that_is_too_long_is_cut(visit: Visit, tiny: Tiny, model: str, found: int) -> None:
    chat = "1" if model == "llava-chat" else "0"
    app = visit("overview", text="the cat " * 40, model=tiny(model), chat=chat, stack="text")
    said = i18n.text("en", "error.too_many_tokens", found=found, limit=32)
    assert [each.value for each in app.error] == [said]
    app.button(KEY("way_out.too_many_tokens")).click().run()
    assert not app.error
    # the picture named by a template takes the place of its name
    assert len(sent(app)[0]["tokens"]) == (31 if model == "llava-chat" else 32)
    assert [each.value for each in app.info] == [i18n.text("en", "cut.notice", limit=32)]


@pytest.mark.slow
@pytest.mark.parametrize("page", ["compare", "output"])
def test_the_other_pages_take_both(visit: Visit, tiny: Tiny, page: str) -> None:
    app = visit(page, text=TEXT, model=tiny("clip"), stack="text")
    assert not app.error


def test_a_text_model_takes_no_picture() -> None:
    with pytest.raises(BadInput) as raised:
        attnviz.capture(attnviz.load("minilm"), "cat", image=model_images.drawn("shapes"))
    assert raised.value.code == "not_both"


def test_one_text_goes_with_one_picture(tiny: Tiny) -> None:
    with pytest.raises(BadInput) as raised:
        attnviz.capture(
            attnviz.load(tiny("clip")), ["cat", "dog"], image=model_images.drawn("shapes")
        )
    assert raised.value.code == "one_text_one_picture"


@pytest.mark.some(1)
@pytest.mark.parametrize("page", [*PAGES, "compare"])
def test_a_model_of_text_and_picture_writes(visit: Visit, tiny: Tiny, page: str) -> None:
    app = visit(page, text=TEXT, model=tiny("llava"), stack="text", generate="4")
    assert not app.error
    assert bar(app).number_input(KEY("generate")).value == 4
    header = sent(app)[0]
    if page == "masks":
        labels = header["tokens"][0]
    else:
        labels = header["a"]["tokens"] if page == "compare" else header["tokens"]
    assert len(labels) == 16 + 6 + 4
    lm = attnviz.load(tiny("llava"))
    own = attnviz.capture(lm, TEXT, image=uploads.picture(), generate=5)
    assert labels == list(own.tokens_of(stack="text").labels)


def test_what_is_written_is_no_part_of_the_picture(visit: Visit, tiny: Tiny) -> None:
    asked = {"text": TEXT, "model": tiny("llava"), "generate": "4"}
    for stack, n_written in (("vision", 0), ("text", 4)):
        header, _ = sent(visit("head", stack=stack, **asked))
        n = len(header["tokens"])
        assert header["written"] == [0] * (n - n_written) + [1] * n_written


@pytest.mark.slow
def test_output_shows_what_a_model_of_both_expects_next(visit: Visit, tiny: Tiny) -> None:
    app = visit("output", text=TEXT, model=tiny("llava"))
    assert not app.error
    app.button(KEY("write")).click().run()
    assert not app.error
    assert parameters(app)["generate"] == "10"  # 32 positions, 16 pieces, 6 words
    header = sent(app)[0]
    assert len(header["tokens"]) == 32 and header["tokens"][0] == "r0c0"


@pytest.mark.some(1)
@pytest.mark.parametrize("model", ["clip", "blip"])
def test_a_model_that_only_reads_both_is_not_asked_to_write(
    visit: Visit, tiny: Tiny, model: str
) -> None:
    app = visit("overview", text=TEXT, model=tiny(model), generate="4")
    assert not app.error and not bar(app).number_input


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_no_room_to_write_is_said(visit: Visit, tiny: Tiny, lang: i18n.Language) -> None:
    app = visit("head", text=TEXT, model=tiny("llava"), generate="20", lang=lang)
    assert len(app.error) == 1
    app.button(KEY("way_out.no_room_to_write")).click().run()
    assert not app.error


@pytest.mark.slow
def test_any_token_of_a_text_is_laid_over_the_picture_in_it(visit: Visit, tiny: Tiny) -> None:
    asked = {"model": tiny("llava"), "stack": "text", "image": "landscape"}
    for text, first in ((TEXT, 0), ("the cat [UNK] sat", 2)):
        header, arrays = sent(visit("head", text=text, generate="2", **asked))
        assert header["patches"] == {"rows": 4, "columns": 4, "first": first}
        assert header["tokens"][first] == "r0c0" and header["tokens"][first + 15] == "r3c3"
        assert arrays["patches.picture"].shape == (24, 24, 3)
        assert header["words"] == []


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_a_picture_is_named_once(visit: Visit, tiny: Tiny, lang: i18n.Language) -> None:
    app = visit("head", text="[UNK] the [UNK] cat", model=tiny("llava"), lang=lang)
    said = i18n.text(lang, "error.picture_named_twice", token="\\[UNK\\]", found=2)
    assert [each.value for each in app.error] == [said]
