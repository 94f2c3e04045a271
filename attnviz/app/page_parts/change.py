"""The room Change: the switches and the answer, and what is seen over and below them.

In: what is shown. Out: a question, the switches beside the answer; over the switches the paths
between heads, below them the whole answer, each if it is open. In a frame stands one picture alone.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from attnviz.app.frame import run_again
from attnviz.app.page_parts import atlas, circuit, cut_out, output, switches
from attnviz.app.page_parts.output import answer, model_card
from attnviz.app.server import captures, sources
from attnviz.app.session import address_bar, current, messages, widgets
from attnviz.app.session.fragment import fragment
from attnviz.i18n import Language, text
from attnviz.pictures.group.app_capture import PageContext
from attnviz.pictures.shared.pages import BEHIND, Page
from attnviz.types import HeadId

if TYPE_CHECKING:
    from attnviz.files.figures import View

PAGE: Page = "switches"
WHOLE = "whole_answer"
DOORS = {door: names for door, (page, names) in BEHIND.items() if page == PAGE}


def show(shown: PageContext, offer: Callable[[Language, HeadId], None]) -> None:
    """The question, the switches, and what is open over and below them."""
    opened = current.opened(PAGE)
    if not run_again.needs_model(shown, PAGE):
        if not address_bar.is_embedded():
            _question(shown)
        if not (address_bar.is_embedded() and opened):
            switches.board(shown, offer)
        if "circuit" in opened:
            circuit.graph(shown)
    if "output" in opened:
        if address_bar.is_embedded():
            output.fitting(shown)
        else:
            _whole_answer(shown)


@fragment(WHOLE)
def _whole_answer(shown: PageContext) -> None:
    """The whole answer with what is off above, or with all heads on; its title says which."""
    lang = shown.lang
    widgets.rerun_too(WHOLE)  # something is switched
    with messages.guard(lang), st.container(key=widgets.key("whole")):
        changes, what = switches.changed(shown)
        st.subheader(text(lang, "page.output.title"), anchor=False)
        names = {True: text(lang, "change.with", what=what), False: text(lang, "change.all_on")}
        if not changes:
            st.caption(names[False])
            output.fitting(shown)
            return
        is_changed = st.segmented_control(
            text(lang, "page.output.title"),
            [*names],
            default=True,
            key=widgets.key(f"whole.{lang}.{changes}"),  # the browser answers with a label
            format_func=names.__getitem__,
            label_visibility="collapsed",
        )
        heads = switches.replaced(lang)
        if heads and is_changed is not False:
            st.caption(text(lang, "change.still", heads=heads))
        output.fitting(_with(shown, changes) if is_changed is not False else shown)


def _with(shown: PageContext, changes: str) -> PageContext:
    """The same with changes made: the model's capture of the same input."""
    request = shown.captured.request
    assert request is not None, "it was run, to switch heads off"
    captured = captures.changed(sources.source(shown.captured.name), request, changes)
    group = next(group for group in captured.groups if group.name == shown.group.name)
    return replace(shown, captured=captured, group=group)


def show_more(shown: PageContext) -> None:
    """Draw what a frame leaves out: examples, the circuit cut out, tables of the answer."""
    opened = current.opened(PAGE)
    if "circuit" in opened:
        circuit.example(shown.lang)
        cut_out.show(shown)
    if "output" in opened:
        if shown.captured.loaded is not None:
            st.caption(text(shown.lang, "change.tables_on"))
        answer.show_tokens(shown)
        answer.show_lens(shown)
        answer.show_parts(shown)
        atlas.place_of_text(shown)
        model_card.show(shown.lang, shown.captured.name)


def figures(shown: PageContext) -> "tuple[View, ...]":
    """The figures for print of what is open."""
    return output.figures(shown) if "output" in current.opened(PAGE) else ()


def changes(shown: PageContext) -> str:
    """The changes that are made: heads that are off, a look that is forbidden, as text."""
    return switches.changed(shown)[0]


def _question(shown: PageContext) -> None:
    """Ask the question of the room; offer what is seen over and below the switches."""
    lang = shown.lang
    with st.container(key=widgets.key("question"), horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{text(lang, f'change.{_asked(shown)}')}**", width="stretch")
        names = {door: text(lang, f"page.{door}.title") for door in DOORS}
        st.segmented_control(
            text(lang, "change.shows"),
            [*DOORS],
            selection_mode="multi",
            default=None,
            key=widgets.showing(f"change.shows.{lang}", [*current.opened(PAGE)]),
            format_func=names.__getitem__,
            label_visibility="collapsed",
            on_change=_take,
            args=(f"change.shows.{lang}",),
            width="content",
        )


def _asked(shown: PageContext) -> str:
    """The question that fits what the model answers."""
    kind, has_logits = shown.captured.model.kind, shown.captured.capture.logits is not None
    if kind == "decoder":
        return "which_word"
    return "which_meaning" if kind == "encoder" and not has_logits else "which_answer"


def _take(widget: str) -> None:
    """Open what was chosen, and close the rest."""
    chosen = widgets.value(widget) or ()
    current.take({name: door in chosen for door, names in DOORS.items() for name in names})
