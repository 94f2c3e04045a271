"""A model in parts on several processes: the first leads, the others do its passes with it.

In: a tensor-parallel model, the same on every process that torchrun started. Out: on the first
process the model as if it were whole; the others wait here for what it does until it ends. A
request is data, sent as JSON and tensors, never code. Every pass of the model is one request: a
hook before the model sends its arguments. Where attention is recorded or changed, the first process
collects the heads of all, in the order of the processes, and hands out what is to stand in their
place (`AttentionParts`). An error that a pass raises on all processes ends that pass alone.
"""

import atexit
import json
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from importlib import import_module
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from transformers import DynamicCache

from attnviz.errors import BadInput, UnsupportedAttention

WAITS = timedelta(days=365)  # for the next request; the work itself has torch's own limit
GO_ON, CHANGED, STOP = range(3)


class StoppedByLeader(Exception):
    """The first process gave a pass up."""


@dataclass(frozen=True, eq=False)
class Watching:
    """The part of recording in a pass: whether it is watched, and how others take part in it.

    Set by the code that records, which is above this.
    """

    is_on: Callable[[], bool] = lambda: False
    followed: Callable[[nn.Module], AbstractContextManager[None]] = lambda _model: nullcontext()


watching = Watching()


def set_watching(found: Watching) -> None:
    """Let passes be watched by this."""
    global watching
    watching = found


@dataclass(eq=False)
class AttentionParts:
    """One watched pass: the heads of each attention are collected where the pass is led."""

    ranks: "Ranks"
    written: dict[str, Tensor] = field(default_factory=dict)  # by layers that make parts of q, k, v

    @property
    def leads(self) -> bool:
        """True where attention is recorded and changed."""
        return self.ranks.rank == 0

    def layers_of(self, module: nn.Module) -> list[str]:
        """The layers inside an attention module whose columns lie in parts, in order."""
        return self.ranks.parts_of(module)[0]

    def has_part(self, module: nn.Module) -> bool:
        """True if only some heads of an attention module are here."""
        return self.ranks.parts_of(module)[1]

    def collected(self, tensor: Tensor, axis: int) -> Tensor:
        """The parts of all processes side by side; the own part where the pass is not led."""
        return self.ranks.collected(tensor, axis)

    @contextmanager
    def agreed(self) -> Iterator[list[bool]]:
        """A block that the leader runs; the others wait for its end, and stop if it failed.

        The list gets True if what it made is to be handed out.
        """
        is_changed: list[bool] = []
        if not self.leads:
            yield is_changed
            decision = self.ranks.told(GO_ON)
            if decision == STOP:
                raise StoppedByLeader
            is_changed[:] = [decision == CHANGED]
            return
        try:
            giving_up.get()()
            yield is_changed
        except BaseException:
            self.ranks.told(STOP)
            raise
        self.ranks.told(CHANGED if any(is_changed) else GO_ON)

    def handed_out(self, whole: Tensor, own: Tensor, axis: int, *, in_parts: bool) -> Tensor:
        """The own part of a tensor of the leader; all of it unless it is made `in_parts`."""
        return self.ranks.handed_out(whole, own, axis, in_parts=in_parts)


# what may end a pass of a model on several processes, where all of them can end it together
giving_up: ContextVar[Callable[[], None]] = ContextVar("attnviz_giving_up", default=lambda: None)
# the watched pass that runs in this thread
passing: ContextVar[AttentionParts | None] = ContextVar("attnviz_passing", default=None)


