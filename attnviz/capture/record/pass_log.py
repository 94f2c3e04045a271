"""A short pass that is only noted while it runs, and read as a recorded one when it is asked for.

Recording asks of each tensor, as it comes, which layer wrote it: for a short text that takes as
long as the layers run. The answer is the same afterwards, as long as the tensors are. So a pass of
a model that was recorded before is noted: what its linear layers read and wrote, and what attention
was computed of. In: a model's modules and what an earlier pass showed of them. Out: a `PassLog`,
which `noted.noted_calls` reads.

A note counts only if each module that asks for transformers' attention function called it once,
plainly, if no other module could be in a layer's place, and if nothing was changed in place.
Otherwise the pass is run again, recorded as it runs, and the model is not noted any more.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.modules.module import _global_forward_hooks

from attnviz.attention.inputs import AttentionInputs
from attnviz.attention.memory import nbytes
from attnviz.attention.projection import WrittenLayer
from attnviz.attention.stage_changes import StageChange
from attnviz.capture.locate.head_share import HeadShare
from attnviz.capture.locate.layers import is_plain, written_layer
from attnviz.capture.locate.modules import Modules
from attnviz.capture.locate.own_code import asking_modules
from attnviz.capture.locate.projections_by_memory import layers_in_attention, other_projections
from attnviz.errors import UnsupportedAttention
from attnviz.types import MIB

MOST_BYTES = 64 * MIB  # of a capture that is noted, and of a note that is kept
FEW_BYTES = 8 * MIB  # of a capture whose note need not be measured


class NotedLayer(NamedTuple):
    """A linear layer that ran, with the numbers of changes in place of what it read and wrote."""

    name: str
    module: nn.Module
    read: Tensor
    wrote: Tensor
    read_version: int
    wrote_version: int

    @property
    def tensors(self) -> tuple[Tensor, Tensor]:
        """Its input and its output."""
        return self.read, self.wrote

    def holds(self) -> bool:
        """True if neither was changed since."""
        return self.read._version == self.read_version and self.wrote._version == self.wrote_version


class NotedAttention(NamedTuple):
    """One attention: what it was computed of, its result, and their numbers of changes in place."""

    module: nn.Module
    query: Tensor
    key: Tensor
    value: Tensor
    mask: Tensor | None
    causal: bool
    scaling: float | None
    output: Tensor
    versions: tuple[int, ...]

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """The tensors that are watched."""
        some = self.query, self.key, self.value, self.output
        return some if self.mask is None else (*some, self.mask)

    def holds(self) -> bool:
        """True if none was changed since."""
        return tuple(tensor._version for tensor in self.tensors) == self.versions


class KnownLayer(NamedTuple):
    """A layer's weight and bias as the model has them, their addresses, and both as read."""

    weight: Tensor
    bias: Tensor | None
    addresses: tuple[int, int]
    layer: WrittenLayer

    @classmethod
    def of(cls, module: nn.Module) -> "KnownLayer":
        """The weight and bias that a plain layer has now."""
        weight, bias = module._parameters["weight"], module._parameters["bias"]
        assert weight is not None
        addresses = weight.data_ptr(), 0 if bias is None else bias.data_ptr()
        return cls(weight, bias, addresses, written_layer(module, weight, bias))

    def is_of(self, module: nn.Module) -> bool:
        """True if a layer of the same class, which was plain, is so still, and has these."""
        own, bias = module._parameters, self.bias
        return (
            own.get("weight") is self.weight
            and own.get("bias") is bias
            and "forward" not in module.__dict__
            and not module._forward_hooks
            and (self.weight.data_ptr(), 0 if bias is None else bias.data_ptr()) == self.addresses
        )


@dataclass(eq=False)
class PassBefore:
    """A recorded pass of a model: the bytes that it kept of a token.

    Also the weights of the layers, and a `forward` of each that notes what it does.
    """

    token_bytes: int
    layers: dict[str, KnownLayer] = field(default_factory=dict)
    notes: dict[str, Callable[..., Any]] = field(default_factory=dict)
    may_be_noted: bool = True


def log_of(modules: Modules, n_token: int, get_log: Callable[[], object]) -> "PassLog | None":
    """A log for a pass with so many tokens; None where it has to be recorded as it runs.

    `get_log` gives the log of the thread that asks.
    """
    before = modules.remembered(PassBefore)
    if before is None or not before.may_be_noted or before.token_bytes * n_token > MOST_BYTES:
        return None
    if torch.is_inference_mode_enabled():  # where changes in place are not counted
        return None
    if _global_forward_hooks:  # they may change what a layer gives after it was noted
        return None
    layers = layers_in_attention(modules)
    for name, module in layers.items():
        known = before.layers.get(name)
        if known is not None and known.is_of(module):
            continue
        if not is_plain(module) or type(module._parameters.get("weight")) is not nn.Parameter:
            return None
        before.layers[name] = KnownLayer.of(module)
    around = {name: modules[name] for name in other_projections(modules)}
    if any("forward" in module.__dict__ or module._forward_hooks for module in around.values()):
        return None
    return PassLog(modules, before, n_token, layers, around, get_log)


