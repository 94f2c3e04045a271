"""Captures for lessons."""

from collections.abc import Callable
from functools import cache
from hashlib import sha256

import numpy as np
import pytest

from attnviz.capture.run import capture
from attnviz.course import lesson
from attnviz.course.recipe import CaptureText, Recipe
from attnviz.lessons.cards.card import Card
from attnviz.models.loader import load
from tests.support.lessons import cards

Built = list[tuple[Recipe, Card]]


@pytest.fixture(scope="session")
def capture_text() -> CaptureText:
    """Captures of registry models; each model is loaded once, each capture made once."""
    loaded: dict[str, object] = {}
    kept: dict[str, object] = {}

    def run(model: str, text: str | None = None, **options: object) -> object:
        key = repr((model, text, sorted(options.items(), key=lambda item: item[0])))
        # numpy leaves the middle of a picture out when it writes one
        key += sha256(np.asarray(options.get("image", ())).tobytes()).hexdigest()
        if key not in kept:
            loaded.setdefault(model, load(model))
            kept[key] = capture(loaded[model], text, **options)  # type: ignore[arg-type]
        return kept[key]

    return run  # type: ignore[return-value]


@pytest.fixture(scope="session")
def built(capture_text: CaptureText) -> Callable[[str, int], Built]:
    """The cards of a lesson by its name and a seed, built once."""

    @cache
    def of(slug: str, seed: int) -> Built:
        return cards(lesson(slug), capture_text, seed)

    return of
