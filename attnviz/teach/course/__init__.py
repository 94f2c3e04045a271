"""The lessons, computed: each module builds the cards of one lesson from the library.

`SLUGS` is the order in which they are taught; `lesson(slug)` loads one. The sentences are in
`attnviz.teach.lessons`, the numbers here. Sources: the papers and texts named in each module.
"""

from importlib import import_module
from typing import cast

from attnviz.errors import BadInput
from attnviz.teach.course.recipe import Lesson

SLUGS: tuple[str, ...] = (
    "where",
    "ask",
    "block",
    "scale",
    "masks",
    "direction",
    "heads",
    "positions",
    "places",
    "patches",
    "real",
    "claims",
    "birth",
    "code",
    "errata",
    "cost",
)

MOVED_CARDS: dict[tuple[str, str], str] = {
    **dict.fromkeys([("ask", card) for card in ("axis", "divisor", "repair", "digits")], "errata"),
    ("block", "erratum"): "errata",
    **dict.fromkeys(
        [("masks", card) for card in ("infinity", "overflow", "fates", "polarity", "translate")],
        "code",
    ),
    **dict.fromkeys(
        [("real", card) for card in ("quiet", "one", "effect", "explains", "review")], "claims"
    ),
}
"""The lesson that has a card now, by the lesson and the card of its earlier address."""


def lesson(slug: str) -> Lesson:
    """The lesson of a name. Raises `BadInput` that lists all names for an unknown one."""
    if slug not in SLUGS:
        known = ", ".join(SLUGS)
        raise BadInput(
            f"no lesson is named {slug!r}; there are {known}",
            code="unknown_lesson",
            asked=slug,
            known=known,
        )
    module = import_module(f"attnviz.teach.course.{slug}")
    return cast(Lesson, module.LESSON)
