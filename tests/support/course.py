"""Cards for the tests of facts: built from captures of registry models, each model loaded once."""

from collections.abc import Mapping
from functools import cache

from attnviz.attention.capture import Capture
from attnviz.capture.run import capture
from attnviz.course import lesson
from attnviz.course.recipe import CardInputs
from attnviz.lessons.cards.card import Board, Card, Panel, Value
from attnviz.models.loaded import LoadedModel
from attnviz.models.loader import load


@cache
def _loaded(model: str) -> LoadedModel:
    return load(model)


_KEPT: dict[str, Capture] = {}


def captured(model: str, text: object = None, **options: object) -> Capture:
    """As `CardInputs.capture`: each capture is made once."""
    key = repr((model, text, sorted(options.items(), key=lambda item: item[0])))
    if key not in _KEPT:
        _KEPT[key] = capture(_loaded(model), text, **options)  # type: ignore[arg-type]
    return _KEPT[key]


def card(slug: str, name: str, seed: int = 0, **values: Value) -> Card:
    """A card of a lesson with these values of its controls."""
    recipe = lesson(slug).recipe(name)
    chosen: Mapping[str, Value] = recipe.start_values() | values
    assert recipe.checked(chosen) == chosen, "these values do not fit the controls"
    return recipe.build(CardInputs(chosen, seed, captured))


def panel(of: Card, name: str) -> Panel:
    """The matrix of that name."""
    boards = [one for one in (*of.pictures, *of.reveal) if isinstance(one, Board)]
    return next(one for board in boards for one in board.panels if one.name == name)
