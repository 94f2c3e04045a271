"""The shelf of the lessons, and below it what a learner knows and the plans for a class.

In: the language, and the answers that this session gave so far. Out: a card for each lesson, with a
picture, that opens it where it was left; above them the result of a lesson that was just finished;
below them plans for 45 and 90 minutes, with a question to discuss for each lesson.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from attnviz.app.frame import frame
from attnviz.app.host.draw import draw
from attnviz.app.page_parts.learn import (
    browser_progress,
    card_pills,
    knowledge,
    open_card,
    project,
    words,
)
from attnviz.app.server import course_lessons
from attnviz.app.session import widgets
from attnviz.i18n import DEFAULT, Language, joined, labelled, text
from attnviz.pictures import shelf as shelves
from attnviz.pictures.card_scroller import CardScrollerView
from attnviz.pictures.motion import SCENES, FilmScene
from attnviz.pictures.shelf import Mark, ShelfLesson, ShelfLevel, ShelfView, Still, StillKind
from attnviz.teach.lessons.cards.symbols import with_formulas
from attnviz.teach.lessons.cards.texts import LessonTexts, lesson_texts
from attnviz.teach.lessons.cards.times import JOINING_MIN, PLANS, PlanStep, minutes, taken

if TYPE_CHECKING:
    from attnviz.teach.course.shelf import LessonStill


@dataclass(frozen=True)
class ClassWays:
    """The ways into a class: a field for its code, and a class that goes by a plan of minutes.

    `handout` offers what such a class keeps, as a page to print.
    """

    join: Callable[[Language], None]
    teach_plan: Callable[[int], None]
    handout: Callable[[Language, int], None]


def show(lang: Language, ways: ClassWays | None) -> None:
    """Draw the list, and above it the way into a class, which a phone shows at once."""
    frame.open_page("learn", reads_alone=True)
    if ways is not None:
        ways.join(lang)
    open_card.n_moves("")
    result = open_card.finished()
    if result is not None:
        _result(lang, *result)
    _shelf(lang)
    knowledge.show(lang)
    project.show(lang)
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


def _shelf(lang: Language) -> None:
    """The lessons by level, each with a picture; the first one that is not done stands out."""
    of_levels, stills = course_lessons.shelf()
    marks = {slug: _marks(slug) for slug in course_lessons.slugs()}
    due = next((slug for slug in marks if "open" in marks[slug]), "")
    levels = tuple(
        ShelfLevel(
            text(lang, f"learn.level_{level}"),
            text(lang, f"learn.level_{level}_body"),
            tuple(_lesson(lang, slug, stills[slug], marks[slug], slug == due) for slug in of_level),
        )
        for level, of_level in of_levels.items()
    )
    numbers = {
        f"{slug}.{name}": np.ascontiguousarray(values)
        for slug, still in stills.items()
        for name, values in still.numbers.items()
    }
    draw(shelves.CANVAS, ShelfView(levels, numbers), "learn.shelf", lang, {"lesson": _open})


def _open(sent: object) -> None:
    opened = shelves.parse_opened(sent)
    if opened is not None and opened[0] in course_lessons.slugs():
        open_card.open_lesson(*opened)


def _lesson(
    lang: Language, slug: str, still: "LessonStill", marks: tuple[Mark, ...], is_next: bool
) -> ShelfLesson:
    slugs, lesson = course_lessons.slugs(), course_lessons.lesson(slug)
    texts = lesson_texts(slug, lang)
    answered = len(marks) - marks.count("open")
    n_cards = len(lesson.recipes)
    about = [text(lang, "learn.about", cards=n_cards, minutes=minutes(slug))]
    if lesson.needs:
        numbers = joined(lang, [str(slugs.index(needed)) for needed in lesson.needs])
        about.append(text(lang, "learn.needs", lessons=numbers))
    return ShelfLesson(
        slug,
        slugs.index(slug),
        texts.title,
        texts.goal,
        " · ".join(about),
        text(
            lang,
            "learn.progress",
            right=marks.count("right"),
            questions=len(marks),
            answered=answered,
        ),
        marks,
        is_next,
        is_begun=bool(answered or open_card.last_card(slug)),
        is_left=bool(open_card.last_card(slug)),
        still=_still(still, texts),
    )


def _marks(slug: str) -> tuple[Mark, ...]:
    """The mark of each question of a lesson; an answer that was not judged here counts as seen."""
    english, known = lesson_texts(slug, DEFAULT), open_card.known(slug)
    answers = open_card.answers_of(slug)
    asked = (name for name in english.cards if english.has(name, "question"))
    return tuple(
        known[name] if name in known else "shown" if name in answers else "open" for name in asked
    )


def _still(still: "LessonStill", texts: LessonTexts) -> Still:
    """The picture of a lesson with its labels in a language."""
    own = texts.words if still.is_made_up else {}
    labels = {
        axis: tuple(own.get(word, word) for word in words) for axis, words in still.labels.items()
    }
    for axis, keys in still.named.items():
        labels[axis] = tuple(texts.of(still.card, key) for key in keys)
    lengths = {} if still.film is None else SCENES[still.film]
    scenes = tuple(FilmScene(name, lengths[name], "") for name in still.scenes)
    kind: StillKind = "film" if still.film else "matrices" if still.before else "lines"
    return Still(kind, still.film, scenes, labels, still.before)


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
    if ways is not None:
        ways.handout(lang, plan)
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
