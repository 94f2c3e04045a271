"""The card that followers see when their class has ended.

In: the lesson and the answers of this session. Out: the sentence to keep, how many of the questions
that this learner answered were answered right, and buttons to the next lesson and to all lessons.
"""

import streamlit as st

from attnviz.app.page_parts.classroom import entry
from attnviz.app.page_parts.learn import open_card
from attnviz.app.server import course_lessons
from attnviz.app.session import current, widgets
from attnviz.i18n import Language, labelled, text
from attnviz.teach.lessons.cards import progress
from attnviz.teach.lessons.cards.symbols import with_formulas
from attnviz.teach.lessons.cards.texts import lesson_texts


def show(lang: Language) -> None:
    """Draw the card."""
    slugs, learn = course_lessons.slugs(), current.view().learn
    with st.container(border=True, key=widgets.key("class.closing")):
        st.header(text(lang, "class.over"), anchor=False)
        if learn.lesson in slugs:
            texts = lesson_texts(learn.lesson, lang)
            st.markdown(with_formulas(text(lang, "class.thanks", lesson=texts.title)))
            standings = _standings()
            if standings:
                n_right, n = standings.count("right"), len(standings)
                st.markdown(text(lang, "learn.score", right=n_right, questions=n))
            st.markdown(labelled(text(lang, "learn.keep"), with_formulas(texts.keep)))
        with st.container(horizontal=True):
            for slug in slugs[slugs.index(learn.lesson) + 1 :][:1] if learn.lesson in slugs else ():
                title = lesson_texts(slug, lang).title
                st.button(
                    with_formulas(text(lang, "learn.next_lesson", lesson=title)),
                    key=widgets.key("class.next_lesson"),
                    type="primary",
                    on_click=_go_on,
                    args=(slug,),
                )
            st.button(text(lang, "class.to_lessons"), key=widgets.key("class.out"), on_click=_go_on)
            if learn.lesson in slugs:
                recipes = course_lessons.lesson(learn.lesson).recipes
                shown = [(learn.lesson, recipe.name) for recipe in recipes]
                entry.handout_button(lang, shown, learn.lesson)


def _standings() -> list[progress.Standing]:
    """The standings of the questions that this session answered; a class may show few cards."""
    lesson = course_lessons.lesson(current.view().learn.lesson)
    opened = open_card.open_card(lesson)
    standings = (
        progress.standing(opened.card_named(name), opened.answers) for name in opened.answers
    )
    return [standing for standing in standings if standing != "shown" and standing]


def _go_on(slug: str = "") -> None:
    """Leave the class for a lesson, or for the list of lessons."""
    entry.leave()
    if slug:
        open_card.open_lesson(slug)
    else:
        open_card.leave()
