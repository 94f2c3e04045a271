"""Every operation of a forward pass, with its inputs, its outputs and the module it ran in.

A `TorchDispatchMode` sees all of them below Python, so it does not matter how a model is written.
In: a module, and passes of it inside the `with` block. Out: `Operation`s in order, linked by the
`Value`s that they read and wrote. Everything is kept alive: a pass of GPT-2 small with 64 tokens
keeps 117 MiB. Memory that an operation writes in place is copied first, for what was read before.
"""

from dataclasses import dataclass, field
from functools import partial
from typing import Any

from torch import Tensor, nn
from torch._ops import OpOverloadPacket
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.hooks import RemovableHandle

from attnviz.capture.locate.layers import storage_of
from attnviz.experiment.dataflow.operations import ADDS, EMBEDS, LINEAR, tensors


@dataclass(eq=False, slots=True)
class Operation:
    """One operation: `inputs` has the value of each tensor in `args` and `kwargs`, by its id.

    `module` is the innermost module that was running, `run` counts the linear layers' own runs:
    the n-th linear operation inside that module.
    """

    func: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    module: str
    position: int
    run: int = 0
    inputs: dict[int, "Value"] = field(default_factory=dict)
    outputs: list["Value"] = field(default_factory=list)

    @property
    def packet(self) -> OpOverloadPacket:
        """The operation's name, all its overloads together."""
        packet: OpOverloadPacket = self.func.overloadpacket
        return packet

    def value(self, tensor: Tensor) -> "Value":
        """The value that an argument of this operation had."""
        return self.inputs[id(tensor)]


@dataclass(eq=False, slots=True)
class Value:
    """A tensor of the pass. `made_by` is None for a parameter, a buffer or an input of the model.

    `learned` is True if parameters went into it: an activation, not a mask or positions. `n_sums`
    counts the sums of activations on the way back that pass no linear layer.
    """

    tensor: Tensor
    made_by: Operation | None
    index: int = 0
    learned: bool = False
    n_sums: int = 0

    @property
    def constant(self) -> bool:
        """True if no operation of the pass made it."""
        return self.made_by is None


class Trace(TorchDispatchMode):
    """Writes down the passes of `model` that run inside the `with` block."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.operations: list[Operation] = []
        self.inputs_of: dict[str, list[Value | None]] = {}
        self.outputs_of: dict[str, list[Value | None]] = {}
        self._values: dict[int, Value] = {}
        self._by_memory: dict[int, list[Value]] = {}
        self._running = [""]
        self._runs: dict[str, int] = {}
        self._kept: list[Tensor] = []  # an id stays unique while its tensor lives
        self._model = model
        self._handles: list[RemovableHandle] = []

    def __enter__(self) -> "Trace":
        for name, module in self._model.named_modules():
            enter = module.register_forward_pre_hook(partial(self._enter, name), with_kwargs=True)
            leave = module.register_forward_hook(partial(self._leave, name), always_call=True)
            self._handles += [enter, leave]
        super().__enter__()  # type: ignore[no-untyped-call]
        return self

    def __exit__(self, *error: Any) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles.clear()
        super().__exit__(*error)  # type: ignore[no-untyped-call]

    def _enter(self, name: str, _module: nn.Module, args: Any, kwargs: Any) -> None:
        self._running.append(name)
        first = next(iter(tensors((args, kwargs))), None)
        value = None if first is None else self.value(first)
        self.inputs_of.setdefault(name, []).append(value)

    def _leave(self, name: str, _module: nn.Module, _args: Any, output: Any) -> None:
        self._running.pop()
        first = next(iter(tensors(output)), None)
        returned = None if first is None else self.value(first)
        self.outputs_of.setdefault(name, []).append(returned)

    def value(self, tensor: Tensor) -> Value:
        """The value that a tensor has now."""
        value = self._values.get(id(tensor))
        if value is None:
            value = Value(tensor, None, learned=isinstance(tensor, nn.Parameter))
            self._keep(tensor, value)
        return value

    def _keep(self, tensor: Tensor, value: Value) -> None:
        self._values[id(tensor)] = value
        self._kept.append(tensor)
        self._by_memory.setdefault(_address(tensor), []).append(value)

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        inputs = {id(tensor): self.value(tensor) for tensor in tensors((args, kwargs))}
        if func._schema.is_mutable:
            self._copy_what_is_overwritten(func, args)
        out = func(*args, **kwargs)
        module = self._running[-1]
        operation = Operation(func, args, kwargs, module, len(self.operations), inputs=inputs)
        if operation.packet in LINEAR:
            operation.run = self._runs.get(module, 0)
            self._runs[module] = operation.run + 1
        self.operations.append(operation)
        learned = any(value.learned for value in inputs.values())
        n_sums = _sums(operation)
        for index, tensor in enumerate(tensors(out)):
            value = Value(tensor, operation, index, learned, n_sums)
            operation.outputs.append(value)
            self._keep(tensor, value)
        return out

    def _copy_what_is_overwritten(self, func: Any, args: tuple[Any, ...]) -> None:
        """Give the values that lie in memory about to be written a copy of it.

        Their views count too: a model that adds in place (Falcon) reads both afterwards.
        """
        written = [
            tensor
            for tensor, argument in zip(args, func._schema.arguments, strict=False)
            if isinstance(tensor, Tensor)
            and argument.alias_info is not None
            and argument.alias_info.is_write
        ]
        for tensor in written:
            for value in self._by_memory.pop(_address(tensor), []):
                old = value.tensor
                if old.dtype.is_floating_point and not isinstance(old, nn.Parameter):
                    value.tensor = old.clone()


def _address(tensor: Tensor) -> int:
    """The address of the memory that a tensor and its views share."""
    return storage_of(tensor)


def _sums(operation: Operation) -> int:
    """The number of sums of activations behind an operation's output, past no linear layer."""
    if operation.packet in LINEAR or operation.packet in EMBEDS:
        return 0
    most = max((value.n_sums for value in operation.inputs.values()), default=0)
    return most + (operation.packet in ADDS)