class PassLog:
    """The layers and attentions of one pass, in order; a sink of the attention function."""

    grad = False

    def __init__(
        self,
        modules: Modules,
        before: PassBefore,
        n_token: int,
        layers: Mapping[str, nn.Module],
        around: Mapping[str, nn.Module],
        get_log: Callable[[], object],
    ) -> None:
        self.turn = object()
        self.kept_bytes = before.token_bytes * n_token
        self.entries: list[NotedLayer | NotedAttention] = []
        self.names = modules.names_alone()
        self.layers = before.layers.copy()
        self._n_asking = len(modules.fact(asking_modules))
        self.before, self.modules = before, {**layers, **around}
        self._around, self._get_log = around, get_log
        self.is_plain = True

    # --- while the model runs -------------------------------------------------------------------

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Note the layers while the block runs.

        Their `forward` is exchanged, which hooks are not needed for: these take three times as long
        as the note itself. Nobody else has exchanged it or set a hook behind it.
        """
        notes = self.before.notes
        try:
            for name, module in self.modules.items():
                if name not in notes:
                    make = self._note_around if name in self._around else self._note_layer
                    notes[name] = make(name, module)
                module.__dict__["forward"] = notes[name]
            yield
        finally:
            for module in self.modules.values():
                module.__dict__.pop("forward", None)

    def _note_layer(self, name: str, module: nn.Module) -> Callable[..., Any]:
        """The `forward` of a layer that tells the log of this thread, kept for further passes."""
        cls, before, get = type(module), self.before, self._get_log

        def noted(*args: Any, **kwargs: Any) -> Any:
            output = cls.forward(module, *args, **kwargs)
            log = get()
            if type(log) is PassLog and log.before is before and args:
                read = args[0]
                if type(read) is type(output) is Tensor:
                    try:
                        versions = read._version, output._version
                        log.entries.append(NotedLayer(name, module, read, output, *versions))
                    except RuntimeError:  # in inference mode changes in place are not counted
                        log.is_plain = False
                else:
                    log.is_plain = False
            return output

        return noted

    def _note_around(self, _name: str, module: nn.Module) -> Callable[..., Any]:
        cls, before, get = type(module), self.before, self._get_log

        def noted(*args: Any, **kwargs: Any) -> Any:
            log = get()
            if type(log) is PassLog and log.before is before:
                given = 0
                for x in (*args, *kwargs.values()):
                    given += isinstance(x, Tensor)
                log.is_plain &= given != 1
            return cls.forward(module, *args, **kwargs)

        return noted

    def attended(
        self,
        module: nn.Module,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | None,
        causal: bool,
        scaling: float | None,
        output: Tensor,
    ) -> None:
        """Note one attention."""
        try:
            versions = query._version, key._version, value._version, output._version
            if mask is not None:
                versions = (*versions, mask._version)  # type: ignore[assignment]
        except RuntimeError:  # in inference mode
            self.is_plain = False
            return
        self.entries.append(
            NotedAttention(module, query, key, value, mask, causal, scaling, output, versions)
        )

    def take(
        self,
        module: nn.Module,
        inputs: AttentionInputs,
        output: Tensor,
        share: HeadShare | None = None,
    ) -> None:
        """Give up: this attention has more than is noted."""
        self.is_plain = False

    def leave_out(self, module: nn.Module, error: UnsupportedAttention) -> None:
        """Give up: this attention cannot be derived."""
        self.is_plain = False

    def records(self, module: nn.Module) -> bool:
        """False: no change is made in a pass that is noted."""
        return False

    def exchange(self, read: Tensor, output: Tensor, changes: tuple[StageChange, ...]) -> None:
        """Give up: an output was changed."""
        self.is_plain = False

    def exchange_returned(
        self, module: nn.Module, output: Tensor, changes: tuple[StageChange, ...]
    ) -> None:
        """Give up: an output was changed."""
        self.is_plain = False

    # --- afterwards -----------------------------------------------------------------------------

    def counts(self, n_input: int, most_rows: int) -> bool:
        """True if the note says all of a pass with so many texts; else none is made any more.

        Calls of more than `most_rows` queries are for those that keep samples.
        """
        modules, n_call, is_whole = set(), 0, self.is_plain
        for entry in self.entries:
            is_whole &= entry.holds()
            if type(entry) is NotedAttention:
                n_call += 1
                modules.add(id(entry.module))
                n_batch, _, n_query, _ = entry.query.shape
                is_whole &= n_batch == entry.key.shape[0] == n_input and n_query <= most_rows
        self.before.may_be_noted = is_whole and len(modules) == n_call == self._n_asking
        return self.before.may_be_noted

    def is_large(self) -> bool:
        """True if the note takes more memory than a capture that is noted may.

        It has tensors that the capture has not: what was changed after its layer wrote it.
        """
        if self.kept_bytes <= FEW_BYTES:
            return False
        kept = chain.from_iterable(entry.tensors for entry in self.entries)
        return nbytes(kept) > MOST_BYTES

    def require_unchanged(self) -> None:
        """Raise `UnsupportedAttention` if somebody changed a tensor in place after the pass."""
        if not all(entry.holds() for entry in self.entries):
            raise UnsupportedAttention(
                "tensors of the pass were overwritten in place before the capture was looked at;"
                " look at cap.calls before you change them",
                code="overwritten",
            )
