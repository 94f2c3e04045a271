"""The split of an operation's output: branches to walk on, and leaves where the walk ends.

In: a `Value` and `Rules`. Out: a `Split`: the value is the sum of its leaves and of each branch's
value sent through that branch's linear map. Norms are linear once their scale is frozen (the mean
they subtract is linear anyway), a gate y = f(x) once its ratio y ÷ x is. The rest are leaves.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch._ops import OpOverloadPacket

from attnviz.experiment.dataflow import operations as ops
from attnviz.experiment.dataflow.operations import aten
from attnviz.experiment.dataflow.trace import Operation, Value

LinearMap = Callable[[Tensor], Tensor]
MIN_GATED = 1e-6  # below it y ÷ x is taken as the slope at 0
# so many elementwise steps lie between a nonlinearity and the product it gates, at most
GATE_STEPS = 6
# `_to_copy` and its like take these beside what they do to the numbers
LAYOUT_KEYWORDS = frozenset("dtype layout device pin_memory memory_format non_blocking".split())


@dataclass(frozen=True, eq=False)
class Leaf:
    """A summand where the walk ends, in the shape of the value that it was found in."""

    name: str
    kind: str
    tensor: Tensor
    source: Value | None = None


@dataclass(frozen=True)
class State:
    """The place of the walk: above the residual stream, in it, or inside an MLP."""

    above_stream: bool = False
    inside_mlp: bool = False


@dataclass(frozen=True, eq=False)
class Branch:
    """A value to walk on to, the map from it to the value that was split, and the MLP it is in.

    `broadcasts` is True if the map takes further axes in front, so that many summands go through it
    at once.
    """

    value: Value
    state: State
    map: LinearMap
    via: str | None = None
    broadcasts: bool = False


@dataclass(frozen=True, eq=False)
class Split:
    """A value = Σ leaves + Σ map(branch)."""

    branches: tuple[Branch, ...] = ()
    leaves: tuple[Leaf, ...] = ()


@dataclass(frozen=True, eq=False)
class Rules:
    """The rules by which a walk splits values and stops.

    `above_stream`: the tensor lies above the residual stream, as logits do: linear layers down to
    the stream are passed, and with `gates` nonlinearities on the way are frozen as ratios. In the
    stream a linear layer's output is a leaf, unless `through_mlps`. `sources` may say what a value
    is the sum of, and go before every other rule. `apart` keeps what went through an MLP from what
    did not.
    """

    above_stream: bool = False
    gates: bool = False
    through_mlps: bool = False
    apart: bool = True
    sources: Callable[[Value], Sequence[Leaf] | Split | None] = lambda _value: None

    def split(self, value: Value, state: State) -> Split:
        """The summands of a value, one operation back."""
        known = self.sources(value)
        if known is not None:
            return known if isinstance(known, Split) else Split(leaves=tuple(known))
        if value.made_by is None:
            return _leaf(value, "bias", "constant")
        rule = RULES.get(value.made_by.packet)
        split = None if rule is None else rule(value, value.made_by, self, state)
        return split or _leaf(value, "other", f"{value.made_by.module}:{value.made_by.packet}")

    def frozen_gates(self, state: State) -> bool:
        """True if nonlinearities are frozen here."""
        return self.gates if state.above_stream else self.through_mlps


Rule = Callable[[Value, Operation, Rules, State], Split | None]


def identity(x: Tensor) -> Tensor:
    """x."""
    return x


def _leaf(value: Value, kind: str, name: str) -> Split:
    return Split(leaves=(Leaf(name, kind, value.tensor.detach().float(), value),))


def _one(
    value: Value, state: State, map_: LinearMap, *leaves: Leaf, broadcasts: bool = True
) -> Split:
    return Split((Branch(value, state, map_, broadcasts=broadcasts),), leaves)


def _sum(value: Value, made_by: Operation, _rules: Rules, state: State) -> Split:
    sign = -1 if made_by.packet in ops.SUBTRACTS else 1
    terms = zip(made_by.args[:2], (1, made_by.kwargs.get("alpha", 1) * sign), strict=True)
    shape, branches, leaves = value.tensor.shape, [], []
    if joins_activations(made_by):
        state = State()  # the residual stream begins here
    for term, factor in terms:
        if isinstance(term, Tensor):
            same = factor == 1 and term.shape == shape
            map_ = identity if same else _scaled_to(shape, float(factor))
            branches.append(Branch(made_by.value(term), state, map_))
        else:
            constant = torch.full(shape, float(term) * factor)
            leaves.append(Leaf(f"constant {term}", "bias", constant))
    return Split(tuple(branches), tuple(leaves))


def _scaled_to(shape: torch.Size, factor: float) -> LinearMap:
    return lambda x: (x * factor).expand(shape)


def joins_activations(made_by: Operation) -> bool:
    """True if an operation adds two activations, as every step of a residual stream does."""
    if made_by.packet not in ops.ADDS:
        return False
    terms = [made_by.value(term) for term in made_by.args[:2] if isinstance(term, Tensor)]
    return len(terms) == 2 and all(term.learned and not term.constant for term in terms)


def _product(_value: Value, made_by: Operation, rules: Rules, state: State) -> Split | None:
    """One factor is frozen: a number, a parameter, a statistic of each token, or a gate."""
    left, right = made_by.args[0], made_by.args[1]
    divides = made_by.packet in ops.DIVIDES
    if not isinstance(right, Tensor):
        number = 1 / right if divides else right
        return _one(made_by.value(left), state, lambda x: x * number)
    moving, frozen = made_by.value(left), made_by.value(right)
    smaller = moving.tensor.numel() < frozen.tensor.numel()
    if not divides and (moving.constant or (not frozen.constant and smaller)):
        moving, frozen = frozen, moving
    if not (frozen.constant or frozen.tensor.numel() < moving.tensor.numel()):
        if divides or not rules.frozen_gates(state) or is_gate(moving) == is_gate(frozen):
            return None
        if is_gate(moving):
            moving, frozen = frozen, moving
    factor = frozen.tensor.detach().float()
    map_: LinearMap = (lambda x: x / factor) if divides else (lambda x: x * factor)
    return _one(moving, state, map_, broadcasts=factor.dim() <= moving.tensor.dim())


def is_gate(value: Value, steps: int = GATE_STEPS) -> bool:
    """True if a nonlinearity made the value, a few elementwise operations ago."""
    made_by = value.made_by
    if made_by is None or steps == 0 or made_by.packet in ops.LINEAR:
        return False
    if made_by.packet in ops.BENDS:
        return True
    passes = made_by.packet in ops.ELEMENTWISE or made_by.packet in ops.MOVES
    return passes and any(is_gate(before, steps - 1) for before in made_by.inputs.values())


def _layer_norm(value: Value, made_by: Operation, _rules: Rules, state: State) -> Split:
    x, normalised, weight, bias, eps = made_by.args[:5]
    dims = tuple(range(-len(normalised), 0))
    before = made_by.value(x)
    variance = before.tensor.detach().float().var(dims, unbiased=False, keepdim=True)
    scale = (variance + eps).rsqrt()
    if weight is not None:
        scale = scale * weight.detach().float()
    leaves = [] if bias is None else [_bias(made_by, bias, value.tensor.shape)]
    return _one(before, state, lambda c: (c - c.mean(dims, keepdim=True)) * scale, *leaves)


def _rms_norm(_value: Value, made_by: Operation, _rules: Rules, state: State) -> Split:
    x, normalised, weight, eps = made_by.args[:4]
    before = made_by.value(x)
    numbers = before.tensor.detach().float()
    dims = tuple(range(-len(normalised), 0))
    smallest = torch.finfo(before.tensor.dtype).eps if eps is None else eps
    scale = (numbers.pow(2).mean(dims, keepdim=True) + smallest).rsqrt()
    if weight is not None:
        scale = scale * weight.detach().float()
    return _one(before, state, lambda c: c * scale)


def _bias(made_by: Operation, bias: Tensor, shape: torch.Size) -> Leaf:
    return Leaf(f"{made_by.module}.bias", "bias", bias.detach().float().expand(shape))


def _move(value: Value, made_by: Operation, _rules: Rules, state: State) -> Split:
    before = made_by.value(made_by.args[0])
    if made_by.packet in ops.COPIES:
        return _one(before, state, identity)
    if made_by.packet in ops.RESHAPES:
        shape, n_axis = value.tensor.shape, before.tensor.dim()
        return _one(before, state, lambda c: c.reshape(*c.shape[: c.dim() - n_axis], *shape))
    kwargs = {
        name: argument for name, argument in made_by.kwargs.items() if name not in LAYOUT_KEYWORDS
    }

    def moved(c: Tensor) -> Tensor:
        out = made_by.func(c, *made_by.args[1:], **kwargs)
        picked: Tensor = out[value.index] if isinstance(out, tuple | list) else out
        return picked

    return _one(before, state, moved, broadcasts=False)


def _joined(value: Value, made_by: Operation, _rules: Rules, state: State) -> Split:
    axis = made_by.args[1] if len(made_by.args) > 1 else made_by.kwargs.get("dim", 0)
    shape, start, branches = value.tensor.shape, 0, []
    for piece in made_by.args[0]:
        branches.append(Branch(made_by.value(piece), state, _placed(shape, axis, start)))
        start += piece.shape[axis]
    return Split(tuple(branches))


def _placed(shape: torch.Size, axis: int, start: int) -> LinearMap:
    def place(c: Tensor) -> Tensor:
        whole = c.new_zeros(shape)
        whole.narrow(axis, start, c.shape[axis]).copy_(c)
        return whole

    return place


def _embedding(value: Value, made_by: Operation, _rules: Rules, _state: State) -> Split:
    return _leaf(value, "embedding", made_by.module)


@dataclass(frozen=True, eq=False)
class LinearLayer:
    """x·weight + bias, whatever the operation is called."""

    x: Value
    weight: Tensor
    bias: Tensor | None


def layer_of(made_by: Operation) -> LinearLayer:
    """The factors of a linear operation."""
    if made_by.packet is aten.addmm:
        bias, x, weight = made_by.args[:3]
        beta, alpha = made_by.kwargs.get("beta", 1), made_by.kwargs.get("alpha", 1)
        scaled = weight if alpha == 1 else weight * alpha
        return LinearLayer(made_by.value(x), scaled, bias if beta == 1 else bias * beta)
    x, weight = made_by.args[:2]
    bias = made_by.args[2] if made_by.packet is aten.linear and len(made_by.args) > 2 else None
    weight = weight.t() if made_by.packet is aten.linear else weight
    return LinearLayer(made_by.value(x), weight, bias)


def _linear(value: Value, made_by: Operation, rules: Rules, state: State) -> Split:
    layer, shape = layer_of(made_by), value.tensor.shape
    leaves = [] if layer.bias is None else [_bias(made_by, layer.bias, shape)]
    weight = layer.weight.detach().float()
    if state.above_stream:
        return _one(layer.x, state, lambda c: c @ weight, *leaves)
    if rules.through_mlps:
        out_of_mlp = not state.inside_mlp  # the layer that writes; the next one back reads
        via = made_by.module if out_of_mlp and rules.apart else None
        inside = replace(state, inside_mlp=out_of_mlp)
        branch = Branch(layer.x, inside, lambda c: c @ weight, via, broadcasts=True)
        return Split((branch,), tuple(leaves))
    written = value.tensor.detach().float()
    written = written if layer.bias is None else written - leaves[0].tensor
    return Split(leaves=(Leaf(made_by.module, "linear", written, value), *leaves))


def _gate(value: Value, made_by: Operation, rules: Rules, state: State) -> Split | None:
    if not rules.frozen_gates(state):
        return None
    before = made_by.value(made_by.args[0])
    x, y = before.tensor.detach().float(), value.tensor.detach().float()
    slope = 1.0 if made_by.packet is aten.tanh else 0.5
    ratio = torch.where(x.abs() > MIN_GATED, y / x, torch.full_like(x, slope))
    return _one(before, state, lambda c: c * ratio)


GROUPS: tuple[tuple[ops.Packets, Rule], ...] = (
    (ops.ADDS | ops.SUBTRACTS, _sum),
    (ops.MULTIPLIES | ops.DIVIDES, _product),
    (ops.LAYER_NORMS, _layer_norm),
    (ops.RMS_NORMS, _rms_norm),
    (ops.MOVES, _move),
    (frozenset((aten.cat,)), _joined),
    (ops.EMBEDS, _embedding),
    (ops.LINEAR, _linear),
    (ops.GATES, _gate),
)
RULES: dict[OpOverloadPacket, Rule] = {
    packet: rule for packets, rule in GROUPS for packet in packets
}
