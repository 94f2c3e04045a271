"""Models that listen: a typed transcript against eager attention, and frames at their true times.

The samples of one frame are found by changing them: only what a frame hears may change it.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import WhisperModel, WhisperTokenizer

from attnviz import metrics
from attnviz.audio import sound
from attnviz.audio.sound import Sound
from attnviz.capture.run import capture
from attnviz.errors import AttnVizError, BadInput
from attnviz.models.loaded_model import LoadedModel
from attnviz.models.loader import load
from tests.support import folders

TOLERANCE = 1e-5
KINDS = (
    ("encoder", "self", "encoder_attentions"),
    ("decoder", "self", "decoder_attentions"),
    ("decoder", "cross", "cross_attentions"),
)
Open = Callable[[str], LoadedModel]


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Open:
    """A function that loads a tiny model, once."""
    root, known = tmp_path_factory.mktemp("models"), dict[str, LoadedModel]()

    def model(name: str) -> LoadedModel:
        if name not in known:
            known[name] = load(folders.save(root / name, name))
        return known[name]

    return model


def eager(lm: LoadedModel, made: Sound, ids: list[int]) -> dict[str, tuple[torch.Tensor, ...]]:
    heard = lm.processor(made.samples, sampling_rate=made.rate, return_tensors="pt")
    lm.model.set_attn_implementation("eager")
    with torch.no_grad():
        out = lm.model(**heard, decoder_input_ids=torch.tensor([ids]), output_attentions=True)
    lm.model.set_attn_implementation("sdpa")
    return {name: value for name, value in out.items() if name.endswith("attentions")}


@pytest.mark.parametrize("name", ["whisper", "moonshine"])
def test_a_typed_transcript_is_what_the_decoder_reads(opened: Open, name: str) -> None:
    lm, made = opened(name), sound.sample()
    assert lm.kind == "speech" and lm.card.transcribes
    cap = capture(lm, sound=made, target="the cat sat")
    written = cap.tokens_of(stack="decoder")
    assert written.labels == ("<s>", "the", "cat", "sat") and cap.n_generated == 0
    assert [written.text[start:end] for start, end in written.offsets[1:]] == ["the", "cat", "sat"]
    ids = [folders.WORDS.index(word) for word in written.labels]
    theirs = eager(lm, made, ids)
    for stack, kind, key in KINDS:
        for layer in range(2):
            ours = cap.weights(layer, kind=kind, stack=stack)
            np.testing.assert_allclose(ours, theirs[key][layer][0], atol=TOLERANCE)
    assert cap.verify().ok
    assert cap.logits is not None and cap.logits.shape[:2] == (1, 4)


def test_the_model_goes_on_from_a_transcript(opened: Open) -> None:
    lm, made = opened("whisper"), sound.sample()
    cap = capture(lm, sound=made, target="the cat", generate=3)
    tokens = cap.tokens_of(stack="decoder")
    assert tokens.labels[:3] == ("<s>", "the", "cat") and cap.n_generated == len(tokens) - 3
    likeliest = cap.logits[0].argmax(-1).tolist()
    assert likeliest[2 : len(tokens) - 1] == tokens.ids[3:].tolist()


@pytest.mark.some(1)
@pytest.mark.parametrize(
    ("typed", "n_mark"),
    [
        ("the ca", 4),
        ("<|en|>the ca", 2),
        ("<|startoftranscript|><|en|><|transcribe|>the ca<|endoftext|>", 3),
    ],
)
def test_special_tokens_are_whispers_own_or_typed(opened: Open, typed: str, n_mark: int) -> None:
    marks = ["<|startoftranscript|>", "<|en|>", "<|transcribe|>", "<|notimestamps|>"]
    pieces = ["<|endoftext|>", "t", "h", "e", "Ġ", "c", "a", "th", "the", "Ġc", "Ġca", *marks]
    merges = [("t", "h"), ("th", "e"), ("Ġ", "c"), ("Ġc", "a")]
    ids = {piece: place for place, piece in enumerate(pieces)}
    named = {"bos_token": marks[0], "extra_special_tokens": marks}
    own = WhisperTokenizer(ids, merges, language="en", task="transcribe", **named)
    lm = opened("whisper")
    lm = LoadedModel(lm.card, lm.key, lm.model, own, lm.processor)
    lm.model.generation_config.decoder_start_token_id = ids[marks[0]]
    try:
        found = capture(lm, sound=sound.sample(), target=typed).tokens_of(stack="decoder")
        assert found.labels == (*marks[:n_mark], "the", "ca")
        assert found.special.tolist() == [True] * n_mark + [False] * 2
    finally:
        lm.model.generation_config.decoder_start_token_id = 4


def test_what_cannot_be_transcribed_is_refused(opened: Open) -> None:
    long = "the " * 40
    for name, target, code in (
        ("wav2vec2", "the", "only_hears"),
        ("whisper", "  ", "empty_text"),
        ("whisper", ["the", "cat"], "pair_count"),
        ("whisper", long, "too_many_tokens"),
    ):
        with pytest.raises(AttnVizError) as raised:
            capture(opened(name), sound=sound.sample(), target=target)
        assert raised.value.code == code
    cut = capture(opened("whisper"), sound=sound.sample(), target=long, cut=True)
    assert len(cut.tokens_of(stack="decoder")) == 32
    lm = opened("whisper")
    bare = LoadedModel(lm.card, lm.key, lm.model, None, lm.processor)
    with pytest.raises(AttnVizError) as raised:
        capture(bare, sound=sound.sample(), target="the")
    assert raised.value.code == "no_tokenizer"


def test_without_a_head_over_words_nothing_is_written(opened: Open, tmp_path: Path) -> None:
    WhisperModel(opened("whisper").model.config).save_pretrained(tmp_path)
    opened("whisper").processor.save_pretrained(tmp_path)
    lm = load(tmp_path)
    with pytest.raises(BadInput, match="cannot write text: it has no language-model head"):
        capture(lm, sound=sound.sample(), generate=5)
    cap = capture(lm, sound=sound.sample())
    assert cap.n_generated == 0 and len(cap.tokens_of(stack="decoder")) == 1


def test_silence_after_the_sound_is_padding_that_counts_as_seen(opened: Open) -> None:
    cap = capture(opened("whisper"), sound=sound.sample(), target="the cat")
    frames = cap.tokens_of(stack="encoder")
    assert cap.frame_s == 0.02
    assert frames.padding.tolist() == [False] * 60 + [True] * 40  # 1.2 s of 2
    np.testing.assert_array_equal(frames.padding, frames.special)
    weights = cap.all_weights(stack="encoder")
    seen = np.ones(weights[:, 0].shape, dtype=np.bool_)
    (role, *_), *_ = metrics.describe(weights, frames, visible=seen)
    assert role.role == "spread" and role.baseline == pytest.approx(1 / 100)


@pytest.mark.some(2)
@pytest.mark.parametrize(
    ("name", "step_ms", "n_frame"),
    [("wav2vec2", 20, 59), ("sew", 40, 29), ("moonshine", 24, 48), ("whisper", 20, 100)],
)
def test_frames_are_named_by_their_times(
    opened: Open, name: str, step_ms: int, n_frame: int
) -> None:
    stack = "encoder" if name in folders.TRANSCRIBING else None
    labels = capture(opened(name), sound=sound.sample()).tokens_of(stack=stack).labels
    digits = 3 if step_ms == 24 else 2
    assert len(labels) == n_frame
    assert labels[7] == f"{7 * step_ms / 1000:.{digits}f} s"
