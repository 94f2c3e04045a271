"""A follower's page: the card that the presenter shows, drawn by one canvas, and its answer.

In: the room's stage. Out: the card in the follower's own language. The class's socket sends further
cards to the canvas (see `staged_card`); this page runs when an answer comes, when a picture is to
be drawn that only a page draws, and when the class goes to another page. An answer is counted, and
judged when the presenter reveals.
"""

from dataclasses import replace

import streamlit as st

from attnviz.app.host.draw import Events, draw
from attnviz.app.page_parts.classroom import (
    activity,
    cell_question,
    class_pages,
    entry,
    reach,
    seats,
    staged_card,
    tally,
)
from attnviz.app.page_parts.learn import open_card, pictures, pointer, real
from attnviz.app.page_parts.learn.card_shown import CardShown
from attnviz.app.page_parts.learn.pointer import Pointing
from attnviz.app.server import class_socket
from attnviz.app.server.class_socket import rooms
from attnviz.app.session import address_bar, current, messages, store
from attnviz.app.session.fragment import fragment
from attnviz.app.session.view import LessonPlace
from attnviz.errors import AttnVizError, BadInput
from attnviz.i18n import Language, text
from attnviz.pictures import class_card
from attnviz.pictures.class_card import ClassCardView
from attnviz.teach.classroom.stage import LEARN, Stage
from attnviz.teach.classroom.tally import label
from attnviz.teach.lessons.cards import progress
from attnviz.teach.lessons.cards.card import Card, LiveTraining, RealHead
from attnviz.types import ignore

FOLLOWED = "class.followed"
VOTED = "class.voted_again"  # the class and the card of the second vote that this page is in
OWN = "class.own"  # the answers of this page in its class: the room, and the answers by lesson


def show(lang: Language) -> None:
    """Join, and draw what the presenter shows."""
    seat = current.view().classroom
    own = reach.tried(lambda: rooms().join(seat.room, seat.seat or None), seat.seat)
    seats.sit(replace(seat, host="", seat=own))
    _stage(lang)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(text(lang, "class.following", code=seat.room))
        entry.leave_button(lang)


@fragment()
def _stage(lang: Language) -> None:
    seat = current.view().classroom
    if seat.host:
        st.rerun(scope="app")  # the tab had the key of who leads
    stage = stage_of_page(lang)
    if stage is None:
        return
    with messages.guard(lang):
        own = reach.tried(lambda: rooms().join(seat.room, seat.seat), seat.seat)
        seats.sit(replace(seat, seat=own))
        if stage.activity:  # what the class does now stands first, also on a phone
            activity.take_part(lang, stage)
        _card(lang, stage)
        if not stage.activity:
            activity.take_part(lang, stage)


def stage_of_page(lang: Language) -> Stage | None:
    """The stage that this page draws; None while the class does not answer.

    The page runs again if the class is over, or has gone to another page.
    """
    try:
        stage = reach.stage(current.view().classroom.room)
    except BadInput:
        st.rerun(scope="app")
    except AttnVizError as error:
        messages.show(lang, error)
        tally.listener(lang, "stage", reach.NOT_DRAWN)
        return None
    if stage.page != LEARN and class_pages.is_due(stage):
        st.rerun(scope="app")  # the class has just gone to another page of the app
    class_pages.note(stage)
    return stage


def _card(lang: Language, stage: Stage) -> None:
    """The card on the stage; an answer is stored, and judged after the reveal."""
    seat = current.view().classroom
    shown = staged_card.shown_on(stage, seat.room, lang)
    _follow(stage, shown.card)
    own = progress.parse(current.view().learn.answers)
    verdict = progress.verdict(shown.card, own)
    if verdict is not None and not stage.revealed:
        _count(stage, label(verdict))
    view = card_view(lang, stage)
    view = replace(
        view,
        own=progress.answer_text(stage.card, own),
        judged=staged_card.staged(seat.room, lang, stage).labels.get(seat.seat, ""),
        chosen=pointer.as_selection(pointer.read_chosen(stage.selection)),
    )
    on: Events = {
        "heard": ignore,
        "kept": seats.take_kept,
        "answer": _take_answer,
    }
    draw(class_card.CANVAS, view, "class.card", lang, on)
    draw_by_page(shown)
    cell_question.show(shown, stage, answers=True)


def card_view(lang: Language, stage: Stage) -> ClassCardView:
    """The card for this page's canvas, as all pages of the class see it."""
    seat = current.view().classroom
    ready = staged_card.staged(seat.room, lang, stage)
    return ClassCardView(class_socket.FOLDER, seat.room, seat.seat, "card", lang, ready.card)


def draw_by_page(shown: CardShown) -> None:
    """Draw the pictures of a card that its canvas does not: real heads, a training that runs."""
    for name, picture in staged_card.pictures_of(shown):
        if isinstance(picture, RealHead | LiveTraining):
            pictures.show(shown, picture, name)


def _follow(stage: Stage, card: Card) -> None:
    """Move the view to the stage, with the answers that this page gave in the class.

    A head that the presenter chose is taken over once: followers may look around until the next.
    """
    learn = current.view().learn
    room = current.view().classroom.room
    own = answers_in(room)
    answers = learn.answers if learn.lesson == stage.lesson else own.get(stage.lesson, "")
    vote = (room, stage.name)
    if stage.vote > 1 and store.get(VOTED) != vote:  # the answer was that of the first vote
        store.put(VOTED, vote)
        kept = {name: said for name, said in progress.parse(answers).items() if name != stage.card}
        answers = progress.write(kept)
    store.put(OWN, (room, {**own, stage.lesson: answers}))
    learn = LessonPlace(stage.lesson, stage.card, stage.settings, answers)
    current.update(replace(current.view(), learn=learn))
    pointer.point(Pointing.read(stage.card, stage.selection))
    pointer.follow_training(card, stage.selection)
    chosen, seen = pointer.read_chosen(stage.selection), store.get(real.SHOWN)
    if store.get(FOLLOWED) != (chosen, seen):
        store.put(FOLLOWED, (chosen, seen))
        current.take(chosen)
    address_bar.write()  # a picture that is mounted now reads its head and cell from there


def answers_in(room: str) -> dict[str, str]:
    """The answers of this page in a class, in their text form, by lesson."""
    kept: tuple[str, dict[str, str]] = store.get(OWN) or ("", {})
    return kept[1] if kept[0] == room else {}


def _count(stage: Stage, name: str) -> None:
    """Have the class count the answer of this page."""
    seat = current.view().classroom
    try:
        rooms().answer(seat.room, seat.seat, stage.name, name)
    except BadInput as error:
        messages.show(current.language(), error)


def _take_answer(value: object) -> None:
    """Take the answer that the canvas sent, if it answers the question on the stage."""
    sent = class_card.parse_answer(value)
    seat = current.view().classroom
    stage = reach.stage(seat.room)
    if sent is None or sent[:2] != stage.name or stage.revealed:
        return
    card = staged_card.shown_on(stage, seat.room, current.language()).card
    answer = None if card.question is None else progress.answer_of(card.question, sent[2])
    if answer is None:
        return
    _follow(stage, card)
    open_card.note_drawn(stage.card)
    open_card.answer(stage.card, progress.text_of(answer))
