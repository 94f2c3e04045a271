"""Compare: two captures side by side, paired token by token, and how their heads differ.

In: what is shown on the left, and the view. Out: the widgets of both sides, the component `pair`
with the weights of every head of both, and the verification. Heads are switched in the browser; the
selection that it commits is stored, as on every page.
"""

from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np
import streamlit as st

from attnviz.app.compare import controls, right_side
from attnviz.app.frame import attention_choice, frame, frame_line, notices, take
from attnviz.app.host.draw import draw
from attnviz.app.session import current, embedding, messages, widgets
from attnviz.app.session.fragment import fragment
from attnviz.app.session.labels import READS_NO_TEXT
from attnviz.app.sidebar.navigation import NAVIGATION
from attnviz.compare import token_pairs
from attnviz.compare.token_pairs import Pairing
from attnviz.pictures import pair as component
from attnviz.pictures.group import groups
from attnviz.pictures.group.app_capture import AppCapture, PageContext
from attnviz.pictures.group.axes import token_axes
from attnviz.pictures.group.groups import MAX_CELLS
from attnviz.pictures.group.titles import model_title
from attnviz.pictures.shared.heads import TokenAxis
from attnviz.pictures.shared.selection import Extent, parse_selection
from attnviz.tokens import words

# tokens of a side, half a minute of frames; more are not legible there
MAX_PAIRED = 1536


def show(left: PageContext) -> tuple[PageContext, PageContext] | None:
    """Both sides and their difference; in a frame without the choice of the sides.

    Returns what was shown; None where a side is missing, and in a frame.
    """
    if embedding.is_embedded():
        _alone(left)
        return None
    columns, side = st.columns(2, gap="large"), right_side.right()
    with columns[0]:
        controls.left(left)
    with columns[1]:
        controls.right(left.lang, side)
        right = right_side.captured(left.lang, side)
    if right is None:
        return None
    left = attention_choice.choice(left)
    both = left, controls.attention(left, right)
    _compared(*both)
    take.offer(left, "compare", right=both[1], right_text=side.text)
    return both


def verification(both: tuple[PageContext, PageContext]) -> None:
    """Say how far our numbers are from the model's own, on the worse side."""
    frame.verification(max(both, key=lambda shown: shown.captured.accuracy.doubt))


def _alone(left: PageContext) -> None:
    right = right_side.captured(left.lang, right_side.right())
    if right is not None:
        _compared(left, controls.attention(left, right))
        frame_line.ends(left)


@fragment()
def _compared(left: PageContext, right: PageContext) -> None:
    with messages.guard(left.lang):
        if not _fits(left, right):
            return
        extents, key = (left.size.extent, right.size.extent), widgets.component_key("pair")
        draw(
            component.CANVAS,
            lambda: _view(left, right),
            key,
            left.lang,
            {"selection": _keep_selection(key, *extents)},
            kept=str([left.key, right.key]),
        )


def _fits(left: PageContext, right: PageContext) -> bool:
    """True if both sides fit into a browser; else says which limit they are over."""
    n_longest = max(left.size.n_longest, right.size.n_longest)
    n_cells = left.size.n_cells + right.size.n_cells
    if n_longest <= MAX_PAIRED and n_cells <= MAX_CELLS:
        return True
    notices.too_long(
        left.lang,
        "pair",
        tokens=f"{n_longest:,}",
        cells=f"{n_cells / 1e6:,.0f}",
        longest=f"{MAX_PAIRED:,}",
        limit=f"{MAX_CELLS / 1e6:,.0f}",
    )
    return False


def _view(left: PageContext, right: PageContext) -> component.PairView:
    a, b, same = left.group, right.group, _same_vocabulary(left.captured, right.captured)
    identical = left.key == right.key
    queries = token_pairs.pair(groups.queries(a), groups.queries(b), same)
    keys = token_pairs.pair(groups.keys(a), groups.keys(b), same)
    weights = (
        words.merged(groups.stacked(a), queries.a, keys.a),
        words.merged(groups.stacked(b), queries.b, keys.b),
    )
    alike = (
        left.captured.name == right.captured.name and weights[0].shape[:2] == weights[1].shape[:2]
    )
    moved = None
    if alike and not identical:
        moved = token_pairs.moved_by_head(*weights, queries.slots, keys.slots)
    cross = a.cross or b.cross
    return component.PairView(
        a=_side(left, (queries, keys), "a", weights[0], cross),
        b=_side(right, (queries, keys), "b", weights[1], cross),
        rows=queries.slots,
        cols=keys.slots,
        cross=cross,
        merged=queries.merged or keys.merged,
        alike=alike,
        identical=identical,
        moved_rows=moved,
    )


def _side(
    shown: PageContext,
    pairings: tuple[Pairing, Pairing],
    side: Literal["a", "b"],
    weights: np.ndarray,
    cross: bool,
) -> component.SideView:
    """One side as the component shows it; merged pieces take the place of tokens."""
    queries, keys = (paired.a if side == "a" else paired.b for paired in pairings)
    axes = token_axes(shown)
    return component.SideView(
        model=model_title(shown.lang, shown.captured.name),
        queries=_axis(queries, axes[0]),
        keys=_axis(keys, axes[1]),
        cross=cross,
        at_query=tuple(part.start for part in queries),
        at_key=tuple(part.start for part in keys),
        extent=shown.size.extent,
        weights=weights,
    )


def _axis(parts: tuple[token_pairs.Piece, ...], tokens: TokenAxis) -> TokenAxis:
    return TokenAxis(
        tuple(part.label for part in parts),
        np.array([part.special for part in parts], dtype=np.bool_),
        np.array([bool(tokens.written[part.start]) for part in parts], dtype=np.bool_),
    )


def _same_vocabulary(left: AppCapture, right: AppCapture) -> bool:
    """True if equal tokens of both mean the same; patches do if the grids are equal.

    Of a capture without its model, tokens mean those of the model with the same name.
    """
    a, b = left.loaded, right.loaded
    if a is None or b is None:
        return left.name == right.name and left.capture.grid == right.capture.grid
    if a is b or a.kind == b.kind == "vision":
        return left.capture.grid == right.capture.grid
    if a.kind in READS_NO_TEXT or b.kind in READS_NO_TEXT:
        return False
    return bool(a.text_tokenizer().get_vocab() == b.text_tokenizer().get_vocab())


def _keep_selection(key: str, left: Extent, right: Extent) -> Callable[[], None]:
    """A callback that stores the heads of both sides and the cell, and renews the links."""

    def commit() -> None:
        sent = widgets.component_value(key, "selection")
        selection = parse_selection(sent, left)
        if selection is None or not isinstance(sent, Mapping):
            return
        current.take_selection(selection)
        more = sent.get("more")
        other = component.parse_other(more, right)
        current.take({**other, **component.parse_other_cell(more, right)})
        if widgets.only_a_fragment_runs():
            st.rerun([NAVIGATION])

    return commit
