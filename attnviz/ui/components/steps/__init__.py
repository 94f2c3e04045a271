"""The Steps strip: every stage of one head as a panel, and one cell followed through all of them.

In: a frozen `StepsData` with the views that `attnviz.derive` makes and the texts already
translated. Out: the head that the visitor asked for, as a validated `Selection`, or None. Query
and key are chosen in the browser; layer and head come back at once, since the server computes
them. Formulas follow Vaswani et al. 2017, section 3.2; they are the same in every language.
`demo.json` is the header of a hand-sized example, held to this file by a test.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
from jaxtyping import Bool, UInt8
from streamlit.components.v2 import component
from streamlit.components.v2.types import ComponentRenderer

from attnviz.types import STAGES, Stage, StepView
from attnviz.ui.components import buffer, bundle
from attnviz.ui.components.selection import Extent, Selection, parse_selection

SHARED_KEYS: tuple[str, ...] = (
    "layer",
    "head",
    "previous_layer",
    "next_layer",
    "previous_head",
    "next_head",
    "clear_cell",
    "asks",
)
TITLE_KEYS: dict[Stage, str] = {stage: f"title_{stage}" for stage in STAGES}
STRING_KEYS: tuple[str, ...] = (
    *TITLE_KEYS.values(),
    "strip_label",
    "shape",
    "badge",
    "badge_ok",
    "badge_bad",
    "no_reference",
    "absent",
    "rows_sum_to",
    "cell_digits",
    "head_columns",
    "canvas_label",
    "readout_pair",
    "readout_row",
    "hint",
    "query_row",
    "key_row",
    "chosen_cell",
    "arithmetic",
    "precision",
    "step_score",
    "step_score_text",
    "more_terms",
    "show_terms",
    "hide_terms",
    "terms_caption",
    "component",
    "product",
    "sum",
    "step_scaled",
    "step_masked",
    "mask_open",
    "mask_blocked",
    "step_weight",
    "softmax_text",
    "softmax_dead",
    "step_mixed",
    "mixed_text",
    "mixed_share",
    "value_row",
    "weighted_row",
    "mixed_row",
    "step_projected",
    "projected_text",
    "step_unavailable",
)
FORMULAS: dict[Stage, str] = {
    "x": "X",
    "q": "Q = X·W_Q + b_Q",
    "k": "K = X·W_K + b_K",
    "v": "V = X·W_V + b_V",
    "scores": "S = Q·Kᵀ",
    "scaled": "S ÷ √d_k",
    "masked": "S ÷ √d_k + M",
    "weights": "A = softmax(S ÷ √d_k + M)",
    "mixed": "Z = A·V",
    "concat": "[Z_0 … Z_h]",
    "projected": "[Z_0 … Z_h]·W_O + b_O",
}


@dataclass(frozen=True, eq=False)
class StepsData:
    """One head of one sentence, ready to be drawn; `absent` says why a stage has no view."""

    tokens: tuple[str, ...]
    special: Bool[np.ndarray, "token"]
    layer: int
    head: int
    n_layers: int
    n_heads: int
    scaling: float
    views: tuple[StepView, ...]
    absent: Mapping[Stage, str]
    blocked: UInt8[np.ndarray, "query key"]
    mask_names: tuple[str, ...]
    mask_reasons: tuple[str, ...]
    strings: Mapping[str, str]


def show_steps(
    data: bytes,
    extent: Extent,
    key: str = "steps",
    on_selection: Callable[[], None] | None = None,
) -> Selection | None:
    """Mounts packed steps; the selection that the visitor committed, None for none or nonsense."""
    result = _renderer()(data=data, key=key, on_selection_change=on_selection or _ignore)
    return parse_selection(result.get("selection"), extent)


def pack_steps(data: StepsData) -> bytes:
    """What travels to the browser: the header and one float32 matrix per stage that is there."""
    arrays: dict[str, buffer.Packable] = {view.stage: view.values for view in data.views}
    return buffer.pack(header(data), {**arrays, "blocked": data.blocked})


def header(data: StepsData) -> dict[str, object]:
    """Everything but the numbers, as `component.js` reads it."""
    views = {view.stage: view for view in data.views}
    d_head = views["q"].values.shape[1]
    d_value = views["mixed"].values.shape[1]
    model_wide = views.get("x") or views.get("projected")
    return {
        "strings": {name: data.strings[name] for name in (*SHARED_KEYS, *STRING_KEYS)},
        "tokens": list(data.tokens),
        "special": [int(flag) for flag in data.special],
        "layer": data.layer,
        "head": data.head,
        "n_layers": data.n_layers,
        "n_heads": data.n_heads,
        "d_head": d_head,
        "d_model": model_wide.values.shape[1] if model_wide else None,
        "scaling": data.scaling,
        "mask_names": list(data.mask_names),
        "mask_reasons": list(data.mask_reasons),
        "head_slice": [data.head * d_value, (data.head + 1) * d_value],
        "panels": [_panel(stage, views.get(stage), data) for stage in STAGES],
    }


def _panel(stage: Stage, view: StepView | None, data: StepsData) -> dict[str, object]:
    title = {"stage": stage, "title": data.strings[TITLE_KEYS[stage]], "formula": FORMULAS[stage]}
    if view is None:
        return {**title, "absent": data.absent[stage], "shape": None}
    return {
        **title,
        "absent": None,
        "rows": view.rows,
        "cols": view.cols,
        "shape": list(view.values.shape),
        "signed": view.signed,
        "range": list(view.range) if view.range else None,
        "rows_sum_to": view.rows_sum_to,
        "error": view.error,
        "tolerance": view.tolerance,
    }


@cache
def _renderer() -> ComponentRenderer:
    return component("attnviz_steps", js=bundle.script("steps"), css=bundle.stylesheet("steps"))


def _ignore() -> None:
    """Streamlit keeps a component's state only when it has a callback."""
