"""Recipes of cards: built from the learner's settings, a seed, and the models of the app.

A lesson is a list of recipes. `build` computes everything on a card from the library each time the
card is opened; the same recipe builds the card on screen (seed 0: the numbers that course texts
print) and, with another seed, the card of a worksheet.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from attnviz.attention.capture import Capture
from attnviz.teach.lessons.cards.card import Card, Control, Slider, Value

# captures a registry model on a text, with the keywords of `attnviz.capture` (a picture is an array
# of bytes, several are a list of them); the app has a cached one
CaptureText = Callable[..., Capture]


@dataclass(frozen=True)
class CardInputs:
    """The inputs of a recipe. `values` holds one value for each control of the card."""

    values: Mapping[str, Value]
    seed: int
    capture: CaptureText

    def number(self, name: str) -> float:
        """The value of a slider."""
        return float(self.values[name])

    def text(self, name: str) -> str:
        """The value of a choice or of a text box."""
        return str(self.values[name])


@dataclass(frozen=True)
class Recipe:
    """One card: its name, its controls, and the function that builds it.

    An experiment has controls and shows a control condition beside the changed one.
    """

    name: str
    build: Callable[[CardInputs], Card]
    controls: tuple[Control, ...] = ()
    role: Literal["plain", "experiment"] = "plain"

    def start_values(self) -> dict[str, Value]:
        """The values with which the card opens."""
        return {control.name: control.start for control in self.controls}

    def checked(self, values: Mapping[str, object]) -> dict[str, Value]:
        """The values that fit the controls, and the start value of each other control."""
        return {
            control.name: _fitting(control, values.get(control.name)) for control in self.controls
        }


@dataclass(frozen=True)
class Lesson:
    """Cards in their order; a learner knows the lessons that it `needs`."""

    slug: str
    needs: tuple[str, ...] = field(default=(), kw_only=True)
    recipes: tuple[Recipe, ...] = field(default=())

    def recipe(self, name: str) -> Recipe:
        """The recipe of a name."""
        return next(recipe for recipe in self.recipes if recipe.name == name)


def _fitting(control: Control, value: object) -> Value:
    if isinstance(control, Slider):
        fits = isinstance(value, int | float) and float(value) in control.stops
        return float(value) if fits else control.start  # type: ignore[arg-type]
    if not isinstance(value, str):
        return control.start
    most = getattr(control, "max_chars", 0)
    return value[:most] if most else (value if value in control.options else control.start)  # type: ignore[union-attr]
