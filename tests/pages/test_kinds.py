"""Models of every kind on every page: attentions to choose from, and their own two axes."""

from collections.abc import Callable
from io import BytesIO
from typing import Any

import numpy as np
import pytest
from PIL import Image

import attnviz
from attnviz import i18n
from attnviz.app.session import model_images, widgets
from attnviz.experiment.outputs.answer import answer
from attnviz.masks.spec import MASK_NAMES
from tests.pages.conftest import Visit, bar, beside_bar, is_typed, parameters, sent, told
from tests.support.cases import mostly_slow

KEY = widgets.key
PAGES = ("overview", "head", "steps", "masks")
TEXT, SECOND = "the cat sat on a mat", "the dog ran"
Tiny = Callable[[str], str]


def read(tokens: list[Any]) -> list[str]:
    """The tokens of the rows; Masks has them by sentence, with what each row predicts."""
    rows = tokens[0] if isinstance(tokens[0], list) else tokens
    return [name.split("\u2009")[0] for name in rows]


@pytest.mark.some(1)
@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("model", ["minilm", "gpt2", "llama"])
def test_one_attention_leaves_nothing_to_choose(
    visit: Visit, tiny: Tiny, page: str, model: str
) -> None:
    opened = model if model == "minilm" else tiny(model)
    app = visit(page, text=TEXT, text2="", model=opened)
    assert not app.error
    assert not app.segmented_control
    header, _ = sent(app)
    keys = header["key_tokens"]
    assert read(header["tokens"]) == (keys[0] if page == "masks" else keys)
    assert header["cross"] == 0


def test_a_decoders_chance_counts_only_what_it_can_see(visit: Visit, tiny: Tiny) -> None:
    words = told(visit("overview", text=TEXT, model=tiny("gpt2")))
    cap = attnviz.capture(attnviz.load(tiny("gpt2")), TEXT)
    visible = np.stack([np.tri(len(cap.tokens), dtype=bool)] * 2)
    roles = attnviz.metrics.describe(cap.all_weights(), cap.tokens, visible=visible)
    chance = f"{100 * roles[0][0].baseline:.0f}%"
    assert chance in words["sentences"][0][0]


@pytest.mark.slow
def test_a_small_chance_is_not_none(visit: Visit) -> None:
    words = told(visit("overview", text="cat " * 400))
    spread = [said for layer in words["sentences"] for said in layer if "uniform: " in said]
    assert any("(uniform: 0.2%)" in said for said in spread)
    assert not any("(uniform: 0%)" in said for said in spread)


def test_how_own_code_is_checked_is_said(visit: Visit, tiny: Tiny) -> None:
    said = {}
    for model in ("bert", "deberta"):
        app = visit("head", text=TEXT, model=tiny(model))
        said[model] = [each.value for each in app.markdown]
    assert i18n.text("en", "verify.explain") in said["bert"]
    assert i18n.text("en", "verify.explain_own_code") in said["deberta"]
    assert i18n.text("en", "verify.explain_own_code") not in said["bert"]


@pytest.mark.slow
def test_a_decoder_ran_a_causal_mask(visit: Visit, tiny: Tiny) -> None:
    header, arrays = sent(visit("masks", text=TEXT, text2=SECOND, model=tiny("gpt2")))
    assert header["mask_names"] == list(MASK_NAMES)
    assert header["as_model"] == 3
    cap = attnviz.capture(attnviz.load(tiny("gpt2")), [TEXT, SECOND])
    for batch in (0, 1):
        real = ~cap.tokens_of(batch).padding
        own = cap.weights(0, 0, batch=batch)
        np.testing.assert_allclose(arrays["weights"][batch][real], own[real], atol=1e-6)


def test_steps_of_a_decoder_name_the_future(visit: Visit, tiny: Tiny) -> None:
    _, arrays = sent(visit("steps", text=TEXT, model=tiny("gpt2")))
    n = len(arrays["blocked"])
    assert (arrays["blocked"] == np.triu(np.full((n, n), 2), 1)).all()


@pytest.mark.slow
@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_a_model_that_writes_says_what_it_needs(
    visit: Visit, tiny: Tiny, lang: i18n.Language
) -> None:
    app = visit("overview", lang=lang, text=TEXT, model=tiny("t5"))
    assert not app.error
    assert app.subheader[0].value == i18n.text(lang, "empty.target_title")
    app.button(KEY("start.write")).click().run()
    assert not app.error
    lm = attnviz.load(tiny("t5"))
    written = answer(lm, TEXT)
    assert parameters(app)["target"] == written
    assert len(app.segmented_control) == 1
    assert len(sent(app)[0]["tokens"]) == len(TEXT.split()) + 1


@pytest.mark.slow
@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_tokens_that_were_written_are_counted(
    visit: Visit, tiny: Tiny, lang: i18n.Language
) -> None:
    app = visit("overview", lang=lang, text=TEXT, model=tiny("marian"), generate="8")
    assert not app.error
    found = attnviz.capture(attnviz.load(tiny("marian")), TEXT, generate=9).n_generated
    said = i18n.text(lang, "notice.ended", count=found, asked=8)
    assert (said in [each.value for each in app.main.caption]) == (found < 8)


