"""The effects of a row's edges, and the writers of a cell's score: below Head and Steps.

In: what is shown, and the row and cell of the view. Out: two switches, and below each that is on a
table with its control. Both run again when another head or cell is chosen.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import streamlit as st

from attnviz.app.frame import run_again
from attnviz.app.frame.choices import toggle
from attnviz.app.host.draw import draw
from attnviz.app.server import answer_runs
from attnviz.app.server.answer_runs import Answering
from attnviz.app.server.shared import shared
from attnviz.app.session import address, current, messages, widgets
from attnviz.app.session.fragment import fragment
from attnviz.i18n import text
from attnviz.pictures.group.app_capture import PageContext
from attnviz.pictures.group.axes import token_axes
from attnviz.pictures.table import CANVAS, TableView
from attnviz.pictures.table import inside as views
from attnviz.types import ignore

if TYPE_CHECKING:
    from attnviz.experiment.why import Why
    from attnviz.types import Site

FRAGMENT = "inside"
MAX_SENTENCES = 256  # answers


def show(shown: PageContext) -> None:
    """The switches and what they show."""
    widgets.rerun_too(FRAGMENT)
    _inside(shown)


@fragment(FRAGMENT)
def _inside(shown: PageContext) -> None:
    lang = shown.lang
    with st.container(horizontal=True):
        edges, why = (
            toggle(text(lang, f"inside.show_{name}"), name, FRAGMENT) for name in ("edges", "why")
        )
    if not (edges or why):
        return
    with messages.guard(lang):
        if run_again.needs_model(shown, "inside"):
            return
        request = run_again.of_whole(shown)
        if request is None:
            return
        answered = answer_runs.answers(shown.captured, request, ())
        if edges:
            _edges(shown, answered, f"{shown.captured.key} {request.key}")
        if why:
            _why(shown, answered, f"{shown.captured.key} {request.key}")


def _head(shown: PageContext) -> "Site":
    from attnviz.types import Site

    layer, head = shown.size.nearest_head(*current.view().place.layer_and_head)
    return Site(layer, head, shown.group.kind, shown.group.stack)


def _labels(shown: PageContext, layer: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    queries, keys = token_axes(shown, layer=layer)
    return queries.rows, keys.labels


def _edges(shown: PageContext, answered: Answering, key: str) -> None:
    """The row's weights, lengths and effects side by side."""
    lang, head = shown.lang, _head(shown)
    queries, keys = _labels(shown, head.layer)
    n_query = min(len(queries), shown.group.call(head.layer).n_query)
    chosen = current.view().place.query
    query = n_query - 1 if chosen is None or chosen >= n_query else chosen

    lead = answered.run.reader.lead

    def build() -> TableView:
        run = answered.run if lead is None else answered.run.with_measure(lead)
        return views.row_table(lang, run.edges(head, row=query), query, keys)

    form, names = run_again.lead_in_words(shown, answered)
    st.markdown(
        text(
            lang,
            f"inside.row_{form or 'share'}",
            **names,
            head=str(head),
            query=messages.quoted(lang, shown.captured.name, queries[query]),
            place=query,
        )
    )
    _table(f"{key} edges {lang} {head} {query}", "edges", build)


def _why(shown: PageContext, answered: Answering, key: str) -> None:
    """The writers that make the chosen score, and the weight without them."""
    lang, head, place = shown.lang, _head(shown), current.view().place
    if place.query is None or place.key is None:
        st.info(text(lang, "inside.choose_cell"))
        return
    query, at = place.query, place.key
    queries, keys = _labels(shown, head.layer)
    name = f"{key} why {lang} {head} {query} {at}"

    def why() -> "Why":
        return answered.run.why(head, query, at)

    tokens = queries[query], keys[at]
    sentences = _kept_sentences(
        name,
        lambda: (
            views.why_sentence(lang, why(), tokens, messages.plain),
            *_interventions(shown, answered, why()),
        ),
    )
    for sentence in sentences:
        st.markdown(sentence)
    _table(name, "why", lambda: views.why_table(lang, why()), _open_path)


@shared(most=MAX_SENTENCES)
def _kept_sentences(key: str, _say: Callable[[], tuple[str, ...]]) -> tuple[str, ...]:
    """The sentences that `_say` returns of an answer; `key` names all that determines them."""
    return _say()


def _interventions(shown: PageContext, answered: Answering, why: "Why") -> tuple[str, ...]:
    """The weight without the strongest earlier head, beside each other head, for k and for q."""
    from attnviz.capture.changed.layout import layout_of
    from attnviz.experiment.paths import weights_without

    layout = layout_of(answered.run.prepared.calls)
    order = [call.site for call in layout.calls]
    receiver = order.index(why.head.whole_layer)
    known = {str(head): head for head in layout.heads}
    sentences = []
    for side in ("k", "q"):
        writers = [known[name] for name in why.by_source(side) if name in known]
        if not writers:
            continue
        chosen = writers[0]
        earlier = [head for head in layout.heads if order.index(head.whole_layer) < receiver]
        senders = [chosen, *(head for head in earlier if head != chosen)][: views.MAX_SENDERS]
        before, after = weights_without(
            answered.run.prepared, senders, why.head, why.query, why.key, side
        )
        sentences.append(views.cut_sentence(shown.lang, side, before, after, chosen))
    return tuple(sentences) or (text(shown.lang, "inside.no_writer"),)


def _table(
    name: str,
    widget: str,
    build: Callable[[], TableView],
    take: Callable[[object], None] = ignore,
) -> None:
    draw(CANVAS, build, f"inside.{widget}", current.language(), {"table": take}, kept=name)


def _open_path(sent: object) -> None:
    """Open the page Circuit on the path of the writer that was clicked."""
    path, _ = address.checked("arrow", sent)
    if path:
        current.take({"arrow": path})
        current.go("circuit")
