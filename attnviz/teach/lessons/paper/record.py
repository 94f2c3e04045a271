"""Pages to print that have no questions: a learner's record, a handout, a claim with its evidence.

In: how a learner answered, the cards that a class was shown, or what was measured of a head. Out:
HTML that needs nothing else.
The record counts first tries; nobody signs it. The handout has the sentences to keep, with the
numbers of the cards, and the terms that they use.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files

from attnviz.i18n import Language, labelled, tag, text
from attnviz.teach.lessons.cards.card import Card
from attnviz.teach.lessons.cards.glossary import GlossaryEntry
from attnviz.teach.lessons.cards.texts import LessonTexts, say
from attnviz.teach.lessons.paper.markdown import html, inline

POLICY = "default-src 'none'; style-src 'unsafe-inline'"


@dataclass(frozen=True)
class KnownLesson:
    """A lesson in which a learner has answered; `keep` is empty until all of it is answered."""

    title: str
    goal: str
    keep: str
    questions: int
    answered: int
    right: int
    later: int
    came_back: int
    came_back_right: int


@dataclass(frozen=True, eq=False)
class TaughtLesson:
    """A lesson's texts, and those of its cards that a class was shown."""

    texts: LessonTexts
    cards: Sequence[Card]


def record_html(lang: Language, known: Iterable[KnownLesson], day: str) -> str:
    """The record as one page."""
    lessons = tuple(known)
    right, n = sum(each.right for each in lessons), sum(each.questions for each in lessons)
    names = ("lesson", "first", "later", "answered", "came_back")
    head = "".join(f"<th>{escape(text(lang, f'record.{name}'))}</th>" for name in names)
    rows = "".join(_row(each) for each in lessons)
    kept = "".join(
        f'<p class="takeaway"><strong>{inline(each.title)}</strong><br>{inline(each.keep)}</p>'
        for each in lessons
        if each.keep
    )
    total = escape(text(lang, "learn.first_tries", right=right, questions=n))
    who = f"<span>{_label(lang, 'name')}</span><span>{_label(lang, 'date')} {escape(day)}</span>"
    body = (
        f'<p class="who">{who}</p><p><strong>{total}</strong></p>'
        f'<table class="record"><tr>{head}</tr>{rows}</table>{kept}'
        f'<p class="note">{escape(text(lang, "record.note"))}</p>'
    )
    return _page(lang, text(lang, "record.title"), body)


def _row(known: KnownLesson) -> str:
    again = f"{known.came_back_right} / {known.came_back}" if known.came_back else ""
    cells = (
        f"{known.right} / {known.questions}",
        str(known.later or ""),
        f"{known.answered} / {known.questions}",
        again,
    )
    numbers = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
    return f"<tr><td>{inline(known.title)}</td>{numbers}</tr>"


def handout_html(
    lang: Language, lessons: Iterable[TaughtLesson], terms: Iterable[GlossaryEntry]
) -> str:
    """The handout as one page."""
    parts = []
    for lesson in lessons:
        texts = lesson.texts
        takeaways = "".join(
            f"<li><strong>{inline(say(texts, card, 'title'))}</strong> "
            f"{inline(say(texts, card, 'takeaway'))}</li>"
            for card in lesson.cards
            if texts.has(card.name, "takeaway")
        )
        parts.append(
            f"<section><h2>{inline(texts.title)}</h2>"
            f'<p class="takeaway">{inline(texts.keep)}</p><ul>{takeaways}</ul>'
            f"<p>{inline(labelled(text(lang, 'learn.discuss'), texts.discuss))}</p></section>"
        )
    words = "".join(f"<dt>{inline(term.term)}</dt><dd>{html(term.meaning)}</dd>" for term in terms)
    heading = escape(text(lang, "handout.words"))
    glossary = f"<section><h2>{heading}</h2><dl>{words}</dl></section>" if words else ""
    return _page(lang, text(lang, "handout.title"), "".join(parts) + glossary)


def defence_html(
    lang: Language,
    title: str,
    parts: Iterable[tuple[str, str]],
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
) -> str:
    """A claim on a head with its evidence as one page; all of it is text."""
    named = "".join(
        f"<p><strong>{escape(name)}</strong> {escape(value)}</p>" for name, value in parts if value
    )
    columns = "".join(f"<th>{escape(name)}</th>" for name in head)
    lines = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows
    )
    name, day = _label(lang, "name"), _label(lang, "date")
    who = f'<p class="who"><span>{name}</span><span>{day}</span></p>'
    return _page(lang, title, f"{who}{named}<table><tr>{columns}</tr>{lines}</table>")


def _label(lang: Language, key: str) -> str:
    return escape(text(lang, f"worksheet.{key}"))


def _page(lang: Language, title: str, body: str) -> str:
    style = files("attnviz.teach.lessons.paper").joinpath("worksheet.css")
    return (
        f'<!doctype html><html lang="{tag(lang)}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f"<title>{escape(title)}</title><style>{style.read_text(encoding='utf-8')}</style></head>"
        f'<body lang="{lang}" class="plain"><header><h1>{escape(title)}</h1></header>'
        f"<main>{body}</main></body></html>"
    )
