"""The lessons of the course, for a server that many visitors use at once.

The first call imports torch, and one thread at a time does so (`loading.importing`).
"""

from typing import TYPE_CHECKING

from attnviz.ui.server import loading

if TYPE_CHECKING:
    from attnviz.course.recipe import Lesson


def lesson(slug: str) -> "Lesson":
    """A lesson's recipes."""
    with loading.importing:
        from attnviz.course import lesson as course_lesson

    return course_lesson(slug)


def slugs() -> tuple[str, ...]:
    """The lessons there are, in their order."""
    with loading.importing:
        from attnviz.course import SLUGS

    return SLUGS


def of_moved_card(slug: str, card: str) -> str:
    """The lesson that has this card now; `slug` unless the card has moved."""
    with loading.importing:
        from attnviz.course import MOVED_CARDS

    return MOVED_CARDS.get((slug, card), slug)
