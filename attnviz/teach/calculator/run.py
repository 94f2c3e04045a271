"""A sheet as a recorded call, and its steps as the page Steps draws those of a model's head.

In: a `Sheet`. Out: an `AttentionCall` like a model's, in float32: its output comes from
`scaled_dot_product_attention`, that of W_O from `linear`, so that the badges of the steps compare
two ways of computing; and the data of the canvas in a language.
"""

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import linear, scaled_dot_product_attention

import attnviz
from attnviz.attention.call import AttentionCall
from attnviz.attention.inputs import AttentionInputs
from attnviz.attention.projection import Projection, WrittenLayer
from attnviz.i18n import Language, text
from attnviz.pictures import steps as component
from attnviz.pictures.shared.heads import TokenAxis
from attnviz.pictures.steps.fill import reach
from attnviz.teach.calculator.sheet import Matrix, MatrixName, Sheet

MODULE = "calculator"
WEIGHTS: dict[str, MatrixName] = {"q": "w_q", "k": "w_k", "v": "w_v"}


def call(sheet: Sheet) -> AttentionCall:
    """The sheet's attention as a recorded call."""
    projections = {}
    if sheet.from_x:
        x = _tensor(sheet.matrices["x"])[None]
        projections = {
            name: _projection(f"w_{name}", x, _tensor(sheet.matrices[weight]))
            for name, weight in WEIGHTS.items()
        }
        q, k, v = (projections[name].output for name in "qkv")
    else:
        q, k, v = (_tensor(sheet.matrices[name])[None] for name in ("q", "k", "v"))
    mask = torch.from_numpy(sheet.may_attend)[None, None]
    with torch.no_grad():
        output = scaled_dot_product_attention(
            q[:, None], k[:, None], v[:, None], attn_mask=mask, scale=sheet.scaling
        )
        if "w_o" in sheet.matrices:
            w_o = _tensor(sheet.matrices["w_o"])
            projections["out"] = _projection("w_o", output[:, 0], w_o)
    return AttentionCall(
        module=MODULE,
        index=0,
        layer=0,
        stack=None,
        kind="self",
        inputs=AttentionInputs(
            query=q[:, None],
            key=k[:, None],
            value=v[:, None],
            mask=None if sheet.mask == "none" else mask,
            causal=False,
            scaling=sheet.scaling,
        ),
        output=output.transpose(1, 2),
        projections=projections,
    )


def _projection(module: str, x: Tensor, weight: Tensor) -> Projection:
    return Projection(
        module=f"{MODULE}.{module}",
        layer=WrittenLayer(weight),
        input=x,
        output=linear(x, weight.T),
        starts=(0,),
    )


def _tensor(values: Matrix) -> Tensor:
    return torch.from_numpy(values.astype(np.float32))


def sheet_steps(lang: Language, sheet: Sheet) -> component.StepsData:
    """Every stage of a sheet of typed matrices; the badges compare with torch's own kernel."""
    derived = attnviz.derive(call(sheet), 0)
    return component.StepsData(
        place=component.HeadPlace(layer=0, head=0, n_layers=1, n_heads=1),
        tokens=component.StepTokens(
            queries=_plain_axis(sheet.labels(sheet.n_query)),
            keys=_plain_axis(sheet.labels(sheet.n_key)),
            cross=False,
        ),
        form=component.HeadForm(
            scaling=sheet.scaling,
            without_bias=frozenset(("q", "k", "v", "projected")),
            given=not sheet.from_x,
        ),
        views=derived.views(),
        absent={"x": text(lang, "lab.no_x"), "projected": text(lang, "lab.no_w_o")},
        blocked=component.BlockedCells(
            (~sheet.may_attend).astype(np.uint8),
            mask_names=(text(lang, f"lab.mask_kind_{sheet.mask}"),),
            mask_reasons=() if sheet.mask == "none" else (text(lang, f"lab.reason_{sheet.mask}"),),
        ),
        reach=reach(derived),
        by_hand=component.HandEdits(allowed=False),
        by_kernel=True,
    )


def _plain_axis(labels: tuple[str, ...]) -> TokenAxis:
    none = np.zeros(len(labels), dtype=np.bool_)
    return TokenAxis(labels, special=none, written=none)
