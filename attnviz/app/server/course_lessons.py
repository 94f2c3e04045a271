"""The lessons of the course and their captures, for a server that many visitors use at once.

The first call imports torch, and one thread at a time does so (`loading.importing`).
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import attnviz
from attnviz.app.server import loading, sources
from attnviz.app.server.shared import shared

if TYPE_CHECKING:
    from attnviz.attention.capture import Capture
    from attnviz.teach.course.ask import Pointed
    from attnviz.teach.course.recipe import Lesson
    from attnviz.teach.course.shelf import LessonStill, Level

MAX_CAPTURES = 24  # of sentences and small pictures
MAX_POINTED = 1024  # sentences of a few classes


def lesson(slug: str) -> "Lesson":
    """A lesson's recipes."""
    with loading.importing:
        from attnviz.teach.course import lesson as course_lesson

    return course_lesson(slug)


def slugs() -> tuple[str, ...]:
    """The lessons there are, in their order."""
    with loading.importing:
        from attnviz.teach.course import SLUGS

    return SLUGS


def comes_back() -> tuple[tuple[str, str], ...]:
    """The lessons and cards whose questions come back with new numbers."""
    with loading.importing:
        from attnviz.teach.course import COMES_BACK

    return COMES_BACK


def shelf() -> "tuple[Mapping[Level, tuple[str, ...]], Mapping[str, LessonStill]]":
    """The lessons by level, and the stored picture of each."""
    with loading.importing:
        from attnviz.teach.course.shelf import LEVELS, stills

    return LEVELS, stills()


def of_moved_card(slug: str, card: str) -> tuple[str, str]:
    """The lesson and the card that an address leads to now: its own unless the card has moved."""
    with loading.importing:
        from attnviz.teach.course import MOVED_CARDS

    return MOVED_CARDS.get((slug, card), (slug, card))


@shared(most=MAX_CAPTURES, holds_model=True)
def capture(model: str, text: object = None, /, **options: object) -> "Capture":
    """The capture of a lesson: a registry model on a text, with keywords of `attnviz.capture`."""
    loaded = loading.model(sources.source(model))
    return attnviz.capture(loaded, text, **options)  # type: ignore[arg-type]


@shared(most=MAX_POINTED)
def pointed(sentence: str, noun: str) -> "Pointed | None":
    """The weight of "it" on a noun in the head of lesson 1; None for a sentence without both."""
    with loading.importing:
        from attnviz.teach.course import ask

    return ask.pointed(capture, sentence, noun)
