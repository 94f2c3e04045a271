"""Calls made of a TransformerLens cache: `blocks.0.attn.hook_q` and the names beside it.

In: tensors by name. Out: a call for each layer that the cache has. Where q, k, v and z are there,
the call has every step. How its scores were scaled and masked is found by trying: the candidate
must give the cache's own pattern, or z. Where none does (a bias, a softcap), the pattern is kept.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from attnviz.attention.call import AttentionCall
from attnviz.attention.inputs import AttentionInputs
from attnviz.attention.stored_weights import StoredWeights
from attnviz.files.from_tools.shapes import bad_attentions

NAME = re.compile(r"blocks\.(\d{1,4})\.attn\.hook_(q|k|v|z|rot_q|rot_k|pattern)")
SAME, SAME_IN_HALF = 1e-5, 2e-3  # the largest difference that rounding explains


@dataclass(frozen=True)
class _Layer:
    """The tensors of one layer, [batch, head, token, d_head]; `pattern` [batch, head, query, key],
    `z` as the cache has it, [batch, query, head, d_value]."""

    number: int
    q: Tensor | None
    k: Tensor | None
    v: Tensor | None
    z: Tensor | None
    pattern: Tensor | None


def calls(cache: Mapping[str, Tensor], scaling: float | None) -> list[AttentionCall]:
    """A call for each layer; `scaling` is tried before 1/√d_head where it is given."""
    by_layer: dict[int, dict[str, Tensor]] = {}
    for name, tensor in cache.items():
        match = NAME.fullmatch(name) if isinstance(name, str) else None
        if match:
            by_layer.setdefault(int(match[1]), {})[match[2]] = tensor
    if not by_layer:
        names = ", ".join(list(map(str, cache))[:5])
        raise bad_attentions(
            f"the cache has no blocks.0.attn.hook_pattern and no hook_q, hook_k, hook_v, hook_z;"
            f" it has {names}"
        )
    return [_call(_layer(number, by_layer[number]), scaling) for number in sorted(by_layer)]


def _layer(number: int, tensors: Mapping[str, Tensor]) -> _Layer:
    """The tensors of a layer; rotated queries and keys are those that were multiplied."""

    def with_batch(name: str) -> Tensor | None:
        tensor = tensors.get(name)
        if tensor is None:
            return None
        tensor = torch.as_tensor(tensor).detach().cpu()
        if tensor.dim() not in (3, 4) or 0 in tensor.shape:
            raise bad_attentions(f"blocks.{number}.attn.hook_{name} is {list(tensor.shape)}")
        return tensor[None] if tensor.dim() == 3 else tensor

    def by_head(*names: str) -> Tensor | None:
        present = [tensor for name in names if (tensor := with_batch(name)) is not None]
        return present[0].transpose(1, 2) if present else None

    return _Layer(
        number,
        by_head("rot_q", "q"),
        by_head("rot_k", "k"),
        by_head("v"),
        with_batch("z"),
        with_batch("pattern"),
    )


def _call(layer: _Layer, scaling: float | None) -> AttentionCall:
    inputs = _inputs(layer, scaling)
    n_batch, n_heads, n_query = inputs.n_batch, inputs.n_heads, inputs.n_query
    known = layer.v is not None and layer.z is not None
    output = layer.z if known else torch.zeros(n_batch, n_query, n_heads, 0)
    assert output is not None, "z is there"
    return AttentionCall(
        module=f"blocks.{layer.number}.attn",
        index=0,
        layer=layer.number,
        stack=None,
        kind="self",
        inputs=inputs,
        output=output,
    )


def _inputs(layer: _Layer, scaling: float | None) -> AttentionInputs | StoredWeights:
    """q, k and v with the first scaling and mask that give what the cache has; else the pattern."""
    place = f"blocks.{layer.number}.attn"
    if layer.q is None or layer.k is None or layer.v is None or layer.z is None:
        if layer.pattern is None:
            raise bad_attentions(
                f"{place} has no hook_pattern, and not all of hook_q, hook_k, hook_v, hook_z"
            )
        return StoredWeights(layer.pattern)
    _check_shapes(place, layer.q, layer.k, layer.v, layer.z, layer.pattern)
    for inputs in _candidates(layer.q, layer.k, layer.v, layer.pattern, scaling):
        if _gives(inputs, layer.pattern, layer.z):
            return inputs
    if layer.pattern is None:
        raise bad_attentions(
            f"the scores of {place} are scaled, masked or biased in a way that q, k, v and z do not"
            " show; keep hook_pattern in the cache as well, or give scaling="
        )
    heads = layer.q.shape[1] // layer.k.shape[1]
    k, v = (tensor.repeat_interleave(heads, dim=1) for tensor in (layer.k, layer.v))
    return StoredWeights(layer.pattern, layer.q, k, v)


def _check_shapes(
    place: str, q: Tensor, k: Tensor, v: Tensor, z: Tensor, pattern: Tensor | None
) -> None:
    n_batch, n_heads, n_query, d_head = q.shape
    fits = (
        k.shape[:3] == v.shape[:3]
        and (k.shape[0], k.shape[3]) == (n_batch, d_head)
        and n_heads % k.shape[1] == 0
        and z.shape == (n_batch, n_query, n_heads, v.shape[3])
        and (pattern is None or pattern.shape == (n_batch, n_heads, n_query, k.shape[2]))
    )
    if not fits:
        shapes = [list(tensor.shape) for tensor in (q, k, v, z)]
        raise bad_attentions(f"q, k, v and z of {place} do not fit one another: {shapes}")


def _candidates(
    q: Tensor, k: Tensor, v: Tensor, pattern: Tensor | None, scaling: float | None
) -> Iterator[AttentionInputs]:
    """The ways in which scores are scaled and masked, the most usual first."""
    factors = [q.shape[3] ** -0.5, 1.0] if scaling is None else [scaling]
    for factor in factors:
        plain = AttentionInputs(q, k, v, mask=None, causal=True, scaling=factor)
        yield plain
        yield replace(plain, causal=False)
        if pattern is not None:
            yield replace(plain, causal=False, mask=pattern > 0)


def _gives(inputs: AttentionInputs, pattern: Tensor | None, z: Tensor) -> bool:
    """True if these inputs give the cache's own weights, or its weights·V where it has none."""
    same = SAME if z.dtype == torch.float32 else SAME_IN_HALF
    for row in range(inputs.n_batch):
        for head in range(inputs.n_heads):
            if pattern is not None:
                off = inputs.weights(head, row) - pattern[row, head].float()
                size = 1.0
            else:
                off = inputs.stages(head, row)["mixed"] - z[row, :, head].float()
                size = float(z.abs().max())
            if not float(off.abs().max()) <= same * size:
                return False
    return True
