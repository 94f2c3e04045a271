"""The page From the weights: the circuits of a model's heads, read without a text.

In: the model that is shown, and the chosen head. Out: a mounted canvas. Another head reruns this
fragment alone; what is known of a model's weights is kept for all visitors.
"""

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from attnviz.app.frame import fragments, measurement, run_again
from attnviz.app.host.draw import draw
from attnviz.app.server import answer_runs
from attnviz.app.server.jobs import Job
from attnviz.app.session import address_bar, current, messages, widgets
from attnviz.app.session.fragment import fragment
from attnviz.files.save import content
from attnviz.i18n import text
from attnviz.pictures.group.app_capture import PageContext
from attnviz.pictures.shared import selection
from attnviz.pictures.weights import CANVAS, fill
from attnviz.types import HeadId, Site

if TYPE_CHECKING:
    from attnviz.models.loaded_model import LoadedModel
    from attnviz.pictures.weights.fill import WeightsFound

FRAGMENT = "weights"


@fragment(FRAGMENT)
def show(shown: PageContext) -> None:
    """The heads of the chosen attention, and one of them."""
    lang = shown.lang
    with messages.guard(lang):
        if run_again.needs_model(shown, "weights"):
            return
        loaded, group = shown.captured.model, shown.group
        places = [HeadId(call.layer, head) for call in group.calls for head in range(call.n_heads)]
        chosen = selection.nearest_head(places, *current.view().place.layer_and_head)
        heads = tuple(Site(place.layer, place.head, group.kind, group.stack) for place in places)
        head = heads[places.index(chosen)]
        key = f"{loaded.key} {head}"
        found = measurement.result(lang, "weights", key, partial(_found, loaded, heads, head))
        if found is None:
            return
        extent = selection.extent_of(places, 0)
        draw(
            CANVAS,
            partial(fill.view, lang, found, head),
            "weights",
            lang,
            {
                "selection": fragments.keep_selection(extent, FRAGMENT),
                "open": fragments.open_head(extent),
            },
            kept=key,
        )
        if not address_bar.is_embedded():
            st.download_button(
                text(lang, "weights.table"),
                partial(_table, loaded),
                "weights.csv",
                key=widgets.key("weights.table"),
                on_click="ignore",
            )


def _found(loaded: "LoadedModel", heads: tuple[Site, ...], head: Site, job: Job) -> "WeightsFound":
    return fill.numbers(answer_runs.weights_alone(str(loaded.key), loaded), heads, head)


def _table(loaded: "LoadedModel") -> bytes:
    return content(answer_runs.weights_alone(str(loaded.key), loaded), ".csv")
