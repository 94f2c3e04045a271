"""Models that listen: a sound made here or uploaded, frames by their times, on every page."""

from collections.abc import Callable

import numpy as np
import pytest

import attnviz
from attnviz import i18n
from attnviz.app.host import draw
from attnviz.app.session import sounds, view_request, widgets
from attnviz.audio import sound
from attnviz.audio.sound import Sound
from attnviz.errors import BadInput, TooLarge
from attnviz.pictures import grid
from attnviz.pictures.group import groups
from tests.pages.conftest import Visit, bar, is_typed, parameters, pieces, sent, type_text
from tests.support import folders

KEY = widgets.key
Tiny = Callable[[str], str]
PAGES = ("overview", "head", "steps", "masks")


@pytest.mark.some(1)
@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("model", ["wav2vec2", "hubert"])
def test_frames_are_tokens(visit: Visit, tiny: Tiny, page: str, model: str) -> None:
    app = visit(page, model=tiny(model))
    assert not app.error
    assert not is_typed(app)
    header, arrays = sent(app)
    labels = header["tokens"][0] if page == "masks" else header["tokens"]
    assert labels[:3] == ["0.00 s", "0.02 s", "0.04 s"]
    assert len(labels) == 59  # (19200 − 10)/5 + 1 = 3839, (… − 8)/8 + 1 = 479, then 59
    assert labels[-1] == "1.16 s"
    if page == "head":
        cap = attnviz.capture(attnviz.load(tiny(model)), sound=sound.sample())
        shown = np.sqrt((arrays["weights"].astype(np.float64) / 65535) ** 2)
        assert np.abs(shown - np.sqrt(cap.all_weights())).max() <= 0.5 / 65535 + 1e-6


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_what_is_written_looks_at_what_is_heard(
    visit: Visit, tiny: Tiny, lang: i18n.Language
) -> None:
    app = visit("head", lang=lang, model=tiny("whisper"), stack="decoder", kind="cross")
    assert not app.error
    assert len(app.segmented_control) >= 1
    header, _ = sent(app)
    assert header["key_tokens"][:2] == ["0.00 s", "0.02 s"] and len(header["key_tokens"]) == 100
    assert header["tokens"][0] == "<s>" and header["written"] == [
        int(at > 0) for at in range(len(header["tokens"]))
    ]
    said = i18n.text(lang, "empty.sound_title")
    other = visit("head", lang=lang, model=tiny("whisper"), sound="own")
    assert not other.error and other.subheader[0].value == said


@pytest.mark.slow
def test_each_written_token_is_the_likeliest(tiny: Tiny) -> None:
    lm = attnviz.load(tiny("whisper"))
    cap = attnviz.capture(lm, sound=sound.sample(), generate=view_request.N_HEARD)
    assert cap.verify().ok
    ids = cap.tokens_of(stack="decoder").ids
    assert cap.n_generated == len(ids) - 1 > 0
    np.testing.assert_array_equal(cap.logits[0].argmax(-1)[:-1], ids[1:])


@pytest.mark.slow
@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_a_transcript_is_typed(visit: Visit, tiny: Tiny, lang: i18n.Language) -> None:
    app = visit("head", lang=lang, model=tiny("whisper"), stack="decoder", kind="cross")
    piece = pieces(app)["target"]
    assert piece["label"] == i18n.text(lang, "menu.transcript") and piece["text"] == ""
    type_text(app, "the cat sat", "target")
    assert not app.error
    header, arrays = sent(app)
    assert header["tokens"] == ["<s>", "the", "cat", "sat"] and not any(header["written"])
    assert parameters(app)["target"] == "the cat sat"
    cap = attnviz.capture(attnviz.load(tiny("whisper")), sound=sound.sample(), target="the cat sat")
    expected = np.stack([cap.weights(layer, stack="decoder", kind="cross") for layer in (0, 1)])
    shown = (arrays["weights"].astype(np.float64) / 65535) ** 2
    assert np.abs(np.sqrt(shown) - np.sqrt(expected)).max() <= 0.5 / 65535 + 1e-6
    app.selectbox(KEY(f"model.{lang}")).set_value("minilm").run()
    assert "target" not in parameters(app)


