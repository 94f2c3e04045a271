"""The lessons, computed: each module builds the cards of one lesson from the library.

`SLUGS` is the order in which they are taught; `lesson(slug)` loads one. The sentences are in
`attnviz.lessons`, the numbers here. Sources: the papers and texts named in each module.
"""

from importlib import import_module

from attnviz.course.recipe import Lesson
from attnviz.errors import BadInput

SLUGS: tuple[str, ...] = (
    "block",
    "ask",
    "scale",
    "masks",
    "heads",
    "positions",
    "places",
    "patches",
    "real",
    "birth",
)


def lesson(slug: str) -> Lesson:
    """A lesson by its name. Raises `BadInput` that lists the names there are."""
    if slug not in SLUGS:
        known = ", ".join(SLUGS)
        raise BadInput(
            f"no lesson is named {slug!r}; there are {known}",
            code="unknown_lesson",
            asked=slug,
            known=known,
        )
    made: Lesson = import_module(f"attnviz.course.{slug}.lesson").LESSON
    return made
