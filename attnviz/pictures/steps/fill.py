"""Every step of one head, as Steps and the calculator show them.

In: what is shown and the steps of one head, or a sheet of typed matrices. Out: a `StepsData` of
plain arrays and translated texts. All numbers are derived by the library.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, UInt8

import attnviz
from attnviz.attention.edits import Edit
from attnviz.i18n import text
from attnviz.pictures import steps as component
from attnviz.pictures.group import groups, picture_places
from attnviz.pictures.group.app_capture import PageContext
from attnviz.pictures.group.axes import token_axes
from attnviz.types import Stage, StepView

if TYPE_CHECKING:
    from torch import Tensor

    from attnviz.attention.call import AttentionCall
    from attnviz.attention.steps import Steps

# the reasons for a blocked cell of Steps, by bit; "model" where neither of the others is one
BLOCKERS = ("padding", "causal", "model")
UNEXPLAINED = np.uint8(1 << BLOCKERS.index("model"))


def steps(
    shown: PageContext,
    layer: int,
    head: int,
    before: "Steps",
    edits: Sequence[Edit] = (),
) -> component.StepsData:
    """Every stage of one head of the first text; `before` has its steps without the edits."""
    group, lang = shown.group, shown.lang
    call, row, apart = group.call(layer), group.row(layer), group.apart(layer)
    derived = attnviz.derive(call, head, row, edits=edits, before=before) if edits else before
    key_padding = groups.keys(group, layer=layer).padding
    query_padding = groups.queries(group, layer=layer).padding
    named = _named_masks(key_padding, call.n_query, apart)
    return component.StepsData(
        place=component.HeadPlace(layer, head, group.n_layers, call.n_heads, group.kept),
        tokens=component.StepTokens(
            *token_axes(shown, layer=layer),
            cross=apart,
            patches=picture_places.patches(shown, layer),
            picture=shown.captured.media.picture,
        ),
        form=component.HeadForm(
            scaling=derived.inputs.scaling,
            sink=derived.inputs.sinks is not None,
            turned=derived.turned,
            factors=derived.factors,
            without_bias=derived.without_bias,
            coarser=call.key_places is not None and call.key_places.coarse,
        ),
        views=derived.views(),
        absent=_absent(shown, call),
        blocked=component.BlockedCells(
            _blocked(derived.mask, named, query_padding),
            mask_names=tuple(text(lang, f"mask.{name}") for name in BLOCKERS),
            mask_reasons=tuple(text(lang, f"mask.reason_{name}") for name in BLOCKERS),
        ),
        reach=reach(derived),
        by_hand=component.HandEdits(
            edits=tuple(edits), original=_changed(derived, before) if edits else ()
        ),
    )


def _absent(shown: PageContext, call: "AttentionCall") -> dict[Stage, str]:
    """The reason for each stage that may be absent."""
    is_file_alone = shown.captured.loaded is None and not call.projections
    unknown = "x_long" if call.row_step > 1 else "x"
    reasons: dict[Stage, str] = {
        "x": "without_weights" if is_file_alone else unknown,
        "projected": "without_weights" if is_file_alone else "projected",
    }
    if call.inputs.only is not None:
        reasons |= dict.fromkeys(("concat", "projected"), "some_heads")
    return {stage: text(shown.lang, f"absent.{name}") for stage, name in reasons.items()}


def reach(derived: "Steps") -> np.ndarray | None:
    """‖v·W_O‖ of each key, as an array."""
    return None if derived.value_norms is None else derived.value_norms.cpu().numpy()


def _changed(after: "Steps", before: "Steps") -> tuple[StepView, ...]:
    """The stages that the edits changed, as they were before."""
    edited = {view.stage: view.values for view in after.views()}
    return tuple(
        view for view in before.views() if not np.array_equal(view.values, edited[view.stage])
    )


def _blocked(
    may_attend: "Tensor | None",
    named: "Mapping[str, Tensor]",
    padding: Bool[np.ndarray, "query"],
) -> UInt8[np.ndarray, "query key"]:
    """A bit field per cell: bit i is set if the model blocks it and `BLOCKERS[i]` is a reason.

    A named mask is a reason only if the model blocks all that it would block.
    """
    masks = {name: mask.cpu().numpy() for name, mask in named.items()}
    bits = np.zeros(next(iter(masks.values())).shape, dtype=np.uint8)
    if may_attend is None:
        return bits
    open_cells = may_attend.cpu().numpy()
    for bit, mask in enumerate(masks.values()):
        if not (open_cells & ~mask)[~padding].any():
            bits |= np.where(mask, 0, 1 << bit).astype(np.uint8)
    return np.where(open_cells, np.uint8(0), np.where(bits == 0, UNEXPLAINED, bits))


def _named_masks(
    padding: Bool[np.ndarray, "key"], n_query: int, cross: bool
) -> "dict[str, Tensor]":
    """The named masks among `BLOCKERS`, in their order; True = may attend."""
    import torch

    pads = {"padding": attnviz.masks.padding(torch.from_numpy(~padding), n_query)}
    return pads if cross else pads | {"causal": attnviz.masks.causal(n_query, len(padding))}
