"""Motion: a moving picture of a lesson's card, with play, pause and a scrubber.

In: a `Motion` with the card's numbers, the sentence of each scene, and names in the language of the
page. Out: the numbers that were set by hand, as `parse` reads them. `films.js` has a module for
each film.
"""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from jaxtyping import Float32

from attnviz.pictures.motion.scenes import SCENES, FilmName, Motion
from attnviz.pictures.shared.canvas import LOCAL, Canvas, derived


@dataclass(frozen=True)
class FilmScene:
    """A part of the film: how long it takes, and its sentence."""

    name: str
    ms: int
    caption: str


@dataclass(frozen=True, eq=False)
class MotionView:
    """A film with the sentence of each scene, all labels as they are shown, words of handles."""

    motion: Annotated[Motion, LOCAL]
    label: str
    captions: Annotated[Mapping[str, str], LOCAL]
    labels: Mapping[str, tuple[str, ...]]
    handles: Mapping[str, str] = field(default_factory=dict)

    @derived
    def values(self) -> Mapping[str, float]:
        """The numbers that a control of the card sets, too."""
        return self.motion.values

    @derived
    def film(self) -> FilmName:
        """The name of the film."""
        return self.motion.film

    @derived
    def scenes(self) -> tuple[FilmScene, ...]:
        """The scenes that are played."""
        lengths = SCENES[self.motion.film]
        return tuple(
            FilmScene(name, lengths[name], self.captions[name]) for name in self.motion.played
        )

    @derived
    def numbers(self) -> Mapping[str, Float32[np.ndarray, "row column"]]:
        """The matrices that move."""
        return {
            name: np.ascontiguousarray(values, dtype=np.float32)
            for name, values in self.motion.arrays.items()
        }


CANVAS = Canvas("motion", (MotionView,))


def parse(sent: object, names: Collection[str]) -> dict[str, float]:
    """The finite numbers of these names that the browser says were set by hand."""
    numbers = sent.items() if isinstance(sent, Mapping) else ()
    return {
        name: float(value)
        for name, value in numbers
        if name in names and isinstance(value, int | float) and math.isfinite(value)
    }
