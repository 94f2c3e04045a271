"""A circuit that is really cut out, below the graph of Circuit.

In: what is shown, and another text that gets another answer. Out: a switch, the box of the other
text, and a canvas with a slider: the edges that carry the difference between the two answers, kept
alone or cut away. The edges are found and run by a job.
"""

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from attnviz.app.frame import measurement, run_again
from attnviz.app.frame.choices import renew_links, take_chosen, toggle
from attnviz.app.host.draw import draw
from attnviz.app.server import answer_runs
from attnviz.app.server.answer_runs import Answering
from attnviz.app.server.jobs import Job
from attnviz.app.session import address, address_bar, current, messages, openings, widgets
from attnviz.app.session.fragment import fragment
from attnviz.i18n import Language, text
from attnviz.pictures import cut_out
from attnviz.pictures.cut_out import CANVAS, CutOut
from attnviz.pictures.group.app_capture import PageContext

if TYPE_CHECKING:
    from attnviz.experiment.answer_measures import AnswerMeasure

FRAGMENT = "cut_out"
MODEL = "stories"
MARY, JOHN = (
    f"When Mary and John went to the store, {giver} gave a book to" for giver in ("John", "Mary")
)


@fragment(FRAGMENT)
def show(shown: PageContext) -> None:
    """The switch and what it shows."""
    lang = shown.lang
    if address_bar.is_embedded():
        return
    if not toggle(text(lang, "cut_out.show"), "cut_out", FRAGMENT):
        return
    with messages.guard(lang):
        if run_again.needs_model(shown, "circuit"):
            return
        model = shown.captured.model
        if model.kind != "decoder" or not shown.size.whole or shown.captured.n_asked:
            st.info(text(lang, "cut_out.not_here"))
            _example(lang)
            return
        _other_text(lang)
        _example(lang)
        other = current.view().right.text.strip()
        if not other:
            st.info(text(lang, "cut_out.type"))
            return
        with st.spinner(text(lang, "wait.effects")):
            texts = (current.view().input.text, other)
            left, right = (run_again.answering(shown, typed) for typed in texts)
        _measured(shown, left, right, other)


def _example(lang: Language) -> None:
    """A button for the pair whose circuit is known best."""
    view = current.view()
    if (view.model, view.input.text, view.right.text) != (MODEL, MARY, JOHN):
        st.button(
            openings.leading_to(lang, text(lang, "cut_out.example"), MODEL),
            key=widgets.key("circuit.cut_out_example"),
            on_click=current.open_model_on,
            args=(MODEL, MARY),
            kwargs={"text_b": JOHN, "arrow": "", "least": "", "kept": None, "cut_out": True},
        )


def _other_text(lang: Language) -> None:
    st.text_input(
        text(lang, "cut_out.other"),
        key=widgets.showing("circuit.other", current.view().right.text),
        max_chars=address.MAX_CHARS["text"],
        help=text(lang, "cut_out.other_help"),
        on_change=take_chosen,
        args=("text_b", "circuit.other", FRAGMENT),
    )


def _measured(shown: PageContext, left: Answering, right: Answering, other: str) -> None:
    lang, on = shown.lang, answer_runs.telling_apart(left, right)
    names = [
        side.run.reader.name(int(side.run.reader.clean.argmax())).strip() for side in (left, right)
    ]
    if on is None:
        st.info(
            text(lang, "cut_out.same", answer=messages.quoted(lang, shown.captured.name, names[0]))
        )
        return
    key = f"{shown.captured.key} {current.view().input.text} {other} {on}"
    found = measurement.result(lang, "cut_out", key, partial(_found, left, right, on))
    if found is None:
        return
    kept = current.view().circuit.kept
    number = text(lang, "word_shares.lead", first=names[0], second=names[1])
    draw(
        CANVAS,
        cut_out.view(lang, found, number, kept),
        "cut_out",
        lang,
        {"kept": _take_kept},
    )


def _found(left: Answering, right: Answering, on: "AnswerMeasure", job: Job) -> CutOut:
    run, other = (side.run.with_measure(on) for side in (left, right))
    return cut_out.numbers(run.circuit(other, progress=job.report, cancel=job.cancel))


def _take_kept(sent: object) -> None:
    """Store how many edges are kept; the links are renewed, the picture has moved already."""
    kept, _ = address.checked("kept", sent)
    if kept is not None:
        current.take({"kept": kept})
        renew_links(FRAGMENT)
