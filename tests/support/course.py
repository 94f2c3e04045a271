"""Cards for the tests of facts: built from captures of registry models, each model loaded once."""

from collections.abc import Mapping
from functools import cache
from hashlib import sha256

import numpy as np

from attnviz.attention.capture import Capture
from attnviz.capture.run import capture
from attnviz.models.loaded_model import LoadedModel
from attnviz.models.loader import load
from attnviz.pictures.board import Board, Panel
from attnviz.teach.course import lesson
from attnviz.teach.course.recipe import CardInputs, Recipe
from attnviz.teach.lessons.cards.card import Card, Value
from tests.support.lessons import cards


@cache
def loaded(model: str) -> LoadedModel:
    """A registry model, loaded once in a session."""
    return load(model)


_KEPT: dict[str, Capture] = {}


def captured(model: str, text: object = None, **options: object) -> Capture:
    """As `CardInputs.capture`: each capture is made once."""
    key = repr((model, text, sorted(options.items(), key=lambda item: item[0])))
    # numpy leaves the middle of a picture out when it writes one
    key += sha256(np.asarray(options.get("image", ())).tobytes()).hexdigest()
    if key not in _KEPT:
        _KEPT[key] = capture(loaded(model), text, **options)  # type: ignore[arg-type]
    return _KEPT[key]


@cache
def built(slug: str, seed: int) -> list[tuple[Recipe, Card]]:
    """The cards of a lesson as they open, built once in a session."""
    return cards(lesson(slug), captured, seed)


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
