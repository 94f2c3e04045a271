"""A short pass that is only noted while it runs, and read as a recorded one when it is asked for.

Recording asks of each tensor, as it comes, which layer wrote it: for a short text that takes as
long as the layers run. The answer is the same afterwards, as long as the tensors are. So a pass of
a model that was recorded before is noted: what its linear layers read and wrote, and what attention
was computed of. In: a model's modules and what an earlier pass showed of them. Out: a `PassLog`,
which `recorder.noted_calls` reads.

A note counts only if each module that asks for transformers' attention function called it once,
plainly, if no other module could be in a layer's place, and if nothing was changed in place.
Otherwise the pass is run again, recorded as it runs, and the model is not noted any more.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from attnviz.attention.inputs import AttentionInputs
from attnviz.attention.projection import WrittenLayer
from attnviz.attention.stage_changes import StageChange
from attnviz.capture.locate.head_share import HeadShare
from attnviz.capture.locate.layers import is_plain, written_layer
from attnviz.capture.locate.modules import Modules
from attnviz.capture.locate.own_code import asking_modules
from attnviz.capture.locate.projections_by_memory import layers_in_attention, other_projections
from attnviz.errors import UnsupportedAttention
from attnviz.types import MIB

MOST_BYTES = 64 * MIB  # of a capture, and of the weights of a model's layers, to be noted


class NotedLayer(NamedTuple):
    """A linear layer that ran, with the numbers of changes in place of what it read and wrote."""

    name: str
    module: nn.Module
    read: Tensor
    wrote: Tensor
    versions: tuple[int, int]

    def holds(self) -> bool:
        """True if neither was changed since."""
        return (self.read._version, self.wrote._version) == self.versions


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
        return cls(weight, bias, _addresses(weight, bias), written_layer(module, weight, bias))

    def is_of(self, module: nn.Module) -> bool:
        """True if the layer still has these."""
        own = module._parameters
        weight, bias = own["weight"], own["bias"]
        is_same = weight is self.weight and bias is self.bias
        return is_same and _addresses(self.weight, bias) == self.addresses


def _addresses(weight: Tensor, bias: Tensor | None) -> tuple[int, int]:
    return weight.data_ptr(), 0 if bias is None else bias.data_ptr()


@dataclass(eq=False)
class PassBefore:
    """A recorded pass of a model: the bytes that it kept of a token, and the layers' weights."""

    token_bytes: int
    layers: dict[str, KnownLayer] = field(default_factory=dict)
    may_be_noted: bool = True


def log_of(modules: Modules, n_token: int) -> "PassLog | None":
    """A log for a pass with so many tokens; None where it has to be recorded as it runs."""
    before = modules.remembered(PassBefore)
    if before is None or not before.may_be_noted or before.token_bytes * n_token > MOST_BYTES:
        return None
    if torch.is_inference_mode_enabled():  # where changes in place are not counted
        return None
    layers = layers_in_attention(modules)
    for name, module in layers.items():
        known = before.layers.get(name)
        if not is_plain(module) or type(module._parameters["weight"]) is not nn.Parameter:
            return None
        if known is None or not known.is_of(module):
            before.layers[name] = KnownLayer.of(module)
    around = {name: modules[name] for name in other_projections(modules)}
    if any("forward" in module.__dict__ or module._forward_hooks for module in around.values()):
        return None
    return PassLog(modules, before, layers, around)


class PassLog:
    """The layers and attentions of one pass, in order; a sink of the attention function."""

    grad = False

    def __init__(
        self,
        modules: Modules,
        before: PassBefore,
        layers: Mapping[str, nn.Module],
        around: Mapping[str, nn.Module],
    ) -> None:
        self.turn = object()
        self.entries: list[NotedLayer | NotedAttention] = []
        self.names = modules.names_alone()
        self.weights = {name: before.layers[name].layer for name in layers}
        self._n_asking = len(modules.fact(asking_modules))
        self._before, self._layers, self._around = before, layers, around
        self._is_plain = True

    # --- while the model runs -------------------------------------------------------------------

    @contextmanager
    def noting(self, is_active: Callable[[], object]) -> Iterator[None]:
        """Note the layers while the block runs and `is_active` gives this log.

        Their `forward` is exchanged, which hooks are not needed for: these take three times as long
        as the note itself. Nobody else has exchanged it or set a hook behind it.
        """
        changed = {**self._layers, **self._around}
        for name, module in changed.items():
            note = self._note_around if name in self._around else self._note_layer
            vars(module)["forward"] = note(name, module, is_active)
        try:
            yield
        finally:
            for module in changed.values():
                del vars(module)["forward"]

    def _note_layer(
        self, name: str, module: nn.Module, is_active: Callable[[], object]
    ) -> Callable[..., Any]:
        forward, add = module.forward, self.entries.append

        def noted(*args: Any, **kwargs: Any) -> Any:
            output = forward(*args, **kwargs)
            if is_active() is self and args:
                read = args[0]
                if type(read) is type(output) is Tensor:
                    versions = read._version, output._version
                    add(NotedLayer(name, module, read, output, versions))
                else:
                    self._is_plain = False
            return output

        return noted

    def _note_around(
        self, _name: str, module: nn.Module, is_active: Callable[[], object]
    ) -> Callable[..., Any]:
        forward = module.forward

        def noted(*args: Any, **kwargs: Any) -> Any:
            if is_active() is self:
                given = sum(isinstance(x, Tensor) for x in (*args, *kwargs.values()))
                self._is_plain &= given != 1
            return forward(*args, **kwargs)

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
        versions = query._version, key._version, value._version, output._version
        if mask is not None:
            versions = (*versions, mask._version)  # type: ignore[assignment]
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
        self._is_plain = False

    def leave_out(self, module: nn.Module, error: UnsupportedAttention) -> None:
        """Give up: this attention cannot be derived."""
        self._is_plain = False

    def records(self, module: nn.Module) -> bool:
        """False: no change is made in a pass that is noted."""
        return False

    def exchange(self, read: Tensor, output: Tensor, changes: tuple[StageChange, ...]) -> None:
        """Give up: an output was changed."""
        self._is_plain = False

    def exchange_returned(
        self, module: nn.Module, output: Tensor, changes: tuple[StageChange, ...]
    ) -> None:
        """Give up: an output was changed."""
        self._is_plain = False

    # --- afterwards -----------------------------------------------------------------------------

    def counts(self, n_input: int, most_rows: int) -> bool:
        """True if the note says all of a pass with so many texts; else none is made any more.

        Texts of more than `most_rows` tokens are for those that keep samples.
        """
        attentions = [entry for entry in self.entries if type(entry) is NotedAttention]
        modules = {id(one.module) for one in attentions}
        is_one_text = all(
            len(one.query) == len(one.key) == n_input and one.query.shape[2] <= most_rows
            for one in attentions
        )
        if not is_one_text:
            return False
        is_whole = self._is_plain and len(modules) == len(attentions) == self._n_asking
        self._before.may_be_noted = is_whole and all(entry.holds() for entry in self.entries)
        return self._before.may_be_noted

    def require_unchanged(self) -> None:
        """Raise `UnsupportedAttention` if somebody changed a tensor in place after the pass."""
        if not all(entry.holds() for entry in self.entries):
            raise UnsupportedAttention(
                "tensors of the pass were overwritten in place before the capture was looked at;"
                " look at cap.calls before you change them",
                code="overwritten",
            )
