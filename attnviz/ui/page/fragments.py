"""From a capture to what a component shows, and from what a visitor did in it back to the state.

In: a language and a `Captured`. Out: a mounted component. Each view is a fragment: what a component
sends back reruns that fragment alone. A selection committed on Overview or Head is only noted (the
browser already shows it): nothing runs again but the links that carry it. Buffers are cached under
keys that name all they are made of, so a rerun with equal input builds nothing.
"""

from collections.abc import Callable
from contextlib import nullcontext

import streamlit as st

from attnviz.attention import edits
from attnviz.components import grid as grids
from attnviz.components import head as one_head
from attnviz.components import masks as overlays
from attnviz.components import steps as strip
from attnviz.components import writing
from attnviz.components.options import parse_options
from attnviz.components.selection import Extent, parse_open, parse_selection
from attnviz.i18n import text
from attnviz.ui.host.components import show_grid, show_head, show_masks, show_steps, show_writing
from attnviz.ui.page import mask_code, notices
from attnviz.ui.server import cache
from attnviz.ui.session import messages, routes, state
from attnviz.ui.sidebar.navigation import NAVIGATION
from attnviz.views import heads, pooled_overview
from attnviz.views import masks as masks_view
from attnviz.views import steps as steps_view
from attnviz.views.axes import token_axes
from attnviz.views.captured import Shown
from attnviz.views.groups import MOST_WALKED, MOST_WHOLE
from attnviz.views.texts import strings


def written(shown: Shown) -> None:
    """The bar that steps through what the model wrote; nothing where it wrote nothing."""
    if shown.group.written().any():
        _player(shown)


@st.fragment
def _player(shown: Shown) -> None:
    with messages.guard(shown.lang):
        data = cache.buffer(
            f"{shown.captured.key} {shown.group.shown} player {shown.lang}",
            lambda: writing.pack_player(
                *token_axes(shown),
                shown.group.cross,
                shown.group.extent,
                strings(shown.lang, writing.PLAYER_KEYS),
            ),
        )
        extent, key = shown.group.extent, state.component_key("player")
        show_writing(data, extent, key, note(key, extent))


@st.fragment
def grid(shown: Shown) -> None:
    """All heads of the first text."""
    with messages.guard(shown.lang):
        if not shown.group.all_at_once and not shown.group.from_afar:
            notices.too_long(
                shown.lang,
                "all_heads",
                tokens=f"{shown.group.n_longest:,}",
                cells=f"{shown.group.n_cells / 1e6:,.0f}",
                longest=f"{MOST_WHOLE:,}",
                limit=f"{MOST_WALKED / 1e6:,.0f}",
            )
            return
        overview = pooled_overview.overview if shown.group.from_afar else heads.overview
        waiting = (
            st.spinner(text(shown.lang, "wait.afar")) if shown.group.from_afar else nullcontext()
        )
        with waiting:
            data = cache.buffer(
                f"{shown.captured.key} {shown.group.shown} grid {shown.lang}",
                lambda: grids.pack_grid(
                    overview(shown, cache.measured(shown)), strings(shown.lang, grids.STRING_KEYS)
                ),
            )
        extent, key = shown.group.extent, state.component_key("grid")
        show_grid(data, extent, key, note(key, extent), opener(key, extent))


@st.fragment
def head(shown: Shown) -> None:
    """One head of the first text, with all others at hand."""
    with messages.guard(shown.lang):
        data = cache.buffer(
            f"{shown.captured.key} {shown.group.shown} head {shown.lang}",
            lambda: one_head.pack_head(
                heads.one_head(shown, cache.measured(shown)),
                strings(shown.lang, one_head.STRING_KEYS),
            ),
        )
        extent, key = shown.group.extent, state.component_key("head")
        show_head(data, extent, key, note(key, extent), opener(key, extent))


@st.fragment(key="steps")
def steps(shown: Shown) -> None:
    """Every step of the chosen head; another head is derived when it is asked for."""
    with messages.guard(shown.lang):
        if not _whole(shown):
            return
        layer, head = shown.group.nearest(*state.place())
        if shown.group.own_code(layer):
            notices.own_code(shown.lang, shown.group.call(layer).module)
            return
        edited = state.current().edits
        data = cache.buffer(
            f"{shown.captured.key} {shown.group.shown} steps {shown.lang} {layer} {head} {edited}",
            lambda: strip.pack_steps(
                steps_view.steps(
                    shown, layer, head, cache.steps(shown, layer, head), edits.parse(edited)
                )
            ),
        )
        extent, key = shown.group.extent, state.component_key("steps")
        show_steps(data, extent, key, note(key, extent, redraw="steps"), _edit(key))


@st.fragment(key="masks")
def masks(shown: Shown) -> None:
    """The chosen head on every sentence of the batch, under each combination of masks."""
    with messages.guard(shown.lang):
        if not _whole(shown):
            return
        layer, head = shown.group.nearest(*state.place())
        if shown.group.own_code(layer):
            notices.own_code(shown.lang, shown.group.call(layer).module)
            return
        data = cache.buffer(
            f"{shown.captured.key} {shown.group.shown} masks {shown.lang} {layer} {head}",
            lambda: overlays.pack_masks(masks_view.masks_data(shown, layer, head)),
        )
        extent, key = shown.group.extent, state.component_key("masks")
        show_masks(data, extent, key, on_selection=note(key, extent, redraw="masks"))


def _whole(shown: Shown) -> bool:
    """Whether every matrix of a head can be shown; says why not."""
    if not shown.group.whole:
        tokens, limit = f"{shown.group.n_longest:,}", f"{MOST_WHOLE:,}"
        notices.too_long(shown.lang, "matrices", tokens=tokens, limit=limit)
    return shown.group.whole


def note(key: str, extent: Extent, redraw: str | None = None) -> Callable[[], None]:
    """A callback that keeps what was committed and renews the links.

    The fragment `redraw` runs again when another head was asked for; nothing else does. When the
    commit comes together with a change of page, asking for fragments would undo that change.
    """

    def noted() -> None:
        sent = state.component_value(key, "selection")
        chosen = parse_selection(sent, extent)
        if chosen is None:
            return
        before = state.current()
        state.update(**parse_options(sent))
        moved = state.place() != (chosen.layer, chosen.head)
        state.select(chosen)
        again = [redraw] if moved and redraw is not None else []
        again += [mask_code.CODE] if state.current().masks != before.masks else []
        again += state.kept(state.AGAIN) or ()
        if state.only_a_fragment_runs():
            st.rerun([*again, NAVIGATION])

    return noted


def _edit(key: str) -> Callable[[], None]:
    """A callback that keeps what was edited; the steps run again with it, and so do the links."""

    def edited() -> None:
        asked = state.component_value(key, "edit")
        if isinstance(asked, str) and state.edit(asked) and state.only_a_fragment_runs():
            st.rerun(["steps", NAVIGATION])

    return edited


def opener(key: str, extent: Extent) -> Callable[[], None]:
    """A callback that goes to the page, and the head on it, that a click asked for."""

    def opened() -> None:
        asked = parse_open(state.component_value(key, "open"), extent)
        if asked is not None:
            state.choose(asked)
            st.switch_page(routes.file(asked.page), query_params=state.params(state.current()))

    return opened
