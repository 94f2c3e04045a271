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

# questions that come back in later lessons: each has another answer with other numbers
COMES_BACK: tuple[tuple[str, str], ...] = (
    ("where", "norm"),
    ("where", "logits"),
    ("ask", "dictionary"),
    ("ask", "score"),
    ("ask", "onehot"),
    ("block", "mix"),
    ("block", "qkv"),
    ("block", "scale"),
    ("block", "softmax"),
    ("block", "output"),
    ("scale", "grows"),
    ("scale", "slope"),
    ("direction", "angle"),
    ("heads", "views"),
    ("heads", "paper"),
    ("heads", "packed"),
    ("heads", "own_rows"),
    ("heads", "sum"),
    ("heads", "average"),
    ("positions", "table"),
    ("positions", "turn"),
    ("places", "align"),
    ("patches", "cut"),
    ("patches", "vector"),
    ("patches", "square"),
    ("patches", "baseline"),
    ("real", "chance"),
    ("real", "previous"),
    ("claims", "effect"),
    ("errata", "axis"),
    ("cost", "grows"),
    ("cost", "window"),
)

MOVED_CARDS: dict[tuple[str, str], tuple[str, str]] = {
    **{("ask", card): ("errata", card) for card in ("axis", "divisor", "repair", "digits")},
    ("block", "erratum"): ("errata", "erratum"),
    **{
        ("masks", card): ("code", card)
        for card in ("infinity", "overflow", "fates", "polarity", "translate")
    },
    **{
        ("real", card): ("claims", card)
        for card in ("quiet", "one", "effect", "explains", "review")
    },
    # cards that said again what another one says
    ("places", "future"): ("masks", "added"),
    ("masks", "after"): ("block", "order"),
    ("patches", "merge"): ("heads", "sum"),
    ("scale", "loses"): ("scale", "temperature"),
}
"""The lesson and the card that an earlier address leads to now."""


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
