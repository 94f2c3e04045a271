"""The sentences and tables on what wrote the answer, on the page Output.

In: what is shown, and the guess that was chosen. Out: each token of a classified text with its
weight and its effect when hidden; the logit lens, the model's guess after each layer (for a model
that may be slow first a button); the parts that wrote the answer and the tokens that it comes from,
with interventions beside the shares.
"""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from attnviz.app.frame import attention_choice, measurement, run_again
from attnviz.app.frame.choices import renew, take_asked, toggle
from attnviz.app.host.draw import draw
from attnviz.app.server import answer_runs
from attnviz.app.server.answer_runs import Answering
from attnviz.app.server.jobs import Job
from attnviz.app.server.shared import shared
from attnviz.app.session import address, current, messages, widgets
from attnviz.app.session.fragment import fragment
from attnviz.experiment.outputs.classes import has_classes
from attnviz.i18n import Language, text
from attnviz.models.registry import REGISTRY
from attnviz.pictures import table
from attnviz.pictures.group.app_capture import AppCapture, PageContext
from attnviz.pictures.group.axes import row_names
from attnviz.pictures.group.groups import queries
from attnviz.pictures.table import CANVAS, TableView, inside
from attnviz.pictures.table import answer_parts as views

if TYPE_CHECKING:
    from attnviz.capture.request import Request
    from attnviz.experiment.answer_measures import AnswerMeasure
    from attnviz.experiment.clean_run import CleanRun
    from attnviz.experiment.direct import Direct
    from attnviz.experiment.effects import Effects
    from attnviz.experiment.lens import Lens
    from attnviz.experiment.run import Experiment
    from attnviz.experiment.tokens import TokenScores

MAX_TOKENS = 64  # each is a run of the model
MAX_LENSES = 8
FRAGMENT = "lens"
PARTS = "answer_parts"  # the fragment that shows the parts of the chosen guess


def fits_tokens(shown: PageContext) -> bool:
    """True for one text of a moderate length that an embedded model classifies."""
    captured, model = shown.captured, shown.captured.loaded
    if model is None or captured.name not in REGISTRY or model.tokenizer is None:
        return False
    return has_classes(model, captured.capture) and len(queries(shown.group)) <= MAX_TOKENS


@fragment("answer_tokens")
def show_tokens(shown: PageContext) -> None:
    """The table of tokens, where it fits."""
    request = run_again.of_shown(shown) if fits_tokens(shown) else None
    if request is None:
        return
    lang = shown.lang
    with messages.guard(lang):
        with st.spinner(text(lang, "wait.effects")):
            answered = answer_runs.answers(shown.captured, request, run_again.others(shown))
        key, lead = f"{shown.captured.key} {request.key}", answered.run.reader.lead
        where = None if lead is None else measured(lang, answered, lead, key)
        if where is None:
            return
        logits = shown.captured.capture.logits
        assert logits is not None, "it fits"
        first, second = logits[0].float().topk(2).values.tolist()
        view = views.answer_tokens_table(lang, where, first - second)
        draw(table.CANVAS, view, "answer_tokens", lang)


def measured(
    lang: Language, answered: Answering, on: "AnswerMeasure", key: str
) -> "TokenScores | None":
    """The score of each token by each method; None while it is measured."""
    work = partial(_from_where, answered.run, on)
    return measurement.result(lang, "where", f"{key} {on}", work)


def _from_where(run: "Experiment", on: "AnswerMeasure", job: Job) -> "TokenScores":
    job.report(0.1)
    return run.with_measure(on).tokens()


def fits_lens(captured: AppCapture) -> bool:
    """True if the model has an output layer that can read its hidden states."""
    loaded = captured.loaded
    return loaded is not None and captured.capture.logits is not None and loaded.kind != "speech"


@fragment(FRAGMENT)
def show_lens(shown: PageContext) -> None:
    """The table of guesses; a click on one opens the table of the parts that wrote it."""
    if not fits_lens(shown.captured):
        return
    lang = shown.lang
    if shown.captured.name not in REGISTRY and not current.view().output.lens:
        st.button(
            text(lang, "inside.show_lens"),
            key=widgets.key("lens"),
            on_click=take_asked,  # a model that may be slow reads its states
            args=("lens", FRAGMENT),
        )
        return
    with messages.guard(lang):
        with st.spinner(text(lang, "wait.effects")):
            guess_lens = all_guesses(shown)
        request = run_again.of_shown(shown)
        if guess_lens is None or request is None:
            return
        chosen = current.view().output.guess
        view = _view(shown, request, guess_lens, chosen)
        draw(CANVAS, view, "lens", lang, {"table": _take_guess})


def all_guesses(shown: PageContext) -> "Lens | None":
    """The guess after each state; it is kept. None where the visitor has to give something."""
    request = run_again.of_shown(shown)
    if request is None:
        return None
    return _lens(shown.captured, request)


@shared(most=MAX_LENSES)
def _lens(captured: AppCapture, request: "Request") -> "Lens":
    from attnviz.experiment.run import Experiment

    return Experiment(answer_runs.clean_run(captured, request)).lens()


def _take_guess(sent: object) -> None:
    """The chosen guess; the table of its parts opens below."""
    guess, _ = address.checked("guess", sent)
    if guess:
        current.take({"guess": guess, "parts": True})
    renew(FRAGMENT, PARTS)


