"""What an encoder-decoder made of its source: each target word beside the words it looked at.

In: a capture with a decoder's cross-attention. Out: the alignment component, and in words which row
belongs to which word. What is shown first is what the model's card states, else the mean of all.
"""

import re
from collections.abc import Callable

import streamlit as st

from attnviz.checks import card
from attnviz.checks.cards import HeadNote
from attnviz.components import alignment as component
from attnviz.components.alignment import AlignmentView, ShownWord, Stated
from attnviz.components.selection import Extent, parse_open
from attnviz.i18n import Language, text
from attnviz.ui.host.components import show_alignment
from attnviz.ui.server import cache
from attnviz.ui.session import messages, routes, state
from attnviz.ui.sidebar.navigation import NAVIGATION
from attnviz.views.captured import Captured, Shown
from attnviz.views.groups import Group, chosen
from attnviz.views.texts import strings

STACK, KIND = "decoder", "cross"
PLACE = re.compile(r"L(\d+)(?:\.H(\d+))?")


def fits(captured: Captured) -> bool:
    """Whether there is a target that looked at a source."""
    if captured.model.kind != "encoder-decoder":
        return False
    return any((group.stack, group.kind) == (STACK, KIND) for group in captured.groups)


@st.fragment
def show(lang: Language, captured: Captured) -> None:
    """The alignment, with what its numbers mean."""
    with messages.guard(lang):
        group = chosen(captured.groups, STACK, KIND)
        st.subheader(text(lang, "translation.title"))
        st.markdown(text(lang, "translation.rows"))
        extent, key = group.extent, state.component_key("alignment")
        show_alignment(
            _data(Shown(lang, captured, group)), extent, key, _note(key, extent), _open(key, extent)
        )
        st.caption(text(lang, "translation.merged"))


def _data(shown: Shown) -> bytes:
    target = state.current().target
    return cache.buffer(
        f"{shown.captured.key} alignment {shown.lang}",
        lambda: component.pack_alignment(
            _view(shown, target), strings(shown.lang, component.STRING_KEYS)
        ),
    )


def _view(shown: Shown, target: str) -> AlignmentView:
    from attnviz.outputs.alignment import align

    found = align(shown.captured.model, shown.captured.capture, target or None)
    given = found.probabilities
    return AlignmentView(
        source=tuple(ShownWord(word.text, word.start, word.special) for word in found.source),
        target=tuple(
            ShownWord(
                word.text, word.start, word.special, None if given is None else float(given[place])
            )
            for place, word in enumerate(found.target)
        ),
        weights=found.weights,
        stated=stated(shown.captured.name, shown.group),
        probability=found.probability,
    )


def stated(name: str, group: Group) -> Stated:
    """What a model's card says of its cross-attention: a head, a layer's mean, or all heads."""
    known = card(name)
    notes = () if known is None else known.description.heads
    for note in notes:
        if (note.stack, note.kind) == (STACK, KIND):
            return _stated(note, group)
    return Stated()


def _stated(note: HeadNote, group: Group) -> Stated:
    place = PLACE.search(note.head)
    if place is None:
        return Stated(does=note.does)
    layer, head = int(place[1]), int(place[2] or 0)
    if layer >= group.n_layers or head >= group.call(layer).n_heads:
        return Stated()
    return Stated(layer, head, "layer" if place[2] is None else None, note.does)


def _note(key: str, extent: Extent) -> Callable[[], None]:
    """A callback that keeps what was committed and renews the links."""

    def noted() -> None:
        found = component.parse_choice(state.component_value(key, "selection"), extent)
        if found is None:
            return
        place, mean = found
        state.select(place)
        state.update(stack=STACK, kind=KIND, mean=mean)
        if state.only_a_fragment_runs():
            st.rerun([NAVIGATION])

    return noted


def _open(key: str, extent: Extent) -> Callable[[], None]:
    """A callback that shows the head that was asked for as a rectangular heatmap."""

    def opened() -> None:
        asked = parse_open(state.component_value(key, "open"), extent)
        if asked is not None:
            state.choose(asked)
            state.update(stack=STACK, kind=KIND)
            st.switch_page(routes.file(asked.page), query_params=state.params(state.current()))

    return opened
