"""A follower's page: the card that the presenter shows, and room for an answer of one's own.

In: the room's stage. Out: the card in the follower's own language; what can be set is set by the
presenter, an answer is counted and judged when the presenter reveals. Runs by itself when the stage
changes, and alone: the rest of the page stays.
"""

from dataclasses import replace

import streamlit as st

from attnviz.errors import BadInput
from attnviz.i18n import Language, text
from attnviz.lessons.cards import progress
from attnviz.lessons.cards.card import Card
from attnviz.lessons.cards.texts import LessonTexts, lesson_texts
from attnviz.lessons.classroom.room import Stage
from attnviz.lessons.classroom.tally import label
from attnviz.ui.classroom import offer, spread
from attnviz.ui.learn import cards, place, pointing, questions, real, way
from attnviz.ui.learn.pointing import Pointing
from attnviz.ui.server.class_socket import rooms
from attnviz.ui.session import messages, state

FOLLOWED = "class.followed"


def show(lang: Language) -> None:
    """Come in, and draw what the presenter shows."""
    view = state.current()
    state.update(host="", seat=rooms().join(view.room, view.seat or None))
    state.write_address()  # a reload comes back to the same seat
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(text(lang, "class.following", code=view.room))
        st.button(
            text(lang, "class.leave"),
            key=state.widget_key("class.leave"),
            type="tertiary",
            on_click=offer.leave,
        )
    _stage(lang)


@st.fragment
def _stage(lang: Language) -> None:
    view = state.current()
    try:
        stage = rooms().stage(view.room)
        state.update(seat=rooms().join(view.room, view.seat))
    except BadInput:
        st.rerun(scope="app")
    with messages.guard(lang):
        _card(lang, stage)
        chosen = pointing.read_chosen(stage.selection)
        spread.listener(lang, "stage", stage.version, pointing.as_selection(chosen))


def _card(lang: Language, stage: Stage) -> None:
    """The card on the stage; an answer is noted, and judged after the reveal."""
    at = place.on(stage.lesson, stage.card, stage.settings)
    texts, card = lesson_texts(stage.lesson, lang), at.card()
    _follow(stage, card)
    mine = progress.parse(state.current().answers)
    name = card.name
    if not stage.revealed:
        _count(lang, stage, card, mine)
    answers = {**mine, name: progress.UNGRADED + progress.answer_text(name, mine)}
    if stage.revealed:
        verdict = progress.verdict(card, mine)
        answers[name] = mine[name] if verdict is not None and verdict.right else progress.SHOWN
    with st.container(key=state.widget_key("learn.top")):
        st.title(texts.title, anchor=False)
        st.caption(text(lang, "learn.where", number=at.number + 1, cards=len(at.names)))
    cards.card(lang, texts, replace(at, answers=answers, led=True))
    way.arrive(lang, at)
    if card.question is None:
        return
    if stage.revealed:
        _judge(lang, texts, card, mine)
    if stage.shown:
        tally = rooms().tally(state.current().room, stage.name)
        st.markdown(f"**{text(lang, 'class.spread', answered=tally.answered)}**")
        spread.show(lang, card, texts, tally, stage.revealed)


def _follow(stage: Stage, card: Card) -> None:
    """Have the view be where the stage is; answers to another lesson are left behind.

    A head that the presenter chose is taken over once: who follows may look around until the next.
    """
    view = state.current()
    answers = view.answers if view.lesson == stage.lesson else ""
    state.update(lesson=stage.lesson, card=stage.card, values=stage.settings, answers=answers)
    pointing.point(Pointing.read(stage.card, stage.selection))
    pointing.follow_training(card, stage.selection)
    chosen, seen = pointing.read_chosen(stage.selection), state.kept(real.SHOWN)
    if state.kept(FOLLOWED) != (chosen, seen):
        state.keep(FOLLOWED, (chosen, seen))
        state.update(**chosen)
    state.write_address()  # a picture that is mounted now finds there what to show


def _count(lang: Language, stage: Stage, card: Card, mine: dict[str, str]) -> None:
    """Have the class count the answer of this page, if there is one."""
    verdict, view = progress.verdict(card, mine), state.current()
    if verdict is None:
        return
    try:
        rooms().answer(view.room, view.seat, stage.name, label(verdict))
    except BadInput as error:
        messages.say(lang, error)


def _judge(lang: Language, texts: LessonTexts, card: Card, mine: dict[str, str]) -> None:
    """What the follower's own answer was worth."""
    verdict = progress.verdict(card, mine)
    if verdict is not None and not verdict.right:
        questions.verdict(lang, texts, card, mine)
