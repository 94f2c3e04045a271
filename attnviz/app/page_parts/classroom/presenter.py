"""The presenter's page: the page Learn, and above it the class: code, counts, and what it is shown.

In: the view, whose card, values and answers are what the class sees. Out: the stage of the room,
newly set at each run; a panel that runs when the class changes. Where a class begins it has the
invitation; once the class runs it is one line, so that the card has the page. How the class has
answered stands below it only after the reveal, or when the presenter asks for it.
"""

from dataclasses import replace
from functools import partial

import streamlit as st

from attnviz.app.page_parts import learn
from attnviz.app.page_parts.classroom import (
    activity,
    card_order,
    cell_question,
    entry,
    reach,
    report,
    tally,
)
from attnviz.app.page_parts.learn import cards, open_card, pointer
from attnviz.app.page_parts.learn.card_shown import CardShown
from attnviz.app.page_parts.learn.open_card import OpenCard
from attnviz.app.page_parts.learn.pointer import Pointing
from attnviz.app.server import course_lessons
from attnviz.app.server.class_socket import rooms
from attnviz.app.session import current, messages, store, widgets
from attnviz.app.session.fragment import fragment
from attnviz.app.session.view import Seat
from attnviz.i18n import Language, labelled, text
from attnviz.teach.classroom.room import Tally
from attnviz.teach.classroom.stage import CardName, Stage
from attnviz.teach.classroom.tally import answer_bars
from attnviz.teach.lessons.cards import progress
from attnviz.teach.lessons.cards.symbols import with_formulas
from attnviz.teach.lessons.cards.texts import lesson_texts
from attnviz.teach.lessons.cards.times import JOINING_MIN, planned_cards
from attnviz.teach.lessons.cards.versions import in_language

HIDDEN = "class.hidden"  # the card whose answers the class is not shown after the reveal
PEEKED = "class.peeked"  # the card whose answers the presenter has asked for
AGAIN = "class.again"  # the cards on which the class votes again
LED = "class.led"  # the class that this session leads
CLOCK_S = 15.0
UNSHOWN = "class.unshown"  # True while the class was not reached with what is on this page
STAGE = "class.stage"


def show(lang: Language) -> None:
    """Draw the panel and the page below it."""
    slug = current.view().learn.lesson
    if slug not in course_lessons.slugs():
        _panel(lang, None, _begins(None))
        learn.show()
        return
    _take_back()
    lesson = course_lessons.lesson(slug)
    if open_card.follow_moved() or open_card.remove_unknown(lesson):
        st.rerun()
    opened = open_card.open_card(lesson)
    order = card_order.order(slug)
    if opened.name not in order:
        open_card.go(order[0])
        st.rerun()
    opened = replace(opened, way=card_order.way(slug))
    begins = _begins(opened)
    _present(opened, not begins)
    store.put(widgets.RERUN, (STAGE,))
    _panel(lang, opened, begins)
    activity.show(lang, reach.stage(current.view().classroom.room))
    cell_question.show(
        _shown(lang, opened), reach.stage(current.view().classroom.room), answers=False
    )
    cards.show(lang, opened)


def _take_back() -> None:
    """Take back what the class is shown and no address has, if this page was loaded again."""
    room = current.view().classroom.room
    if store.get(LED) == room:
        return
    stage = reach.stage(room)
    store.put(LED, room)
    if stage.asked is not None:
        store.put(cell_question.ASKED, (stage.card, stage.asked))
    activity.take_back(stage)
    if stage.revealed and not stage.shown:
        store.put(HIDDEN, stage.card)
    if stage.vote > 1:
        _vote_again(stage.name)
    card_order.go_by(stage.plan)
    if stage.order and not stage.plan:
        card_order.take_back(stage.lesson, stage.order)


def _shown(lang: Language, opened: OpenCard) -> CardShown:
    texts = lesson_texts(opened.lesson.slug, lang)
    return CardShown(lang, texts, in_language(opened.card(), texts), opened.answers)


