"""The pills of a lesson's cards: their numbers, each with how it was answered.

In: an `OpenCard`. Out: pills that lead to the cards, with a sign for right, wrong and shown, the
meaning of the signs, and a scroller to the top of a card that opens.
"""

import streamlit as st

from attnviz.app.host.draw import draw
from attnviz.app.page_parts.learn import browser_progress, open_card
from attnviz.app.page_parts.learn.open_card import OpenCard
from attnviz.app.session import current, widgets
from attnviz.errors import AttnVizError
from attnviz.i18n import Language, joined, text
from attnviz.pictures import card_scroller
from attnviz.pictures.card_scroller import CardScrollerView
from attnviz.teach.lessons.cards import progress
from attnviz.teach.lessons.cards.progress import Standing

SIGNS: dict[Standing, str] = {"right": "✓", "later": "↻", "wrong": "✗", "shown": "•"}
Standings = dict[str, Standing]


def show(lang: Language, opened: OpenCard) -> Standings:
    """Draw the pills; the standing of each answered card.

    Each card has pills of its own: a browser that has not drawn the present card yet reports the
    pills of the card before, which would else turn the page back.
    """
    standings = _standings(opened)
    widget = f"learn.way.{opened.name}"
    pills = {
        name: f"{number} {SIGNS[standings[name]]}" if name in standings else str(number)
        for number, name in enumerate(opened.names, 1)
    }
    with st.container(key=widgets.key("learn.way")):
        st.pills(
            text(lang, "learn.cards"),
            opened.names,
            key=widgets.showing(widget, opened.name),
            format_func=pills.__getitem__,
            on_change=_take,
            args=(opened.name, widget),
            label_visibility="collapsed",
            width="stretch",
        )
    return standings


def legend(lang: Language, standings: Standings) -> None:
    """The meaning of the signs on the pills, if there are any."""
    meanings = [
        f"{sign} {text(lang, f'learn.is_{standing}')}"
        for standing, sign in SIGNS.items()
        if standing in standings.values()
    ]
    if meanings:
        st.caption(text(lang, "learn.marks", signs=joined(lang, meanings)))


def _standings(opened: OpenCard) -> Standings:
    """The standing of each answered card; a card that cannot be built counts as shown."""
    standings: Standings = {}
    for name in opened.names:
        if name in opened.answers:
            try:
                standing = progress.standing(opened.card_named(name), opened.answers)
            except AttnVizError:
                standing = "shown"
            if standing is not None:
                standings[name] = standing
    return standings


def scroll_to_top(lang: Language, opened: OpenCard, standings: Standings) -> None:
    """Have the browser show a card that has just opened from its top."""
    labels = tuple(_label(lang, opened, name, standings) for name in opened.names)
    moves = open_card.n_moves(f"{opened.lesson.slug}/{opened.name}")
    progress = browser_progress.written(), browser_progress.is_wanted()
    keep_progress(CardScrollerView(moves, labels, *progress))


def keep_progress(view: CardScrollerView) -> None:
    """Mount the card scroller, which keeps the progress in the browser and may bring it back."""
    on = {"progress": browser_progress.take}
    draw(card_scroller.CANVAS, view, "learn.card_scroller", current.language(), on)


def _label(lang: Language, opened: OpenCard, name: str, standings: Standings) -> str:
    """The pill's label for a screen reader."""
    number = opened.names.index(name) + 1
    where = text(lang, "learn.where", number=number, cards=len(opened.names))
    if name not in standings:
        return where
    return f"{where} · {text(lang, f'learn.is_{standings[name]}')}"


def _take(before: str, widget: str) -> None:
    slug = current.view().learn.lesson
    open_card.turn(before, slug, widgets.value(widget) or before)
