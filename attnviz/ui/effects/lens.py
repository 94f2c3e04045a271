"""On the page Output: what the model would say after each of its layers, words down, layers across.

In: what is shown. Out: a table; for a model that may be slow first a button.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from attnviz.components.ledger import LedgerView, pack_ledger
from attnviz.i18n import text
from attnviz.models.registry import REGISTRY
from attnviz.ui.effects import inputs
from attnviz.ui.host.components import show_ledger
from attnviz.ui.server import cache
from attnviz.ui.session import current, messages, widgets
from attnviz.views import inside as views
from attnviz.views.captured import Captured, Shown

if TYPE_CHECKING:
    from attnviz.capture.request import Request
    from attnviz.effects.prepared import Prepared


def fits(captured: Captured) -> bool:
    """True if the model has scores to read its states with."""
    loaded = captured.loaded
    return loaded is not None and captured.capture.logits is not None and loaded.kind != "speech"


def show(shown: Shown) -> None:
    """The table of guesses."""
    if not fits(shown.captured):
        return
    lang = shown.lang
    if shown.captured.name not in REGISTRY and not current.view().switched.lens:
        st.button(
            text(lang, "inside.show_lens"),
            key=widgets.key("lens"),
            on_click=current.update,
            kwargs={"lens": True},
        )
        return
    with messages.guard(lang):
        request = inputs.of_shown(shown)
        if request is None:
            return
        name = f"{shown.captured.key} {request.key} lens {lang}"
        data = cache.buffer(name, lambda: pack_ledger(_view(shown, request)))
        show_ledger(data, widgets.component_key("lens"))


def _view(shown: Shown, request: "Request") -> LedgerView:
    from attnviz.attribution.lens import lens_of
    from attnviz.effects.prepared import prepare_request
    from attnviz.outputs.classes import class_names

    model = shown.captured.model
    prepared = prepare_request(model, request)
    found = lens_of(prepared)
    n_rows = found.ids.shape[1]
    classes = class_names(model) if n_rows == 1 else ()

    def names(ids: Sequence[int]) -> Sequence[str]:
        return [classes[place] for place in ids] if classes else model.labels_of(list(ids))

    labels = [text(shown.lang, "inside.whole_input")] if classes else _tokens(prepared, n_rows)
    return views.lens_ledger(shown.lang, found, labels, names)


def _tokens(prepared: "Prepared", n_rows: int) -> list[str]:
    """The tokens of the stack that answers; numbers where they are not known."""
    stacks = prepared.tokens
    (tokens,) = stacks["decoder"] if "decoder" in stacks else next(iter(stacks.values()))
    labels = list(tokens.labels)
    return labels if len(labels) == n_rows else list(map(str, range(n_rows)))
