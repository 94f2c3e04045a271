"""The shelf of the lessons: a card for each, with a picture, its level, its time, its progress.

In: a `ShelfView`; the picture of a lesson is a film, matrices or lines of one of its cards, with
the numbers of that card. Out: the event `lesson` with a lesson, and whether it is opened from its
start, as `parse_opened` reads it. Films play under the pointer and the focus.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float32

from attnviz.pictures.motion import FilmName, FilmScene
from attnviz.pictures.shared.canvas import Canvas

StillKind = Literal["film", "matrices", "lines"]
Mark = Literal["right", "later", "wrong", "shown", "open"]


@dataclass(frozen=True)
class Still:
    """The picture of a lesson: a `film` with its scenes and labels, or matrices or lines.

    Its numbers are those of the shelf whose names begin with the lesson's. `before` stands before
    each matrix.
    """

    kind: StillKind
    film: FilmName | None
    scenes: tuple[FilmScene, ...]
    labels: Mapping[str, tuple[str, ...]]
    before: tuple[str, ...]


@dataclass(frozen=True)
class ShelfLesson:
    """A lesson as the shelf shows it; `marks` has one mark for each question.

    `is_next` marks the one to open now, `is_left` one that was left behind its first card.
    """

    slug: str
    number: int
    title: str
    goal: str
    about: str
    progress: str
    marks: tuple[Mark, ...]
    is_next: bool
    is_begun: bool
    is_left: bool
    still: Still


@dataclass(frozen=True)
class ShelfLevel:
    """Lessons of one level, with its name and for whom it is."""

    name: str
    body: str
    lessons: tuple[ShelfLesson, ...]


@dataclass(frozen=True, eq=False)
class ShelfView:
    """The lessons by level, and the numbers of their pictures: "lesson.name"."""

    levels: tuple[ShelfLevel, ...]
    numbers: Mapping[str, Float32[np.ndarray, "row column"]]


CANVAS = Canvas("shelf", (ShelfView,))


def parse_opened(value: object) -> tuple[str, bool] | None:
    """The lesson to open, and True for its start; None for nonsense. The caller knows its names."""
    if not isinstance(value, Mapping):
        return None
    slug, from_start = value.get("slug"), value.get("from_start")
    if not isinstance(slug, str) or not isinstance(from_start, bool):
        return None
    return slug, from_start
