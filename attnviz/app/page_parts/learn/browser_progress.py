"""The progress in all lessons as the text that the learner's browser keeps, and back from it.

In: the answers of this session. Out: JSON, a lesson's answers, its last card and how its cards
stand, under its name. What comes back from a browser is treated as hostile: what does not have this
form is left out, and the session's own answers win.
"""

import json
from collections.abc import Mapping
from dataclasses import replace

from attnviz.app.page_parts.learn import open_card
from attnviz.app.server import course_lessons
from attnviz.app.session import current, store
from attnviz.teach.lessons.cards.progress import read_standings, write

TAKEN = "learn.progress_taken"
MAX_CHARS = 4_000  # of a lesson's answers
MAX_LESSONS = 40

Progress = dict[str, dict[str, str]]


def written() -> str:
    """The progress of this session as text; "" for none."""
    progress = _of_session()
    return json.dumps(progress, ensure_ascii=False, sort_keys=True) if progress else ""


def is_wanted() -> bool:
    """True if the session has no progress and was not given any yet."""
    return not store.get(TAKEN) and not _of_session()


def take(sent: object) -> None:
    """Keep the progress that a browser has sent, and continue in the lesson that is open."""
    store.put(TAKEN, True)
    progress = read(sent, course_lessons.slugs())
    answers = {slug: entry["answers"] for slug, entry in progress.items()}
    cards = {slug: entry["card"] for slug, entry in progress.items()}
    store.put(open_card.ANSWERS, answers | (store.get(open_card.ANSWERS) or {}))
    known = {slug: read_standings(entry["known"]) for slug, entry in progress.items()}
    store.put(open_card.LAST_CARD, cards | (store.get(open_card.LAST_CARD) or {}))
    store.put(open_card.KNOWN, known | (store.get(open_card.KNOWN) or {}))
    learn = current.view().learn
    if learn.lesson and not learn.answers:
        open_card.put(replace(learn, answers=answers.get(learn.lesson, "")))


def read(text: object, slugs: tuple[str, ...]) -> Progress:
    """The progress in a text from a browser; {} for one that has another form."""
    if not isinstance(text, str) or len(text) > MAX_CHARS * MAX_LESSONS:
        return {}
    try:
        stored = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(stored, dict):
        return {}
    return {slug: entry for slug in slugs if (entry := _entry(stored.get(slug)))}


def _entry(value: object) -> dict[str, str]:
    if not isinstance(value, dict):
        return {}
    # what was kept before standings were has none
    entry = {name: value.get(name, "") for name in ("answers", "card", "known")}
    if not all(isinstance(text, str) and len(text) <= MAX_CHARS for text in entry.values()):
        return {}
    return {name: str(text) for name, text in entry.items()}


def _of_session() -> Progress:
    answers: Mapping[str, str] = store.get(open_card.ANSWERS) or {}
    cards: Mapping[str, str] = store.get(open_card.LAST_CARD) or {}
    learn = current.view().learn
    if learn.lesson:
        answers = {**answers, learn.lesson: learn.answers}
        cards = {**cards, learn.lesson: learn.card}
    return {
        slug: {
            "answers": answers.get(slug, ""),
            "card": cards.get(slug, ""),
            "known": write(open_card.known(slug)),
        }
        for slug in sorted({*answers, *cards})
        if answers.get(slug)
    }
