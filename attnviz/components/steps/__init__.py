"""The Steps strip: every stage of one head as a panel, and one cell followed through all of them.

In: a frozen `StepsData` with the views that `attnviz.derive` makes and the texts of `STRING_KEYS`,
translated, by the last part of their key. Out: bytes to keep (`pack_steps`), and from mounting them
(`show_steps`) the head that the visitor asked for, as a validated `Selection`, or None. Query
and key are chosen in the browser; layer and head come back at once, since the server computes
them. Formulas follow Vaswani et al. 2017, section 3.2; they are the same in every language.
`demo.json` is the header of a hand-sized example, held to this file by a test.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float32, UInt8

from attnviz.attention.edits import Edit
from attnviz.components import buffer
from attnviz.components.heads import LayerPatches, TokenAxis, axes_header, layer_patches_header
from attnviz.types import STAGES, Stage, StepView

NAME = "attnviz.steps"
TITLE_KEYS: dict[Stage, str] = {stage: f"title_{stage}" for stage in STAGES}
STRING_KEYS: tuple[str, ...] = (
    "shared.layer",
    "shared.head",
    "shared.previous_layer",
    "shared.next_layer",
    "shared.previous_head",
    "shared.next_head",
    "shared.clear_cell",
    "shared.asks",
    *(f"steps.{name}" for name in TITLE_KEYS.values()),
    "steps.strip_label",
    "steps.shape",
    "steps.badge",
    "steps.badge_ok",
    "steps.badge_bad",
    "steps.no_reference",
    "steps.absent",
    "steps.rows_sum_to",
    "steps.cell_digits",
    "steps.head_columns",
    "steps.canvas_label",
    "steps.readout_pair",
    "steps.readout_row",
    "steps.hint",
    "steps.query_row",
    "steps.key_row",
    "steps.chosen_cell",
    "steps.arithmetic",
    "steps.precision",
    "steps.step_score",
    "steps.step_score_text",
    "steps.more_terms",
    "steps.show_terms",
    "steps.hide_terms",
    "steps.terms_caption",
    "steps.component",
    "steps.product",
    "steps.running",
    "steps.sum",
    "steps.step_scaled",
    "steps.step_scaled_by",
    "steps.scaled_before",
    "steps.step_masked",
    "steps.mask_open",
    "steps.mask_blocked",
    "steps.step_weight",
    "steps.softmax_text",
    "steps.softmax_dead",
    "steps.step_mixed",
    "steps.mixed_text",
    "steps.mixed_share",
    "steps.value_row",
    "steps.weighted_row",
    "steps.mixed_row",
    "steps.step_projected",
    "steps.projected_text",
    "steps.effect_text",
    "steps.effect_ranks",
    "steps.step_unavailable",
    "steps.changed",
    "steps.edit_hint",
    "steps.edit_value",
    "steps.edit_set",
    "steps.edit_block",
    "steps.edit_open",
    "steps.edit_reset",
    "steps.edit_undo",
    "steps.edit_modes",
    "steps.edit_edited",
    "steps.edit_original",
    "steps.edit_difference",
    "steps.play_next",
    "steps.play_stop",
    "steps.play_label",
    "steps.play_hint",
    "steps.play_at",
    "steps.mini_label",
    "steps.edit_block_row",
    "steps.edit_open_row",
    "steps.edit_row",
    "steps.edit_row_blocked",
    "steps.edit_row_open",
    "writing.play",
    "writing.pause",
    "head.picture",
    "head.picture_idle",
)
FORMULAS: dict[Stage, str] = {
    "x": "X",
    "unrotated_q": "Q′ = X·W_Q{b_q}",
    "unrotated_k": "K′ = {source}·W_K{b_k}",
    "q": "Q = X·W_Q{b_q}",
    "k": "K = {source}·W_K{b_k}",
    "v": "V = {source}·W_V{b_v}",
    "scores": "S = Q·Kᵀ",
    "scaled": "{scaled}",
    "capped": "C = c·tanh(({scaled}) ÷ c)",
    "biased": "{unbiased} + B",
    "masked": "{unmasked} + M",
    "weights": "A = softmax({unmasked} + M{sink})",
    "mixed": "Z = A·V",
    "concat": "[Z_0 … Z_h]",
    "projected": "[Z_0 … Z_h]·W_O{b_projected}",
}
BIASES: dict[Stage, str] = {"q": " + b_Q", "k": " + b_K", "v": " + b_V", "projected": " + b_O"}
PROJECTED: tuple[Stage, ...] = ("q", "k", "v")
SAME = 1e-4  # how close to 1 ÷ √d_k a factor is that is called so; half precision tells no more
# stages that most models do not have; without a view they get no panel
OPTIONAL: tuple[Stage, ...] = ("unrotated_q", "unrotated_k", "capped", "biased")


@dataclass(frozen=True, eq=False)
class StepsData:
    """One head of one sentence, ready to be drawn; `absent` says why a stage has no view.

    `turned` has those of q and k that a rotary embedding turned, `factors` by what the model
    multiplied q, k or v after their layer, `without_bias` the stages whose layer adds none. `reach`
    is how long a vector a weight of 1 on each key would write, ‖v·W_O‖. `original` holds the stages
    that `edits` have changed as they were. `given` is True where q, k and v were typed, and no
    layer made them. `coarser` is True where keys were made from X, but coarser. `patches` and
    `picture` are there where the tokens are patches of a picture.
    """

    queries: TokenAxis
    keys: TokenAxis
    cross: bool
    layer: int
    head: int
    n_layers: int
    n_heads: int
    scaling: float
    sink: bool
    views: tuple[StepView, ...]
    absent: Mapping[Stage, str]
    blocked: UInt8[np.ndarray, "query key"]
    mask_names: tuple[str, ...]
    mask_reasons: tuple[str, ...]
    strings: Mapping[str, str]
    reach: Float32[np.ndarray, "key"] | None = None
    edits: tuple[Edit, ...] = ()
    original: tuple[StepView, ...] = ()
    turned: frozenset[Stage] = frozenset()
    factors: Mapping[Stage, float] = field(default_factory=dict)
    without_bias: frozenset[Stage] = frozenset()
    editable: bool = True
    given: bool = False
    coarser: bool = False
    patches: LayerPatches | None = None
    picture: UInt8[np.ndarray, "row column rgb"] | None = None


def pack_steps(data: StepsData) -> bytes:
    """What travels to the browser: the header and one float32 matrix per stage that is there."""
    arrays: dict[str, buffer.Packable] = {view.stage: view.values for view in data.views}
    if data.reach is not None:
        arrays["reach"] = data.reach
    arrays |= {f"was_{view.stage}": view.values for view in data.original}
    if data.picture is not None:
        arrays["picture"] = data.picture
    return buffer.pack(header(data), {**arrays, "blocked": data.blocked})


def header(data: StepsData) -> dict[str, object]:
    """Everything but the numbers, as `component.js` reads it."""
    views = {view.stage: view for view in data.views}
    d_head = views["q"].values.shape[1]
    d_value = views["mixed"].values.shape[1]
    formulas = _formulas(
        data, usual=math.isclose(data.scaling * math.sqrt(d_head), 1, rel_tol=1e-5)
    )
    model_wide = views.get("x") or views.get("projected")
    return {
        "strings": dict(data.strings),
        **axes_header(data.queries, data.keys, data.cross),
        "layer": data.layer,
        "head": data.head,
        "n_layers": data.n_layers,
        "n_heads": data.n_heads,
        "d_head": d_head,
        "d_model": model_wide.values.shape[1] if model_wide else None,
        "scaling": data.scaling,
        "turned": sorted(data.turned),
        "factors": {stage: _said(stage, of, d_head) for stage, of in data.factors.items()},
        "mask_names": list(data.mask_names),
        "mask_reasons": list(data.mask_reasons),
        "head_slice": [data.head * d_value, (data.head + 1) * d_value],
        "editable": int(data.editable),
        "given": int(data.given),
        "source": _source(data),
        "patches": None if data.patches is None else layer_patches_header(data.patches),
        "edits": [_entry(edit) for edit in data.edits],
        "panels": [
            _panel(stage, views.get(stage), data, formulas)
            for stage in STAGES
            if stage in views or stage not in OPTIONAL
        ],
    }


def _said(stage: Stage, factor: float, d_head: int) -> str:
    """What a factor is: a number, and 1 ÷ √d_k where it is that."""
    usual = stage != "v" and math.isclose(factor * math.sqrt(d_head), 1, rel_tol=SAME)
    said = f"s_{stage.upper()}~=~{_number(factor)}{' =~1~÷~√d_k' if usual else ''}"
    return said.replace("~", "\N{NO-BREAK SPACE}")


def _number(value: float) -> str:
    return f"{value:.4g}".replace("-", "−")


def _source(data: StepsData) -> str:
    """What keys and values are made of: X, X made coarser, or the encoder's output."""
    if data.coarser:
        return "X̄"
    return "E" if data.cross else "X"


