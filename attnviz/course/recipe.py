"""How a card comes to be: from what the learner set, a seed, and the models of the app.

A lesson is a list of recipes. `build` computes everything a card shows from the library when it is
asked for; the same recipe makes the card on screen (seed 0: the numbers that course texts print)
and, with another seed, a worksheet with numbers of its own.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from attnviz.attention.capture import Capture
from attnviz.lessons.cards.card import Card, Control, Slider, Value

# runs a registry model on a text, with the keywords of `attnviz.capture` (a picture is an array of
# bytes, several are a list of them); the app has a cached one
CaptureText = Callable[..., Capture]


@dataclass(frozen=True)
class Ask:
    """What a card is built from. `values` holds one value for each control of the recipe."""

    values: Mapping[str, Value]
    seed: int
    capture: CaptureText

    def number(self, name: str) -> float:
        """The value of a slider."""
        return float(self.values[name])

    def text(self, name: str) -> str:
        """The value of a choice, or what was typed."""
        return str(self.values[name])


@dataclass(frozen=True)
class Recipe:
    """One card: its name, what the learner can set, and how it is built.

    `role` tells an experiment (it has controls, and shows a control condition beside what it
    changes) from a plain card.
    """

    name: str
    build: Callable[[Ask], Card]
    controls: tuple[Control, ...] = ()
    role: Literal["plain", "experiment"] = "plain"

    def start_values(self) -> dict[str, Value]:
        """The values with which the card opens."""
        return {control.name: control.start for control in self.controls}

    def checked(self, values: Mapping[str, object]) -> dict[str, Value]:
        """These values where they fit the controls, the start values elsewhere."""
        return {
            control.name: _fitting(control, values.get(control.name)) for control in self.controls
        }


@dataclass(frozen=True)
class Lesson:
    """Cards in their order; `minutes` is how long a learner takes."""

    slug: str
    minutes: int
    recipes: tuple[Recipe, ...] = field(default=())

    def recipe(self, name: str) -> Recipe:
        """The card of that name."""
        return next(recipe for recipe in self.recipes if recipe.name == name)


def _fitting(control: Control, value: object) -> Value:
    if isinstance(control, Slider):
        fits = isinstance(value, int | float) and float(value) in control.stops
        return float(value) if fits else control.start  # type: ignore[arg-type]
    if not isinstance(value, str):
        return control.start
    most = getattr(control, "most_chars", 0)
    return value[:most] if most else (value if value in control.options else control.start)  # type: ignore[union-attr]
