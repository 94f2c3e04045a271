"""A learner's knowledge: first tries by lesson, questions that come back, and a record to print.

In: how the answered cards of this session stand. Out: before a lesson, two questions of earlier
ones with new numbers; below the shelf, what was answered in each lesson, and a page to print. There
are no accounts: all of it is in the browser, and the record is signed by nobody.
"""

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

import streamlit as st

from attnviz.app.page_parts.learn import open_card
from attnviz.app.page_parts.learn.open_card import OpenCard
from attnviz.app.server import course_lessons
from attnviz.app.session import store, widgets
from attnviz.i18n import Language, text
from attnviz.teach.lessons.cards import progress
from attnviz.teach.lessons.cards.progress import CAME_BACK
from attnviz.teach.lessons.cards.symbols import with_formulas
from attnviz.teach.lessons.cards.texts import lesson_texts
from attnviz.teach.lessons.paper import record
from attnviz.teach.lessons.paper.record import KnownLesson
from attnviz.teach.lessons.paper.worksheet import LAST_SEED

QUESTIONS = 2  # that come back at a time
RETURNING = "learn.returning"  # the questions that still come back, and the lesson after them
# those come back first that were not answered at the first try, then those that never came back
URGENCY = {"wrong": 0, "shown": 0, "later": 1, "right": 2}

Question = tuple[str, str]


@dataclass(frozen=True)
class Returning:
    """Questions that come back one after the other; `then` is the lesson to which they lead."""

    left: tuple[Question, ...]
    then: str


def before_lesson(lang: Language, opened: OpenCard) -> None:
    """On the first card of a lesson that was not begun: the offer of two questions from before."""
    slug = opened.lesson.slug
    if opened.room or opened.number or opened.answers:
        return
    slugs = course_lessons.slugs()
    due = _due(slugs[: slugs.index(slug)])
    if len(due) < QUESTIONS:
        return
    with st.container(horizontal=True, vertical_alignment="center", border=True):
        st.markdown(text(lang, "learn.comes_back"), width="stretch")
        _ask_button(lang, due, slug)


def _ask_button(lang: Language, due: tuple[Question, ...], then: str) -> None:
    st.button(
        text(lang, "learn.ask_two"),
        key=widgets.key("learn.ask_two"),
        on_click=_ask_next,
        args=(Returning(due, then),),
    )


def _due(slugs: tuple[str, ...]) -> tuple[Question, ...]:
    """The two questions of these lessons that a learner most needs to be asked again."""
    answered = []
    for place, (slug, card) in enumerate(course_lessons.comes_back()):
        known = open_card.known(slug) if slug in slugs else {}
        if card in known:
            again = known.get(card + CAME_BACK)
            urgency = URGENCY[known[card]] if again is None else 3 + URGENCY[again]
            answered.append((urgency, place, (slug, card)))
    return tuple(question for _, _, question in sorted(answered)[:QUESTIONS])


def _ask_next(returning: Returning) -> None:
    """Go to the next question that comes back, or on to the lesson."""
    if returning.left:
        (slug, card), *left = returning.left
        store.put(RETURNING, Returning(tuple(left), returning.then))
        open_card.ask_again(slug, card, 1 + secrets.randbelow(LAST_SEED))
        return
    store.put(RETURNING, None)
    if returning.then:
        open_card.open_lesson(returning.then)
    else:
        open_card.leave()


def show_came_back(lang: Language, opened: OpenCard) -> None:
    """Above a card that came back: where it is from. Below it stands `go_on`."""
    texts = lesson_texts(opened.lesson.slug, lang)
    st.caption(with_formulas(text(lang, "learn.from_before", lesson=texts.title)))


def go_on(lang: Language, opened: OpenCard) -> None:
    """Note how the card that came back was answered; the way on."""
    answered = progress.standing(opened.card(), opened.answers) if opened.answers else None
    if answered is not None and opened.name in opened.answers:
        open_card.note_came_back(opened.lesson.slug, opened.name, answered)
    returning: Returning = store.get(RETURNING) or Returning((), "")
    if returning.left or not returning.then:
        label = text(lang, "learn.next_question" if returning.left else "learn.all")
    else:
        title = lesson_texts(returning.then, lang).title
        label = with_formulas(text(lang, "learn.on_to", lesson=title))
    st.button(
        label,
        key=widgets.key(f"learn.came_back.{opened.lesson.slug}.{opened.name}"),
        type="primary" if answered else "secondary",
        on_click=_ask_next,
        args=(returning,),
    )


def show(lang: Language) -> None:
    """The answers in each lesson, counted; nothing before the first answer."""
    known = _known(lang)
    if not known:
        return
    with st.container(border=True, key=widgets.key("learn.known")):
        st.subheader(text(lang, "learn.known"), anchor=False)
        n_right, n = sum(each.right for each in known), sum(each.questions for each in known)
        st.markdown(text(lang, "learn.first_tries", right=n_right, questions=n))
        for each in known:
            _line(lang, each)
        with st.container(horizontal=True):
            due = _due(course_lessons.slugs())
            if len(due) == QUESTIONS:
                _ask_button(lang, due, "")
            st.download_button(
                text(lang, "learn.record"),
                data=partial(_record, lang, known),
                file_name=f"attnviz-record-{lang}.html",
                mime="text/html",
                on_click="ignore",
                key=widgets.key("learn.record"),
                help=text(lang, "learn.record_help"),
            )


def _record(lang: Language, known: tuple[KnownLesson, ...]) -> str:
    return record.record_html(lang, known, datetime.now(UTC).date().isoformat())


def _line(lang: Language, known: KnownLesson) -> None:
    """A lesson: what one can do after it, and how far that was shown."""
    counts = text(lang, "learn.first_tries", right=known.right, questions=known.questions)
    if known.came_back:
        right, n = known.came_back_right, known.came_back
        counts += " " + text(lang, "learn.came_back", right=right, questions=n)
    goal = text(lang, "learn.goal")
    sign = "✓" if known.answered == known.questions else "…"
    st.markdown(
        f"{sign} **{with_formulas(known.title)}** · {goal} {with_formulas(known.goal)} {counts}"
    )


def _known(lang: Language) -> tuple[KnownLesson, ...]:
    """The lessons in which something was answered."""
    found = []
    for slug in course_lessons.slugs():
        texts, known = lesson_texts(slug, lang), open_card.known(slug)
        again = [standing for name, standing in known.items() if name.endswith(CAME_BACK)]
        first = [standing for name, standing in known.items() if not name.endswith(CAME_BACK)]
        if known:
            found.append(
                KnownLesson(
                    title=texts.title,
                    goal=texts.goal,
                    keep=texts.keep if len(first) == texts.n_questions else "",
                    questions=texts.n_questions,
                    answered=len(first),
                    right=first.count("right"),
                    later=first.count("later"),
                    came_back=len(again),
                    came_back_right=again.count("right"),
                )
            )
    return tuple(found)
