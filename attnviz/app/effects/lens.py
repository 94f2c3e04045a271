"""The logit lens on the page Output: the model's guess after each layer, words down, layers across.

In: what is shown. Out: a table; for a model that may be slow first a button.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from attnviz.app.effects import inputs
from attnviz.app.host.draw import draw
from attnviz.app.server.shared import shared
from attnviz.app.session import address, current, messages, widgets
from attnviz.app.session.fragment import fragment
from attnviz.app.sidebar.navigation import renew
from attnviz.i18n import text
from attnviz.models.registry import REGISTRY
from attnviz.pictures.group.app_capture import AppCapture, PageContext
from attnviz.pictures.table import CANVAS, TableView
from attnviz.pictures.table import inside as views

if TYPE_CHECKING:
    from attnviz.capture.request import Request
    from attnviz.experiment.clean_run import CleanRun
    from attnviz.experiment.lens import Lens

MAX_LENSES = 8
FRAGMENT = "lens"
PARTS = "answer_parts"  # the fragment that shows the parts of the chosen guess


def fits(captured: AppCapture) -> bool:
    """True if the model has an output layer that can read its hidden states."""
    loaded = captured.loaded
    return loaded is not None and captured.capture.logits is not None and loaded.kind != "speech"


@fragment(FRAGMENT)
def show(shown: PageContext) -> None:
    """The table of guesses; a click on one opens the table of the parts that wrote it."""
    if not fits(shown.captured):
        return
    lang = shown.lang
    if shown.captured.name not in REGISTRY and not current.view().output.lens:
        st.button(
            text(lang, "inside.show_lens"),
            key=widgets.key("lens"),
            on_click=_ask,
        )
        return
    with messages.guard(lang):
        with st.spinner(text(lang, "wait.effects")):
            guess_lens = guesses(shown)
        request = inputs.of_shown(shown)
        if guess_lens is None or request is None:
            return
        chosen = current.view().output.guess
        name, view = widgets.component_key("lens"), _view(shown, request, guess_lens, chosen)
        draw(CANVAS, view, name, lang, {"table": partial(_take, name)})


def guesses(shown: PageContext) -> "Lens | None":
    """The guess after each state; it is kept. None where the visitor has to give something."""
    request = inputs.of_shown(shown)
    if request is None:
        return None
    return _lens(shown.captured, request)


@shared(most=MAX_LENSES)
def _lens(captured: AppCapture, request: "Request") -> "Lens":
    from attnviz.experiment.clean_run import prepare_request
    from attnviz.experiment.run import Experiment

    return Experiment(prepare_request(captured.model, request)).lens()


def _ask() -> None:
    """Have a model that may be slow read its states."""
    view = current.view()
    current.update(replace(view, output=replace(view.output, lens=True)))


def _take(name: str) -> None:
    """The chosen guess; the table of its parts opens below."""
    guess, _ = address.checked("guess", widgets.component_value(name, "table"))
    if guess:
        view = current.view()
        current.update(replace(view, output=replace(view.output, guess=guess, parts=True)))
    renew(FRAGMENT, PARTS)


def _view(shown: PageContext, request: "Request", lens: "Lens", chosen: str) -> TableView:
    from attnviz.experiment.clean_run import prepare_request
    from attnviz.experiment.outputs.classes import class_names

    model = shown.captured.model
    n_rows = lens.ids.shape[1]
    classes = class_names(model) if n_rows == 1 else ()

    def names(ids: Sequence[int]) -> Sequence[str]:
        return [classes[place] for place in ids] if classes else model.labels_of(list(ids))

    if classes:
        labels = [text(shown.lang, "inside.whole_input")]
    else:
        labels = _tokens(prepare_request(model, request), n_rows)
    opens = model.kind == "decoder"
    return views.lens_table(shown.lang, lens, labels, names, chosen if opens else None)


def _tokens(prepared: "CleanRun", n_rows: int) -> list[str]:
    """The tokens of the stack that answers; numbers where they are not known."""
    stacks = prepared.tokens
    (tokens,) = stacks["decoder"] if "decoder" in stacks else next(iter(stacks.values()))
    labels = list(tokens.labels)
    return labels if len(labels) == n_rows else list(map(str, range(n_rows)))
