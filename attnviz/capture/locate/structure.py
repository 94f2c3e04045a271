"""The stack and the kind of an attention call, told by data flow first and by names last.

In: a module with its dotted name, and the projections beside its call. Out: "self" or "cross", and
a stack. What the module declares and what its data flow shows goes before any name: in
cross-attention the keys are computed from another tensor than the queries. Keys computed from the
queries' own tensor by making it coarser belong to self-attention. Names are compared as whole parts
of the path ("decoder", "encoder_attn"), never as parts of longer words.
"""

import re
from collections.abc import Iterable, Sequence

import torch
from torch import Tensor, nn

from attnviz.attention.projection import Projection
from attnviz.capture.locate.coarse_keys import SpatialPath, begin_alike, leads
from attnviz.capture.locate.layers import NO_MEMORY, storage_of
from attnviz.capture.locate.modules import attribute
from attnviz.types import Kind, Stack

CROSS_PARTS = frozenset(
    "encoder_attn cross_attn cross_attention crossattention EncDecAttention enc_dec_attention"
    " encdec_attn encoder_attention encoder_decoder_attention cross_attn_layer".split()
)
CROSS = re.compile(
    r"cross_att|crossatt|src_att|enc_dec_att|encdec_att|.*(token_to_image|image_to_token)",
    re.IGNORECASE,
)
COMPARED_ROWS = 4  # of the shorter input, looked for among the rows of the longer one
STACK_PARTS: dict[str, Stack] = {
    "encoder": "encoder",
    "decoder": "decoder",
    "text_model": "text",
    "language_model": "text",
    "text_decoder": "text",
    "text_encoder": "text",
    "vision_model": "vision",
    "vision_tower": "vision",
    "visual": "vision",
    "image_encoder": "vision",
    "audio_model": "audio",
    "audio_tower": "audio",
    "audio_encoder": "audio",
}


def kind_of(
    module: nn.Module,
    name: str,
    projections: dict[str, Projection],
    coarser: Sequence[SpatialPath] = (),
    shown: Kind | None = None,
) -> Kind:
    """ "cross" if the keys come from another tensor than the queries, else "self".

    `coarser` are the paths of layers that made a picture coarser while the module ran; `shown` is
    the kind that the layers before q and k show, if these were found otherwise.
    """
    declared = attribute(module, "is_cross_attention")
    if isinstance(declared, bool):
        return "cross" if declared else "self"
    if shown is not None:
        return "self" if coarser and begin_alike(coarser) else shown
    q, k = projections.get("q"), projections.get("k")
    if q is not None and k is not None:
        if _overlap(q.input, k.input):
            return "self"
        if q.input.shape[-2] != k.input.shape[-2]:
            return "self" if leads(coarser, q.input, k.input) else "cross"
    parts = name.split(".")
    return "cross" if any(part in CROSS_PARTS or CROSS.match(part) for part in parts) else "self"


def is_same_source(queries: Tensor, keys: Tensor) -> bool:
    """True if q and k were computed from one tensor: the same memory, or the same numbers.

    Both are [row, column]; of different lengths, the rows of the shorter one are in the other.
    """
    if _overlap(queries, keys):
        return True
    if queries.shape[-1] != keys.shape[-1]:
        return False
    if queries.shape == keys.shape:
        return torch.equal(queries, keys)
    short, long = sorted((queries, keys), key=len)
    some = short[:: max(1, len(short) // COMPARED_ROWS)]
    return all(bool((long == row).all(-1).any()) for row in some)


def _overlap(queries: Tensor, keys: Tensor) -> bool:
    """True if two tensors overlap in one storage.

    Two parts of one tensor that lie apart, such as a text and a picture joined before, do not.
    """
    memory = storage_of(queries)
    if memory == NO_MEMORY or memory != storage_of(keys):
        return False
    if not queries.numel() or not keys.numel():
        return False
    if queries.data_ptr() == keys.data_ptr():
        return True
    first_query, last_query = _extent(queries)
    first_key, last_key = _extent(keys)
    return first_query <= last_key and first_key <= last_query


def _extent(tensor: Tensor) -> tuple[int, int]:
    """The first and the last element of the storage that a tensor uses."""
    first = int(tensor.storage_offset())
    sizes = zip(tensor.shape, tensor.stride(), strict=True)
    return first, first + sum((n - 1) * step for n, step in sizes)


def stack_of(name: str) -> Stack | None:
    """The outermost stack that is a whole part of the module's path; None if there is none."""
    return next((STACK_PARTS[part] for part in name.split(".") if part in STACK_PARTS), None)


def stacks(names: Iterable[str]) -> dict[str, Stack | None]:
    """The stack of each module; None for all of them if there is only one stack."""
    by_name = {name: stack_of(name) for name in names}
    return by_name if len(set(by_name.values())) > 1 else dict.fromkeys(by_name)
