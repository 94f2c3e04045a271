"""The sounds that a speech model hears: one made by formula, or a visitor's own.

In: a sound's name, or the bytes of a file (checked in `attnviz.sound`). Out: a `Sound`, its
spectrogram as a picture, and what a model is asked of it. What a visitor uploads stays in its
session.
"""

import numpy as np
from PIL import Image

from attnviz import sound
from attnviz.sound import Sound
from attnviz.types import ModelCard
from attnviz.ui import state
from attnviz.ui.requests import Request

MADE = "tones"  # made by `attnviz.sound.sample`
OWN = "own"
NAMES = (MADE, OWN)
KEPT = "sound"
WINDOW = 512
MOST_COLUMNS = 400
SHOWN_ROWS = 96
QUIETEST_DB = 80.0


def named(name: str) -> Sound | None:
    """The sound of a name; None when it is an upload that this session has not."""
    if name != OWN:
        return sound.sample()
    found: Sound | None = state.kept(KEPT)
    return found


def take(data: bytes) -> None:
    """Keep the sound of an upload for this session, and have the model hear it."""
    state.keep(KEPT, sound.read_wav(data))
    state.update(sound=OWN, target="", query=None, key=None)


def request(card: ModelCard, heard: Sound, typed: str) -> Request:
    """What a model is to hear, and to have written of it where a transcript was typed for it."""
    if not (card.transcribes and typed.strip()):
        return Request(sound=heard.digest)
    return Request(cut=state.current().cut, target=typed, sound=heard.digest)


def spectrogram(shown: Sound) -> Image.Image:
    """How strong each frequency is over time: low ones below, to 4 kHz, in decibels."""
    heard = sound.resampled(shown, sound.SAMPLE_RATE).samples
    padded = np.pad(heard, (WINDOW // 2, WINDOW))
    step = max(160, len(heard) // MOST_COLUMNS)
    starts = np.arange(0, max(1, len(heard)), step)
    pieces = padded[starts[:, None] + np.arange(WINDOW)] * np.hanning(WINDOW)
    power = np.abs(np.fft.rfft(pieces))[:, 1 : WINDOW // 4 + 1].T ** 2
    level = 10 * np.log10(power + 1e-12)
    share = np.clip((level - level.max()) / QUIETEST_DB + 1, 0, 1)
    pixels = np.rint(255 * (1 - share[::-1])).astype(np.uint8)
    return Image.fromarray(pixels).resize((MOST_COLUMNS, SHOWN_ROWS))
