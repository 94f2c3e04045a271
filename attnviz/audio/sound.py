"""Sound as numbers: read from a WAV file, resampled, or computed from a formula.

In: the bytes of a file, which is input from outside. Out: a `Sound`, one channel of float32 in
−1..1: channels are averaged. Resampling works on the spectrum (band-limited: no frequency above
half the lower rate is left).
"""

import io
import wave
from dataclasses import dataclass
from hashlib import sha256

import numpy as np
from jaxtyping import Float32, UInt8

from attnviz.audio import wav
from attnviz.errors import TooLarge, bad_argument
from attnviz.types import MIB

MAX_BYTES = 12 * MIB  # 30 s of stereo at 48,000 samples of 32 bits have 11
LONGEST_S = 30
FULL_SCALE = 32768.0
SAMPLE_RATE = 16_000
WINDOW = 512  # samples of a column of a spectrogram
QUIETEST_DB = 80.0
SILENT_DB = -40.0  # a power below hearing: silence is not amplified


@dataclass(frozen=True, eq=False)
class Sound:
    """One channel of sound: `samples` in −1..1, `rate` in samples per second."""

    samples: Float32[np.ndarray, "sample"]
    rate: int

    @property
    def seconds(self) -> float:
        """The duration in seconds."""
        return len(self.samples) / self.rate

    @property
    def digest(self) -> str:
        """A hash of rate and samples, the same for equal sounds only."""
        return sha256(str(self.rate).encode() + self.samples.tobytes()).hexdigest()

    def __repr__(self) -> str:
        return f"Sound of {self.seconds:.2f} s at {self.rate:,} samples per second"

    def wav(self) -> bytes:
        """The sound as a WAV file of 16 bits; samples beyond −1..1 are clipped."""
        out = io.BytesIO()
        with wave.open(out, "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(self.rate)
            scaled = np.clip(self.samples, -1, 1) * (FULL_SCALE - 1)
            file.writeframes(np.rint(scaled).astype("<i2").tobytes())
        return out.getvalue()


def read_wav(data: bytes) -> Sound:
    """The sound in a WAV file; raises `BadInput` or `TooLarge` if it cannot be read."""
    if len(data) > MAX_BYTES:
        raise TooLarge(
            f"the file has {len(data)} bytes and the limit is {MAX_BYTES}; choose a shorter one",
            code="sound_too_large",
            found=-(-len(data) // MIB),
            limit=MAX_BYTES // MIB,
            unit="MiB",
        )
    frames, rate = wav.read(data)
    return checked(Sound(frames.mean(axis=1, dtype=np.float64).astype(np.float32), rate))


def checked(sound: Sound) -> Sound:
    """The sound; raises `BadInput` or `TooLarge` unless it is short enough and within −1..1."""
    if sound.samples.ndim != 1 or not len(sound.samples) or sound.rate <= 0:
        raise wav.nothing()
    if not np.isfinite(sound.samples).all():
        raise wav.unreadable("not all its samples are numbers")
    largest = float(np.abs(sound.samples).max())
    if largest > 1:
        raise bad_argument(
            f"the samples of the sound reach {largest:.4g}; give numbers from −1 to 1: divide them"
            " by their largest, or whole numbers of 16 bits by 32768",
            name="samples",
            found=f"{largest:.4g}",
            allowed="−1 … 1",
        )
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
    """The sound at another rate, in samples per second; it lasts as long as before."""
    if rate == sound.rate:
        return sound
    n_before = len(sound.samples)
    n_after = max(1, round(n_before * rate / sound.rate))
    spectrum = np.fft.rfft(sound.samples.astype(np.float64))
    kept = min(len(spectrum), n_after // 2 + 1)
    resized = np.zeros(n_after // 2 + 1, dtype=np.complex128)
    resized[:kept] = spectrum[:kept]
    samples = np.fft.irfft(resized, n_after) * (n_after / n_before)
    return Sound(samples.astype(np.float32), rate)


def spectrogram(sound: Sound, n_column: int, column_s: float) -> UInt8[np.ndarray, "band column"]:
    """The strength of each frequency over time: 0 is silent, 255 the strongest.

    Columns follow one another, each `column_s` seconds long, also beyond the end of the sound;
    bands are 62.5 Hz wide, to 4 kHz, the highest first. Levels are in decibels, and 80 dB below the
    strongest is 0. Each column is seen through a Hann window of 32 ms around its middle.
    """
    samples = resampled(sound, SAMPLE_RATE).samples
    middles = np.rint((np.arange(n_column) + 0.5) * column_s * SAMPLE_RATE).astype(np.int64)
    padded = np.pad(samples, (WINDOW, max(0, int(middles[-1]) - len(samples)) + 2 * WINDOW))
    pieces = padded[(middles + WINDOW // 2)[:, None] + np.arange(WINDOW)] * np.hanning(WINDOW)
    power = np.abs(np.fft.rfft(pieces))[:, 1 : WINDOW // 4 + 1] ** 2
    bands = power.reshape(n_column, -1, 2).max(axis=2).T[::-1]
    level = 10 * np.log10(bands + 1e-12)
    strongest = max(float(level.max()), SILENT_DB)
    share = np.clip((level - strongest) / QUIETEST_DB + 1, 0, 1)
    return np.asarray(np.rint(255 * share), dtype=np.uint8)


def sample(rate: int = SAMPLE_RATE) -> Sound:
    """A sound computed from a formula, 1.2 s: a tone that rises, a rest, then two tones at once."""
    third = np.arange(int(0.4 * rate)) / rate
    rising = np.sin(2 * np.pi * (220 * third + (880 - 220) / (2 * 0.4) * third**2))
    both = (np.sin(2 * np.pi * 330 * third) + np.sin(2 * np.pi * 990 * third)) / 2
    fade = np.minimum(1.0, 50 * np.minimum(third, third[-1] - third))
    parts = [fade * rising, np.zeros_like(third), fade * both]
    return Sound((0.5 * np.concatenate(parts)).astype(np.float32), rate)
