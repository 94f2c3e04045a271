"""The list of lessons: number, title, summary, time, and progress.

In: the language, and the answers that this session gave so far. Out: one box for each lesson with a
button that opens it where it was left.
"""

import streamlit as st

from attnviz.i18n import Language, text
from attnviz.lessons.cards.texts import lesson_texts
from attnviz.ui.learn import open_card
from attnviz.ui.page import frame
from attnviz.ui.server import cache
from attnviz.ui.session import widgets


def show(lang: Language) -> None:
    """Draw the list."""
    frame.open_page("learn")
    open_card.n_moves("")
    for number, slug in enumerate(cache.lesson_slugs(), start=1):
        _lesson(lang, number, slug)


def _lesson(lang: Language, number: int, slug: str) -> None:
    lesson, texts = cache.lesson(slug), lesson_texts(slug, lang)
    answers = open_card.answers_of(slug)
    begun = bool(answers or open_card.last_card(slug))
    with st.container(border=True, key=widgets.key(f"learn.lesson.{slug}")):
        left, right = st.columns([5, 1.4], vertical_alignment="center")
        with left:
            st.subheader(f"{number}. {texts.title}", anchor=False)
            st.markdown(texts.summary)
            st.caption(
                text(
                    lang,
                    "learn.about",
                    cards=len(lesson.recipes),
                    minutes=lesson.minutes,
                    answered=len(answers),
                )
            )
        with right:
            _open(lang, slug, texts.title, begun)


def _open(lang: Language, slug: str, title: str, begun: bool) -> None:
    """A button to where the lesson was left, and one to its first card if that is another."""
    st.button(
        text(lang, "learn.go_on" if begun else "learn.start"),
        key=widgets.key(f"learn.open.{slug}"),
        help=title,
        on_click=open_card.open_lesson,
        args=(slug,),
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