def _view(shown: PageContext, request: "Request", lens: "Lens", chosen: str) -> TableView:
    from attnviz.experiment.outputs.classes import class_names

    model = shown.captured.model
    n_rows = lens.ids.shape[1]
    classes = class_names(model) if n_rows == 1 else ()

    def names(ids: Sequence[int]) -> Sequence[str]:
        return [classes[place] for place in ids] if classes else model.labels_of(list(ids))

    if classes:
        labels = [text(shown.lang, "inside.whole_input")]
    else:
        labels = _tokens(answer_runs.clean_run(shown.captured, request), n_rows)
    opens = model.kind == "decoder"
    return inside.lens_table(shown.lang, lens, labels, names, chosen if opens else None)


def _tokens(prepared: "CleanRun", n_rows: int) -> list[str]:
    """The rows of the stack that answers; numbers where they are not known."""
    stacks = prepared.tokens
    (tokens,) = stacks["decoder"] if "decoder" in stacks else next(iter(stacks.values()))
    is_answer = "decoder" in stacks or prepared.lm.kind == "decoder"
    labels = [*(row_names(tokens.labels, tokens.padding) if is_answer else tokens.labels)]
    return labels if len(labels) == n_rows else list(map(str, range(n_rows)))


def fits_parts(captured: AppCapture) -> bool:
    """True for a model that reads one text."""
    model = captured.loaded
    return (
        model is not None and model.kind in ("encoder", "decoder") and model.tokenizer is not None
    )


@fragment(PARTS)
def show_parts(shown: PageContext) -> None:
    """The switches and what they show."""
    if not fits_parts(shown.captured):
        return
    lang = shown.lang
    with st.container(horizontal=True):
        parts = toggle(text(lang, "parts.show"), "parts", PARTS)
        where = toggle(text(lang, "where.show"), "where", PARTS)
    if not (parts or where):
        return
    with messages.guard(lang):
        request = run_again.of_whole(shown)
        if request is None:
            return
        with st.spinner(text(lang, "wait.effects")):
            answered = answer_runs.answers(shown.captured, request, run_again.others(shown))
        key = f"{shown.captured.key} {request.key}"
        if parts:
            _parts(shown, answered, request)
        if where:
            _where(shown, answered, key)


def _parts(shown: PageContext, answered: Answering, request: "Request") -> None:
    lang, on = shown.lang, _measure(shown, answered)
    if on is None:
        st.info(text(lang, "parts.not_here"))
        return
    st.markdown(_asked(shown, answered, on))
    key = f"{shown.captured.key} {request.key} {on}"
    work = partial(_split, answered.run, on)
    measured = measurement.result(lang, "parts", key, work)
    if measured is None:
        return
    view = views.parts_table(lang, *measured)
    draw(table.CANVAS, view, "parts", lang, {"table": attention_choice.open_from_table(shown)})


def _measure(shown: PageContext, answered: Answering) -> "AnswerMeasure | None":
    """The lead of the answer, or of the guess that was chosen in the lens."""
    from attnviz.experiment.answer_measures import NextToken

    lead, chosen = answered.run.reader.lead, current.view().output.guess
    if not chosen or not isinstance(lead, NextToken):
        return _number(shown, answered)
    place, state = map(int, chosen.split("."))
    guesses = all_guesses(shown)
    if guesses is None or place >= guesses.ids.shape[1] or state >= guesses.ids.shape[0]:
        return lead
    last, own = guesses.ids[-1, place].tolist(), int(guesses.ids[state, place, 0])
    return NextToken(own, against=last[1] if own == last[0] else last[0], at=place)


def _asked(shown: PageContext, answered: Answering, on: "AnswerMeasure") -> str:
    """The question that the table answers, in words."""
    from attnviz.experiment.answer_measures import NextToken

    if not isinstance(on, NextToken):
        form, names = run_again.lead_in_words(shown, answered)
        return text(shown.lang, f"parts.{form or 'cosine'}", **names)
    model = answered.run.prepared.lm
    labels = model.labels_of([int(on.token), int(on.against or 0)])
    lang, name = shown.lang, shown.captured.name
    own, other = (messages.quoted(lang, name, label) for label in labels)
    tokens = next(iter(answered.run.prepared.tokens.values()))[0].labels
    place = messages.quoted(lang, name, tokens[on.at])
    return text(lang, "parts.token", token=own, other=other, place=place)


def _split(run: "Experiment", on: "AnswerMeasure", job: Job) -> "tuple[Direct, Effects, float]":
    """The parts, the effect of every head on the same number, and how far both agree."""
    import numpy as np

    from attnviz.experiment.correlations import spearman

    asked = run.with_measure(on)
    direct = asked.direct()
    effects = asked.effects(progress=job.report, cancel=job.cancel)
    pairs = [
        (value, -effects.of(component.site))
        for component, value in zip(direct.components, direct.values, strict=True)
        if component.site is not None and component.site in effects.heads
    ]
    own, lost = np.array(pairs, dtype=np.float64).reshape(-1, 2).T
    return direct, effects, spearman(own, lost)


def _where(shown: PageContext, answered: Answering, key: str) -> None:
    lang, on = shown.lang, _number(shown, answered)
    if on is None:
        st.info(text(lang, "parts.not_here"))
        return
    form, names = run_again.lead_in_words(shown, answered)
    st.markdown(text(lang, f"where.{form or 'cosine'}", **names))
    where = measured(lang, answered, on, key)
    if where is None:
        return
    view = views.tokens_table(lang, where, tuple(where.tokens.labels))
    draw(table.CANVAS, view, "where", lang)


def _number(shown: PageContext, answered: Answering) -> "AnswerMeasure | None":
    """The lead of the answer; of a sentence's vector its cosine to another sentence."""
    from attnviz.experiment.answer_measures import Cosine

    if answered.run.reader.lead is not None or answered.run.reader.kind != "cosines":
        return answered.run.reader.lead
    return Cosine(to=run_again.others(shown)[0])
