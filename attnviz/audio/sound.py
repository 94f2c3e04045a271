"""Sound as numbers: read from a WAV file, brought to another rate, or made here.

In: the bytes of a file, which is input from outside. Out: a `Sound`, one channel of float32 in
−1..1: channels are averaged. Another rate is reached through the spectrum (band-limited: nothing
above half the lower rate is left over).
"""

import io
import wave
from dataclasses import dataclass
from hashlib import sha256

import numpy as np
from jaxtyping import Float32, UInt8

from attnviz.audio import wav
from attnviz.errors import TooLarge

MIB = 2**20
MOST_BYTES = 12 * MIB  # 30 s of stereo at 48,000 samples of 32 bits have 11
LONGEST_S = 30
FULL_SCALE = 32768.0
SAMPLE_RATE = 16_000
WINDOW = 512  # samples of a column of a spectrogram
QUIETEST_DB = 80.0
SILENT_DB = -40.0  # power of a spectrum that nobody hears: silence is not made loud


@dataclass(frozen=True, eq=False)
class Sound:
    """One channel of sound; `rate` is in samples per second."""

    samples: Float32[np.ndarray, "sample"]
    rate: int

    @property
    def seconds(self) -> float:
        """How long it lasts."""
        return len(self.samples) / self.rate

    @property
    def digest(self) -> str:
        """What tells two sounds apart."""
        return sha256(str(self.rate).encode() + self.samples.tobytes()).hexdigest()

    def __repr__(self) -> str:
        return f"Sound of {self.seconds:.2f} s at {self.rate:,} samples per second"

    def wav(self) -> bytes:
        """The sound as a WAV file of 16 bits."""
        out = io.BytesIO()
        with wave.open(out, "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(self.rate)
            file.writeframes(np.rint(self.samples * (FULL_SCALE - 1)).astype("<i2").tobytes())
        return out.getvalue()


def read_wav(data: bytes) -> Sound:
    """The sound in a WAV file; `BadInput` or `TooLarge` says why it is none that can be read."""
    if len(data) > MOST_BYTES:
        raise TooLarge(
            f"the file has {len(data)} bytes and the limit is {MOST_BYTES}; choose a shorter one",
            code="sound_too_large",
            found=-(-len(data) // MIB),
            limit=MOST_BYTES // MIB,
            unit="MiB",
        )
    frames, rate = wav.read(data)
    return checked(Sound(frames.mean(axis=1, dtype=np.float64).astype(np.float32), rate))


def checked(sound: Sound) -> Sound:
    """The sound; `BadInput` or `TooLarge` where it is empty, too long or not all numbers."""
    if sound.samples.ndim != 1 or not len(sound.samples) or sound.rate <= 0:
        raise wav.nothing()
    if not np.isfinite(sound.samples).all():
        raise wav.unreadable("not all its samples are numbers")
    if sound.seconds > LONGEST_S:
        raise TooLarge(
            f"the sound lasts {sound.seconds:.0f} s and the limit is {LONGEST_S} s; cut it",
            code="sound_too_long",
            found=int(np.ceil(sound.seconds)),
            limit=LONGEST_S,
            unit="seconds",
        )
    return sound


def resampled(sound: Sound, rate: int) -> Sound:
    """The same sound with another number of samples per second."""
    if rate == sound.rate:
        return sound
    n_before = len(sound.samples)
    n_after = max(1, round(n_before * rate / sound.rate))
    spectrum = np.fft.rfft(sound.samples.astype(np.float64))
    kept = min(len(spectrum), n_after // 2 + 1)
    made = np.zeros(n_after // 2 + 1, dtype=np.complex128)
    made[:kept] = spectrum[:kept]
    samples = np.fft.irfft(made, n_after) * (n_after / n_before)
    return Sound(samples.astype(np.float32), rate)


def spectrogram(sound: Sound, n_column: int, column_s: float) -> UInt8[np.ndarray, "band column"]:
    """How strong each frequency is over time: 0 is silent, 255 the strongest there is.

    Columns follow one another, each `column_s` seconds long, also beyond the end of the sound;
    bands of 62.5 Hz have the high ones on top, to 4 kHz. Levels are in decibels, 80 below the
    strongest are 0. Each column is heard through a Hann window of 32 ms around its middle.
    """
    heard = resampled(sound, SAMPLE_RATE).samples
    middles = np.rint((np.arange(n_column) + 0.5) * column_s * SAMPLE_RATE).astype(np.int64)
    padded = np.pad(heard, (WINDOW, max(0, int(middles[-1]) - len(heard)) + 2 * WINDOW))
    pieces = padded[(middles + WINDOW // 2)[:, None] + np.arange(WINDOW)] * np.hanning(WINDOW)
    power = np.abs(np.fft.rfft(pieces))[:, 1 : WINDOW // 4 + 1] ** 2
    bands = power.reshape(n_column, -1, 2).max(axis=2).T[::-1]
    level = 10 * np.log10(bands + 1e-12)
    strongest = max(float(level.max()), SILENT_DB)
    share = np.clip((level - strongest) / QUIETEST_DB + 1, 0, 1)
    return np.asarray(np.rint(255 * share), dtype=np.uint8)


def sample(rate: int = SAMPLE_RATE) -> Sound:
    """A sound made by formula, 1.2 s: a tone that rises, a rest, then two tones at once."""
    third = np.arange(int(0.4 * rate)) / rate
    rising = np.sin(2 * np.pi * (220 * third + (880 - 220) / (2 * 0.4) * third**2))
    both = (np.sin(2 * np.pi * 330 * third) + np.sin(2 * np.pi * 990 * third)) / 2
    fade = np.minimum(1.0, 50 * np.minimum(third, third[-1] - third))
    parts = [fade * rising, np.zeros_like(third), fade * both]
    return Sound((0.5 * np.concatenate(parts)).astype(np.float32), rate)
