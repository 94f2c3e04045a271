"""Interventions made without attnviz: hooks on named layers, and the eager softmax intercepted.

In: a model of transformers and the name of one of its layers, or a function of the n-th softmax of
a pass. Out: context managers. They know module names and eager code; what they are compared with
knows neither.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

Change = Callable[[Tensor], Tensor]
SOFTMAX = (torch.nn.functional.softmax, torch.softmax, Tensor.softmax)


@contextmanager
def output_layer_reads(model: nn.Module, name: str, columns: slice, new: Change) -> Iterator[None]:
    """Some columns of what a layer (W_O) is given are replaced, each time it runs."""

    def replace(_module: nn.Module, args: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        given = args[0].clone()
        given[..., columns] = new(given[..., columns])
        return (given, *args[1:])

    handle = model.get_submodule(name).register_forward_pre_hook(replace)
    try:
        yield
    finally:
        handle.remove()


@contextmanager
def layer_writes(model: nn.Module, name: str, columns: slice, new: Change) -> Iterator[None]:
    """Some columns of what a layer (W_Q, W_K, W_V) writes are replaced, each time it runs."""

    def replace(_module: nn.Module, _args: object, output: Tensor) -> Tensor:
        changed = output.clone()
        changed[..., columns] = new(output[..., columns])
        return changed

    handle = model.get_submodule(name).register_forward_hook(replace)
    try:
        yield
    finally:
        handle.remove()


class EagerSoftmax(TorchFunctionMode):
    """The n-th softmax over keys of a pass, changed for one head: its scores, or its result.

    Eager models call the softmax once for each attention, [batch, head, query, key]. A `sink` is
    one more column of its scores, which is left alone; gpt-oss subtracts each row's maximum from
    all of them beforehand, which is taken back while the scores are changed.
    """

    def __init__(
        self,
        nth: int,
        head: int,
        *,
        weights: Change | None = None,
        scores: Change | None = None,
        sink: float | None = None,
    ) -> None:
        super().__init__()
        self._left, self._head, self._sink = nth, head, sink
        self._weights, self._scores = weights, scores

    def __torch_function__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        if func not in SOFTMAX or args[0].dim() != 4:
            return func(*args, **kwargs)
        self._left -= 1
        if self._left != -1:
            return func(*args, **kwargs)
        keys = slice(None) if self._sink is None else slice(None, -1)
        given = args[0].clone()
        if self._scores is not None:
            mine = given[:, self._head]
            taken = 0.0 if self._sink is None else self._sink - mine[..., -1:]
            given[:, self._head, :, keys] = self._scores(mine[..., keys] + taken) - taken
        out = func(given, *args[1:], **kwargs).clone()
        if self._weights is not None:
            out[:, self._head, :, keys] = self._weights(out[:, self._head, :, keys])
        return out
