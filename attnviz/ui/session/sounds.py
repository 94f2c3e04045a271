"""The sounds that a speech model hears: one made by formula, or a visitor's own.

In: a sound's name, or the bytes of a file (checked in `attnviz.audio.sound`). Out: a `Sound`, its
spectrogram as a picture, and what a model is asked of it. What a visitor uploads stays in its
session.
"""

import numpy as np
from PIL import Image

from attnviz.audio import sound
from attnviz.audio.sound import Sound
from attnviz.types import ModelCard
from attnviz.ui.server.request import Request
from attnviz.ui.session import state

MADE = "tones"  # made by `attnviz.audio.sound.sample`
OWN = "own"
NAMES = (MADE, OWN)
KEPT = "sound"
COLUMNS = 400
SHOWN_ROWS = 96
INK = (20, 128, 118)  # of the spectrogram, on light and on dark


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
    """What a model is to hear, and to write of it, or to have written where that was typed."""
    if not card.transcribes:
        return Request(sound=heard.digest)
    if not typed.strip():
        return Request(generate=state.current().generate, sound=heard.digest)
    return Request(cut=state.current().cut, target=typed, sound=heard.digest)


def spectrogram(shown: Sound) -> Image.Image:
    """The whole sound as a picture, see-through where it is silent: fit for light and dark."""
    levels = sound.spectrogram(shown, COLUMNS, shown.seconds / COLUMNS)
    pixels = np.empty((*levels.shape, 4), dtype=np.uint8)
    pixels[..., :3] = INK
    pixels[..., 3] = levels
    return Image.fromarray(pixels).resize((COLUMNS, SHOWN_ROWS))
