"""The norm that stands between two values of a pass, measured by running it on probes.

In: a traced pass and two of its values, such as a state of the residual stream and what W_Q reads.
Out: a `Norm`: which of no norm, LayerNorm and RMS norm leads from one to the other, and the scale γ
of each component. The model's own operations are run on rows drawn at random, and a norm is
returned only if it explains what they write, for rows too that it was not fitted to; so it does not
matter how a norm is written.

    y = γ ∘ (x − mean(x)) / σ(x) + β     (LayerNorm; an RMS norm subtracts no mean)
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.experiment.dataflow import operations as ops
from attnviz.experiment.dataflow.rules import joins_activations
from attnviz.experiment.dataflow.stream import replay
from attnviz.experiment.dataflow.trace import Trace, Value

NormKind = Literal["none", "layer norm", "RMS norm"]
KINDS: tuple[NormKind, ...] = get_args(NormKind)
SIZE = 10.0  # of the probes: a norm's ε is nothing beside their squares
# a norm may be off by so many roundings of the model's type, and by the sums of float32
ROUNDINGS, LEAST_SHARE = 8, 1e-5


@dataclass(frozen=True, eq=False)
class Norm:
    """A norm without its σ, which is one positive number for each token, and without its β."""

    kind: NormKind
    scale: Float[Tensor, " d_model"]

    def before(self, weight: Float[Tensor, "d_model d_out"]) -> Float[Tensor, "d_model d_out"]:
        """A weight that reads what the norm wrote, as a weight that reads what it read."""
        scaled = self.scale[:, None] * weight
        return scaled - scaled.mean(0) if self.kind == "layer norm" else scaled

    def behind(self, weight: Float[Tensor, "*row d_model"]) -> Float[Tensor, "*row d_model"]:
        """A weight whose output the norm reads, as a weight that writes what it writes."""
        if self.kind == "layer norm":
            weight = weight - weight.mean(-1, keepdim=True)
        return weight * self.scale

    def of(self, x: Float[Tensor, "*row d_model"]) -> Float[Tensor, "*row d_model"]:
        """Rows with the norm applied, σ included and β left out."""
        return _normed(x, self.kind) * self.scale


@torch.no_grad()
def norm_between(trace: Trace, start: Value, end: Value) -> Norm | None:
    """The norm that leads from one value to another, or none; None if it is something else."""
    x = _probes(start.tensor)
    if start is end:
        return Norm("none", torch.ones(x.shape[-1], device=x.device))
    if not _leads_to(trace, start, end):
        return None
    probes = [x, -x, 1.5 * x.flip(-1)]
    written = [replay(trace, start, rows.to(start.tensor.dtype), end).float() for rows in probes]
    if any(one.shape[-1] != x.shape[-1] or one.numel() != x.numel() for one in written):
        return None
    ahead, back, other = (one.reshape(x.shape) for one in written)
    # half the difference of both signs: what is added behind the norm is in their mean alone
    y, added = (ahead - back) / 2, (ahead + back) / 2
    error, norm = min((_fitted(kind, x, y) for kind in KINDS), key=lambda fit: fit[0])
    error = max(error, float((norm.of(probes[2]) + added - other).abs().max()))
    share = max(ROUNDINGS * torch.finfo(start.tensor.dtype).eps, LEAST_SHARE)
    return norm if error <= share * float(torch.stack([ahead, back, other]).abs().max()) else None


def _fitted(kind: NormKind, x: Tensor, y: Tensor) -> tuple[float, Norm]:
    """The scale with which a kind of norm explains y best, and the largest error that is left."""
    base, wanted = _normed(x, kind).flatten(0, -2), y.flatten(0, -2)
    scale = (base * wanted).sum(0) / base.square().sum(0)
    return float((base * scale - wanted).abs().max()), Norm(kind, scale)


def read_from(trace: Trace, value: Value) -> tuple[Value, Norm] | None:
    """The state that a value is read from, and the norm between them; None if that is unknown.

    The nearest value on the way back that a norm leads from; else the nearest sum of activations,
    or the embedding. A LayerNorm that is written out is an RMS norm of what it centered.
    Positions may be added behind the norm, as in a model whose values know none.
    """
    found: tuple[Value, Norm] | None = None
    last = value
    for last in _on_the_way_back(value):
        norm = norm_between(trace, last, value)
        if norm is not None and (
            found is None or norm.kind == "none" or norm.kind != found[1].kind
        ):
            found = last, norm
    if found is not None and found[1].kind != "none":
        return found
    for state in _before_places(last):
        norm = norm_between(trace, state, value)
        if norm is not None and norm.kind != "none":
            return state, norm
    begins = last.made_by is None or last.made_by.packet in ops.EMBEDS or _joins(last)
    return found if begins and found is not None and found[0] is last else None


def _before_places(value: Value) -> Iterator[Value]:
    """The values behind a sum whose other term is the same for every text, as positions are."""
    if value.made_by is None or not _joins(value):
        return
    terms = list(value.made_by.inputs.values())
    if any(term.tensor.dim() < value.tensor.dim() for term in terms):
        for term in terms:
            yield from _on_the_way_back(term)


def _joins(value: Value) -> bool:
    """True if a value is a sum of two activations."""
    return value.made_by is not None and joins_activations(value.made_by)


def _on_the_way_back(value: Value) -> Iterator[Value]:
    """The values that lead to one, the last first, to the nearest sum of activations."""
    current: Value | None = value
    while current is not None:
        yield current
        made_by = current.made_by
        if made_by is None or _joins(current):
            return
        terms = [
            term
            for term in made_by.inputs.values()
            if term.learned
            and not term.constant
            and term.tensor.shape[-1:] == value.tensor.shape[-1:]
        ]
        passes = made_by.packet in ops.ELEMENTWISE | ops.MOVES | ops.NORMS
        current = max(terms, key=lambda term: term.tensor.numel()) if passes and terms else None


def _leads_to(trace: Trace, start: Value, end: Value) -> bool:
    """True if one value went into the other."""
    derived = {id(start)}
    begin = 0 if start.made_by is None else start.made_by.position + 1
    for operation in trace.operations[begin:]:
        if id(end) in derived:
            return True
        if not derived.isdisjoint(map(id, operation.inputs.values())):
            derived.update(map(id, operation.outputs))
    return id(end) in derived


def _probes(like: Tensor) -> Float[Tensor, "*row d_model"]:
    """Rows of different sizes around a mean that is not 0, so that no two norms agree on them."""
    draws = torch.randn(like.shape, generator=torch.Generator().manual_seed(0)) + 1
    sizes = torch.linspace(1, 3, like.shape[-2] if like.dim() > 1 else 1)
    return (SIZE * draws * sizes[:, None]).to(like.device)


def _normed(x: Tensor, kind: NormKind) -> Tensor:
    if kind == "none":
        return x
    if kind == "layer norm":
        x = x - x.mean(-1, keepdim=True)
    return x / x.square().mean(-1, keepdim=True).sqrt()
