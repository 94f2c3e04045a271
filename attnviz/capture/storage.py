"""Brings a capture's tensors into half precision, or into main memory.

In: recorded calls. Out: the same calls with other tensors. In most models q, k and v are views of
the outputs of their linear layers, which share an input; each memory is converted once, and its
views stay views of it, so that half precision really takes half the memory.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

import torch
from torch import Tensor

from attnviz.attention.call import AttentionCall
from attnviz.attention.inputs import AttentionInputs
from attnviz.attention.stored_weights import StoredWeights
from attnviz.errors import BadInput

StoredType = Literal["float16"]
TYPES: dict[str, torch.dtype] = {"float16": torch.float16}


def require_type(store: object) -> None:
    """Raise `BadInput` unless `store` is None or a type that tensors can be kept in."""
    if store is not None and store not in TYPES:
        raise BadInput(
            f"store= is {store!r}; give {' or '.join(map(repr, TYPES))}, or leave it out to keep"
            " the model's own type",
            code="bad_dtype",
            asked=str(store),
            allowed=", ".join(TYPES),
        )


def stored(
    calls: Iterable[AttentionCall], store: StoredType | None, *, offload: bool
) -> tuple[AttentionCall, ...]:
    """The calls with all that they keep in the type `store`, in main memory with `offload`.

    A tensor with numbers beyond the range of that type keeps its own.
    """
    if store is None and not offload:
        return tuple(calls)
    converter = _Converter(None if store is None else TYPES[store], "cpu" if offload else None)
    return tuple(_converted(call, converter) for call in calls)


def offloaded(tensor: Tensor | None, *, offload: bool) -> Tensor | None:
    """A tensor in main memory if `offload`, else as it is."""
    return tensor.cpu() if offload and tensor is not None else tensor


class _Converter:
    """Converts tensors; views of one memory become views of one converted memory."""

    def __init__(self, dtype: torch.dtype | None, device: str | None) -> None:
        self._dtype, self._device = dtype, device
        # the tensors before the conversion are kept too, so that no address is used twice
        self._memories: dict[tuple[int, torch.dtype], tuple[Tensor, Tensor]] = {}

    def __call__(self, tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        place = storage.data_ptr(), tensor.dtype
        if place not in self._memories:
            n_entry = storage.nbytes() // tensor.element_size()
            whole = tensor.as_strided((n_entry,), (1,), 0)
            self._memories[place] = whole, self._whole(whole)
        whole = self._memories[place][1]
        return whole.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())

    def _whole(self, whole: Tensor) -> Tensor:
        moved = whole.to(device=self._device)
        if self._dtype is None or not whole.is_floating_point() or whole.element_size() <= 2:
            return moved
        smaller = moved.to(self._dtype)
        overflows = smaller.isinf().sum() > moved.isinf().sum()
        return moved if bool(overflows) else smaller


def _converted(call: AttentionCall, converter: _Converter) -> AttentionCall:
    """The call with all its tensors converted; the weights of its layers stay with the model."""
    projections = {
        name: replace(layer, input=converter(layer.input), output=converter(layer.output))
        for name, layer in call.projections.items()
    }
    inputs = _converted_inputs(call.inputs, converter)
    return replace(call, inputs=inputs, output=converter(call.output), projections=projections)


def _converted_inputs(
    inputs: AttentionInputs | StoredWeights, converter: _Converter
) -> AttentionInputs | StoredWeights:
    def optional(tensor: Tensor | None) -> Tensor | None:
        return None if tensor is None else converter(tensor)

    if isinstance(inputs, StoredWeights):
        return StoredWeights(
            converter(inputs.kept),
            optional(inputs.query),
            optional(inputs.key),
            optional(inputs.value),
        )
    return replace(
        inputs,
        query=converter(inputs.query),
        key=converter(inputs.key),
        value=converter(inputs.value),
        mask=optional(inputs.mask),
        bias=optional(inputs.bias),
        sinks=optional(inputs.sinks),
        key_version=None,
    )
