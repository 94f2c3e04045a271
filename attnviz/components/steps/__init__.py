"""The Steps strip: every stage of one head as a panel, and one cell followed through all of them.

In: a frozen `StepsData` with the views that `attnviz.derive` makes and the texts of `STRING_KEYS`,
translated, by the last part of their key. Out: bytes to keep (`pack_steps`). Query and key are
chosen in the browser; another layer or head is asked of the host, which computes it.
`demo.json` is the header of a hand-sized example, held to this file by a test.
"""

import math
from collections.abc import Mapping

from attnviz.attention.edits import Edit
from attnviz.components import buffer
from attnviz.components.heads import axes_header, layer_patches_header
from attnviz.components.steps.data import (
    BlockedCells,
    HandEdits,
    HeadForm,
    HeadPlace,
    StepsData,
    StepTokens,
)
from attnviz.components.steps.formulas import FORMULAS, factor_text, formulas, key_source
from attnviz.components.steps.texts import STRING_KEYS, TITLE_KEYS
from attnviz.types import STAGES, Stage, StepView

__all__ = [
    "FORMULAS",
    "NAME",
    "STRING_KEYS",
    "TITLE_KEYS",
    "BlockedCells",
    "HandEdits",
    "HeadForm",
    "HeadPlace",
    "StepTokens",
    "StepsData",
    "header",
    "pack_steps",
]

NAME = "attnviz.steps"
# stages that most models do not have; without a view they get no panel
OPTIONAL: tuple[Stage, ...] = ("unrotated_q", "unrotated_k", "capped", "biased")


def pack_steps(data: StepsData) -> bytes:
    """The buffer sent to the browser: the header and one float32 matrix for each stage present."""
    arrays: dict[str, buffer.Packable] = {view.stage: view.values for view in data.views}
    if data.reach is not None:
        arrays["reach"] = data.reach
    arrays |= {f"was_{view.stage}": view.values for view in data.by_hand.original}
    if data.tokens.picture is not None:
        arrays["picture"] = data.tokens.picture
    return buffer.pack(header(data), {**arrays, "blocked": data.blocked.bits})


def header(data: StepsData) -> dict[str, object]:
    """Everything but the numbers, as `component.js` reads it."""
    views = {view.stage: view for view in data.views}
    d_head = views["q"].values.shape[1]
    d_value = views["mixed"].values.shape[1]
    written = formulas(
        data, usual=math.isclose(data.form.scaling * math.sqrt(d_head), 1, rel_tol=1e-5)
    )
    model_wide = views.get("x") or views.get("projected")
    return {
        "strings": dict(data.strings),
        **axes_header(data.tokens.queries, data.tokens.keys, data.tokens.cross),
        "layer": data.place.layer,
        "head": data.place.head,
        "n_layers": data.place.n_layers,
        "n_heads": data.place.n_heads,
        "d_head": d_head,
        "d_model": model_wide.values.shape[1] if model_wide else None,
        "scaling": data.form.scaling,
        "turned": sorted(data.form.turned),
        "factors": {
            stage: factor_text(stage, factor, d_head) for stage, factor in data.form.factors.items()
        },
        "mask_names": list(data.blocked.names),
        "mask_reasons": list(data.blocked.reasons),
        "head_slice": [data.place.head * d_value, (data.place.head + 1) * d_value],
        "editable": int(data.by_hand.allowed),
        "given": int(data.form.given),
        "source": key_source(data),
        "patches": None
        if data.tokens.patches is None
        else layer_patches_header(data.tokens.patches),
        "edits": [_entry(edit) for edit in data.by_hand.edits],
        "panels": [
            _panel(stage, views.get(stage), data, written)
            for stage in STAGES
            if stage in views or stage not in OPTIONAL
        ],
    }


def _entry(edit: Edit) -> dict[str, object]:
    """An edit for the browser; JSON has no ±∞, so what is closed or opened is so in words."""
    infinite = "opened" if edit.value > 0 else "closed"
    value = edit.value if math.isfinite(edit.value) else infinite
    return {"stage": edit.stage, "row": edit.row, "column": edit.column, "value": value}


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
