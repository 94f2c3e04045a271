"""Applies changes while a model runs: which call is which, and where it lies in its sequence.

In: functions of stages by `CallPlace`, the n-th call of a module in a pass. Out: at each attention
call, its inputs with the changes that it has, and its output with them made. A pass begins when the
outermost module that holds a place is called: `generate` runs an encoder outside the model's own
forward. How many tokens came before is asked of the key cache, not told from the shapes: a sliding
cache keeps the last keys only.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from attnviz.attention.inputs import AttentionInputs
from attnviz.attention.stage_changes import Span, StageChange
from attnviz.capture.changed.applied import applied
from attnviz.errors import UnsupportedAttention
from attnviz.types import Kind


@dataclass(frozen=True)
class CallPlace:
    """One attention call of a pass: the n-th call of a module."""

    module: str
    nth: int = 0


@dataclass(frozen=True)
class PlacedChanges:
    """The changes at one place; `kind` and `decodes` say along which texts its axes lie."""

    changes: tuple[StageChange, ...]
    kind: Kind = "self"
    decodes: bool = False  # the queries are a decoder's, beside an encoder


@dataclass(frozen=True)
class _Text:
    """The padding of one text of a pass: `span` of a mask that is `width` wide."""

    span: Span = Span()
    width: int = 0

    def at(self, first: int, n: int) -> Span:
        """The span of n tokens from `first` on; without padding where the mask is not theirs."""
        return replace(self.span if first + n == self.width else Span(), first=first)


@dataclass(frozen=True)
class _Pass:
    """The texts of a pass, and how many tokens its key cache has from before."""

    text: _Text = _Text()
    written: _Text = _Text()
    n_before: int = 0
    has_cache: bool = False


class Changer:
    """The changes of some passes; a context variable of the attention function holds it.

    `made` are the places whose call ran, `n_passes` counts the passes.
    """

    def __init__(
        self, modules: Mapping[str, nn.Module], by_place: Mapping[CallPlace, PlacedChanges]
    ) -> None:
        self.made: set[CallPlace] = set()
        self.n_passes = 0
        self._by_place = by_place
        self._names = {id(module): name for name, module in modules.items()}
        self._counts: Counter[str] = Counter()
        self._depth = 0
        self._pass = _Pass()
        self._handles: list[RemovableHandle] = []
        for module in _holders(modules, by_place):
            enter = module.register_forward_pre_hook(self._enter, with_kwargs=True)
            leave = module.register_forward_hook(self._leave, always_call=True)
            self._handles += [enter, leave]

    def close(self) -> None:
        """Take the hooks off the model."""
        for handle in self._handles:
            handle.remove()

    @property
    def missed(self) -> tuple[CallPlace, ...]:
        """The places whose call did not run."""
        return tuple(place for place in self._by_place if place not in self.made)

    def _enter(self, _module: nn.Module, _args: Any, kwargs: Mapping[str, Any]) -> None:
        if self._depth == 0:
            self.n_passes += 1
            self._counts.clear()
            self._pass = _pass(kwargs)
        self._depth += 1

    def _leave(self, _module: nn.Module, _args: Any, _output: Any) -> None:
        self._depth -= 1

    def place(self, module: nn.Module) -> CallPlace:
        """The place of a call that is made now; each call is counted once."""
        name = self._names.get(id(module)) or type(module).__name__
        place = CallPlace(name, self._counts[name])
        self._counts[name] += 1
        return place

    def change(
        self, module: nn.Module, inputs: AttentionInputs, output: Tensor
    ) -> tuple[AttentionInputs, Tensor]:
        """A call's inputs with its changes, and its output with them made."""
        place = self.place(module)
        placed = self._by_place.get(place)
        if placed is None:
            return inputs, output
        self.made.add(place)
        inputs = replace(inputs, changes=self._bound(placed, inputs.n_query, inputs.n_key))
        return inputs, applied(inputs, output)

    def _bound(self, placed: PlacedChanges, n_query: int, n_key: int) -> tuple[StageChange, ...]:
        """The changes, told where in the sequence this call is."""
        now = self._pass
        own = now.written if placed.decodes else now.text
        query = own.at(now.n_before, n_query)
        if placed.kind == "cross":
            key = now.text.at(0, n_key)
        else:
            key = own.at(_first_key(now, n_query, n_key), n_key)
        return tuple(
            replace(change, query=query, key=key, writes=now.has_cache) for change in placed.changes
        )


def _first_key(now: _Pass, n_query: int, n_key: int) -> int:
    """The position of the first key in self-attention."""
    if not now.has_cache:
        return 0
    dropped = now.n_before + n_query - n_key
    if dropped < 0:
        raise UnsupportedAttention(
            "the key cache has more slots than tokens, as a static key cache does: a slot is not a"
            " position; generate with the default dynamic cache",
            code="static_cache",
        )
    return dropped


def _pass(kwargs: Mapping[str, Any]) -> _Pass:
    cache = kwargs.get("past_key_values")
    length = getattr(cache, "get_seq_length", None)
    return _Pass(
        text=_text(kwargs.get("attention_mask")),
        written=_text(kwargs.get("decoder_attention_mask")),
        n_before=0 if length is None else int(length()),
        has_cache=length is not None,
    )


def _text(mask: object) -> _Text:
    """Where each row's real tokens begin, and how many there are."""
    if not isinstance(mask, Tensor) or mask.dim() != 2:
        return _Text()
    real = mask.bool()
    if bool(real.all()):
        return _Text(Span(), mask.shape[1])
    starts = tuple(real.to(torch.uint8).argmax(-1).tolist())
    lengths = tuple(real.sum(-1).tolist())
    return _Text(Span(0, starts if any(starts) else None, lengths), mask.shape[1])


def _holders(
    modules: Mapping[str, nn.Module], places: Mapping[CallPlace, object]
) -> list[nn.Module]:
    """Every module that holds one of the places, or is one."""
    names = {""}
    for place in places:
        parts = place.module.split(".")
        names |= {".".join(parts[:n]) for n in range(1, len(parts) + 1)}
    return [module for name, module in modules.items() if name in names]
