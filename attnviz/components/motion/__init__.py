"""Motion: a moving picture of a lesson's card, with play, pause and a scrubber.

In: a `Motion` with the card's numbers, the sentence of each scene, and names in the language of the
page. Out: a mounted component, which sends nothing back. `films.js` has a module for each film.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from attnviz.components.buffer import pack
from attnviz.lessons.cards.motion import SCENES, Motion

NAME = "attnviz.motion"
STRING_KEYS: tuple[str, ...] = ("film.play", "film.pause", "film.again", "film.position")


@dataclass(frozen=True, eq=False)
class MotionView:
    """A film with the sentence of each scene, and all labels as they are shown."""

    motion: Motion
    label: str
    captions: Mapping[str, str]
    labels: Mapping[str, tuple[str, ...]]


def pack_motion(view: MotionView, strings: Mapping[str, str]) -> bytes:
    """The buffer of a film: its arrays as float32."""
    motion = view.motion
    lengths = SCENES[motion.film]
    header = {
        "strings": dict(strings),
        "film": motion.film,
        "label": view.label,
        "scenes": [
            {"name": scene, "ms": lengths[scene], "caption": view.captions[scene]}
            for scene in motion.played
        ],
        "labels": {axis: list(names) for axis, names in view.labels.items()},
    }
    arrays = {
        name: np.ascontiguousarray(values, dtype=np.float32)
        for name, values in motion.arrays.items()
    }
    return pack(header, arrays)
