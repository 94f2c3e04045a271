"""The report of a class for its teacher: how it answered each question, without names.

In: the answers of a room that was closed. Out: a part of the page with a table, and the same as CSV
and as a page to print. The session keeps it until the teacher closes it; the server keeps nothing.
"""

import csv
import io
from dataclasses import dataclass
from functools import partial
from html import escape

import streamlit as st

from attnviz.app.page_parts.classroom import tally
from attnviz.app.page_parts.learn import open_card
from attnviz.app.session import messages, store, widgets
from attnviz.i18n import Language, tag, text
from attnviz.i18n.numbers import percent
from attnviz.teach.classroom.room import Report
from attnviz.teach.classroom.tally import AnswerBar, answer_bars
from attnviz.teach.lessons.cards.texts import lesson_texts, say
from attnviz.teach.lessons.paper.markdown import plain

KEPT = "class.report"
BOM = "\ufeff"  # spreadsheets read the signs of all languages right with it
STYLE = (
    "body{font:11pt/1.5 system-ui,sans-serif;max-width:180mm;margin:10mm auto}"
    "html{color:#000;background:#fff;color-scheme:light}"
    "table{border-collapse:collapse;margin:0 0 6mm}td,th{border:.6pt solid #777;padding:1mm 2.5mm;"
    "text-align:left}td:last-child{text-align:right}section{break-inside:avoid}"
)
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


@dataclass(frozen=True)
class Question:
    """A question that a class was shown: its lesson and card in words, and the answers."""

    lesson: str
    card: str
    question: str
    answers: tuple[AnswerBar, ...]

    @property
    def n_answers(self) -> int:
        """The number of members who answered."""
        return sum(bar.count for bar in self.answers)

    @property
    def is_voted_twice(self) -> bool:
        """True if the class voted again after talking; both votes are in the report."""
        return any(bar.first for bar in self.answers)

    def right_share(self, lang: Language) -> str:
        """The share of right answers in percent; "–" without answers."""
        n_right = sum(bar.count for bar in self.answers if bar.right)
        return percent(lang, n_right / self.n_answers) if self.n_answers else "–"


def keep(report: Report) -> None:
    """Keep the report of a class that has just ended."""
    store.put(KEPT, report)


def show(lang: Language) -> None:
    """Draw the report that is kept, if any."""
    report: Report | None = store.get(KEPT)
    if report is None:
        return
    asked = questions(report, lang)
    with st.container(border=True, key=widgets.key("class.report")):
        st.header(text(lang, "report.title"), anchor=False)
        st.markdown(text(lang, "report.body", members=report.members, questions=len(asked)))
        for question in asked:
            st.markdown(f"**{messages.plain(question.card)}** · {_share(lang, question)}")
            st.caption(messages.plain(question.question))
            tally.bars(lang, question.answers, question.n_answers, revealed=True)
        with st.container(horizontal=True):
            _downloads(lang, report, asked)
            st.button(
                text(lang, "report.close"),
                key=widgets.key("report.close"),
                on_click=store.put,
                args=(KEPT, None),
            )


def questions(report: Report, lang: Language) -> list[Question]:
    """The questions that the class was shown, in that order; cards without one are left out."""
    found = []
    for (lesson, name), settings, counts in report.cards:
        card = open_card.card_of_stage(lesson, name, settings, report.code).card()
        texts = lesson_texts(lesson, lang)
        if card.question is None:
            continue
        bars = tuple(
            bar
            for bar in answer_bars(card, texts, lang, counts)
            if bar.count or bar.first or bar.right
        )
        title, asked = (plain(say(texts, card, key)) for key in ("title", "question"))
        found.append(Question(texts.title, title, asked, bars))
    return found


def as_csv(lang: Language, asked: list[Question]) -> str:
    """One line for each answer; no cell is one that a spreadsheet would compute."""
    from attnviz.files.tables import harmless

    file = io.StringIO()
    writer = csv.writer(file)
    names = ("lesson", "card", "question", "answer", "first", "is_right", "count", "share")
    writer.writerow([text(lang, f"report.{name}") for name in names])
    for question in asked:
        for bar in question.answers:
            share = f"{bar.count / question.n_answers:.3f}" if question.n_answers else ""
            is_right = text(lang, "report.yes") if bar.right else ""
            words = (question.lesson, question.card, question.question, bar.words)
            first = bar.first if question.is_voted_twice else ""
            writer.writerow([*map(harmless, words), first, is_right, bar.count, share])
    return BOM + file.getvalue()


def as_html(lang: Language, report: Report, asked: list[Question]) -> str:
    """The report as a page to print, which needs nothing else."""
    title = escape(text(lang, "report.title"))
    body = escape(text(lang, "report.body", members=report.members, questions=len(asked)))
    return (
        f'<!doctype html><html lang="{tag(lang)}"><head><meta charset="utf-8">'
        f"<title>{title}</title>"
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}"><style>{STYLE}</style>'
        f"</head><body><h1>{title}</h1><p>{body}</p>{''.join(_section(lang, q) for q in asked)}"
        "</body></html>"
    )


def _section(lang: Language, question: Question) -> str:
    rows = "".join(
        f"<tr><td>{'✓' if bar.right else ''}</td><td>{escape(bar.words)}</td>"
        f"<td>{f'{bar.first} → ' if question.is_voted_twice else ''}{bar.count}</td></tr>"
        for bar in question.answers
    )
    share = escape(_share(lang, question))
    return (
        f"<section><h2>{escape(question.lesson)} · {escape(question.card)}</h2>"
        f"<p>{escape(question.question)}</p><p><strong>{share}</strong></p>"
        f"<table>{rows}</table></section>"
    )


def _share(lang: Language, question: Question) -> str:
    if not question.n_answers:
        return text(lang, "report.none")
    return text(lang, "report.right", share=question.right_share(lang), count=question.n_answers)


def _downloads(lang: Language, report: Report, asked: list[Question]) -> None:
    files = {
        "csv": (partial(as_csv, lang, asked), "text/csv"),
        "html": (partial(as_html, lang, report, asked), "text/html"),
    }
    for suffix, (write, mime) in files.items():
        st.download_button(
            text(lang, f"report.{suffix}"),
            data=write,
            file_name=f"attnviz-class.{suffix}",
            mime=mime,
            on_click="ignore",
            key=widgets.key(f"report.{suffix}"),
        )
