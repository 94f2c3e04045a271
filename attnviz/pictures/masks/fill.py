"""One head of a batch under its masks, as the face “Other masks” of Compute shows it.

In: what is shown, a layer and a head. Out: the input of the component, and for the code below it
the parts that a mask is made of. The library names the masks that the model ran with; what another
set of masks would do is computed in the browser, and compared with the library by tests.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, get_args

import numpy as np
from jaxtyping import Float32

import attnviz
from attnviz.i18n import catalogue
from attnviz.masks.code import MaskParts
from attnviz.masks.spec import MASK_NAMES, SIZED, MaskSet
from attnviz.pictures import masks as component
from attnviz.pictures.group import groups
from attnviz.pictures.group.app_capture import PageContext
from attnviz.pictures.group.axes import token_axes
from attnviz.pictures.group.groups import Group

if TYPE_CHECKING:
    from torch import Tensor

    from attnviz.attention.call import AttentionCall
    from attnviz.attention.steps import Steps
    from attnviz.masks.recognition import ObservedMask


def masks_data(shown: PageContext, layer: int, head: int) -> component.MasksData:
    """One head of every sentence of the batch, with all that any set of masks is made of."""
    group = shown.group
    call, batches = group.call(layer), group.batches(layer)
    axes = [token_axes(shown, batch, layer) for batch in batches]
    steps = [attnviz.derive(call, head, batch) for batch in batches]
    ran = [
        _mask_as_run(group, layer, batch, of_batch)
        for batch, of_batch in zip(batches, steps, strict=True)
    ]
    named = _named(ran, group, layer)
    own, names = named or MaskSet(), _mask_names(group.apart(layer), named is None)
    padding_of = _padding_of(group, layer)
    return component.MasksData(
        queries=tuple(queries for queries, _ in axes),
        keys=tuple(keys for _, keys in axes),
        cross=group.apart(layer),
        padding=_padding(group, layer, groups.queries),
        key_padding=_padding(group, layer, groups.keys),
        layer=layer,
        head=head,
        n_layers=group.n_layers,
        n_heads=call.n_heads,
        as_model=sum(1 << names.index(name) for name in (own.on if named else names[:1])),
        sizes=_sizes(own, call.n_query),
        mask_names=names,
        mask_reasons=_reasons(shown, names, padding_of),
        padding_of=padding_of,
        model_blocks=np.stack([(~mask.may_attend).cpu().numpy() for mask in ran]),
        weights=np.stack([of_batch.weights.cpu().numpy() for of_batch in steps]),
        scaled=np.stack([_before_mask(of_batch).cpu().numpy() for of_batch in steps]),
        sinks=np.stack([_sinks(call, head, batch) for batch in batches]),
        kept=group.kept,
    )


def _padding(group: Group, layer: int, tokens: "groups.TokensOf") -> np.ndarray:
    """True for each padding token, for every sentence that is shown."""
    return np.stack([tokens(group, batch, layer).padding for batch in group.batches(layer)])


def _reasons(
    shown: PageContext, names: tuple[str, ...], padding_of: component.PaddingOf
) -> tuple[str, ...]:
    """A sentence for each mask on why it blocks a cell; sizes are filled in by the browser."""
    templates = catalogue(shown.lang)
    return tuple(
        templates[f"mask.reason_{padding_of if name == 'padding' else name}"] for name in names
    )


def _mask_as_run(group: Group, layer: int, batch: int, steps: "Steps") -> "ObservedMask":
    """The mask that the model ran with on a sentence; open everywhere where it had none."""
    import torch

    from attnviz.masks.recognition import ObservedMask

    mask = steps.mask
    if mask is None:
        mask = torch.ones_like(steps.scaled, dtype=torch.bool)
    queries = groups.queries(group, batch, layer).padding
    keys = groups.keys(group, batch, layer).padding
    return ObservedMask(mask.cpu(), torch.from_numpy(~queries), torch.from_numpy(~keys))


def _named(ran: "Sequence[ObservedMask]", group: Group, layer: int) -> MaskSet | None:
    """The named masks that together are the model's own; None if there are none."""
    from attnviz.masks.recognition import named_masks

    return named_masks(ran, group.apart(layer))


def _mask_names(cross: bool, unnamed: bool) -> tuple[component.ShownMask, ...]:
    """The masks to choose from; the model's own comes first if it has no name."""
    names: tuple[component.ShownMask, ...] = ("padding", "custom") if cross else MASK_NAMES
    return ("model", *names[1:]) if unnamed else names


def _padding_of(group: Group, layer: int) -> component.PaddingOf:
    """The name of the padding mask: keys may be memory (encoder tokens) or blocks of patches."""
    places = group.call(layer).key_places
    if places is not None and places.coarse:
        return "blocks"
    return "memory" if group.cross else "padding"


def _sizes(own: MaskSet, n_query: int) -> dict[component.SizedName, int]:
    """The sizes of the model's own masks; for the others a size at which they block something."""
    start = max(1, min(4, n_query // 3))
    return {name: own.sizes.get(name, start) for name in get_args(component.SizedName)}


def mask_parts(
    group: Group, layer: int, head: int, batch: int, chosen: MaskSet | None
) -> MaskParts:
    """The parts of the chosen mask, else of the model's own, by name as far as it has names."""
    call, keys = group.call(layer), groups.keys(group, batch, layer)
    ran = _mask_as_run(group, layer, batch, attnviz.derive(call, head, batch))
    masks = chosen or _named([ran], group, layer)
    if masks is None:
        return MaskParts(call.n_query, call.n_key, cells=_rows(ran.may_attend))
    drawn = attnviz.masks.drawn(call.n_query, call.n_key, masks.strokes)
    padded = "padding" in masks.on and bool(keys.padding.any())
    return MaskParts(
        call.n_query,
        call.n_key,
        real=tuple((~keys.padding).tolist()) if padded else None,
        causal="causal" in masks.on,
        cells=_rows(drawn) if "custom" in masks.on and not drawn.all() else None,
        sizes={name: masks.sizes[name] for name in SIZED if name in masks.on},
    )


def _rows(mask: "Tensor") -> tuple[tuple[bool, ...], ...]:
    return tuple(tuple(row) for row in mask.tolist())


def _sinks(call: "AttentionCall", head: int, batch: int) -> Float32[np.ndarray, "query"]:
    """The score of each row's sink; −∞ where there is none."""
    from attnviz.attention.inputs import AttentionInputs

    inputs = call.inputs
    sink = inputs.softmax_sink(head, batch) if isinstance(inputs, AttentionInputs) else None
    if sink is None:
        return np.full(call.n_query, -np.inf, dtype=np.float32)
    by_row = sink.float().expand(call.n_query, 1)[:, 0]
    return np.asarray(by_row.cpu().numpy())


def _before_mask(steps: "Steps") -> "Tensor":
    """The last stage before the mask: biased, capped or scaled scores."""
    for stage in (steps.biased, steps.capped):
        if stage is not None:
            return stage
    return steps.scaled