class Ranks:
    """The processes that hold one model together, seen from one of them."""

    def __init__(self, model: nn.Module) -> None:
        parts: dict[str, Any] = {name: p for name, p in model.named_parameters() if is_part(p)}
        if not parts:
            raise BadInput(
                f"{type(model).__name__} has no layer in parts on several processes; start the"
                " script with torchrun --nproc-per-node N, and use a model that transformers has a"
                " tensor-parallel plan for",
                code="not_in_parts",
                name=type(model).__name__,
            )
        self.model = model
        weight = next(iter(parts.values()))
        self._group = weight.device_mesh.get_group()
        self._talk = dist.new_group(backend="gloo", timeout=WAITS)
        self.rank, self.world = dist.get_rank(self._group), dist.get_world_size(self._group)
        if self.world != dist.get_world_size():
            raise BadInput(
                f"{type(model).__name__} lies on {self.world} of {dist.get_world_size()} processes;"
                " start as many as the model is spread over",
                code="not_in_parts",
                name=type(model).__name__,
            )
        self._lock = threading.RLock()
        self._inside: int | None = None  # the thread whose pass it is
        self._token: Any = None
        self._caches: dict[int, Any] = {}  # by number: weakly where it leads
        self._n_cache = 0
        self._known: dict[int, tuple[list[str], bool]] = {}
        self._names = {id(module): name for name, module in model.named_modules()}
        self._layers = {
            name: (module, dim)
            for name, module in model.named_modules()
            if isinstance(module, nn.Linear) and (dim := _part_axis(module)) is not None
        }
        for name, (layer, dim) in self._layers.items():
            if dim == 0:
                layer.register_forward_hook(partial(self._keep, name))
        if self.rank == 0:
            for module in model.modules():
                if any(is_part(parameter) for parameter in module._parameters.values()):
                    module.register_forward_pre_hook(self._require_led)
            model.register_forward_pre_hook(self._begin, with_kwargs=True)
            model.register_forward_hook(self._end, with_kwargs=True, always_call=True)
            atexit.register(self.close)

    # --- where the pass is led ----------------------------------------------------------------

    def _require_led(self, module: nn.Module, _args: object) -> None:
        """Raise `UnsupportedAttention` for a part of the model that is run alone."""
        if self._inside != threading.get_ident():
            raise self.refusal()

    def refusal(self) -> UnsupportedAttention:
        """The error for what runs some of the layers alone, or reads weights as a whole."""
        return UnsupportedAttention(
            f"{type(self.model).__name__} lies on {self.world} processes, which run it as a whole:"
            " attnviz.capture, with changes= or without, reads it there; everything else needs it"
            ' in one process, with device_map="auto" where it does not fit on one device',
            code="spread_part",
            n_part=self.world,
            name=type(self.model).__name__,
        )

    def _begin(self, _model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Send the arguments of a pass to the other processes."""
        if torch.is_grad_enabled():
            raise UnsupportedAttention(
                "gradients are not led through a model on several processes; run it under"
                " torch.no_grad(), or in one process",
                code="spread_gradient",
                n_part=self.world,
            )
        tensors: list[Tensor] = []
        self._lock.acquire()
        try:
            request = {
                "do": "pass",
                "args": self._as_data(list(args), tensors),
                "kwargs": self._as_data(kwargs, tensors),
                "inference": torch.is_inference_mode_enabled(),
                "watched": watching.is_on(),
                "gone": self._gone(),
            }
            self._send(request, tensors)
        except BaseException:
            self._lock.release()
            raise
        self._inside = threading.get_ident()
        self._token = passing.set(AttentionParts(self) if request["watched"] else None)

    def _end(self, _model: nn.Module, _args: object, kwargs: dict[str, Any], output: Any) -> None:
        if self._inside != threading.get_ident():
            return  # it was not begun
        passing.reset(self._token)
        self._inside, self._token = None, None
        self._remember_cache(kwargs, output)
        self._lock.release()

    def weight(self, name: str) -> tuple[Tensor, Tensor | None]:
        """W [d_in, d_out] and b of a layer, from the parts of all processes, in main memory."""
        with self._lock:
            self._send({"do": "weight", "layer": name}, [])
            weight, bias = self._own_weight(name)
        return weight.cpu(), None if bias is None else bias.cpu()

    def close(self) -> None:
        """Let the other processes end."""
        with self._lock, suppress(Exception):
            self._send({"do": "end"}, [])

    def _send(self, request: Mapping[str, object], tensors: list[Tensor]) -> None:
        data = torch.frombuffer(bytearray(json.dumps(request).encode()), dtype=torch.uint8)
        dist.broadcast(torch.tensor([len(data)]), 0, group=self._talk)
        dist.broadcast(data, 0, group=self._talk)
        for tensor in tensors:
            dist.broadcast(_as_bytes(tensor.detach().cpu()), 0, group=self._talk)

    def _as_data(self, value: object, tensors: list[Tensor]) -> object:
        """A value of a pass as JSON; tensors are put aside."""
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if isinstance(value, Tensor):
            tensors.append(value)
            return {"tensor": [list(value.shape), str(value.dtype).removeprefix("torch.")]}
        if isinstance(value, list | tuple):
            return {"items": [self._as_data(part, tensors) for part in value]}
        if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
            return {"map": {key: self._as_data(part, tensors) for key, part in value.items()}}
        known = next((n for n, cache in self._caches.items() if cache() is value), None)
        if known is None and type(value) is DynamicCache and not value.get_seq_length():
            known = self._add_cache(value)
        if known is None:
            raise UnsupportedAttention(
                f"{type(value).__name__} cannot be sent to the other processes of"
                f" {type(self.model).__name__}; give tensors, numbers, lists of these, or the cache"
                " that the model returned",
                code="spread_argument",
                found=type(value).__name__,
            )
        return {"cache": known}

    def _add_cache(self, cache: Any) -> int:
        self._n_cache += 1
        self._caches[self._n_cache] = weakref.ref(cache) if self.rank == 0 else cache
        return self._n_cache

    def _gone(self) -> list[int]:
        """The numbers of the caches that nobody has any longer."""
        gone = [number for number, cache in self._caches.items() if cache() is None]
        for number in gone:
            del self._caches[number]
        return gone

    def _remember_cache(self, kwargs: Mapping[str, Any], output: Any) -> None:
        """Number the cache that a pass made by itself, alike on all processes."""
        cache = output.get("past_key_values") if isinstance(output, Mapping) else None
        if type(cache) is DynamicCache and kwargs.get("past_key_values") is not cache:
            self._add_cache(cache)

    # --- where it is followed -----------------------------------------------------------------

    def follow(self) -> None:
        """Take part in what the first process does, until it ends."""
        while True:
            request, tensors = self._received()
            if request["do"] == "end":
                return
            # what fails here fails on the first process too, or was stopped by it
            with suppress(Exception):
                self._answer(request, tensors)

    def _received(self) -> tuple[dict[str, Any], Iterator[Tensor]]:
        n_byte = torch.zeros(1, dtype=torch.long)
        dist.broadcast(n_byte, 0, group=self._talk)
        data = torch.zeros(int(n_byte), dtype=torch.uint8)
        dist.broadcast(data, 0, group=self._talk)
        request: dict[str, Any] = json.loads(bytes(data.tolist()))
        sizes = list(_tensors_in([request.get("args"), request.get("kwargs")]))
        received = []
        for shape, dtype in sizes:
            tensor = torch.zeros(shape, dtype=getattr(torch, dtype))
            dist.broadcast(_as_bytes(tensor), 0, group=self._talk)
            received.append(tensor)
        return request, iter(received)

    def _answer(self, request: Mapping[str, Any], tensors: Iterator[Tensor]) -> None:
        if request["do"] == "weight":
            with torch.no_grad():
                self._own_weight(request["layer"])
            return
        for number in request["gone"]:
            self._caches.pop(number, None)
        args = self._as_values(request["args"], tensors)
        kwargs = self._as_values(request["kwargs"], tensors)
        is_watched = request["watched"]
        with torch.inference_mode() if request["inference"] else torch.no_grad():
            if not is_watched:
                output = self.model(*args, **kwargs)
            else:
                with watching.followed(self.model):
                    token = passing.set(AttentionParts(self))
                    try:
                        output = self.model(*args, **kwargs)
                    finally:
                        passing.reset(token)
        self._remember_cache(kwargs, output)

    def _as_values(self, data: Any, tensors: Iterator[Tensor]) -> Any:
        """The values of a pass, on the model's device."""
        if not isinstance(data, dict):
            return data
        ((kind, content),) = data.items()
        if kind == "tensor":
            return next(tensors).to(_local(next(self.model.parameters())).device)
        if kind == "items":
            return [self._as_values(part, tensors) for part in content]
        if kind == "map":
            return {key: self._as_values(part, tensors) for key, part in content.items()}
        if content not in self._caches:
            self._n_cache = content
            self._caches[content] = DynamicCache(config=self.model.config)  # type: ignore[arg-type]
        return self._caches[content]

    # --- on all processes ---------------------------------------------------------------------

    def _keep(self, name: str, _module: nn.Module, _args: object, output: object) -> None:
        now = passing.get()
        if now is not None and now.ranks is self and isinstance(output, Tensor):
            now.written[name] = _local(output).detach()

    def parts_of(self, module: nn.Module) -> tuple[list[str], bool]:
        """The layers of an attention module whose columns are parts, and if its W_O's rows are."""
        if id(module) not in self._known:
            path = self._names[id(module)] + "."
            inside = [name for name in self._layers if name.startswith(path)]
            columns = sorted(name for name in inside if self._layers[name][1] == 0)
            self._known[id(module)] = columns, any(self._layers[name][1] == 1 for name in inside)
        return self._known[id(module)]

    def told(self, decision: int) -> int:
        """The decision of the first process."""
        number = torch.tensor([decision])
        dist.broadcast(number, 0, group=self._talk)
        return int(number)

    def collected(self, tensor: Tensor, axis: int) -> Tensor:
        """The parts of all processes side by side where it leads, the own part elsewhere.

        They may differ in length.
        """
        own = tensor.movedim(axis, 0).contiguous()
        lengths = [torch.zeros(1, dtype=torch.long) for _ in range(self.world)]
        dist.all_gather(lengths, torch.tensor([len(own)]), group=self._talk)
        most = max(map(int, lengths))
        padded = own
        if len(own) < most:
            padded = torch.cat([own, own.new_zeros(most - len(own), *own.shape[1:])])
        into = None
        if self.rank == 0:
            into = [torch.empty_like(_as_bytes(padded)) for _ in range(self.world)]
        dist.gather(_as_bytes(padded), into, group=self._group, group_dst=0)
        if into is None:
            return tensor
        parts = [part.view(padded.dtype).reshape(padded.shape) for part in into]
        whole = [part[: int(n)] for part, n in zip(parts, lengths, strict=True)]
        return torch.cat(whole).movedim(0, axis)

    def handed_out(self, whole: Tensor, own: Tensor, axis: int, *, in_parts: bool) -> Tensor:
        """A tensor of the first process, or the own part of it, as large as `own`."""
        into = torch.empty_like(own.movedim(axis, 0).contiguous())
        if not in_parts:
            result = whole.movedim(axis, 0).contiguous() if self.rank == 0 else into
            dist.broadcast(_as_bytes(result), group=self._group, group_src=0)
            return result.movedim(0, axis).contiguous()
        parts = None
        if self.rank == 0:
            pieces = torch.split(whole.movedim(axis, 0).contiguous(), len(into))
            parts = [_as_bytes(piece.contiguous()) for piece in pieces]
        dist.scatter(_as_bytes(into), parts, group=self._group, group_src=0)
        return into.movedim(0, axis).contiguous()

    def _own_weight(self, name: str) -> tuple[Tensor, Tensor | None]:
        """W [d_in, d_out] and the collected b of a layer; the own parts where nothing is led."""
        module, dim = self._layers[name]
        weight = self.collected(_local(module.weight).detach(), dim).t()
        bias: Tensor | None = module.bias
        if bias is None:
            return weight, None
        own = _local(bias).detach()
        return weight, self.collected(own, 0) if is_part(bias) else own


_led: "weakref.WeakKeyDictionary[nn.Module, Ranks]" = weakref.WeakKeyDictionary()


def is_led(model: nn.Module) -> bool:
    """True for a model on several processes whose passes this one leads."""
    return model in _led


def require_whole(model: nn.Module) -> None:
    """Raise `UnsupportedAttention` for a model on several processes, of which parts are to run."""
    if is_led(model):
        raise _led[model].refusal()


def together(model: nn.Module) -> None:
    """Let the first process lead the passes of a model; the others follow and then end.

    Raises `SystemExit` on the others when the first one has ended.
    """
    ranks = Ranks(model)
    if ranks.rank:
        assert import_module("attnviz").capture  # it says how passes are watched
        ranks.follow()
        raise SystemExit(0)
    _led[model] = ranks


def is_part(tensor: object) -> bool:
    """True for a tensor (torch's DTensor) that lies in parts on several processes."""
    mesh = getattr(tensor, "device_mesh", None)
    placements = getattr(tensor, "placements", ())
    return any(p.is_shard() and mesh.size(axis) > 1 for axis, p in enumerate(placements))  # type: ignore[union-attr]


def _part_axis(module: nn.Module) -> int | None:
    """The axis along which the weight of a layer lies in parts; None if it is whole."""
    weight = module._parameters.get("weight")
    if not is_part(weight):
        return None
    axis: int = next(p.dim for p in weight.placements if p.is_shard())  # type: ignore[union-attr]
    return axis


def _local(tensor: Any) -> Tensor:
    """The own part of a tensor that lies on several processes; any other tensor as it is."""
    part: Tensor = tensor.to_local() if hasattr(tensor, "to_local") else tensor
    return part


def _as_bytes(tensor: Tensor) -> Tensor:
    """The memory of a contiguous tensor, whatever its type."""
    return tensor.contiguous().reshape(-1).view(torch.uint8)


def _tensors_in(data: Any) -> Iterator[tuple[list[int], str]]:
    """The sizes and types of the tensors in a request, in order."""
    if isinstance(data, dict) and "tensor" in data and isinstance(data["tensor"], list):
        shape, dtype = data["tensor"]
        yield shape, dtype
    elif isinstance(data, dict):
        for part in data.values():
            yield from _tensors_in(part)
    elif isinstance(data, list):
        for part in data:
            yield from _tensors_in(part)
