"""The page Pairs: one question asked of many pairs of texts, with every pair's number.

In: the model that is shown, and pairs: those that fit it or lines that a visitor pasted, which stay
in the session. Out: boxes for the question, a mounted canvas, and the table as a file. The passes
are those of a job that can be stopped.
"""

import hashlib
from functools import partial
from typing import TYPE_CHECKING, Any, get_args

import streamlit as st

from attnviz.app.frame import measurement, run_again, view_code
from attnviz.app.frame.choices import take_asked, take_chosen, toggle
from attnviz.app.host.draw import draw
from attnviz.app.server.jobs import Job
from attnviz.app.session import address, address_bar, current, messages, routes, store, widgets
from attnviz.app.session.fragment import fragment
from attnviz.experiment.pair_lines import MAX_PAIRS, AnsweredPair, asked, read_pairs
from attnviz.files.save import content
from attnviz.i18n import Language, text
from attnviz.models.registry import REGISTRY
from attnviz.pictures.group.app_capture import PageContext
from attnviz.pictures.pairs import CANVAS, Ask, fill
from attnviz.pictures.pairs.fill import PairsFound
from attnviz.tokens.labels import without_surrogates

if TYPE_CHECKING:
    from attnviz.models.loaded_model import LoadedModel

FRAGMENT = "pairs"
WIDGET = "pairs.lines"
MODEL = "stories"  # whose pairs are the example
FORM = "The film was great. | positive | The film was awful. | negative"  # as models read it
MAX_CHARS = 2_000_000  # a browser drops a paste over a limit of its box; this is refused in words
PAIR_S = 0.1  # a question takes so long for a pair with a small model


@fragment(FRAGMENT)
def show(shown: PageContext) -> None:
    """The question, the pairs and the picture."""
    lang = shown.lang
    with messages.guard(lang):
        if run_again.needs_model(shown, "pairs"):
            return
        from attnviz.corpus.samples import sample_pairs

        loaded = shown.captured.model
        samples = sample_pairs(loaded)
        if not samples and not _answers_pairs(shown):
            st.info(text(lang, "pairs.not_here"))
            if not address_bar.is_embedded():
                label, key = text(lang, "pairs.example"), widgets.key("pairs.example")
                st.button(label, key=key, on_click=current.open_model, args=(MODEL,))
            return
        _question(lang)
        lines = _box(lang, samples)
        pairs = read_pairs(lines)
        if not pairs:
            st.info(text(lang, "pairs.none"))
            return
        if loaded.name not in REGISTRY and not current.view().pairs.run:
            label, key = text(lang, "pairs.run", n=len(pairs)), widgets.key("pairs.run")
            st.button(label, key=key, on_click=take_asked, args=("pairs", FRAGMENT))
            return
        _measured(lang, loaded, pairs)


def _answers_pairs(shown: PageContext) -> bool:
    """True for a model whose answer to a text is a token or one of several classes."""
    logits, kind = shown.captured.capture.logits, shown.captured.model.kind
    return kind == "decoder" or (kind == "encoder" and logits is not None and logits.ndim == 2)


def _question(lang: Language) -> None:
    choice = current.view().pairs
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            text(lang, "pairs.ask"),
            get_args(Ask),
            key=widgets.showing(f"ask.{lang}", choice.ask),
            format_func=lambda ask: text(lang, f"pairs.ask_{ask}"),
            on_change=take_chosen,
            args=("ask", f"ask.{lang}", FRAGMENT),
            width=480,
        )
        toggle(text(lang, "pairs.only_solved"), "solved", FRAGMENT)


def _box(lang: Language, samples: tuple[AnsweredPair, ...]) -> str:
    """The lines that are measured: the visitor's, or those of the example; a box to change them."""
    example = "\n".join(map(str, samples))
    own: str | None = store.get(view_code.PAIR_LINES)
    lines = example if own is None else own
    if address_bar.is_embedded():
        return lines
    with st.expander(text(lang, "pairs.own" if samples else "pairs.paste"), expanded=not samples):
        st.text_area(
            text(lang, "pairs.lines"),
            key=widgets.showing(WIDGET, lines),
            height=200,
            help=text(lang, "pairs.lines_help", n=MAX_PAIRS),
            placeholder=FORM,
            on_change=_take_lines,
        )
        if own is not None and samples:
            st.button(
                text(lang, "pairs.back"), key=widgets.key("pairs.back"), on_click=_forget_lines
            )
    return lines


def _take_lines() -> None:
    store.put(
        view_code.PAIR_LINES, without_surrogates(str(widgets.value(WIDGET) or "")[:MAX_CHARS])
    )


def _forget_lines() -> None:
    store.pop(view_code.PAIR_LINES)


def _measured(lang: Language, loaded: "LoadedModel", pairs: tuple[AnsweredPair, ...]) -> None:
    choice = current.view().pairs
    digest = hashlib.sha256("\n".join(map(str, pairs)).encode()).hexdigest()
    key = f"{loaded.key} {digest} {choice.ask} {choice.solved}"
    work = partial(_found, loaded, pairs, choice.ask, choice.solved)
    found = measurement.result(lang, "pairs", key, work, PAIR_S * len(pairs))
    if found is None:
        return
    view = partial(fill.view, lang, found)
    draw(CANVAS, view, "pairs", lang, {"text": partial(_open, found)}, kept=key)
    if not address_bar.is_embedded():
        st.download_button(
            text(lang, "pairs.table"),
            partial(content, found.result, ".csv"),
            f"pairs-{choice.ask}.csv",
            key=widgets.key("pairs.table"),
            on_click="ignore",
        )


def _found(
    loaded: "LoadedModel", pairs: tuple[AnsweredPair, ...], ask: Ask, only_solved: bool, job: Job
) -> PairsFound:
    """Every pair run, and the question asked; stopped as soon as a batch is over."""
    from attnviz.experiment.sets import experiment_set

    texts, measures = asked(loaded, pairs)
    run = experiment_set(loaded, texts, measures, job.cancel)
    measured = run.only_solved() if only_solved else run
    steps: dict[str, Any] = {"progress": job.report, "cancel": job.cancel}
    if ask == "effects":
        result = measured.effects(**steps)
    elif ask == "patching":
        from attnviz.experiment.slots import DifferenceSlot

        result = measured.patching(slots={"difference": DifferenceSlot(), "last": -1}, **steps)
    else:
        result = measured.direct() if ask == "direct" else measured.lens()
    return fill.found(ask, run, measured, result)


def _open(found: PairsFound, sent: object) -> None:
    """Look at one text of the set on Switchboard."""
    if isinstance(sent, str) and any(pair.text == sent for pair in found.texts):
        current.open_text(address.cleaned("text", sent))
        st.switch_page(routes.file("switches"), query_params=address.params(current.view()))