@pytest.mark.some(1)
@pytest.mark.parametrize("page", [*PAGES, "output"])
def test_every_page_opens_on_a_transcript(visit: Visit, tiny: Tiny, page: str) -> None:
    app = visit(page, model=tiny("moonshine"), target="a dog ran", stack="decoder")
    assert not app.error
    if page != "output":
        header, _ = sent(app)
        tokens = header["tokens"][0] if page == "masks" else header["tokens"]
        read = [name.split("\u2009")[0] for name in tokens]  # Masks says what each row predicts
        assert read == ["<s>", "a", "dog", "ran"]


@pytest.mark.some(1)
@pytest.mark.parametrize(
    ("model", "stack", "kind", "frames"),
    [
        ("wav2vec2", "encoder", "self", 59),
        ("whisper", "encoder", "self", 100),
        ("whisper", "decoder", "cross", 100),
        ("whisper", "decoder", "self", None),
        ("moonshine", "decoder", "cross", 48),
    ],
)
def test_the_sound_stands_under_keys_that_are_its_frames(
    visit: Visit, tiny: Tiny, model: str, stack: str, kind: str, frames: int | None
) -> None:
    header, arrays = sent(visit("head", model=tiny(model), stack=stack, kind=kind))
    if frames is None:
        assert header["heard"] is None and "heard.levels" not in arrays
        return
    step = 0.024 if model == "moonshine" else 0.02
    assert header["heard"] == {"frames": frames, "step_s": step, "seconds": 1.2}
    expected = sound.spectrogram(sound.sample(), 8 * frames, step / 8)
    np.testing.assert_array_equal(arrays["heard.levels"], expected)
    assert header["key_special"] == [int(at * step >= 1.2) for at in range(frames)]