@pytest.mark.some(1)
@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("model", mostly_slow(["marian", "t5"], 1))
@pytest.mark.parametrize(("stack", "kind"), [("encoder", "self"), ("decoder", "cross")])
def test_an_encoder_decoder_on_every_page(
    visit: Visit, tiny: Tiny, page: str, model: str, stack: str, kind: str
) -> None:
    asked = {"text": TEXT, "text2": "", "target": SECOND, "stack": stack, "kind": kind}
    app = visit(page, model=tiny(model), layer="1", head="2", **asked)
    assert not app.error
    header, arrays = sent(app)
    cap = attnviz.capture(attnviz.load(tiny(model)), TEXT, target=SECOND)
    call = cap.call(1, kind, stack)  # type: ignore[arg-type]
    rows, columns = list(cap.query_tokens(call).labels), list(cap.key_tokens(call).labels)
    one = page != "masks"
    assert read(header["tokens"]) == rows
    assert header["key_tokens"] == (columns if one else [columns])
    assert header["cross"] == int(kind == "cross")
    assert arrays["weights"].shape[-2:] == (len(rows), len(columns))
    if page == "steps":
        np.testing.assert_allclose(arrays["weights"], call.weights(2), atol=1e-6)
    if page == "masks":
        ran, causal = header["as_model"], kind == "self" and stack == "decoder"
        assert ran == (3 if causal else 1)
        np.testing.assert_allclose(arrays["weights"][0], call.weights(2), atol=1e-6)


def test_another_attention_is_chosen(visit: Visit, tiny: Tiny) -> None:
    app = visit("overview", text=TEXT, target=SECOND, model=tiny("marian"), layer="1", query="1")
    (choice,) = app.segmented_control
    choice.set_value("decoder_cross").run()
    found = parameters(app)
    assert (found["stack"], found["kind"], found["layer"]) == ("decoder", "cross", "1")
    assert "query" not in found
    assert sent(app)[0]["cross"] == 1


@pytest.mark.some(2)
@pytest.mark.parametrize("page", PAGES)
def test_what_a_decoder_writes_is_marked(visit: Visit, tiny: Tiny, page: str) -> None:
    app = visit(page, text=TEXT, text2="", model=tiny("gpt2"), generate="3")
    assert not app.error
    header, _ = sent(app)
    prompt = len(TEXT.split())
    written = header["written"][0] if page == "masks" else header["written"]
    assert written == [0] * prompt + [1] * 3
    (note,) = [each.value for each in app.main.caption if "italics" in each.value]
    assert "3 tokens" in note


def test_what_a_model_writes_is_what_the_library_writes(visit: Visit, tiny: Tiny) -> None:
    header, arrays = sent(visit("head", text=TEXT, model=tiny("llama"), generate="4"))
    cap = attnviz.capture(attnviz.load(tiny("llama")), TEXT, generate=5)
    assert header["tokens"] == list(cap.tokens.labels)
    shown = np.sqrt((arrays["weights"].astype(np.float64) / 65535) ** 2)
    assert np.abs(shown - np.sqrt(cap.all_weights())).max() <= 0.5 / 65535 + 1e-6


def test_too_many_tokens_to_write_are_refused(visit: Visit, tiny: Tiny) -> None:
    app = visit("overview", text=TEXT, model=tiny("gpt2"), generate="40")
    said = i18n.text("en", "error.no_room_to_write", found=46, limit=32)
    assert [each.value for each in app.error] == [said]
    app.button(KEY("way_out.no_room_to_write")).click().run()
    assert not app.error
    assert "generate" not in parameters(app)


def test_minilm_is_asked_for_nothing_more(visit: Visit) -> None:
    app = visit("overview", text=TEXT, generate="5", target="x")
    assert not app.error
    assert not app.number_input
    assert not bar(app).text_input


@pytest.mark.some(2)
@pytest.mark.parametrize("page", PAGES)
def test_a_vision_model_reads_a_picture(visit: Visit, tiny: Tiny, page: str) -> None:
    app = visit(page, text="", model=tiny("vit"), image="landscape")
    assert not app.error
    assert not is_typed(app)
    header, arrays = sent(app)
    labels = header["tokens"][0] if page == "masks" else header["tokens"]
    assert labels[:2] == ["[CLS]", "r0c0"]
    assert len(labels) == 10  # 3 × 3 patches and [CLS]
    assert parameters(app)["image"] == "landscape"
    cap = attnviz.capture(attnviz.load(tiny("vit")), image=model_images.drawn("landscape"))
    if page == "head":
        assert header["patches"] == {"rows": 3, "columns": 3, "first": 1}
        assert arrays["patches.picture"].shape == (12, 12, 3)
        shown = np.sqrt((arrays["weights"].astype(np.float64) / 65535) ** 2)
        assert np.abs(shown - np.sqrt(cap.all_weights())).max() <= 0.5 / 65535 + 1e-6


