"""The card that followers see when their class has ended.

In: the lessons of the class and the answers that this page gave in it. Out: the sentences to keep,
how many of the questions that this learner answered were answered right, and buttons to the next
lesson and to all lessons.
"""

from collections.abc import Mapping, Sequence

import streamlit as st

from attnviz.app.page_parts.classroom import entry, follower
from attnviz.app.page_parts.learn import open_card
from attnviz.app.server import course_lessons
from attnviz.app.session import current, widgets
from attnviz.i18n import Language, labelled, text
from attnviz.teach.classroom.stage import CardName
from attnviz.teach.lessons.cards import progress
from attnviz.teach.lessons.cards.symbols import with_formulas
from attnviz.teach.lessons.cards.texts import lesson_texts


def show(lang: Language) -> None:
    """Draw the card."""
    slugs, learn = course_lessons.slugs(), current.view().learn
    room = current.view().classroom.room
    answers = {slug: progress.parse(said) for slug, said in follower.answers_in(room).items()}
    shown = [slug for slug in slugs if slug in answers] or [learn.lesson]
    with st.container(border=True, key=widgets.key("class.closing")):
        st.header(text(lang, "class.over"), anchor=False)
        if learn.lesson in slugs:
            texts = [lesson_texts(slug, lang) for slug in shown]
            if len(texts) == 1:
                st.markdown(with_formulas(text(lang, "class.thanks", lesson=texts[0].title)))
            standings = _standings(room, answers)
            if standings:
                n_right, n = standings.count("right"), len(standings)
                st.markdown(text(lang, "learn.score", right=n_right, questions=n))
            for each in texts:
                st.markdown(labelled(text(lang, "learn.keep"), with_formulas(each.keep)))
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
                entry.handout_button(lang, _cards(shown, answers), learn.lesson)


def _standings(room: str, answers: Mapping[str, Mapping[str, str]]) -> list[progress.Standing]:
    """The standings of the questions that this page answered; a class may show few cards."""
    standings = (
        progress.standing(open_card.card_of_stage(slug, name, "", room).card(), said)
        for slug, said in answers.items()
        for name in said
    )
    return [standing for standing in standings if standing != "shown" and standing]


def _cards(slugs: Sequence[str], answers: Mapping[str, Mapping[str, str]]) -> list[CardName]:
    """The cards of the handout: all of a lesson; those of several lessons that were answered."""
    answered = [(slug, name) for slug in slugs for name in answers.get(slug, {})]
    if len(slugs) > 1 and answered:
        return answered
    return [(slugs[-1], recipe.name) for recipe in course_lessons.lesson(slugs[-1]).recipes]


def _go_on(slug: str = "") -> None:
    """Leave the class for a lesson, or for the list of lessons."""
    entry.leave()
    if slug:
        open_card.open_lesson(slug)
    else:
        open_card.leave()
