"""A follower's page: the card that the presenter shows, and widgets to answer it.

In: the room's stage. Out: the card in the follower's own language. The presenter sets its values;
an answer is counted, and judged when the presenter reveals. The card is a fragment that runs when
the stage changes; the rest of the page stays.
"""

from dataclasses import replace

import streamlit as st

from attnviz.app.page_parts.classroom import (
    cell_question,
    class_pages,
    entry,
    reach,
    seats,
    sentences,
    tally,
)
from attnviz.app.page_parts.learn import card_pills, cards, open_card, pointer, questions, real
from attnviz.app.page_parts.learn.card_shown import CardShown
from attnviz.app.page_parts.learn.pointer import Pointing
from attnviz.app.server.class_socket import rooms
from attnviz.app.session import address_bar, current, messages, store, widgets
from attnviz.app.session.fragment import fragment
from attnviz.app.session.view import LessonPlace
from attnviz.errors import AttnVizError, BadInput
from attnviz.i18n import Language, text
from attnviz.teach.classroom.stage import LEARN, Stage
from attnviz.teach.classroom.tally import label
from attnviz.teach.lessons.cards import progress
from attnviz.teach.lessons.cards.card import Card
from attnviz.teach.lessons.cards.example_words import in_language
from attnviz.teach.lessons.cards.symbols import with_formulas
from attnviz.teach.lessons.cards.texts import LessonTexts, lesson_texts

FOLLOWED = "class.followed"


def show(lang: Language) -> None:
    """Join, and draw what the presenter shows."""
    seat = current.view().classroom
    own = reach.tried(lambda: rooms().join(seat.room, seat.seat or None), seat.seat)
    seats.sit(replace(seat, host="", seat=own))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(text(lang, "class.following", code=seat.room))
        entry.leave_button(lang)
    _stage(lang)


@fragment()
def _stage(lang: Language) -> None:
    seat = current.view().classroom
    if seat.host:
        st.rerun(scope="app")  # the tab had the key of who leads
    try:
        stage = reach.stage(seat.room)
        own = reach.tried(lambda: rooms().join(seat.room, seat.seat), seat.seat)
        seats.sit(replace(seat, seat=own))
    except BadInput:
        st.rerun(scope="app")
    except AttnVizError as error:
        messages.show(lang, error)
        tally.listener(lang, "stage", reach.NOT_DRAWN)
        return
    if leaves_learn(stage):
        st.rerun(scope="app")
    with messages.guard(lang):
        class_pages.note(stage)
        draw(lang, stage)
        sentences.give(lang)
    chosen = pointer.read_chosen(stage.selection)
    tally.listener(lang, "stage", stage.version, pointer.as_selection(chosen))


def leaves_learn(stage: Stage) -> bool:
    """True if the class has just gone to another page of the app."""
    return stage.page != LEARN and class_pages.is_due(stage)


def draw(lang: Language, stage: Stage, *, answers: bool = True) -> None:
    """The card on the stage; an answer is stored, and judged after the reveal.

    Without `answers`, as on the wall, nothing is counted and no answer is anybody's own.
    """
    room = current.view().classroom.room
    opened = open_card.card_of_stage(stage.lesson, stage.card, stage.settings, room)
    texts = lesson_texts(stage.lesson, lang)
    card = in_language(opened.card(), texts)
    _follow(stage, card)
    own = progress.parse(current.view().learn.answers) if answers else {}
    if answers and not stage.revealed:
        _count(lang, stage, card, own)
    with st.container(key=widgets.key("learn.top")):
        st.title(with_formulas(texts.title), anchor=False)
        number, count = stage.number + 1, stage.count or len(opened.names)
        st.caption(text(lang, "learn.where", number=number, cards=count))
    given = _answers(stage, card, own)
    if not answers:
        _spread(lang, stage, card, texts)
    cards.card(lang, texts, replace(opened, answers=given, led=True, watched=not answers))
    cell_question.show(CardShown(lang, texts, card, {}), stage, answers=answers)
    card_pills.scroll_to_top(lang, opened)
    if card.question is None:
        return
    if stage.revealed:
        _judge(CardShown(lang, texts, card, own))
    if answers:
        _spread(lang, stage, card, texts)


def _answers(stage: Stage, card: Card, own: dict[str, str]) -> dict[str, str]:
    """The follower's answers as the card draws them: held back until the reveal, then shown."""
    name = card.name
    if not stage.revealed:
        return {**own, name: progress.UNGRADED + progress.answer_text(name, own)}
    verdict = progress.verdict(card, own)
    is_right = verdict is not None and verdict.right
    return {**own, name: own[name] if is_right else progress.SHOWN}


def _follow(stage: Stage, card: Card) -> None:
    """Move the view to the stage; answers to another lesson are dropped.

    A head that the presenter chose is taken over once: followers may look around until the next.
    """
    learn = current.view().learn
    answers = learn.answers if learn.lesson == stage.lesson else ""
    learn = LessonPlace(stage.lesson, stage.card, stage.settings, answers)
    current.update(replace(current.view(), learn=learn))
    pointer.point(Pointing.read(stage.card, stage.selection))
    pointer.follow_training(card, stage.selection)
    chosen, seen = pointer.read_chosen(stage.selection), store.get(real.SHOWN)
    if store.get(FOLLOWED) != (chosen, seen):
        store.put(FOLLOWED, (chosen, seen))
        current.take(chosen)
    address_bar.write()  # a picture that is mounted now reads its head and cell from there


def _count(lang: Language, stage: Stage, card: Card, own: dict[str, str]) -> None:
    """Have the class count the answer of this page, if there is one."""
    verdict, seat = progress.verdict(card, own), current.view().classroom
    if verdict is None:
        return
    try:
        rooms().answer(seat.room, seat.seat, stage.name, label(verdict))
    except BadInput as error:
        messages.show(lang, error)


def _spread(lang: Language, stage: Stage, card: Card, texts: LessonTexts) -> None:
    """Bars of the answers of the class, once the presenter shows them.

    On the wall they stand above the card, for nobody scrolls there.
    """
    if card.question is None or not stage.shown:
        return
    counts = rooms().tally(current.view().classroom.room, stage.name)
    st.markdown(f"**{text(lang, 'class.spread', answered=counts.answered)}**")
    tally.show(lang, card, texts, counts, stage.revealed)


def _judge(shown: CardShown) -> None:
    """The feedback on the follower's own answer, if that was wrong."""
    if shown.verdict is not None and not shown.verdict.right:
        questions.verdict(shown)