def test_the_picture_is_what_the_model_saw(visit: Visit, tiny: Tiny) -> None:
    _, arrays = sent(visit("head", text="", model=tiny("vit")))
    expected = model_images.drawn("shapes").resize((12, 12), Image.Resampling.BILINEAR)
    off = arrays["patches.picture"].astype(int) - np.asarray(expected).astype(int)
    assert np.abs(off).max() <= 2


def test_another_picture_is_chosen(visit: Visit, tiny: Tiny) -> None:
    app = visit("overview", text="", model=tiny("vit"))
    app.selectbox(KEY("image.en")).set_value("stripes").run()
    assert not app.error
    assert parameters(app)["image"] == "stripes"


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_an_upload_of_another_session_is_not_here(
    visit: Visit, tiny: Tiny, lang: i18n.Language
) -> None:
    app = visit("overview", lang=lang, text="", model=tiny("vit"), image="own")
    assert not app.error
    assert app.subheader[0].value == i18n.text(lang, "empty.picture_title")


def test_a_picture_is_uploaded(visit: Visit, tiny: Tiny) -> None:
    app = visit("head", text="", model=tiny("vit"))
    data = BytesIO()
    model_images.drawn("stripes").save(data, "PNG")
    app.file_uploader(KEY("upload")).set_value(("mine.png", data.getvalue(), "image/png")).run()
    assert not app.error
    assert parameters(app)["image"] == "own"
    app.file_uploader(KEY("upload")).set_value(("mine.png", b"no picture", "image/png")).run()
    assert [each.value for each in app.error] == [i18n.text("en", "error.bad_picture")]
    assert sent(app)[0]["patches"] is not None


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
@pytest.mark.parametrize("page", ["steps", "masks"])
def test_attention_of_own_code_is_said(
    visit: Visit, tiny: Tiny, page: str, lang: i18n.Language
) -> None:
    app = visit(page, lang=lang, text=TEXT, text2="", model=tiny("deberta"))
    assert not app.error
    assert not beside_bar(app)
    (said,) = app.info
    module = "deberta.encoder.layer.0.attention.self"
    assert said.value.replace("\\", "") == i18n.text(lang, "own_code.body", module=module)
    assert i18n.text(lang, "own_code.link") in [button.label for button in app.main.button]


def test_weights_of_own_code_are_shown(visit: Visit, tiny: Tiny) -> None:
    header, _ = sent(visit("overview", text=TEXT, model=tiny("deberta")))
    assert (header["n_layers"], header["n_heads"]) == (2, 3)


def test_what_was_not_recorded_is_said(visit: Visit, tiny: Tiny) -> None:
    """ConvBERT's convolutions have a softmax of their own, without keys."""
    app = visit("head", text=TEXT, model=tiny("convbert"))
    assert not app.error and sent(app)
    missing = attnviz.capture(attnviz.load(tiny("convbert")), TEXT).missing
    assert len(missing) == 2
    (line,) = app.warning
    assert line.value == i18n.text("en", "verify.missing", count=2)
    reasons = [text.value for text in app.text]
    assert {f"{call.module}: {call.reason}" for call in missing} <= set(reasons)
    complete = visit("head", text=TEXT, model=tiny("bert"))
    assert not complete.warning


def test_a_softcap_has_its_step(visit: Visit, tiny: Tiny) -> None:
    app = visit("steps", text=TEXT, model=tiny("gemma2"))
    assert not app.error
    header, arrays = sent(app)
    formulas = {panel["stage"]: panel["formula"] for panel in header["panels"]}
    assert formulas["capped"] == "C = c·tanh((S × 0.25) ÷ c)"
    assert formulas["weights"] == "A = softmax(C + M)"
    assert np.abs(arrays["capped"]).max() <= 2


def test_a_models_own_window_is_found_and_sized(visit: Visit, tiny: Tiny) -> None:
    app = visit("masks", text=TEXT, text2="", model=tiny("gemma2"))
    assert not app.error
    header, arrays = sent(app)
    on = {name for bit, name in enumerate(MASK_NAMES) if header["as_model"] >> bit & 1}
    assert on == {"padding", "causal", "window"}
    own = attnviz.capture(attnviz.load(tiny("gemma2")), TEXT).weights(0, 0)
    np.testing.assert_allclose(arrays["weights"][0], own, atol=1e-6)
    span = int(np.subtract(*np.nonzero(own)).max()) + 1
    assert header["sizes"]["window"] == span < len(own)


def test_a_bias_has_its_step(visit: Visit, tiny: Tiny) -> None:
    header, _ = sent(visit("steps", text=TEXT, target=SECOND, model=tiny("t5")))
    formulas = {panel["stage"]: panel["formula"] for panel in header["panels"]}
    assert formulas["scaled"] == "S × 1"
    assert formulas["biased"] == "S × 1 + B"
