"""Where an attention call stands in its model: stack, kind, layer, told by structure.

Names are compared as whole parts of the dotted path ("decoder", "encoder_attn"), never searched
for inside longer words, and what the model itself declares or what its data flow shows goes before
any name: in cross-attention the keys are made from another tensor than the queries. Keys that were
made from the queries' own tensor by making it coarser are no other's: that is self-attention.
"""

from collections.abc import Iterable, Sequence

from torch import Tensor, nn

from attnviz.attention.projection import Projection
from attnviz.capture.locate.coarse_keys import Path, leads
from attnviz.capture.locate.projections_by_value import storage_of
from attnviz.types import Kind, Stack

CROSS_PARTS = frozenset(
    "encoder_attn cross_attn cross_attention crossattention EncDecAttention enc_dec_attention"
    " encdec_attn encoder_attention encoder_decoder_attention cross_attn_layer".split()
)
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
    coarser: Sequence[Path] = (),
) -> Kind:
    """ "cross" when the keys come from elsewhere than the queries, else "self".

    `coarser` has the layers that made a picture coarser while the module ran.
    """
    declared = getattr(module, "is_cross_attention", None)
    if isinstance(declared, bool):
        return "cross" if declared else "self"
    q, k = projections.get("q"), projections.get("k")
    if q is not None and k is not None:
        if _share(q.input, k.input):
            return "self"
        if q.input.shape[-2] != k.input.shape[-2]:
            return "self" if leads(coarser, q.input, k.input) else "cross"
    return "cross" if CROSS_PARTS & set(name.split(".")) else "self"


def _share(queries: Tensor, keys: Tensor) -> bool:
    """Whether both are made from the same numbers in memory, or one from some of the other's.

    Two parts of one tensor that lie apart, a text and a picture joined before, are not the same.
    """
    if storage_of(queries) != storage_of(keys):
        return False
    (first, last), (start, end) = map(_extent, (queries, keys))
    return first <= end and start <= last


def _extent(tensor: Tensor) -> tuple[int, int]:
    """The first and the last element of the storage that a tensor uses."""
    first = int(tensor.storage_offset())
    sizes = zip(tensor.shape, tensor.stride(), strict=True)
    return first, first + sum((n - 1) * step for n, step in sizes)


def stack_of(name: str) -> Stack | None:
    """The stack whose name is a whole part of the module's path; the outermost one counts."""
    return next((STACK_PARTS[part] for part in name.split(".") if part in STACK_PARTS), None)


def stacks(names: Iterable[str]) -> dict[str, Stack | None]:
    """The stack of each module, or None for all of them where there is only one."""
    found = {name: stack_of(name) for name in names}
    return found if len(set(found.values())) > 1 else dict.fromkeys(found)
