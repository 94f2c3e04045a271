"""What the page Masks is given: one head of a batch, and all that any set of masks is made of.

In: a language, a `Group`, a layer and a head. Out: the inputs of the component, and for the code
below it what a mask is made of. The library names the masks that the model ran with; what another
set of masks would do is computed where it is chosen, in the browser, and held against the library
by tests.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float32

import attnviz
from attnviz.components import masks as component
from attnviz.i18n import catalogue
from attnviz.masks.code import MaskParts
from attnviz.masks.spec import MASK_NAMES, SIZED, MaskSet
from attnviz.views.axes import token_axes
from attnviz.views.captured import Shown
from attnviz.views.groups import Group
from attnviz.views.texts import strings

if TYPE_CHECKING:
    from torch import Tensor

    from attnviz.attention.call import AttentionCall
    from attnviz.attention.steps import Steps
    from attnviz.masks.recognition import ObservedMask


def masks_data(shown: Shown, layer: int, head: int) -> component.MasksData:
    """One head of every sentence of the batch, with all that any set of masks is made of."""
    call, batches = shown.group.call(layer), shown.group.batches(layer)
    axes = [token_axes(shown, batch, layer) for batch in batches]
    model = [attnviz.derive(call, head, batch) for batch in batches]
    ran = [_ran(shown.group, layer, batch, of) for batch, of in zip(batches, model, strict=True)]
    found = _named(ran, shown.group, layer)
    names = _mask_names(shown.group.apart(layer), found is None)
    own, templates, padding_of = (
        found or MaskSet(),
        catalogue(shown.lang),
        _padding_of(shown.group, layer),
    )
    return component.MasksData(
        queries=tuple(queries for queries, _ in axes),
        keys=tuple(keys for _, keys in axes),
        cross=shown.group.apart(layer),
        padding=np.stack([shown.group.queries(batch, layer).padding for batch in batches]),
        key_padding=np.stack([shown.group.keys(batch, layer).padding for batch in batches]),
        layer=layer,
        head=head,
        n_layers=shown.group.n_layers,
        n_heads=call.n_heads,
        as_model=sum(1 << names.index(name) for name in (own.on if found else names[:1])),
        sizes=_sizes(own, call.n_query),
        mask_names=names,
        mask_reasons=tuple(
            templates[f"mask.reason_{padding_of if name == 'padding' else name}"] for name in names
        ),
        padding_of=padding_of,
        model_blocks=np.stack([(~of.may_attend).cpu().numpy() for of in ran]),
        weights=np.stack([of.weights.cpu().numpy() for of in model]),
        scaled=np.stack([_before_mask(of).cpu().numpy() for of in model]),
        sinks=np.stack([_sinks(call, head, batch) for batch in batches]),
        strings=strings(shown.lang, component.STRING_KEYS),
    )


def _ran(group: Group, layer: int, batch: int, of: "Steps") -> "ObservedMask":
    """The mask that the model ran with on a sentence; open everywhere where it had none."""
    import torch

    from attnviz.masks.recognition import ObservedMask

    mask = torch.ones_like(of.scaled, dtype=torch.bool) if of.mask is None else of.mask
    queries, keys = (tokens(batch, layer).padding for tokens in (group.queries, group.keys))
    return ObservedMask(mask.cpu(), torch.from_numpy(~queries), torch.from_numpy(~keys))


def _named(ran: "Sequence[ObservedMask]", group: Group, layer: int) -> MaskSet | None:
    from attnviz.masks.recognition import named_masks

    return named_masks(ran, group.apart(layer))


def _mask_names(cross: bool, unnamed: bool) -> tuple[str, ...]:
    """The masks there are to choose from; where the model's own has no name it comes first."""
    among = ("padding", "custom") if cross else MASK_NAMES
    return ("model", *among[1:]) if unnamed else among


def _padding_of(group: Group, layer: int) -> component.PaddingOf:
    """What the keys are that padding would block: the encoder's tokens, blocks of patches."""
    places = group.call(layer).key_places
    if places is not None and places.coarse:
        return "blocks"
    return "memory" if group.cross else "padding"


def _sizes(own: MaskSet, n_query: int) -> dict[str, int]:
    """The sizes of the model's own masks, and for others one that shows what they do."""
    start = max(1, min(4, n_query // 3))
    return {name: own.sizes.get(name, start) for name in SIZED}


def mask_parts(
    group: Group, layer: int, head: int, batch: int, chosen: MaskSet | None
) -> MaskParts:
    """What a mask is made of: the chosen one, else that of the model, as far as it has names."""
    call, keys = group.call(layer), group.keys(batch, layer)
    ran = _ran(group, layer, batch, attnviz.derive(call, head, batch))
    masks = chosen or _named([ran], group, layer)
    if masks is None:
        return MaskParts(call.n_query, call.n_key, cells=_rows(ran.may_attend))
    sizes = {name: masks.sizes[name] for name in SIZED if name in masks.on}
    drawn = attnviz.masks.drawn(call.n_query, call.n_key, masks.strokes)
    padded = "padding" in masks.on and bool(keys.padding.any())
    return MaskParts(
        call.n_query,
        call.n_key,
        real=tuple((~keys.padding).tolist()) if padded else None,
        causal="causal" in masks.on,
        cells=_rows(drawn) if "custom" in masks.on and not drawn.all() else None,
        **sizes,
    )


def _rows(mask: "Tensor") -> tuple[tuple[bool, ...], ...]:
    return tuple(tuple(row) for row in mask.tolist())


def _sinks(call: "AttentionCall", head: int, batch: int) -> Float32[np.ndarray, "query"]:
    """The score that each row's sum has besides those of its keys; −∞ where there is none."""
    from attnviz.attention.inputs import AttentionInputs

    inputs = call.inputs
    sink = inputs.softmax_sink(head, batch) if isinstance(inputs, AttentionInputs) else None
    if sink is None:
        return np.full(call.n_query, -np.inf, dtype=np.float32)
    of_row = sink.float().expand(call.n_query, 1)[:, 0]
    return np.asarray(of_row.cpu().numpy())


def _before_mask(derived: "Steps") -> "Tensor":
    """The scores that the mask is laid over: capped or biased where the model does so."""
    for last in (derived.biased, derived.capped):
        if last is not None:
            return last
    return derived.scaled
