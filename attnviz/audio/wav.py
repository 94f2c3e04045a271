"""The samples of a WAV file and their rate.

In: the bytes of a file, which is input from outside. Out: samples of all channels as float32 and
the rate in samples per second. Whole numbers of 8 to 32 bits and floating point are read, also if
the header names them by a GUID (WAVE_FORMAT_EXTENSIBLE); a compressed file is refused with the name
of its coding. Source: the RIFF specification of IBM and Microsoft, 1991, and ksmedia.h for the
extensible form.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32

from attnviz.errors import BadInput

WHOLE, FLOATING, EXTENSIBLE = 1, 3, 0xFFFE
KNOWN = {1: "PCM", 2: "ADPCM", 3: "float", 6: "A-law", 7: "µ-law", 17: "IMA ADPCM", 85: "MP3"}
WIDTHS = {WHOLE: (8, 16, 24, 32), FLOATING: (32, 64)}
GUID_END = bytes.fromhex("000000001000800000aa00389b71")
RATES = (4000, 192_000)
MAX_CHANNELS = 8


@dataclass(frozen=True)
class Form:
    """The format of the samples: `tag` is WHOLE or FLOATING, `bits` the size of a sample."""

    tag: int
    channels: int
    rate: int
    bits: int


def read(data: bytes) -> tuple[Float32[np.ndarray, "frame channel"], int]:
    """(samples in −1..1, samples per second); raises `BadInput` if they cannot be read.

    A recording that was cut off is read as far as it goes. If floating point goes beyond 1, all
    samples are scaled down, so that none is clipped.
    """
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        raise unreadable("it does not begin as a WAV file does")
    chunks = dict(_chunks(data))
    form = _form(chunks.get(b"fmt ", b""))
    if b"data" not in chunks:
        raise unreadable("it ends before its samples")
    width = form.bits // 8 * form.channels
    raw = chunks[b"data"]
    whole = raw[: len(raw) // width * width]
    if not whole:
        raise nothing()
    return _decoded(whole, form).reshape(-1, form.channels), form.rate


def unreadable(why: str) -> BadInput:
    """The error for a file that is not a readable WAV file."""
    return BadInput(f"the sound cannot be read: {why}; give a WAV file", code="bad_sound")


def nothing() -> BadInput:
    """The error for a sound without any samples."""
    return BadInput("the file holds no sound: it has no samples", code="no_sound")


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The chunks of a file with their names, each name once; the last chunk may be cut off."""
    seen, offset = set(), 12
    while offset + 8 <= len(data):
        name, size = struct.unpack_from("<4sI", data, offset)
        if name not in seen:
            yield name, data[offset + 8 : offset + 8 + size]
        seen.add(name)
        offset += 8 + size + size % 2


def _form(header: bytes) -> Form:
    if len(header) < 16:
        raise unreadable("it ends inside its header")
    tag, channels, rate, _, _, bits = struct.unpack_from("<HHIIHH", header)
    if tag == EXTENSIBLE and len(header) >= 40 and header[26:40] == GUID_END:
        (tag,) = struct.unpack_from("<H", header, 24)
    if bits not in WIDTHS.get(tag, ()):
        coding = KNOWN.get(tag, str(tag))
        raise BadInput(
            f"the samples are coded as {coding} of {bits} bits; give whole numbers of 8, 16, 24 or"
            " 32 bits, or floating point",
            code="sound_coding",
            coding=coding,
            bits=bits,
        )
    if not 1 <= channels <= MAX_CHANNELS or not RATES[0] <= rate <= RATES[1]:
        raise BadInput(
            f"the sound has {channels} channels and {rate} samples per second; it may have up to"
            f" {MAX_CHANNELS} channels and {RATES[0]} to {RATES[1]} samples per second",
            code="sound_shape",
            channels=channels,
            rate=rate,
            most=MAX_CHANNELS,
            lowest=RATES[0],
            highest=RATES[1],
        )
    return Form(tag, channels, rate, bits)


def _decoded(raw: bytes, form: Form) -> Float32[np.ndarray, "sample"]:
    if form.tag == FLOATING:
        numbers = np.frombuffer(raw, f"<f{form.bits // 8}")
        if not np.isfinite(numbers).all():
            raise unreadable("not all its samples are numbers")
        return np.asarray(numbers / max(1.0, float(np.abs(numbers).max())), dtype=np.float32)
    if form.bits == 8:  # the only unsigned width
        return (np.frombuffer(raw, np.uint8).astype(np.float32) - 128) / 128
    if form.bits == 24:
        wide = np.zeros((len(raw) // 3, 4), np.uint8)  # 256 times as large
        wide[:, 1:] = np.frombuffer(raw, np.uint8).reshape(-1, 3)
        raw = wide.tobytes()
    stored = np.frombuffer(raw, "<i2" if form.bits == 16 else "<i4")
    full_scale = 2.0 ** (15 if form.bits == 16 else 31)
    return np.asarray(stored / full_scale, dtype=np.float32)
