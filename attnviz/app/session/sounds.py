"""The sounds that a speech model reads: one made by formula, or a visitor's own.

In: a sound's name, or the bytes of a file (checked in `attnviz.audio.sound`). Out: a `Sound`
and its spectrogram as a picture. What a visitor uploads stays in the session.
"""

from dataclasses import replace
from functools import lru_cache

import numpy as np
from PIL import Image

from attnviz.app.session import current, store
from attnviz.audio import sound
from attnviz.audio.sound import Sound

SAMPLE = "tones"  # made by `attnviz.audio.sound.sample`
OWN = "own"
NAMES = (SAMPLE, OWN)
KEPT = "sound"
COLUMNS = 400
MAX_SOUNDS = 4  # the longest, 29 s, takes 5 MB and three seconds to be made
SHOWN_ROWS = 96
INK = (20, 128, 118)  # of the spectrogram, on light and on dark


def named(name: str) -> Sound | None:
    """The sound of a name; None for an upload that this session lacks."""
    if name != OWN:
        return _sample()
    own: Sound | None = store.get(KEPT)
    return own


@lru_cache(maxsize=1)
def _sample() -> Sound:
    return sound.sample()


def keep(data: bytes) -> None:
    """Keep the sound of an upload for this session, and have the model read it."""
    store.put(KEPT, sound.read_wav(data))
    hear(OWN)


def hear(name: str) -> None:
    """Have the model read the sound of a parameter; a transcript belongs to another one."""
    view = current.view()
    heard = replace(view.input, sound=name, target="")
    current.update(replace(view, input=heard, place=view.place.without_cell))


@lru_cache(maxsize=MAX_SOUNDS)
def heard(chosen: Sound) -> tuple[bytes, Image.Image]:
    """A sound as a WAV file, and its spectrogram; kept for the runs that follow."""
    return chosen.wav(), spectrogram(chosen)


def spectrogram(shown: Sound) -> Image.Image:
    """The spectrogram as a picture, transparent where it is silent: fit for light and dark."""
    levels = sound.spectrogram(shown, COLUMNS, shown.seconds / COLUMNS)
    pixels = np.empty((*levels.shape, 4), dtype=np.uint8)
    pixels[..., :3] = INK
    pixels[..., 3] = levels
    return Image.fromarray(pixels).resize((COLUMNS, SHOWN_ROWS))