@fragment(STAGE)
def _present(opened: OpenCard, begun: bool) -> None:
    """Show the card of this page, with its values and answers, to the class.

    Runs alone when a head was switched in a real picture: the browser has shown it already.
    """
    view, name, card = current.view(), opened.name, opened.card()
    target = pointer.pointing()
    if target is None or not target.leads or target.card != name:
        target = Pointing(leads=True, card=name)
        pointer.point(target)
    revealed = card.question is not None and not progress.is_open(card, opened.answers)
    stage = Stage(
        opened.lesson.slug,
        name,
        settings=view.learn.values if view.learn.card == name else "",
        selection=pointer.selection(target, card),
        shown=revealed and store.get(HIDDEN) != name,
        revealed=revealed,
        number=opened.number,
        count=len(opened.whole_way),
        asked=cell_question.asked(name),
        order=opened.names,
        plan=card_order.plan(),
        begun=begun,
        vote=2 if _votes_again(opened) else 1,
        activity=activity.asked((opened.lesson.slug, name)),
    )
    store.put(UNSHOWN, not reach.tried(partial(_shows, view.classroom, stage), False))


def _votes_again(opened: OpenCard) -> bool:
    """True if the class has talked about this card and votes again."""
    again: tuple[CardName, ...] = store.get(AGAIN) or ()
    return (opened.lesson.slug, opened.name) in again


def _vote_again(card: CardName) -> None:
    store.put(AGAIN, (*(store.get(AGAIN) or ()), card))


def _shows(seat: Seat, stage: Stage) -> bool:
    """Put the stage before the class; True, since nothing was raised."""
    rooms().show(seat.room, seat.host, stage)
    return True


def _panel(lang: Language, opened: OpenCard | None, begins: bool) -> None:
    with st.container(border=True, key=widgets.key("class.bar")):
        if begins:
            entry.invitation(lang, begins=True)
        line = None if begins else widgets.key("class.line")
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key=line):
            if not begins:
                st.markdown(f"**{current.view().classroom.room}**", width="content")
            if opened is not None:
                _switches(lang, opened, begins)
            if begins:
                st.button(
                    text(lang, "class.begin"),
                    key=widgets.key("class.begin"),
                    type="primary",
                    on_click=entry.begin,
                )
            _tools(lang, opened, begins)
        _count(lang, begins, opened is not None and _sees_answers(opened))
        if opened is not None and card_order.plan():
            _clock(lang, (opened.lesson.slug, opened.name))


