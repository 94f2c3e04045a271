"""Cards and captures for lessons: each model is loaded, each capture made, each card built once."""

from collections.abc import Callable

import pytest

from attnviz.teach.course.recipe import CaptureText, Recipe
from attnviz.teach.lessons.cards.card import Card
from tests.support import course

Built = list[tuple[Recipe, Card]]


@pytest.fixture(scope="session")
def capture_text() -> CaptureText:
    """Captures of registry models, shared by all tests of a session."""
    return course.captured


@pytest.fixture(scope="session")
def built() -> Callable[[str, int], Built]:
    """The cards of a lesson by its name and a seed."""
    return course.built
