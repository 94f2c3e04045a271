"""torch's own `nn.MultiheadAttention`, opened: its arguments, and W_Q, W_K, W_V and W_O.

torch multiplies with `in_proj_weight`, all of W_Q, W_K and W_V stacked, or with one weight for each
if keys or values are wider; no linear layer runs that a hook could see, and q, k, v are copies. The
module's structure says which rows belong to which head; its arguments and its result are known when
it returns. Every projection is compared with q, k, v and with the module's own output, and one that
differs is left out with the reason. Source: torch's `multi_head_attention_forward`.
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
from attnviz.attention.projection import Projection, WrittenLayer, apply_linear
from attnviz.attention.stored_weights import StoredWeights
from attnviz.attention.tolerance import type_tolerance
from attnviz.capture.locate.layers import NO_MEMORY, memory_of
from attnviz.capture.locate.structure import is_same_source
from attnviz.types import Kind

# so many rows of each tensor are compared; `AttentionCall.verify` compares all of them
COMPARED_ROWS = 8
OWN_KEY = "the module adds a key of its own to those that it was given"
DIFFERS = "the module's weights do not lead from its arguments to what it used"
NO_OUTPUT = "the module ended before it returned anything"


@dataclass(frozen=True, eq=False)
class Arguments:
    """The arguments of one call of the module, batch first."""

    query: Float[Tensor, "batch query d_query"]
    key: Float[Tensor, "batch key d_key"]
    value: Float[Tensor, "batch key d_value"]
    kind: Kind


@dataclass(frozen=True, eq=False)
class ScoreProduct:
    """The matrix product before a softmax: q before it was scaled, and the mask that was added."""

    unscaled: Float[Tensor, "rows query d_head"]
    added: Tensor | None


def arguments(
    module: nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Arguments | None:
    """Query, key and value of one call; self-attention if both hold the same numbers.

    None for any other module, and for a subclass that takes other arguments.
    """
    if not isinstance(module, nn.MultiheadAttention):
        return None
    named = dict(zip(("query", "key", "value"), args, strict=False)) | dict(kwargs)
    if not all(isinstance(named.get(name), Tensor) for name in ("query", "key", "value")):
        return None
    parts = [named[name] for name in ("query", "key", "value")]
    if any(part.dim() not in (2, 3) or memory_of(part) == NO_MEMORY for part in parts):
        return None
    sources = (named[name].detach().flatten(0, -2) for name in ("query", "key"))
    kind: Kind = "self" if is_same_source(*sources) else "cross"
    query, key, value = (_batch_first(module, named[name]) for name in ("query", "key", "value"))
    return Arguments(query, key, value, kind)


def explained(
    stored: StoredWeights, product: ScoreProduct | None
) -> AttentionInputs | StoredWeights:
    """The q, k, v and mask that lead to stored weights; the stored weights if they do not.

    A row without any visible key stays NaN, as torch makes it, and the weights stay stored.
    """
    if product is None or stored.key is None or stored.value is None:
        return stored
    lead = stored.kept.shape[:2]
    added = product.added
    if added is not None:
        added = added.detach().reshape(*(lead if added.shape[0] > 1 else (1, 1)), *added.shape[-2:])
    may_attend, bias = masks.from_model(added)
    inputs = AttentionInputs(
        query=product.unscaled.reshape(*lead, *product.unscaled.shape[-2:]),
        key=stored.key,
        value=stored.value,
        mask=may_attend,
        causal=False,
        scaling=math.sqrt(1.0 / product.unscaled.shape[-1]),
        bias=bias,
    )
    return inputs if _lead_to(inputs, stored.kept) else stored


def _lead_to(inputs: AttentionInputs, kept: Float[Tensor, "batch head query key"]) -> bool:
    """True if some rows of every head, derived from q, k and mask, equal the softmax."""
    rows = _sampled_rows(inputs.n_query)
    scores = formula.scores(inputs.query[:, :, rows].float(), inputs.key.float())
    scores = formula.scaled(scores, inputs.scaling)
    if inputs.bias is not None:
        scores = scores + _rows_of(inputs.bias, rows)
    masked = formula.masked(scores, None if inputs.mask is None else _rows_of(inputs.mask, rows))
    return _are_equal(formula.weights(masked), kept[:, :, rows])


def projections(
    module: nn.MultiheadAttention,
    name: str,
    arguments: Arguments,
    inputs: AttentionInputs,
    mixed: Float[Tensor, "batch query head d_value"],
    result: object,
) -> tuple[dict[str, Projection], dict[str, str]]:
    """W_Q, W_K, W_V and W_O with their inputs and outputs; the reason for each that is absent."""
    layers: dict[str, Projection] = {}
    absent: dict[str, str] = {}
    read = {"q": arguments.query, "k": arguments.key, "v": arguments.value}
    used = {"q": inputs.query, "k": inputs.key, "v": inputs.value}
    for part, (weight, bias) in _in_projections(module).items():
        output = used[part].transpose(1, 2).flatten(2)
        if output.shape[1] != read[part].shape[1]:
            absent[part] = OWN_KEY
            continue
        layer = _layer(module, f"{name}.in_proj", weight, bias, read[part], output)
        _add_if_right(part, layer, layers, absent)
    returned = result[0] if isinstance(result, tuple) else result
    if not isinstance(returned, Tensor):
        return layers, absent | {"projected": NO_OUTPUT}
    out, concat = module.out_proj, mixed.flatten(2)
    output = _batch_first(module, returned)
    layer = _layer(module, f"{name}.out_proj", out.weight, out.bias, concat, output)
    _add_if_right("out", layer, layers, absent)
    return layers, absent


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
    read: Tensor,
    output: Tensor,
) -> Projection:
    return Projection(
        module=name.removeprefix("."),
        layer=WrittenLayer(weight.detach().t(), None if bias is None else bias.detach()),
        input=read,
        output=output,
        starts=tuple(range(0, module.embed_dim, module.head_dim)),
    )


def _add_if_right(
    name: str, layer: Projection, layers: dict[str, Projection], absent: dict[str, str]
) -> None:
    """Add a layer to `layers` if its product equals its output, else the reason to `absent`."""
    rows = _sampled_rows(layer.input.shape[1])
    if _are_equal(apply_linear(layer.input[:, rows].float(), layer), layer.output[:, rows]):
        layers[name] = layer
    else:
        absent["projected" if name == "out" else name] = DIFFERS
        absent |= {"x": DIFFERS} if name == "q" else {}


def _batch_first(module: nn.MultiheadAttention, tensor: Tensor) -> Tensor:
    """[batch, token, d] of an argument or a result; a single text gets a batch of one."""
    tensor = tensor.detach()
    if tensor.dim() == 2:
        return tensor[None]
    return tensor if module.batch_first else tensor.transpose(0, 1)


def _sampled_rows(n_row: int) -> slice:
    """Evenly spaced rows, the first among them."""
    return slice(None, None, math.ceil(n_row / COMPARED_ROWS))


def _rows_of(tensor: Tensor, rows: slice) -> Tensor:
    return tensor[:, :, rows] if tensor.shape[2] > 1 else tensor


def _are_equal(derived: Tensor, own: Tensor) -> bool:
    """True within the tolerance of the type; NaN equals nothing."""
    tolerance = type_tolerance(own.dtype)
    largest = max(1.0, float(own.abs().max()))
    return bool(((derived - own.float()).abs() <= tolerance * largest).all())
