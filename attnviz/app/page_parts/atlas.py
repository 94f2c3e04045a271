"""The page Atlas: every head over many texts, on any two measures, and one of them in detail.

In: what is shown, the view, and what is offered on the head in detail. Out: a mounted component.
Another head or measure reruns this fragment alone.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import streamlit as st

from attnviz.app.frame import fragments, run_again
from attnviz.app.frame.choices import take_chosen
from attnviz.app.host.draw import draw
from attnviz.app.page_parts import surveys
from attnviz.app.server.shared import shared
from attnviz.app.session import address, address_bar, current, messages, model_images, widgets
from attnviz.app.session.fragment import fragment
from attnviz.i18n import Language, joined, text
from attnviz.metrics.measures import SHARES, Share
from attnviz.pictures import atlas as component
from attnviz.pictures.atlas import fill as views
from attnviz.pictures.group.app_capture import AppCapture, PageContext
from attnviz.pictures.shared import selection
from attnviz.types import MEASURES, HeadId, Measure

if TYPE_CHECKING:
    from attnviz.corpus.result import Survey
    from attnviz.metrics.table import HeadTable

FRAGMENT = "atlas"
PLACED: tuple[Measure, ...] = ("peak", "entropy", "distance")  # that place a text among others
MAX_PLACED = 64  # a few numbers of each head
Offer = Callable[[Language, HeadId, Share | None], None]  # on a head, and a share it stands out by


def show(shown: PageContext, offer: Offer) -> None:
    """The atlas of the model's survey, or of the one that the visitor opened."""
    lang = shown.lang
    if surveys.is_opened() or not run_again.needs_model(shown, "atlas"):
        if surveys.is_opened() or surveys.has_samples(shown.captured.model):
            _heads(shown, offer)
        else:
            st.info(text(lang, "atlas.not_here"))
    if not address_bar.is_embedded():  # a browser sends no upload from a frame of another site
        surveys.upload(lang)


@fragment(FRAGMENT)
def _heads(shown: PageContext, offer: Offer) -> None:
    with messages.guard(shown.lang):
        survey = surveys.survey(shown)
        if survey is not None:
            _mount(shown, survey)
            if len(shown.captured.groups) == 1 and not (
                address_bar.is_embedded() or surveys.is_opened()
            ):
                at, choice = current.view().place.layer_and_head, current.view().atlas
                axes = (choice.up, choice.across)
                share = next((share for axis in axes for share in SHARES if share == axis), None)
                offer(shown.lang, selection.nearest_head(survey.heads, *at), share)


def _mount(shown: PageContext, survey: "Survey") -> None:
    lang, choice = shown.lang, current.view().atlas
    head = selection.nearest_head(survey.heads, *current.view().place.layer_and_head)
    capture = shown.captured.capture
    own = capture.table(batch=0) if surveys.fits(survey, capture) else None
    match = widgets.value(_match_widget(lang, survey))
    other = surveys.of_model(match) if match in _others(survey) else None
    matched = "" if other is None else other.model.id
    extent = selection.extent_of(survey.heads, 0)
    draw(
        component.CANVAS,
        lambda: views.atlas(lang, survey, head, (choice.across, choice.up), own, other),
        "atlas",
        lang,
        {
            "selection": fragments.keep_selection(extent, FRAGMENT),
            "open": fragments.open_head(extent),
            "text": _use_text(survey, surveys.is_of_pictures(shown, survey)),
        },
        kept=f"{shown.captured.key} {id(survey)} {head} {choice} {matched}",
    )
    st.caption(
        text(
            lang,
            "atlas.summary_pictures" if surveys.is_of_pictures(shown, survey) else "atlas.summary",
            model=messages.plain(survey.model.id),
            texts=survey.n_text,
            tokens=survey.n_token,
        )
    )
    with st.container(horizontal=True):
        _measure_choice(lang, "measure_x", choice.across)
        _measure_choice(lang, "measure_y", choice.up)
        _match_choice(lang, survey)


def _measure_choice(lang: Language, name: str, chosen: Measure) -> None:
    label = "atlas.across" if name == "measure_x" else "atlas.up"
    st.selectbox(
        text(lang, label),
        MEASURES,
        key=widgets.showing(f"{name}.{lang}", chosen),
        format_func=lambda measure: text(lang, f"measure.{measure}"),
        on_change=take_chosen,
        args=(name, f"{name}.{lang}", FRAGMENT),
        width=260,
    )


def _match_choice(lang: Language, survey: "Survey") -> None:
    """A box for the model with whose heads these are matched."""
    st.selectbox(
        text(lang, "atlas.match_with"),
        ["", *_others(survey)],
        key=widgets.key(_match_widget(lang, survey)),
        format_func=lambda name: name or text(lang, "atlas.match_none"),
        width=260,
    )


def _others(survey: "Survey") -> list[str]:
    from attnviz.corpus.embedded import counted_weights

    return [name for name in counted_weights() if name != survey.model.id]


def _match_widget(lang: Language, survey: "Survey") -> str:
    return f"match.{lang}.{survey.model.id}"


def _use_text(survey: "Survey", has_pictures: bool) -> Callable[[object], None]:
    """A callback that opens the head on a text of the survey, or a picture that can be made."""

    def open_text(sent: object) -> None:
        if not isinstance(sent, str) or sent not in survey.tally.texts.values():
            return
        if not has_pictures:
            current.open_text(address.cleaned("text", sent))
        elif model_images.sample_seed(sent) is not None:
            current.open_image(sent)
        else:
            return  # a file that the survey was made of, elsewhere
        current.go("head")

    return open_text


def place_of_text(shown: PageContext) -> None:
    """A line that says where the text lies among those of the survey, if there is one."""
    survey = surveys.known(shown)
    if survey is not None and shown.group.kind == "self":
        _place(shown, survey)


@shared(most=MAX_PLACED)
def _placed(captured: AppCapture) -> "HeadTable":
    """The measures that place the first text, of all heads: a second one is no part of it."""
    return captured.capture.table(PLACED, batch=0)


@fragment("place_of_text")
def _place(shown: PageContext, survey: "Survey") -> None:
    widgets.rerun_too("place_of_text")
    lang = shown.lang
    head = selection.nearest_head(survey.heads, *current.view().place.layer_and_head)
    table = survey.quantiles(_placed(shown.captured))
    row = survey.heads.index(head)
    parts = [
        text(
            lang,
            "atlas.place_part",
            measure=text(lang, f"measure.{name}"),
            percent=round(100 * float(table[name][row])),
        )
        for name in PLACED
        if table[name][row] == table[name][row]
    ]
    if parts:
        name = "place_picture" if surveys.is_of_pictures(shown, survey) else "place"
        said = joined(lang, parts, "clauses")
        st.caption(text(lang, f"atlas.{name}", head=str(head), n=survey.n_text, parts=said))
