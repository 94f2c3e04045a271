"""The words of the lessons: a row of them on a card, and the whole glossary below the lessons.

In: the language, the open card. Out: the terms that a card uses, each with its meaning and a button
to the card that teaches it; a list of all terms by lesson.
"""

from itertools import groupby

import streamlit as st

from attnviz.app.page_parts.learn import open_card
from attnviz.app.page_parts.learn.open_card import OpenCard
from attnviz.app.session import widgets
from attnviz.i18n import Language, text, with_terms
from attnviz.teach.lessons.cards import glossary
from attnviz.teach.lessons.cards.glossary import GlossaryEntry
from attnviz.teach.lessons.cards.symbols import with_formulas
from attnviz.teach.lessons.cards.texts import lesson_texts

MOST = 8  # side by side on a card: those taught last, which are the least familiar


def row(lang: Language, opened: OpenCard, answered: bool) -> None:
    """The terms that a card uses, each of which opens its meaning; see `glossary.terms_on`."""
    here = (opened.lesson.slug, opened.name)
    entries = glossary.entries(lang)
    used = [entries[name] for name in glossary.terms_on(*here, answered)]
    if not used:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(text(lang, "learn.words"), width="content")
        for entry in used[-MOST:]:
            key = widgets.key(f"learn.word.{entry.name}")
            with st.popover(with_formulas(entry.term), type="tertiary", key=key):
                _meaning(lang, entry, opened)
        if known := used[:-MOST]:
            key = widgets.key("learn.word.known")
            with st.popover(f"+{len(known)}", type="tertiary", key=key):
                for entry in known:
                    st.markdown(f"**{with_formulas(entry.term)}**")
                    _meaning(lang, entry, opened)


def _meaning(lang: Language, entry: GlossaryEntry, opened: OpenCard) -> None:
    """The meaning of a term, with a button to its card unless that is the open one."""
    st.markdown(_said(lang, entry))
    if entry.card != (opened.lesson.slug, opened.name) and not opened.room:
        title = lesson_texts(entry.card[0], lang).title
        _button(entry, with_formulas(text(lang, "learn.taught_in", lesson=title)), "row")


def glossary_of_all(lang: Language) -> None:
    """All terms by lesson, in a box that is drawn when it is opened."""
    entries = glossary.entries(lang)
    label = text(lang, "learn.glossary", count=len(entries))
    box = st.expander(label, key=widgets.key("learn.glossary"), on_change="rerun")
    if not box.open:
        return
    with box:
        for slug, group in groupby(entries.values(), key=lambda entry: entry.card[0]):
            st.markdown(f"##### {with_formulas(lesson_texts(slug, lang).title)}")
            for entry in group:
                _line(lang, entry)


def _line(lang: Language, entry: GlossaryEntry) -> None:
    """A term with its meaning, and a button to the card that teaches it."""
    title = lesson_texts(entry.card[0], lang).of(entry.card[1], "title")
    left, right = st.columns([4, 2], vertical_alignment="center")
    left.markdown(f"**{with_formulas(entry.term)}**  \n{_said(lang, entry)}")
    with right:
        _button(entry, f"{title} →", "list")


def _said(lang: Language, entry: GlossaryEntry) -> str:
    """The meaning as Markdown."""
    return with_terms(lang, with_formulas(entry.meaning))


def _button(entry: GlossaryEntry, label: str, place: str) -> None:
    st.button(
        label,
        key=widgets.key(f"learn.word.{place}.{entry.name}"),
        on_click=open_card.open_at,
        args=entry.card,
        type="tertiary",
    )
