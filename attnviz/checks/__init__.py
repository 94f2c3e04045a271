"""What the embedded models claim, measured again: `attnviz check NAME` at a shell prompt.

In: a model's name, or a folder that training has just written. Out: `Figure`s. Each model has a
module here with two functions: `check(lm)` gives the figures, measured on cases from seeds that
training never used; `describe(lm)` gives the rest of its card, with the heads worth a visit.
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast, runtime_checkable

from attnviz.checks.cards import Card, Description, Training, card
from attnviz.checks.figure import Figure
from attnviz.errors import BadInput

if TYPE_CHECKING:
    from attnviz.models.loaded import LoadedModel

__all__ = ["Card", "Figure", "card", "check", "measure_card"]

# model → the module below this package that measures it
MEASURED = {
    "stories": "stories",
    "stories-llama": "stories",
    "translator": "translator",
    "dates": "dates",
    "shapes": "shapes",
    "sentiment": "sentiment",
    "mha-55": "mha_55",
}
LICENCE = "Apache-2.0"


@runtime_checkable
class Checks(Protocol):
    """What a module of this package offers."""

    def check(self, lm: "LoadedModel") -> tuple[Figure, ...]: ...
    def describe(self, lm: "LoadedModel") -> Description: ...


def check(name: str) -> tuple[Figure, ...]:
    """The figures of a registered model, measured now; `BadInput` for one that claims nothing."""
    from attnviz.models.loader import load

    measures = _measures(name)
    return measures.check(load(name))


def measure_card(name: str, folder: Path, trained: Training) -> Card:
    """The card of a model that lies in a folder, with its figures measured there."""
    from attnviz.models.loader import load

    measures, lm = _measures(name), load(folder)
    return Card(name, LICENCE, measures.describe(lm), trained, measures.check(lm))


def _measures(name: str) -> Checks:
    if name not in MEASURED:
        known = ", ".join(MEASURED)
        raise BadInput(
            f"there is no check for {name!r}; there is one for: {known}",
            code="no_check",
            asked=name,
            known=known,
        )
    return cast(Checks, import_module(f"attnviz.checks.{MEASURED[name]}"))
