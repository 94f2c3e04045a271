"""Sentences of a class: who follows gives one, who leads collects them, for the map or to read.

In: the session's class. Out: a box on a follower's page while the presenter collects, and for a
sentence with "it" the words that this may stand for; on the page Map a switch and the sentences,
without names. They live in the room alone and end with it.
"""

import re

import streamlit as st

from attnviz.app.page_parts.classroom import reach, tally
from attnviz.app.server.class_socket import rooms
from attnviz.app.session import address, current, messages, store, widgets
from attnviz.app.session.fragment import fragment
from attnviz.errors import AttnVizError
from attnviz.i18n import Language, text
from attnviz.teach.classroom.bounds import Bounds

SWITCH, BOX, NOUN = "class.collect", "class.sentence", "class.it_stands_for"
ARROW = " → "  # between a sentence and the word that its "it" stands for
NOUN_CHARS = 24
GIVEN = "class.given"  # the room and the sentence that this session gave


def give(lang: Language, name: str = "sentence") -> None:
    """A box for a sentence of this follower, while the presenter collects them."""
    room = current.view().classroom.room
    if not reach.tried(lambda: rooms().collects(room), False):
        return
    kept: tuple[str, str] = store.get(GIVEN, ("", ""))
    st.text_input(
        text(lang, f"class.{name}"),
        key=widgets.showing(BOX, kept[1] if kept[0] == room else ""),
        max_chars=Bounds.sentence_chars,
        help=text(lang, f"class.{name}_help"),
        on_change=_say,
    )


def give_with_noun(lang: Language) -> None:
    """A box for a sentence with "it", and its words, one of which "it" stands for."""
    room = current.view().classroom.room
    if not reach.tried(lambda: rooms().collects(room), False):
        return
    kept: tuple[str, str] = store.get(GIVEN, ("", ""))
    sentence, noun = parted(kept[1] if kept[0] == room else "")
    st.text_input(
        text(lang, "class.it_sentence"),
        key=widgets.showing(BOX, sentence),
        max_chars=Bounds.sentence_chars - NOUN_CHARS - len(ARROW),
        help=text(lang, "class.it_help"),
        on_change=_say_with_noun,
    )
    if sentence and not re.search(r"\bit\b", sentence, re.IGNORECASE):
        st.caption(text(lang, "class.it_missing"))
    elif sentence:
        st.pills(
            text(lang, "class.it_stands_for"),
            nouns(sentence),
            key=widgets.showing(NOUN, noun or None),
            on_change=_say_with_noun,
        )


def parted(said: str) -> tuple[str, str]:
    """A sentence, and the word that its "it" stands for; "" where none was chosen.

    >>> parted("It was late, so the dog ran. → dog"), parted("It ran.")
    (('It was late, so the dog ran.', 'dog'), ('It ran.', ''))
    """
    sentence, arrow, noun = said.rpartition(ARROW)
    return (sentence, noun) if arrow else (said, "")


def nouns(sentence: str) -> list[str]:
    """The words of a sentence that "it" may stand for, each once.

    >>> nouns("The dog saw it, a dog.")
    ['The', 'dog', 'saw']
    """
    found = re.findall(rf"[^\W\d_]{{2,{NOUN_CHARS}}}", sentence)
    return [word for word in dict.fromkeys(found) if word.lower() != "it"]


def _say_with_noun() -> None:
    sentence, noun = _typed(), widgets.value(NOUN)
    _tell(f"{sentence}{ARROW}{noun}" if noun in nouns(sentence) else sentence)


def _say() -> None:
    _tell(_typed())


def _typed() -> str:
    return address.cleaned("text", str(widgets.value(BOX) or ""))[: Bounds.sentence_chars]


def _tell(sentence: str) -> None:
    """Give the class this sentence in place of the one before."""
    seat = current.view().classroom
    try:
        rooms().say(seat.room, seat.seat, sentence)
    except AttnVizError as error:
        messages.show(current.language(), error)
        return
    store.put(GIVEN, (seat.room, sentence))


def for_map(lang: Language) -> tuple[str, ...]:
    """The sentences of the class that this session leads, after the switch that collects them."""
    seat = current.view().classroom
    sentences: tuple[str, ...] = ()
    if not seat.room or not seat.host:
        return sentences
    with messages.guard(lang):
        st.toggle(
            text(lang, "class.collect"),
            key=widgets.showing(SWITCH, rooms().collects(seat.room)),
            help=text(lang, "class.collect_help"),
            on_change=_collect,
        )
        sentences = rooms().sentences(seat.room)
        _count(lang, sentences)
    return sentences


def _collect() -> None:
    seat = current.view().classroom
    try:
        rooms().collect(seat.room, seat.host, bool(widgets.value(SWITCH)))
    except AttnVizError as error:
        messages.show(current.language(), error)


@fragment()
def _count(lang: Language, drawn: tuple[str, ...]) -> None:
    """The number of sentences; the page runs again when there are others than those drawn."""
    room, changes = current.view().classroom.room, reach.NOT_DRAWN
    with messages.guard(lang):
        changes = rooms().changes(room)
        if rooms().sentences(room) != drawn:
            st.rerun(scope="app")
        if rooms().collects(room):
            st.caption(text(lang, "class.collected", count=len(drawn)))
    tally.listener(lang, "changes", changes)