@pytest.mark.slow
def test_overview_shows_many_frames_from_afar(
    visit: Visit, tiny: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(groups, "MAX_CELLS", 1000)
    monkeypatch.setattr(grid, "MAX_POINTS", 6 * 34**2)
    monkeypatch.setattr(draw, "kept_bytes", lambda _key, build: build())
    app = visit("overview", model=tiny("whisper"), stack="encoder", kind="self", query="50")
    assert not app.error and not app.info
    header, arrays = sent(app)
    assert header["pooled"] == {"side": 3, "n_query": 100, "n_key": 100}
    assert header["tokens"][:2] == ["0.00 s …", "0.06 s …"] and header["n_query"] == 34
    assert header["special"] == [int(at >= 20) for at in range(34)]  # 1.2 s are 60 frames
    cap = attnviz.capture(attnviz.load(tiny("whisper")), sound=sound.sample(), target="the")
    weights = np.pad(cap.all_weights(stack="encoder"), ((0, 0), (0, 0), (0, 2), (0, 2)))
    expected = weights.reshape(2, 3, 34, 3, 34, 3).max(axis=(3, 5))
    assert np.abs(arrays["weights"] / 255 - np.sqrt(expected)).max() <= 0.5 / 255 + 1e-6
    monkeypatch.setattr(groups, "MAX_POOLED_CELLS", 1000)
    assert visit("overview", model=tiny("whisper"), stack="encoder", kind="self").info


@pytest.mark.slow
@pytest.mark.parametrize("target", ["", "the cat sat"])
def test_output_shows_what_is_likely_next(visit: Visit, tiny: Tiny, target: str) -> None:
    app = visit("output", model=tiny("whisper"), target=target)
    # the switches of the same page act on a transcript
    needs = [] if target else [i18n.text("en", "switchboard.no_transcript")]
    assert not app.error and [info.value for info in app.info] == needs
    header, arrays = sent(app)
    cap = attnviz.capture(
        attnviz.load(tiny("whisper")),
        sound=sound.sample(),
        target=target or None,
        generate=0 if target else view_request.N_HEARD,
    )
    assert tuple(header["tokens"]) == cap.tokens_of(stack="decoder").labels
    likeliest = [header["draws"]["vocabulary"][row[0]] for row in arrays["draws.ids"]]
    words = [folders.WORDS[at] for at in cap.logits[0].argmax(-1)]
    assert likeliest == words


def test_a_transcript_that_is_too_long_can_be_cut(visit: Visit, tiny: Tiny) -> None:
    app = visit("head", model=tiny("whisper"), target="the cat " * 20, stack="decoder")
    assert [each.value for each in app.error] == [
        i18n.text("en", "error.too_many_tokens", found="41", limit="32")
    ]
    app.button(KEY("way_out.too_many_tokens")).click().run()
    assert not app.error and len(sent(app)[0]["tokens"]) == 32
    assert i18n.text("en", "cut.notice", limit="32") in [each.value for each in app.info]


def test_a_model_that_only_hears_has_no_box(visit: Visit, tiny: Tiny) -> None:
    app = visit("head", model=tiny("wav2vec2"), target="the cat")
    assert not app.error and not is_typed(app)
    assert len(sent(app)[0]["tokens"]) == 59


@pytest.mark.slow
def test_two_transcripts_are_compared(visit: Visit, tiny: Tiny) -> None:
    place = {"stack": "decoder", "kind": "cross"}
    app = visit("compare", model=tiny("whisper"), target="the cat sat", **place)
    assert pieces(app, "strip.b")["target_b"]["text"] == "the cat sat"
    type_text(app, "the dog sat", "target_b")
    assert not app.error and parameters(app)["target_b"] == "the dog sat"
    header, _ = sent(app)
    assert [side["tokens"] for side in (header["a"], header["b"])] == [
        ["<s>", "the", animal, "sat"] for animal in ("cat", "dog")
    ]


def test_a_sound_is_uploaded(visit: Visit, tiny: Tiny) -> None:
    app = visit("overview", model=tiny("wav2vec2"))
    mine = Sound(sound.sample(44_100).samples[:22_050], 44_100)
    app.file_uploader(KEY("sound_file")).set_value(("mine.wav", mine.wav(), "audio/wav")).run()
    assert not app.error
    assert parameters(app)["sound"] == "own"
    assert len(sent(app)[0]["tokens"]) == 24  # half a second
    app.file_uploader(KEY("sound_file")).set_value(("mine.wav", b"no sound", "audio/wav")).run()
    assert [each.value for each in app.error] == [i18n.text("en", "error.bad_sound")]
    app.selectbox(KEY("sound.en")).set_value("tones").run()
    assert "sound" not in parameters(app)
    assert len(sent(app)[0]["tokens"]) == 59


@pytest.mark.some(2)
@pytest.mark.parametrize("model", ["wav2vec2", "whisper"])
@pytest.mark.parametrize("page", ["compare", "output"])
def test_the_other_pages_take_a_sound(visit: Visit, tiny: Tiny, page: str, model: str) -> None:
    assert not visit(page, model=tiny(model)).error


def test_what_does_not_fit_is_refused(tiny: Tiny) -> None:
    made = sound.sample()
    for given, code in (
        ({"lm": attnviz.load("minilm"), "sound": made}, "no_feature_extractor"),
        ({"lm": attnviz.load(tiny("wav2vec2")), "sound": made, "text": "a"}, "what_to_capture"),
    ):
        with pytest.raises(BadInput) as raised:
            attnviz.capture(**given)
        assert raised.value.code == code
    with pytest.raises(TooLarge) as long:
        attnviz.capture(attnviz.load(tiny("whisper")), sound=made, generate=32)
    assert long.value.code == "no_room_to_write"


@pytest.mark.some(1)
@pytest.mark.parametrize(
    ("stack", "kind"), [("encoder", "self"), ("decoder", "self"), ("decoder", "cross")]
)
def test_steps_of_whisper_begin_with_x_and_say_how_q_was_scaled(
    visit: Visit, tiny: Tiny, stack: str, kind: str
) -> None:
    app = visit("steps", model=tiny("whisper"), stack=stack, kind=kind, layer="1", head="1")
    assert not app.error
    header, arrays = sent(app)
    panels = {panel["stage"]: panel for panel in header["panels"]}
    assert panels["x"]["absent"] is None and arrays["x"].shape[1] == header["d_model"]
    assert panels["q"]["formula"] == "Q = s_Q·(X·W_Q + b_Q)"
    assert panels["k"]["formula"] == ("K = E·W_K" if kind == "cross" else "K = X·W_K")
    for stage in ("q", "k", "v", "projected"):
        assert panels[stage]["ok"] and panels[stage]["error"] <= panels[stage]["tolerance"]
    width = header["d_head"]
    assert header["scaling"] == 1
    said = {
        stage: what.replace("\N{NO-BREAK SPACE}", " ") for stage, what in header["factors"].items()
    }
    assert said == {"q": f"s_Q = {width**-0.5:.4g} = 1 ÷ √d_k"}
    lm = attnviz.load(tiny("whisper"))
    layer = lm.model.get_submodule(f"model.{stack}.layers.1")
    attention = layer.encoder_attn if kind == "cross" else layer.self_attn
    weight, bias = (of.detach().numpy()[width : 2 * width] for of in attention.q_proj.parameters())
    expected = width**-0.5 * (arrays["x"] @ weight.T + bias)
    np.testing.assert_allclose(arrays["q"], expected, atol=1e-5)


@pytest.mark.slow
def test_how_much_is_written_of_a_sound_is_asked_for(visit: Visit, tiny: Tiny) -> None:
    app = visit("head", model=tiny("whisper"), stack="decoder", kind="self")
    box = app.number_input(KEY("generate"))
    assert (box.value, box.min, box.max) == (view_request.N_HEARD, 1, 64)
    assert "generate" not in parameters(app)
    box.set_value(3).run()
    assert not app.error
    assert parameters(app)["generate"] == "3"
    lm = attnviz.load(tiny("whisper"))
    for n, opened in ((3, app), (5, visit("head", **{**parameters(app), "generate": "5"}))):
        cap = attnviz.capture(lm, sound=sound.sample(), generate=n)
        assert cap.n_generated == n, "the case is about a model that does not end before"
        assert tuple(sent(opened)[0]["tokens"]) == cap.tokens_of(stack="decoder").labels
    type_text(app, "the cat sat", "target")
    assert not bar(app).number_input
    assert not bar(visit("head", model=tiny("wav2vec2"), generate="5")).number_input


@pytest.mark.slow
@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_output_says_how_the_tokens_came_about(
    visit: Visit, tiny: Tiny, lang: i18n.Language
) -> None:
    """Not drawn, whatever the address still asks of another model."""
    of = {"lang": lang, "model": tiny("whisper"), "temperature": "1.5"}
    said = [sent(visit("output", **of, target=target))[0]["draws"] for target in ("", "the cat")]
    expected = [i18n.text(lang, f"sampling.{how}") for how in ("greedy", "typed")]
    assert [each["sampling"] for each in said] == expected
    assert [each["sampled"] for each in said] == [0, 0]


def test_a_sound_is_drawn_once_for_all_runs() -> None:
    chosen = sounds.named(sounds.SAMPLE)
    assert chosen is not None
    assert chosen is sounds.named(sounds.SAMPLE)
    assert sounds.heard(chosen)[1] is sounds.heard(chosen)[1]
    assert sounds.heard(chosen)[0] == chosen.wav()
