"""Sound: what is read from a file, what is refused, and another rate that is the same sound."""

import io
import struct
import wave

import numpy as np
import pytest

from attnviz.audio import sound
from attnviz.audio.sound import Sound
from attnviz.errors import BadInput, TooLarge


def wav(frames: np.ndarray, rate: int = 8000, width: int = 2) -> bytes:
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(frames.shape[1])
        file.setsampwidth(width)
        file.setframerate(rate)
        file.writeframes(frames.tobytes())
    return out.getvalue()


def test_channels_are_averaged() -> None:
    frames = np.array([[16384, 0], [-32768, 0], [8192, 8192]], dtype="<i2")
    found = sound.read_wav(wav(frames, rate=11_025))
    assert found.rate == 11_025
    np.testing.assert_array_equal(found.samples, np.float32([0.25, -0.5, 0.25]))


def test_a_file_is_read_as_it_was_written() -> None:
    made = sound.sample(8000)
    found = sound.read_wav(made.wav())
    assert found.rate == 8000 and len(found.samples) == len(made.samples)
    assert np.abs(found.samples - made.samples).max() <= 2 / 32768


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "bad_sound"),
        (b"no sound", "bad_sound"),
        (b"RIFF" + struct.pack("<I", 4) + b"WAVE", "bad_sound"),
        (sound.sample(8000).wav()[:20], "bad_sound"),
        (sound.sample(8000).wav()[:38], "bad_sound"),
        (wav(np.zeros((0, 1), "<i2")), "no_sound"),
        (wav(np.zeros((5, 9), "<i2")), "sound_shape"),
        (wav(np.zeros((5, 1), "<i2"), rate=1000), "sound_shape"),
    ],
    ids="empty text no_chunk cut_form cut_header silent channels rate".split(),
)
def test_what_is_no_sound_is_refused(data: bytes, code: str) -> None:
    with pytest.raises(BadInput) as raised:
        sound.read_wav(data)
    assert raised.value.code == code


def test_limits_are_said() -> None:
    with pytest.raises(TooLarge) as raised:
        sound.read_wav(b"\0" * (sound.MAX_BYTES + 1))
    assert raised.value.code == "sound_too_large"
    with pytest.raises(TooLarge) as raised:
        sound.read_wav(wav(np.zeros((31 * 4000, 1), "<i2"), rate=4000))
    assert (raised.value.code, raised.value.found) == ("sound_too_long", 31)
    with pytest.raises(BadInput):
        sound.checked(Sound(np.float32([0, np.nan]), 8000))


@pytest.mark.parametrize(("before", "after"), [(44_100, 16_000), (8000, 16_000)])
def test_another_rate_is_the_same_tone(before: int, after: int) -> None:
    def tone(rate: int) -> np.ndarray:
        return np.sin(2 * np.pi * 440 * np.arange(rate) / rate).astype(np.float32)

    found = sound.resampled(Sound(tone(before), before), after)
    assert found.rate == after and found.seconds == 1
    assert np.abs(found.samples - tone(after)).max() < 1e-5


def test_a_spectrogram_shows_each_tone_in_its_band_and_its_time() -> None:
    at = np.arange(16_000) / 16_000
    tones = np.where(at < 0.5, np.sin(2 * np.pi * 1000 * at), np.sin(2 * np.pi * 3000 * at))
    levels = sound.spectrogram(Sound(tones.astype(np.float32), 16_000), 24, 0.05)
    assert levels.shape == (64, 24) and levels.max() == 255
    low, high = 63 - 1000 // 62.5, 63 - 3000 // 62.5  # the highest band is row 0
    loudest = levels.argmax(axis=0)
    assert np.abs(loudest[1:9] - low).max() <= 1
    assert np.abs(loudest[11:19] - high).max() <= 1
    assert not levels[:, 21:].any()  # after its end
    assert not sound.spectrogram(Sound(np.zeros(16_000, np.float32), 16_000), 9, 0.1).any()


def test_what_a_lower_rate_cannot_hold_is_gone() -> None:
    high = np.sin(2 * np.pi * 7000 * np.arange(44_100) / 44_100).astype(np.float32)
    assert np.abs(sound.resampled(Sound(high, 44_100), 8000).samples).max() < 1e-5


@pytest.mark.parametrize("largest", [1.001, 2.0, 32_767.0])
def test_checked_refuses_samples_beyond_full_scale(largest: float) -> None:
    samples = np.array([0.5, -largest], dtype=np.float32)
    with pytest.raises(BadInput, match="give numbers from −1 to 1"):
        sound.checked(Sound(samples, 8000))
    assert sound.checked(Sound(samples / largest, 8000)).rate == 8000


def test_wav_clips_and_does_not_wrap_around() -> None:
    loud = Sound(np.array([2.0, -2.0, 0.5], dtype=np.float32), 8000)
    samples = sound.read_wav(loud.wav()).samples
    np.testing.assert_allclose(samples, [1, -1, 0.5], atol=1e-4)


def test_a_sound_is_described_in_one_line() -> None:
    assert repr(sound.sample()) == "Sound of 1.20 s at 16,000 samples per second"