def _entry(edit: Edit) -> dict[str, object]:
    """An edit for the browser; JSON has no ±∞, so what is closed or opened is so in words."""
    infinite = "opened" if edit.value > 0 else "closed"
    value = edit.value if math.isfinite(edit.value) else infinite
    return {"stage": edit.stage, "row": edit.row, "column": edit.column, "value": value}


def _formulas(data: StepsData, usual: bool) -> dict[Stage, str]:
    """The formula of each stage as this model computes it: other scalings, a softcap, a bias."""
    stages = {view.stage for view in data.views}
    scaled = "S ÷ √d_k" if usual else f"S × {data.scaling:.4g}"
    unbiased = "C" if "capped" in stages else scaled
    parts = {
        "source": _source(data),
        "scaled": scaled,
        "unbiased": unbiased,
        "unmasked": f"{unbiased} + B" if "biased" in stages else unbiased,
        "sink": " | s" if data.sink else "",
        **{
            f"b_{stage}": "" if stage in data.without_bias else bias
            for stage, bias in BIASES.items()
        },
    }
    formulas = {stage: formula.format_map(parts) for stage, formula in FORMULAS.items()}
    for view in data.views:
        name, source = view.stage.upper(), "X" if view.stage == "q" else parts["source"]
        by_hand = any(edit.stage == view.stage for edit in data.edits)
        if view.stage in data.turned:
            before = (
                f"{name}′_t" if f"unrotated_{view.stage}" in stages else f"({source}·W_{name})_t"
            )
            formulas[view.stage] = f"{name}_t = R_t·{before}"
        elif view.stage in PROJECTED and data.given:
            formulas[view.stage] = name
        elif view.stage in PROJECTED and view.error is None and not by_hand:
            formulas[view.stage] = f"{name} = f({source}·W_{name})"  # more than a linear layer
        elif view.stage in data.factors:
            bias = parts[f"b_{view.stage}"]
            product = f"({source}·W_{name}{bias})" if bias else f"{source}·W_{name}"
            formulas[view.stage] = f"{name} = s_{name}·{product}"
    return formulas


def _panel(
    stage: Stage, view: StepView | None, data: StepsData, formulas: Mapping[Stage, str]
) -> dict[str, object]:
    title = {"stage": stage, "title": data.strings[TITLE_KEYS[stage]], "formula": formulas[stage]}
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
        "error": view.error if view.error is None or math.isfinite(view.error) else None,
        "ok": view.ok,
        "tolerance": view.tolerance,
    }
