"""Compare: two captures side by side, paired token by token, and what differs between their heads.

In: the left side's capture, and the view. Out: the widgets of both sides, the component `pair` with
the weights of every head of both, and what was checked. Heads are switched in the browser; what it
commits is noted, as on every page.
"""

from collections.abc import Callable, Mapping

import numpy as np
import streamlit as st

from attnviz.compare import pairing
from attnviz.compare.pairing import Pairing
from attnviz.components import pair as component
from attnviz.components.heads import Axis
from attnviz.components.selection import Extent, parse_selection
from attnviz.i18n import Language
from attnviz.tokens import merge
from attnviz.ui.host.components import show_pair
from attnviz.ui.page import attention_choice, frame, notices
from attnviz.ui.page.compare import right_side, widgets
from attnviz.ui.server import cache
from attnviz.ui.session import messages, state
from attnviz.ui.session.labels import TEXTLESS
from attnviz.ui.sidebar.navigation import NAVIGATION
from attnviz.views.axes import token_axes
from attnviz.views.captured import Captured, Shown
from attnviz.views.groups import MAX_CELLS
from attnviz.views.texts import strings
from attnviz.views.titles import model_title

MOST_PAIRED = 1536  # tokens of a side, half a minute of frames; more are not legible there


def show(lang: Language, left: Captured) -> None:
    """Both sides and their difference."""
    columns, side = st.columns(2, gap="large"), right_side.right()
    with columns[0]:
        widgets.left(lang, left)
    with columns[1]:
        widgets.right(lang, side)
        right = right_side.captured(lang, side)
    if right is None:
        return
    shown = attention_choice.choice(lang, left)
    other = widgets.attention(lang, right, shown.group)
    _compared(shown, Shown(lang, right, other))
    frame.verification(lang, max(left, right, key=_doubt))


def _doubt(captured: Captured) -> tuple[bool, float]:
    """The worse checked of two captures comes last; NaN is the worst."""
    return captured.error != captured.error, captured.error / captured.tolerance


@st.fragment
def _compared(left: Shown, right: Shown) -> None:
    lang, groups = left.lang, (left.group, right.group)
    with messages.guard(lang):
        if max(group.n_longest for group in groups) > MOST_PAIRED or (
            sum(group.n_cells for group in groups) > MAX_CELLS
        ):
            notices.too_long(
                lang,
                "pair",
                tokens=f"{max(group.n_longest for group in groups):,}",
                cells=f"{sum(group.n_cells for group in groups) / 1e6:,.0f}",
                longest=f"{MOST_PAIRED:,}",
                limit=f"{MAX_CELLS / 1e6:,.0f}",
            )
            return
        names = [left.key, right.key]
        data = cache.buffer(
            f"{names} pair {lang}",
            lambda: component.pack_pair(
                _view(left, right),
                strings(lang, component.STRING_KEYS),
            ),
        )
        extents, key = (groups[0].extent, groups[1].extent), state.component_key("pair")
        show_pair(data, extents[0], key, _note(key, *extents))


def _view(left: Shown, right: Shown) -> component.PairView:
    same = _same_vocabulary(left.captured, right.captured)
    a, b = left.group, right.group
    identical = left.key == right.key
    queries = pairing.pair(a.queries(), b.queries(), same)
    keys = pairing.pair(a.keys(), b.keys(), same)
    weights = (
        merge.merged(a.all_weights(), queries.a, keys.a),
        merge.merged(b.all_weights(), queries.b, keys.b),
    )
    alike = (
        left.captured.name == right.captured.name and weights[0].shape[:2] == weights[1].shape[:2]
    )
    moved = None
    if alike and not identical:
        moved = pairing.moved_by_head(*weights, queries.slots, keys.slots)
    return component.PairView(
        a=_side(left, (queries, keys), "a", weights[0]),
        b=_side(right, (queries, keys), "b", weights[1]),
        rows=queries.slots,
        cols=keys.slots,
        cross=a.cross or b.cross,
        merged=queries.merged or keys.merged,
        alike=alike,
        identical=identical,
        moved=moved,
    )


def _side(
    shown: Shown,
    pairings: tuple[Pairing, Pairing],
    side: component.Letter,
    weights: np.ndarray,
) -> component.SideView:
    """One side as the component shows it; joined pieces take the place of tokens."""
    queries, keys = (of.a if side == "a" else of.b for of in pairings)
    axes = token_axes(shown)
    return component.SideView(
        model=model_title(shown.lang, shown.captured.name),
        queries=_axis(queries, axes[0]),
        keys=_axis(keys, axes[1]),
        at_query=tuple(part.start for part in queries),
        at_key=tuple(part.start for part in keys),
        extent=shown.group.extent,
        weights=weights,
    )


def _axis(parts: tuple[pairing.Part, ...], tokens: Axis) -> Axis:
    return Axis(
        tuple(part.label for part in parts),
        np.array([part.special for part in parts], dtype=np.bool_),
        np.array([bool(tokens.written[part.start]) for part in parts], dtype=np.bool_),
    )


def _same_vocabulary(left: Captured, right: Captured) -> bool:
    """Whether the tokens of both are the same things; patches are where the grids are equal."""
    a, b = left.model, right.model
    if a is b:
        return left.capture.grid == right.capture.grid
    if a.kind == b.kind == "vision":
        return left.capture.grid == right.capture.grid
    if a.kind in TEXTLESS or b.kind in TEXTLESS:
        return False
    return bool(a.text_tokenizer().get_vocab() == b.text_tokenizer().get_vocab())


def _note(key: str, extent: Extent, other: Extent) -> Callable[[], None]:
    """A callback that keeps the heads of both sides and the cell, and renews the links."""

    def noted() -> None:
        value = state.component_value(key, "selection")
        chosen = parse_selection(value, extent)
        if chosen is None or not isinstance(value, Mapping):
            return
        state.select(chosen)
        more = value.get("more")
        state.update(
            **component.parse_other(more, other), **component.parse_other_cell(more, other)
        )
        if state.only_a_fragment_runs():
            st.rerun([NAVIGATION])

    return noted
