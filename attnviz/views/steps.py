"""Every step of one head, as Steps and the calculator show them.

In: what is shown and the steps of one head, or a sheet of typed matrices. Out: a `StepsData` of
plain arrays and translated texts. Nothing is computed here but by asking the library.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, UInt8

import attnviz
from attnviz.attention.edits import Edit
from attnviz.components import steps as component
from attnviz.components.heads import Axis
from attnviz.i18n import Language, catalogue, text
from attnviz.lab.sheet import Sheet
from attnviz.types import StepView
from attnviz.views import picture_places
from attnviz.views.axes import token_axes
from attnviz.views.captured import Shown
from attnviz.views.texts import strings

if TYPE_CHECKING:
    from torch import Tensor

    from attnviz.attention.steps import Steps

# why a cell of Steps is blocked, by bit; the last where neither of the others is a reason
BLOCKERS = ("padding", "causal", "model")
NAMED_MASKS = BLOCKERS[:2]
UNEXPLAINED = np.uint8(1 << BLOCKERS.index("model"))


def steps(
    shown: Shown,
    layer: int,
    head: int,
    before: "Steps",
    edits: Sequence[Edit] = (),
) -> component.StepsData:
    """Every stage of one head of the first text; `before` has its steps without the edits."""
    call, row, apart = shown.group.call(layer), shown.group.row(layer), shown.group.apart(layer)
    derived = attnviz.derive(call, head, row, edits=edits, before=before) if edits else before
    queries, keys = token_axes(shown, layer=layer)
    long_text = "_long" if call.row_step > 1 else ""
    named = _named(shown.group.keys(0, layer).padding, call.n_query, apart)
    reach = None if derived.value_norms is None else derived.value_norms.cpu().numpy()
    return component.StepsData(
        queries=queries,
        keys=keys,
        cross=apart,
        layer=layer,
        head=head,
        n_layers=shown.group.n_layers,
        n_heads=call.n_heads,
        scaling=derived.inputs.scaling,
        sink=derived.inputs.sinks is not None,
        views=derived.views(),
        absent={
            "x": text(shown.lang, f"absent.x{long_text}"),
            "projected": text(shown.lang, "absent.projected"),
        },
        blocked=_blocked(derived.mask, named, shown.group.queries(0, layer).padding),
        mask_names=tuple(text(shown.lang, f"mask.{name}") for name in BLOCKERS),
        mask_reasons=tuple(text(shown.lang, f"mask.reason_{name}") for name in BLOCKERS),
        strings=strings(shown.lang, component.STRING_KEYS),
        reach=reach,
        edits=tuple(edits),
        original=_changed(derived, before) if edits else (),
        turned=derived.turned,
        factors=derived.factors,
        without_bias=derived.without_bias,
        coarser=call.key_places is not None and call.key_places.coarse,
        patches=picture_places.patches(shown, layer),
        picture=shown.captured.picture,
    )


def sheet_steps(lang: Language, sheet: Sheet) -> component.StepsData:
    """Every stage of a sheet of typed matrices; its badges compare with torch's own kernel."""
    from attnviz.lab.run import call

    derived = attnviz.derive(call(sheet), 0)
    reach = None if derived.value_norms is None else derived.value_norms.cpu().numpy()
    of_kernel = {"badge": "lab.badge", "no_reference": "lab.no_reference"}
    return component.StepsData(
        queries=_plain_axis(sheet.labels(sheet.n_query)),
        keys=_plain_axis(sheet.labels(sheet.n_key)),
        cross=False,
        layer=0,
        head=0,
        n_layers=1,
        n_heads=1,
        scaling=sheet.scaling,
        sink=False,
        views=derived.views(),
        absent={"x": text(lang, "lab.no_x"), "projected": text(lang, "lab.no_w_o")},
        blocked=(~sheet.may_attend).astype(np.uint8),
        mask_names=(text(lang, f"lab.mask_kind_{sheet.mask}"),),
        mask_reasons=() if sheet.mask == "none" else (text(lang, f"lab.reason_{sheet.mask}"),),
        strings={
            **strings(lang, component.STRING_KEYS),
            **{name: catalogue(lang)[key] for name, key in of_kernel.items()},
        },
        reach=reach,
        without_bias=frozenset(("q", "k", "v", "projected")),
        editable=False,
        given=not sheet.from_x,
    )


def _plain_axis(labels: tuple[str, ...]) -> Axis:
    nothing = np.zeros(len(labels), dtype=np.bool_)
    return Axis(labels, nothing, nothing)


def _changed(after: "Steps", before: "Steps") -> tuple[StepView, ...]:
    """The stages that differ, as they were before."""
    now = {view.stage: view.values for view in after.views()}
    return tuple(
        view for view in before.views() if not np.array_equal(view.values, now[view.stage])
    )


def _blocked(
    may_attend: "Tensor | None",
    named: "Mapping[str, Tensor]",
    padding: Bool[np.ndarray, "query"],
) -> UInt8[np.ndarray, "query key"]:
    """Bit i set where the model blocks a cell and the i-th of `BLOCKERS` is a reason for it.

    A mask with a name is a reason only where the model blocks all that it would block.
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


def _named(
    padding: Bool[np.ndarray, "key"], n_query: int, cross: bool = False
) -> "dict[str, Tensor]":
    """The masks that have a name, in the order of `NAMED_MASKS`; True = may attend."""
    import torch

    pads = {"padding": attnviz.masks.padding(torch.from_numpy(~padding), n_query)}
    return pads if cross else pads | {"causal": attnviz.masks.causal(n_query, len(padding))}
