"""The list of lessons, with title, goal, time and progress; below it the plans for a class.

In: the language, and the answers that this session gave so far. Out: one box for each lesson with a
button that opens it where it was left; above them the result of a lesson that was just finished;
below them plans for 45 and 90 minutes, with a question to discuss for each lesson.
"""

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from attnviz.app.frame import frame
from attnviz.app.page_parts.learn import browser_progress, card_pills, open_card, words
from attnviz.app.server import course_lessons
from attnviz.app.session import widgets
from attnviz.i18n import Language, joined, labelled, text
from attnviz.pictures.card_scroller import CardScrollerView
from attnviz.teach.lessons.cards.symbols import with_formulas
from attnviz.teach.lessons.cards.texts import lesson_texts
from attnviz.teach.lessons.cards.times import JOINING_MIN, PLANS, PlanStep, minutes, taken


@dataclass(frozen=True)
class ClassWays:
    """The ways into a class: a field for its code, and a class that goes by a plan of minutes."""

    join: Callable[[Language], None]
    teach_plan: Callable[[int], None]


def show(lang: Language, ways: ClassWays | None) -> None:
    """Draw the list, and above it the way into a class, which a phone shows at once."""
    frame.open_page("learn", reads_alone=True)
    if ways is not None:
        ways.join(lang)
    open_card.n_moves("")
    result = open_card.finished()
    if result is not None:
        _result(lang, *result)
    for number, slug in enumerate(course_lessons.slugs()):
        _lesson(lang, number, slug)
    show_plans(lang, ways)
    words.glossary_of_all(lang)
    progress = CardScrollerView(0, (), browser_progress.written(), browser_progress.is_wanted())
    card_pills.keep_progress(progress)


def _result(lang: Language, slug: str, n_right: int) -> None:
    """The score, the sentence to keep, and a button to the next lesson."""
    texts, slugs = lesson_texts(slug, lang), course_lessons.slugs()
    following = slugs[slugs.index(slug) + 1 :][:1]
    with st.container(border=True, key=widgets.key("learn.result")):
        finished = text(lang, "learn.finished", lesson=texts.title)
        st.subheader(with_formulas(finished), anchor=False)
        st.markdown(text(lang, "learn.first_tries", right=n_right, questions=texts.n_questions))
        st.markdown(labelled(text(lang, "learn.keep"), with_formulas(texts.keep)))
        st.markdown(labelled(text(lang, "learn.discuss"), with_formulas(texts.discuss)))
        for next_slug in following:
            title = lesson_texts(next_slug, lang).title
            st.button(
                with_formulas(text(lang, "learn.next_lesson", lesson=title)),
                key=widgets.key("learn.next_lesson"),
                type="primary",
                on_click=open_card.open_lesson,
                args=(next_slug,),
            )


def _lesson(lang: Language, number: int, slug: str) -> None:
    lesson, texts = course_lessons.lesson(slug), lesson_texts(slug, lang)
    answers = open_card.answers_of(slug)
    begun = bool(answers or open_card.last_card(slug))
    with st.container(border=True, key=widgets.key(f"learn.lesson.{slug}")):
        left, right = st.columns([5, 1.4], vertical_alignment="center")
        with left:
            st.subheader(with_formulas(f"{number}. {texts.title}"), anchor=False)
            st.markdown(with_formulas(texts.summary))
            st.markdown(labelled(text(lang, "learn.goal"), with_formulas(texts.goal)))
            st.caption(
                text(
                    lang,
                    "learn.about",
                    cards=len(lesson.recipes),
                    minutes=minutes(slug),
                    answered=len(answers),
                )
            )
            if lesson.needs:
                titles = (lesson_texts(needed, lang).title for needed in lesson.needs)
                needs = text(lang, "learn.needs", lessons=" · ".join(titles))
                st.caption(with_formulas(needs))
        with right:
            _open(lang, slug, with_formulas(texts.title), begun)


def _open(lang: Language, slug: str, title: str, begun: bool) -> None:
    """A button to where the lesson was left, and one to its first card if that is another.

    That of the first lesson stands out until it is begun.
    """
    is_first = slug == course_lessons.slugs()[0] and not begun
    st.button(
        text(lang, "learn.go_on" if begun else "learn.start"),
        key=widgets.key(f"learn.open.{slug}"),
        help=title,
        on_click=open_card.open_lesson,
        args=(slug,),
        type="primary" if is_first else "secondary",
        width="stretch",
    )
    if open_card.last_card(slug):
        st.button(
            text(lang, "learn.from_start"),
            key=widgets.key(f"learn.from_start.{slug}"),
            help=title,
            on_click=open_card.open_lesson,
            args=(slug, True),
            type="tertiary",
            width="stretch",
        )


def show_plans(lang: Language, ways: ClassWays | None) -> None:
    """The plans, one beside the other."""
    key = widgets.key("learn.plans")
    box = st.expander(text(lang, "learn.plans"), key=key, on_change="rerun")
    if not box.open:
        return
    with box:
        for column, plan in zip(st.columns(len(PLANS)), PLANS, strict=True):
            with column:
                _plan(lang, plan, ways)


def _plan(lang: Language, plan: int, ways: ClassWays | None) -> None:
    st.markdown(f"##### {text(lang, 'learn.plan', minutes=plan)}")
    st.markdown(text(lang, "learn.plan_talk", taken=taken(plan), rest=plan - taken(plan)))
    if ways is not None and st.button(
        text(lang, "class.teach_plan"), key=widgets.key(f"class.teach_plan.{plan}"), type="primary"
    ):
        ways.teach_plan(plan)
    st.caption(text(lang, "class.plan_join", minutes=JOINING_MIN))
    for number, step in enumerate(PLANS[plan]):
        _step(lang, step, f"{plan}.{number}")


def _step(lang: Language, step: PlanStep, name: str) -> None:
    """The cards of a lesson by their titles, and its question for the class."""
    texts = lesson_texts(step.slug, lang)
    label = text(lang, "learn.plan_step", lesson=texts.title, minutes=step.minutes)
    st.button(
        with_formulas(label),
        key=widgets.key(f"learn.plan.{name}"),
        on_click=open_card.open_at,
        args=(step.slug, step.cards[0]),
    )
    numbers = [str(list(texts.cards).index(card) + 1) for card in step.cards]
    st.caption(text(lang, "learn.plan_cards", cards=joined(lang, numbers)))
    st.markdown(labelled(text(lang, "learn.discuss"), with_formulas(texts.discuss)))
