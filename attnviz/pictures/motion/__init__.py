"""Motion: a moving picture of a lesson's card, with play, pause and a scrubber.

In: a `Motion` with the card's numbers, the sentence of each scene, and names in the language of the
page. Nothing comes back. `films.js` has a module for each film.
"""

from collections.abc import Mapping
from dataclasses import dataclass
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
    """A film with the sentence of each scene, and all labels as they are shown."""

    motion: Annotated[Motion, LOCAL]
    label: str
    captions: Annotated[Mapping[str, str], LOCAL]
    labels: Mapping[str, tuple[str, ...]]

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
