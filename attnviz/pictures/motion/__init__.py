"""Motion: a moving picture of a lesson's card, with play, pause and a scrubber.

In: a `Motion` with the card's numbers (each film has its scenes in `SCENES`), the sentence of each
scene, which is the text "scene.<scene>" of the card, and names in the language of the page. Out:
the numbers that were set by hand, as `parse` reads them. `films.js` has a module for each film.
"""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal, get_args

import numpy as np
from jaxtyping import Float32, Float64

from attnviz.pictures.shared.canvas import LOCAL, Canvas, derived

FilmName = Literal[
    "blend",
    "softmax",
    "mask",
    "shuffle",
    "query",
    "rotary",
    "clocks",
    "cut",
    "alignment",
    "induction",
    "training",
    "arrows",
    "clouds",
    "push",
    "reach",
    "pulse",
]
FILMS: tuple[FilmName, ...] = get_args(FilmName)
# the scenes of each film in their order, and how long each takes in milliseconds
SCENES: Mapping[FilmName, Mapping[str, int]] = {
    "blend": {"weights": 3500, "products": 4500, "sum": 5000},
    "softmax": {"scores": 3500, "exp": 4000, "sum": 4000, "share": 5000},
    "mask": {"scores": 3000, "wipe": 6000, "weights": 5000},
    "shuffle": {"before": 2500, "rows": 4500, "columns": 5500},
    "query": {"start": 3500, "halfway": 5000, "round": 9000},
    "rotary": {"start": 3000, "query": 4000, "key": 4000, "score": 4000, "later": 7000},
    "clocks": {"near": 7000, "far": 11000},
    "cut": {"whole": 2500, "cut": 3500, "line": 6000, "cls": 4000},
    "alignment": {"read": 4000, "write": 14000, "done": 4000},
    "induction": {"text": 3000, "bring": 6000, "match": 5000, "copy": 5000},
    "training": {"training": 16000},
    "arrows": {"together": 3000, "right": 5000, "against": 5000},
    "clouds": {"apart": 3500, "shift": 5000, "scale": 5000},
    "push": {"before": 3000, "head": 5000, "random": 6000},
    "reach": {"one": 4000, "all": 7000},
    "pulse": {"exchange": 3000, "carry": 8000, "off": 5000},
}


@dataclass(frozen=True, eq=False)
class Motion:
    """A film of numbers of the card.

    `labels` are tokens, the same in every language; `named` are labels that are texts of the card,
    by their keys. `scenes` are the scenes that are played, all of them if empty. `handles` names
    what a learner can drag in it, the text "handle.<name>" of the card; `values` has the numbers of
    the film that a control of the card of that name sets, too.
    """

    film: FilmName
    arrays: Mapping[str, Float64[np.ndarray, "row column"]]
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    named: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    scenes: tuple[str, ...] = ()
    handles: tuple[str, ...] = ()
    values: Mapping[str, float] = field(default_factory=dict)

    @property
    def played(self) -> tuple[str, ...]:
        """The names of the scenes that are played."""
        return self.scenes or tuple(SCENES[self.film])

    @property
    def texts(self) -> tuple[str, ...]:
        """The keys of the card's texts that the film needs."""
        names = (key for keys in self.named.values() for key in keys)
        handles = (f"handle.{handle}" for handle in self.handles)
        return (*(f"scene.{scene}" for scene in self.played), *handles, *names)

    def still(self) -> "Motion":
        """Its first scene alone, which nobody drags: what is drawn before a question."""
        return replace(self, scenes=self.played[:1], handles=(), values={})


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
