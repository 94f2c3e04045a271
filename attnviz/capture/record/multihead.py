"""torch's own `nn.MultiheadAttention`, opened up: what went in, and W_Q, W_K, W_V and W_O.

torch multiplies with `in_proj_weight`, all of W_Q, W_K and W_V stacked, or with one weight for each
where keys or values are wider; no linear layer runs that a hook could see, and q, k, v are copies.
The module's structure says which rows belong to which head, and its arguments and result are at
hand when it returns. Nothing is believed: every projection is compared with q, k, v and with the
module's own output, and one that differs is left out with the reason. Source: torch's
`multi_head_attention_forward`.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jaxtyping import Float
from torch import Tensor, nn

from attnviz import masks
from attnviz.attention import formula
from attnviz.attention.inputs import AttentionInputs
from attnviz.attention.projection import Projection, apply_linear
from attnviz.attention.stored_weights import StoredWeights
from attnviz.attention.tolerance import type_tolerance
from attnviz.types import Kind

# so many rows of each tensor are compared; `AttentionCall.verify` compares all of them
COMPARED_ROWS = 8
OWN_KEY = "the module adds a key of its own to those that it was given"
DIFFERS = "the module's weights do not lead from its arguments to what it used"
NO_OUTPUT = "the module ended before it returned anything"


@dataclass(frozen=True, eq=False)
class Arguments:
    """What the module was called with, batch first."""

    query: Float[Tensor, "batch query d_query"]
    key: Float[Tensor, "batch key d_key"]
    value: Float[Tensor, "batch key d_value"]
    kind: Kind


@dataclass(frozen=True, eq=False)
class Softmax:
    """The matrix product before a softmax: q as it was before it was scaled, and what was added."""

    unscaled: Float[Tensor, "rows query d_head"]
    added: Tensor | None


def arguments(
    module: nn.MultiheadAttention, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Arguments:
    """Query, key and value of one call, batch first; self-attention when the keys are the query."""
    given = dict(zip(("query", "key", "value"), args, strict=False)) | dict(kwargs)
    kind: Kind = "self" if given["query"] is given["key"] else "cross"
    query, key, value = (_batch_first(module, given[name]) for name in ("query", "key", "value"))
    return Arguments(query, key, value, kind)


def explained(stored: StoredWeights, before: Softmax | None) -> AttentionInputs | StoredWeights:
    """What gave the stored weights, where q, k, v and mask were seen and really give them.

    A row without any visible key stays NaN as torch makes it, and with it the weights as stored.
    """
    if before is None or stored.key is None or stored.value is None:
        return stored
    lead = stored.kept.shape[:2]
    added = before.added
    if added is not None:
        added = added.detach().reshape(*(lead if added.shape[0] > 1 else (1, 1)), *added.shape[-2:])
    may_attend, bias = masks.from_model(added)
    inputs = AttentionInputs(
        query=before.unscaled.reshape(*lead, *before.unscaled.shape[-2:]),
        key=stored.key,
        value=stored.value,
        mask=may_attend,
        causal=False,
        scaling=math.sqrt(1.0 / before.unscaled.shape[-1]),
        bias=bias,
    )
    return inputs if _gives(inputs, stored.kept) else stored


def _gives(inputs: AttentionInputs, kept: Float[Tensor, "batch head query key"]) -> bool:
    """True when some rows of every head, derived from q, k and mask, equal the softmax."""
    rows = _some(inputs.n_query)
    scores = formula.scores(inputs.query[:, :, rows].float(), inputs.key.float())
    scores = formula.scaled(scores, inputs.scaling)
    if inputs.bias is not None:
        scores = scores + _rows_of(inputs.bias, rows)
    masked = formula.masked(scores, None if inputs.mask is None else _rows_of(inputs.mask, rows))
    return _equal(formula.weights(masked), kept[:, :, rows])


def projections(
    module: nn.MultiheadAttention,
    name: str,
    given: Arguments,
    inputs: AttentionInputs,
    mixed: Float[Tensor, "batch query head d_value"],
    returned: object,
) -> tuple[dict[str, Projection], dict[str, str]]:
    """W_Q, W_K, W_V and W_O with what went in and came out; the reason for each that is absent."""
    found: dict[str, Projection] = {}
    absent: dict[str, str] = {}
    into = {"q": given.query, "k": given.key, "v": given.value}
    made = {"q": inputs.query, "k": inputs.key, "v": inputs.value}
    for each, (weight, bias) in _in_projections(module).items():
        output = made[each].transpose(1, 2).flatten(2)
        if output.shape[1] != into[each].shape[1]:
            absent[each] = OWN_KEY
            continue
        layer = _layer(module, f"{name}.in_proj", weight, bias, into[each], output)
        _add(each, layer, found, absent)
    result = returned[0] if isinstance(returned, tuple) else returned
    if not isinstance(result, Tensor):
        return found, absent | {"projected": NO_OUTPUT}
    out, concat = module.out_proj, mixed.flatten(2)
    output = _batch_first(module, result)
    layer = _layer(module, f"{name}.out_proj", out.weight, out.bias, concat, output)
    _add("out", layer, found, absent)
    return found, absent


def _in_projections(module: nn.MultiheadAttention) -> dict[str, tuple[Tensor, Tensor | None]]:
    """The weight [d_out, d_in] and the bias of each input projection."""
    if module._qkv_same_embed_dim:
        weights = module.in_proj_weight.chunk(3)
    else:
        weights = (module.q_proj_weight, module.k_proj_weight, module.v_proj_weight)
    biases = (None,) * 3 if module.in_proj_bias is None else module.in_proj_bias.chunk(3)
    return dict(zip("qkv", zip(weights, biases, strict=True), strict=True))


def _layer(
    module: nn.MultiheadAttention,
    name: str,
    weight: Tensor,
    bias: Tensor | None,
    into: Tensor,
    output: Tensor,
) -> Projection:
    return Projection(
        module=name.removeprefix("."),
        weight=weight.detach().t(),
        bias=None if bias is None else bias.detach(),
        input=into,
        output=output,
        starts=tuple(range(0, module.embed_dim, module.head_dim)),
    )


def _add(
    name: str, layer: Projection, found: dict[str, Projection], absent: dict[str, str]
) -> None:
    rows = _some(layer.input.shape[1])
    if _equal(apply_linear(layer.input[:, rows].float(), layer), layer.output[:, rows]):
        found[name] = layer
    else:
        absent["projected" if name == "out" else name] = DIFFERS
        absent |= {"x": DIFFERS} if name == "q" else {}


def _batch_first(module: nn.MultiheadAttention, tensor: Tensor) -> Tensor:
    """[batch, token, d] of an argument or a result; a single text gets a batch of one."""
    tensor = tensor.detach()
    if tensor.dim() == 2:
        return tensor[None]
    return tensor if module.batch_first else tensor.transpose(0, 1)


def _some(n_row: int) -> slice:
    """Evenly spaced rows, the first among them."""
    return slice(None, None, math.ceil(n_row / COMPARED_ROWS))


def _rows_of(tensor: Tensor, rows: slice) -> Tensor:
    return tensor[:, :, rows] if tensor.shape[2] > 1 else tensor


def _equal(ours: Tensor, theirs: Tensor) -> bool:
    """True within the tolerance of the type; NaN equals nothing."""
    tolerance = type_tolerance(theirs.dtype)
    largest = max(1.0, float(theirs.abs().max()))
    return bool(((ours - theirs.float()).abs() <= tolerance * largest).all())
