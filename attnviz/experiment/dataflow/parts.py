"""The terms that sum to a tensor, found by walking back through a traced pass.

In: a `Value` of a `Trace` and `Rules`. Out: `Part`s in the shape of the value, which sum to it but
for rounding; `largest_error` says how nearly, so that a wrong step cannot pass unseen. No module
names and no list of architectures: add, scale, norm, view, slice and cat are linear once each
norm's scale is frozen; the walk ends at embeddings, at what writes into the residual stream and at
anything unknown. After direct logit attribution (Elhage et al. 2021, "A mathematical framework").
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from attnviz.experiment.dataflow.rules import Branch, Leaf, Rules, Split, State, identity
from attnviz.experiment.dataflow.trace import Value

TOGETHER = 64  # so many summands go through a map at once


@dataclass(frozen=True, eq=False)
class Part:
    """One summand. `via` names the MLPs that it went through, where these are passed.

    `source` is the value that the walk ended at; None for a bias.
    """

    name: str
    kind: str
    tensor: Tensor
    source: Value | None
    via: tuple[str, ...] = ()

    @property
    def position(self) -> int:
        """When its source was made within the pass; −1 for a bias or an input."""
        made_by = None if self.source is None else self.source.made_by
        return -1 if made_by is None else made_by.position


@dataclass(frozen=True)
class _Key:
    """A value reached in one state of the walk."""

    value: int
    state: State


@dataclass(frozen=True)
class _PartKey:
    name: str
    kind: str
    source: int | None
    via: tuple[str, ...]


_Amounts = dict[_PartKey, Part]


@dataclass(eq=False)
class Walk:
    """The way back from a value: what each value on it splits into, sources first."""

    value: Value
    rules: Rules
    splits: dict[_Key, Split] = field(default_factory=dict)
    _values: list[Value] = field(default_factory=list)  # ids stay unique while they live

    def __post_init__(self) -> None:
        """Walk back, depth first, without recursion: a model may be deep."""
        start = State(above_stream=self.rules.above_stream)
        waiting = [(self.value, start, False)]
        splits: dict[_Key, Split] = {}
        while waiting:
            value, state, left = waiting.pop()
            key = _Key(id(value), state)
            if key in self.splits:
                continue
            if left:
                self.splits[key] = splits[key]
                continue
            if key not in splits:
                self._values.append(value)
                splits[key] = self.rules.split(value, state)
            waiting.append((value, state, True))
            waiting += [(branch.value, branch.state, False) for branch in splits[key].branches]

    def parts(self) -> list[Part]:
        """The summands; what one source brings along several ways is one part."""
        uses = self._uses()
        kept: dict[_Key, _Amounts] = {}
        for key, split in self.splits.items():
            amounts: _Amounts = {}
            for leaf in split.leaves:
                _add(amounts, Part(leaf.name, leaf.kind, leaf.tensor, leaf.source))
            for branch in split.branches:
                child = _Key(id(branch.value), branch.state)
                uses[child] -= 1
                # the parts of every value at once would not fit
                below = kept[child] if uses[child] else kept.pop(child)
                if branch.map is identity and branch.via is None:
                    amounts = _joined(amounts, below, reuse=uses[child] == 0)
                else:
                    amounts = _joined(amounts, _sent(below, branch), reuse=True)
            kept[key] = amounts
        return list(kept[self._start].values())

    @property
    def leaves(self) -> Iterator[Leaf]:
        """Every leaf of the walk; one that is reached in several ways comes several times."""
        for split in self.splits.values():
            yield from split.leaves

    def total(self, tensor_of: Callable[[Leaf], Tensor | None]) -> Tensor:
        """The sum of what some leaves add to the value, each with its tensor from `tensor_of`.

        A leaf for which that returns None is left out. The map is linear and can be differentiated.
        """
        kept: dict[_Key, Tensor] = {}
        for key, split in self.splits.items():
            tensors = (tensor_of(leaf) for leaf in split.leaves)
            sent = [tensor for tensor in tensors if tensor is not None]
            for branch in split.branches:
                child = kept.get(_Key(id(branch.value), branch.state))
                if child is not None:
                    sent.append(branch.map(child))
            if sent:
                kept[key] = torch.stack(sent).sum(0) if len(sent) > 1 else sent[0]
        total = kept.get(self._start)
        return torch.zeros_like(self.value.tensor, dtype=torch.float32) if total is None else total

    @property
    def _start(self) -> _Key:
        return _Key(id(self.value), State(above_stream=self.rules.above_stream))

    def _uses(self) -> dict[_Key, int]:
        """The number of uses of each value on the way."""
        uses = dict.fromkeys(self.splits, 0)
        for child in self._children():
            uses[child] += 1
        uses[self._start] += 1
        return uses

    def _children(self) -> Iterator[_Key]:
        for split in self.splits.values():
            for branch in split.branches:
                yield _Key(id(branch.value), branch.state)


def parts(value: Value, rules: Rules | None = None) -> list[Part]:
    """The summands of a value, in float32; see `Walk`."""
    return Walk(value, rules or Rules()).parts()


def _sent(below: _Amounts, branch: Branch) -> _Amounts:
    """The parts of a branch's value, sent through its map."""
    sent: _Amounts = {}
    parts_below = list(below.values())
    for start in range(0, len(parts_below), TOGETHER):
        some = parts_below[start : start + TOGETHER]
        for part, moved in zip(some, _mapped([part.tensor for part in some], branch), strict=True):
            via = part.via if branch.via is None else (*part.via, branch.via)
            _add(sent, Part(part.name, part.kind, moved, part.source, via))
    return sent


def _mapped(tensors: list[Tensor], branch: Branch) -> Sequence[Tensor]:
    """The map of a branch applied to each of several tensors, at once where it can be."""
    if not branch.broadcasts or len(tensors) == 1:
        return [branch.map(tensor) for tensor in tensors]
    mapped: tuple[Tensor, ...] = branch.map(torch.stack(tensors)).unbind(0)
    return mapped


def _joined(amounts: _Amounts, below: _Amounts, *, reuse: bool) -> _Amounts:
    """The parts of two summands; with `reuse` the larger of both takes the other's in."""
    if reuse and len(below) > len(amounts):
        amounts, below = below, amounts
    for part in below.values():
        _add(amounts, part)
    return amounts


def _add(amounts: _Amounts, part: Part) -> None:
    source = None if part.source is None else id(part.source)
    key = _PartKey(part.name, part.kind, source, part.via)
    before = amounts.get(key)
    if before is not None:
        summed = before.tensor + part.tensor
        part = Part(part.name, part.kind, summed, part.source, part.via)
    amounts[key] = part


def largest_error(parts: list[Part], value: Value) -> float:
    """max |Σ parts − the tensor|; NaN where anything is NaN."""
    total = torch.zeros(value.tensor.shape)
    for part in parts:
        total = total + part.tensor.cpu()
    return float((total - value.tensor.detach().float().cpu()).abs().max())
