"""The sets of torch operations that move numbers, add, scale, multiply by a matrix, or bend.

In: the operations that a dispatch mode sees (`torch.ops.aten`), all overloads of a name together.
Out: the sets that `trace`, `parts` and `stream` ask. What is in no set counts as unknown, and a
walk through a pass stops there.
"""

from collections.abc import Iterable, Mapping

import torch
from torch import Tensor
from torch._ops import OpOverloadPacket

aten = torch.ops.aten
Packets = frozenset[OpOverloadPacket]

# they move numbers, or average them, without mixing one summand with another
MOVES: Packets = frozenset(
    (
        *(aten.view, aten._unsafe_view, aten.reshape, aten._reshape_alias, aten.expand),
        *(aten.transpose, aten.permute, aten.t, aten.unsqueeze, aten.squeeze, aten.flatten),
        *(aten.slice, aten.select, aten.index, aten.index_select, aten.gather),
        *(aten.split, aten.split_with_sizes, aten.chunk, aten.unbind),
        *(aten.alias, aten.detach, aten.clone, aten._to_copy, aten.lift_fresh),
        *(aten.mean, aten.sum, aten.roll, aten.flip),
    )
)
# of these only the shape is repeated: a part is float32 whatever the model computes in
COPIES: Packets = frozenset((aten.clone, aten._to_copy))
RESHAPES: Packets = frozenset((aten.view, aten._unsafe_view, aten._reshape_alias))
ADDS: Packets = frozenset((aten.add, aten.add_))
SUBTRACTS: Packets = frozenset((aten.sub, aten.sub_))
MULTIPLIES: Packets = frozenset((aten.mul, aten.mul_))
DIVIDES: Packets = frozenset((aten.div, aten.div_))
ELEMENTWISE = ADDS | SUBTRACTS | MULTIPLIES | DIVIDES
LINEAR: Packets = frozenset((aten.mm, aten.addmm, aten.bmm, aten.linear))
# y = f(x) element by element, which a frozen ratio y ÷ x makes linear
GATES: Packets = frozenset((aten.tanh, aten.gelu, aten.relu, aten.silu))
BENDS = GATES | {aten.sigmoid, aten.erf, aten.softplus}
LAYER_NORMS: Packets = frozenset((aten.native_layer_norm,))
RMS_NORMS: Packets = frozenset((aten._fused_rms_norm, aten.rms_norm))
NORMS = LAYER_NORMS | RMS_NORMS
EMBEDS: Packets = frozenset((aten.embedding,))

LEAVES = (int, float, str, type(None))  # most of what is no tensor: quicker to tell than a mapping


def tensors(tree: object) -> list[Tensor]:
    """Every tensor in nested tuples, lists and mappings, in order."""
    found: list[Tensor] = []
    _collect((tree,), found)
    return found


def _collect(branches: Iterable[object], found: list[Tensor]) -> None:
    for branch in branches:
        if isinstance(branch, Tensor):
            found.append(branch)
        elif isinstance(branch, tuple | list):
            _collect(branch, found)
        elif not isinstance(branch, LEAVES) and isinstance(branch, Mapping):
            _collect(branch.values(), found)
