"""WAV files of every width, written byte by byte: what is read, and what is refused and why."""

import struct

import numpy as np
import pytest

from attnviz.audio import sound, wav
from attnviz.errors import BadInput

VALUES = np.array([[0.5, -1.0], [0.25, 0.0], [-0.5, 0.75]])
GUID_END = bytes.fromhex("000000001000800000aa00389b71")
CODED = {
    "8 bits": (1, 8, lambda x: (x * 128 + 128).clip(0, 255).astype("u1").tobytes()),
    "16 bits": (1, 16, lambda x: (x * 2**15).astype("<i2").tobytes()),
    "24 bits": (1, 24, lambda x: b"".join(map(three_bytes, (x * 2**23).ravel()))),
    "32 bits": (1, 32, lambda x: (x * 2**31).astype("<i4").tobytes()),
    "float": (3, 32, lambda x: x.astype("<f4").tobytes()),
    "double": (3, 64, lambda x: x.astype("<f8").tobytes()),
}


def three_bytes(value: float) -> bytes:
    return int(value).to_bytes(3, "little", signed=True)


def chunk(name: bytes, content: bytes, size: int | None = None) -> bytes:
    declared = len(content) if size is None else size
    return name + struct.pack("<I", declared) + content + b"\0" * (len(content) % 2)


def form(tag: int, bits: int, channels: int = 2, rate: int = 48_000) -> bytes:
    width = channels * bits // 8
    return struct.pack("<HHIIHH", tag, channels, rate, rate * width, width, bits)


def extensible(tag: int, bits: int) -> bytes:
    return form(0xFFFE, bits) + struct.pack("<HHIH", 22, bits, 3, tag) + GUID_END


def file(*chunks: bytes) -> bytes:
    content = b"WAVE" + b"".join(chunks)
    return b"RIFF" + struct.pack("<I", len(content)) + content


@pytest.mark.parametrize("header", [form, extensible])
@pytest.mark.parametrize("name", CODED)
def test_every_width_is_read(name: str, header: object) -> None:
    tag, bits, coded = CODED[name]
    made = file(chunk(b"fmt ", header(tag, bits)), chunk(b"data", coded(VALUES)))
    samples, rate = wav.read(made)
    assert rate == 48_000
    np.testing.assert_array_equal(samples, VALUES.astype(np.float32))
    np.testing.assert_array_equal(sound.read_wav(made).samples, np.float32([-0.25, 0.125, 0.125]))


@pytest.mark.slow
def test_half_a_minute_of_stereo_in_full_is_read() -> None:
    tone = np.sin(np.arange(30 * 48_000) / 20)
    for name in ("24 bits", "float", "8 bits"):
        tag, bits, _ = CODED[name]
        pairs = np.stack([tone, tone], axis=1)
        if name == "24 bits":
            raw = (pairs * (2**23 - 1)).astype("<i4").view("u1").reshape(-1, 4)[:, :3].tobytes()
        else:
            raw = CODED[name][2](pairs * 0.99)
        found = sound.read_wav(file(chunk(b"fmt ", form(tag, bits)), chunk(b"data", raw)))
        assert found.seconds == 30
        assert np.abs(found.samples - tone).max() <= 0.02


def test_other_chunks_are_passed_over() -> None:
    tag, bits, coded = CODED["16 bits"]
    parts = [chunk(b"JUNK", b"odd"), chunk(b"fmt ", form(tag, bits)), chunk(b"LIST", b"INFOx")]
    samples, _ = wav.read(file(*parts, chunk(b"data", coded(VALUES)), chunk(b"data", b"zz")))
    np.testing.assert_array_equal(samples, VALUES)


@pytest.mark.parametrize("declared", [0xFFFFFFFF, 12 + 1000])
def test_what_was_cut_off_or_streamed_is_read_as_far_as_it_goes(declared: int) -> None:
    tag, bits, coded = CODED["16 bits"]
    made = file(chunk(b"fmt ", form(tag, bits)), chunk(b"data", coded(VALUES), declared))
    np.testing.assert_array_equal(wav.read(made)[0], VALUES)
    np.testing.assert_array_equal(wav.read(made[:-3])[0], VALUES[:2])  # no half a frame


def test_floating_point_above_one_is_made_quieter() -> None:
    loud = np.array([[4.0, 0.0], [-2.0, 1.0]])
    made = file(chunk(b"fmt ", form(3, 32)), chunk(b"data", loud.astype("<f4").tobytes()))
    np.testing.assert_array_equal(wav.read(made)[0], loud / 4)


GOOD = chunk(b"data", b"\0" * 8)


@pytest.mark.parametrize(
    ("made", "code", "said"),
    [
        (file(chunk(b"fmt ", form(85, 16)), GOOD), "sound_coding", "MP3 of 16 bits"),
        (file(chunk(b"fmt ", form(7, 8)), GOOD), "sound_coding", "µ-law of 8 bits"),
        (file(chunk(b"fmt ", form(1, 12)), GOOD), "sound_coding", "PCM of 12 bits"),
        (file(chunk(b"fmt ", form(1, 0)), GOOD), "sound_coding", "PCM of 0 bits"),
        (file(chunk(b"fmt ", extensible(2, 16)), GOOD), "sound_coding", "ADPCM"),
        (file(chunk(b"fmt ", form(0xFFFE, 16)), GOOD), "sound_coding", "65534"),
        (file(chunk(b"fmt ", form(1, 16, channels=0)), GOOD), "sound_shape", "0 channels"),
        (file(chunk(b"fmt ", form(1, 16, rate=0)), GOOD), "sound_shape", "and 0 samples"),
        (file(chunk(b"fmt ", form(1, 16)[:10]), GOOD), "bad_sound", "inside its header"),
        (file(chunk(b"fmt ", form(1, 16))), "bad_sound", "before its samples"),
        (file(chunk(b"fmt ", form(1, 16)), chunk(b"data", b"")), "no_sound", "no samples"),
        (file(chunk(b"fmt ", form(1, 16)), chunk(b"data", b"abc")), "no_sound", "no samples"),
        (file(GOOD), "bad_sound", "inside its header"),
        (
            file(chunk(b"fmt ", form(3, 32)), chunk(b"data", struct.pack("<2f", 0, np.nan))),
            "bad_sound",
            "not all its samples",
        ),
    ],
)
def test_what_is_not_read_is_refused_with_its_reason(made: bytes, code: str, said: str) -> None:
    with pytest.raises(BadInput, match=said) as raised:
        wav.read(made)
    assert raised.value.code == code
