"""The card that followers see when their class has ended.

In: the lesson and the answers of this session. Out: the sentence to keep, the learner's own score,
and buttons to the next lesson and to all lessons.
"""

import streamlit as st

from attnviz.i18n import Language, text
from attnviz.lessons.cards import progress
from attnviz.lessons.cards.texts import lesson_texts
from attnviz.ui.classroom import entry
from attnviz.ui.learn import open_card
from attnviz.ui.server import course_lessons
from attnviz.ui.session import current, widgets


def show(lang: Language) -> None:
    """Draw the card."""
    slugs, learn = course_lessons.slugs(), current.view().learn
    with st.container(border=True, key=widgets.key("class.closing")):
        st.header(text(lang, "class.over"), anchor=False)
        if learn.lesson in slugs:
            texts = lesson_texts(learn.lesson, lang)
            st.markdown(text(lang, "class.thanks", lesson=texts.title))
            st.markdown(text(lang, "learn.score", right=_n_right(), questions=texts.n_questions))
            st.markdown(f"**{text(lang, 'learn.keep')}** {texts.keep}")
        with st.container(horizontal=True):
            for slug in slugs[slugs.index(learn.lesson) + 1 :][:1] if learn.lesson in slugs else ():
                st.button(
                    text(lang, "learn.next_lesson", lesson=lesson_texts(slug, lang).title),
                    key=widgets.key("class.next_lesson"),
                    type="primary",
                    on_click=_go_on,
                    args=(slug,),
                )
            st.button(text(lang, "class.to_lessons"), key=widgets.key("class.out"), on_click=_go_on)


def _n_right() -> int:
    """The number of questions of the lesson that this session answered right."""
    lesson = course_lessons.lesson(current.view().learn.lesson)
    opened = open_card.open_card(lesson)
    standings = (
        progress.standing(opened.card_named(name), opened.answers) for name in opened.answers
    )
    return sum(standing == "right" for standing in standings)


def _go_on(slug: str = "") -> None:
    """Leave the class for a lesson, or for the list of lessons."""
    entry.leave()
    if slug:
        open_card.open_lesson(slug)
    else:
        open_card.leave()
