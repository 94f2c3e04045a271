"""The claims of the embedded models, measured again: `attnviz check NAME` at a shell prompt.

In: a model's name, or a folder that training has just written. Out: `Figure`s. Each model has a
module here with two functions: `check(lm)` gives the figures, measured on cases that training never
saw; `describe(lm)` gives the rest of its card, with the heads worth a visit. Stored cases are in
`attnviz.worlds.cases`.
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast, runtime_checkable

from attnviz.checks.cards import Description, Figure, TrainingCard, TrainingRecord, card
from attnviz.errors import BadInput

if TYPE_CHECKING:
    from attnviz.models.loaded_model import LoadedModel

__all__ = ["Figure", "TrainingCard", "card", "check", "measure_card"]

MODULES = {  # model → the module of this package that measures it
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
    """The functions that the module of a model offers."""

    def check(self, lm: "LoadedModel") -> tuple[Figure, ...]: ...
    def describe(self, lm: "LoadedModel") -> Description: ...


def check(name: str) -> tuple[Figure, ...]:
    """The figures of a registered model, measured now; `BadInput` for one that claims nothing."""
    from attnviz.models.loader import load

    return _checks(name).check(load(name))


def measure_card(name: str, folder: Path, training: TrainingRecord) -> TrainingCard:
    """The card of the model in a folder, with its figures measured now."""
    from attnviz.models.loader import load

    checks, lm = _checks(name), load(folder)
    return TrainingCard(name, LICENCE, checks.describe(lm), training, checks.check(lm))


def _checks(name: str) -> Checks:
    if name not in MODULES:
        known = ", ".join(MODULES)
        raise BadInput(
            f"there is no check for {name!r}; there is one for: {known}",
            code="no_check",
            asked=name,
            known=known,
        )
    return cast(Checks, import_module(f"attnviz.checks.{MODULES[name]}"))