@fragment(run_every=CLOCK_S)
def _clock(lang: Language, here: CardName) -> None:
    """The minute of the plan, and how long this card lasts by it."""
    plan = card_order.plan()
    card = next((one for one in planned_cards(plan) if (one.slug, one.card) == here), None)
    elapsed = reach.tried(lambda: rooms().age_s(current.view().classroom.room), None)
    if card is None or elapsed is None:
        return
    now, joins = int(elapsed // 60), elapsed < 60 * JOINING_MIN
    until = JOINING_MIN if joins else round(card.until)
    key = "class.clock_join" if joins else "class.clock"
    st.markdown(f"⏱ {text(lang, key, now=now, all=plan, until=until)}")


def _begins(opened: OpenCard | None) -> bool:
    """True until the presenter says so, turns to another card, or reveals an answer."""
    learn = current.view().learn
    here = None if opened is None else (opened.lesson.slug, opened.name, learn.answers)
    if store.get(entry.FIRST_CARD) != here:
        entry.begin()
    return store.get(entry.FIRST_CARD) is not None


def _tools(lang: Language, opened: OpenCard | None, begins: bool) -> None:
    """One menu: the invitation, the order of the cards, what the class does together, the end."""
    if begins:
        _link_to_wall(lang)
    with st.popover(text(lang, "class.tools"), key=widgets.key("class.tools")):
        if not begins:
            with st.expander(text(lang, "class.invitation")):
                entry.invitation(lang, begins=False)
                _link_to_wall(lang)
        if opened is not None:
            if not card_order.plan():
                with st.expander(text(lang, "learn.cards")):
                    card_order.choose(lang, opened.lesson.slug)
            shown = _shown(lang, opened)
            cell_question.ask(shown, revealed=not shown.is_open)
            activity.ask(lang, (opened.lesson.slug, opened.name))
        with st.expander(text(lang, "class.end")):
            st.markdown(text(lang, "class.end_sure"))
            st.button(
                text(lang, "class.end_all"),
                key=widgets.key("class.end"),
                type="primary",
                on_click=_end,
            )


def _link_to_wall(lang: Language) -> None:
    st.link_button(text(lang, "class.wall"), entry.link(wall="1"))


def _switches(lang: Language, opened: OpenCard, begins: bool) -> None:
    """Buttons to reveal, and to show how the class answered; for a card with a question."""
    card, name = opened.card(), opened.name
    if card.question is None:
        return
    is_open = progress.is_open(card, opened.answers)
    st.button(
        text(lang, "class.reveal" if is_open else "class.hide"),
        key=widgets.key("class.reveal"),
        type="primary" if is_open and not begins else "secondary",
        on_click=open_card.answer,
        args=(name, progress.SHOWN if is_open else ""),
    )
    if is_open:
        label, value = ("peek_not", "") if store.get(PEEKED) == name else ("peek", name)
        switch = PEEKED
    else:
        label, value = ("show_answers", "") if store.get(HIDDEN) == name else ("hide_answers", name)
        switch = HIDDEN
    st.button(
        text(lang, f"class.{label}"),
        key=widgets.key("class.show"),
        on_click=store.put,
        args=(switch, value),
    )
    if is_open and not begins and not _votes_again(opened):
        st.button(
            text(lang, "class.again"),
            key=widgets.key("class.again"),
            help=text(lang, "class.again_help"),
            on_click=_vote_again,
            args=((opened.lesson.slug, name),),
        )
    with st.popover(text(lang, "class.notes")):
        _notes(_shown(lang, opened))


def _sees_answers(opened: OpenCard) -> bool:
    """True if how the class answered stands on this page, which may be projected."""
    card = opened.card()
    if card.question is None:
        return False
    return not progress.is_open(card, opened.answers) or store.get(PEEKED) == opened.name


@fragment()
def _count(lang: Language, begins: bool, sees_answers: bool) -> None:
    """The number of members present and of answers, and the answers as bars if asked for.

    Runs when these change.
    """
    room, changes = current.view().classroom.room, reach.NOT_DRAWN
    with messages.guard(lang):
        changes, stage = rooms().changes(room), rooms().stage(room)
        if store.get(UNSHOWN):
            st.rerun(scope="app")
        counts = rooms().tally(room, stage.name)
        here = text(lang, "class.here", present=counts.present, answered=counts.answered)
        if counts.is_whole:
            here = f"{here} · ✓ {text(lang, 'class.whole')}"
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{here}**", width="content")
            if stage.asked is not None:
                n_clicks = sum(rooms().clicks(room).values())
                st.markdown(text(lang, "class.clicks", count=n_clicks), width="content")
            tally.listener(lang, "changes", changes, arrives=begins)
        if sees_answers:
            card = open_card.card_of_stage(stage.lesson, stage.card, stage.settings, room).card()
            tally.show(lang, card, lesson_texts(stage.lesson, lang), counts, stage.revealed)
    if changes == reach.NOT_DRAWN:
        tally.listener(lang, "changes", changes)


def _end() -> None:
    """End the class: its pages are notified, its answers go into a report without names."""
    seat = current.view().classroom
    report.keep(rooms().close(seat.room, seat.host))
    entry.leave()


def _notes(shown: CardShown) -> None:
    """Draw the notes."""
    lang, card = shown.lang, shown.card
    answers = answer_bars(card, shown.texts, lang, Tally({}, 0))
    right = " · ".join(messages.plain(answer.words) for answer in answers if answer.right)
    st.markdown(labelled(text(lang, "learn.answer"), right))
    st.markdown(shown.say("reveal"))
    st.markdown(f"**{text(lang, 'class.will_say')}**")
    for answer in answers:
        key = f"feedback.{answer.label.removeprefix('not_')}"
        if not answer.right and shown.texts.has(card.name, key):
            st.markdown(f"- {messages.plain(answer.words)} → {shown.say(key)}")
    st.markdown(labelled(text(lang, "class.ask_next"), with_formulas(shown.texts.discuss)))
