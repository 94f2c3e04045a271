"""Why a head looks there: one score as writers × writers, found by data flow.

    score = scaling · q·k,  q = Σ_i q_i,  k = Σ_j k_j   →   score = Σ_ij scaling · q_i·k_j

What W_Q and W_K read is the sum of what heads, MLPs and embeddings wrote (norms frozen); each
summand goes through W, its constant factor and the rotary embedding, all linear. In: a model, a
text, a head and a cell. Out: a `Why`. The score is centred, the mean over the keys that the query
may attend to taken away, since a softmax ignores what all keys share. MLPs can be passed with their
gates frozen: then "MLP 0" gives way to what it was made of. A share is not a cause:
`weights_without` intervenes.
"""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import torch
from jaxtyping import Bool, Float, Float64
from torch import Tensor

from attnviz.attention.call import AttentionCall
from attnviz.attention.inputs import AttentionInputs
from attnviz.attention.projection import Projection
from attnviz.attention.rotary import rotation_of
from attnviz.attention.tolerance import rounding
from attnviz.capture.changed.layout import layout_of
from attnviz.errors import BadInput, UnsupportedAttention, require_index
from attnviz.experiment.clean_run import CleanRun
from attnviz.experiment.components import Component, components
from attnviz.experiment.dataflow.rules import Rules
from attnviz.experiment.dataflow.trace import Value
from attnviz.experiment.effects import one_site
from attnviz.experiment.traced_run import TracedRun, traced_run
from attnviz.summary import counted, text_table
from attnviz.types import Site, Where

Side = Literal["q", "k"]
# beyond so many layers what one source brings along different MLPs is one component
MAX_LAYERS_APART = 4
BIAS = "bias of W"


@dataclass(frozen=True, eq=False)
class Why:
    """One cell of one head. `shares` sum to `centred` but for `error`.

    `score` is scaling · q·k: the score after division by √d_k (or the model's own scaling), before
    a softcap, a position bias and the mask; `centred` is it minus the row's mean over visible keys;
    `weight` is what the head makes of it. `without` has the weight of the cell with one pair of
    writers cut: its part taken from the scores of the whole row, norms frozen; None where a softcap
    lies between scores and weights.
    """

    head: Site
    query: int
    key: int
    score: float
    centred: float
    weight: float
    queries: tuple[Component, ...]
    keys: tuple[Component, ...]
    shares: Float64[np.ndarray, "query_component key_component"]
    tolerance: float
    frozen: tuple[Literal["norms", "gates"], ...]
    without: Float64[np.ndarray, "query_component key_component"] | None = None

    @property
    def error(self) -> float:
        """|Σ shares − the centred score|."""
        return abs(float(self.shares.sum()) - self.centred)

    @property
    def ok(self) -> bool:
        """True if the shares sum to the score but for rounding."""
        return self.error <= self.tolerance

    @property
    def _doubt(self) -> str:
        """A warning where the shares do not sum to the score; "" where they do."""
        return "" if self.ok else f", NOT ok: off by {self.error:.2g}"

    def by_source(self, side: Side) -> dict[str, float]:
        """The contribution of each source on one side, summed over its paths, the largest first."""
        names = self.queries if side == "q" else self.keys
        sums: dict[str, float] = {}
        for component, share in zip(names, self.shares.sum(1 if side == "q" else 0), strict=True):
            sums[component.label] = sums.get(component.label, 0.0) + float(share)
        return dict(sorted(sums.items(), key=lambda item: -abs(item[1])))

    def pairs(self, count: int) -> list[tuple[Component, Component, float]]:
        """The pairs of writers that carry most of the score: (query side, key side, share)."""
        order = np.argsort(-np.abs(self.shares), axis=None)[:count]
        places = zip(*np.unravel_index(order, self.shares.shape), strict=True)
        return [(self.queries[i], self.keys[j], float(self.shares[i, j])) for i, j in places]

    def to_dict(self) -> dict[str, list[str] | list[float]]:
        """A row for each pair of writers, the largest share first, as lists."""
        pairs = self.pairs(self.shares.size)
        return {
            "query_side": [str(asks) for asks, _, _ in pairs],
            "key_side": [str(answers) for _, answers, _ in pairs],
            "share": [share for _, _, share in pairs],
        }

    def __repr__(self) -> str:
        size = f"{counted(len(self.queries), 'writer')} × {len(self.keys)}"
        return (
            f"Why of {self.head} at {self.query}→{self.key}: score {self.score:.3g}, weight"
            f" {self.weight:.3g}, {size}{self._doubt}; print() lists the largest pairs"
        )

    def __str__(self) -> str:
        """The pairs of writers with their shares, the largest first."""
        pairs = self.pairs(self.shares.size)
        columns = {
            "query side": [str(asks) for asks, _, _ in pairs],
            "key side": [str(answers) for _, answers, _ in pairs],
            "share": [f"{share:+.3f}" for _, _, share in pairs],
        }
        return text_table(columns) if self.ok else f"Why{self._doubt}\n{text_table(columns)}"


def why(prepared: CleanRun, head: Where, query: int, key: int, *, through_mlps: bool = True) -> Why:
    """The score of one cell, split into pairs of writers; another cell takes no other pass.

    Raises `BadInput` for a head or a position that does not exist, and `UnsupportedAttention` where
    W_Q or W_K of the head is not known.
    """
    run = traced_run(prepared)
    head_site, call = head_called(run, head)
    row = visible_keys(head_site, call, query, key)
    assert head_site.head is not None, "one head"
    sides = Sides(run, call, head_site.head, through_mlps)
    return _why(head_site, call, query, key, row, sides)


def visible_keys(head: Site, call: AttentionCall, query: int, key: int) -> Bool[Tensor, " key"]:
    """The keys that a query of a head may attend to; `BadInput` if `key` is not among them."""
    require_index("query", query, call.n_query)
    require_index("key", key, call.n_key)
    inputs = call.inputs
    if not isinstance(inputs, AttentionInputs):
        raise unknown(call, "q")
    assert head.head is not None, "one head"
    visible = inputs.may_attend(head.head)
    row = torch.ones(call.n_key, dtype=torch.bool) if visible is None else visible[query].cpu()
    if not bool(row[key]):
        raise BadInput(
            f"{head} may not attend from {query} to {key}: the mask hides that key",
            code="hidden_cell",
            head=str(head),
            query=query,
            key=key,
        )
    return row


@dataclass(frozen=True, eq=False)
class Sides:
    """The summands of one head's q and k. They are kept with the run for the head's other cells."""

    run: TracedRun
    call: AttentionCall
    head: int
    through_mlps: bool
    _made: dict[Side, tuple[list[Component], Tensor]] = field(default_factory=dict)

    def made(self, side: Side) -> tuple[list[Component], Float[Tensor, "component token d_head"]]:
        """The components of one side, and what each brings to q or k."""
        if side not in self._made:
            self._made[side] = _side(self, side)
        return self._made[side]


def _why(
    head_site: Site,
    call: AttentionCall,
    query: int,
    key: int,
    row: Bool[Tensor, " key"],
    sides: Sides,
) -> Why:
    inputs = call.inputs
    assert isinstance(inputs, AttentionInputs) and head_site.head is not None
    (asks, q), (answers, k) = sides.made("q"), sides.made("k")
    centred_k = k[:, key] - k[:, row].mean(1)
    shares = inputs.scaling * (q[:, query].double() @ centred_k.double().T)
    own_q, own_k, _ = inputs.qkv(head_site.head)
    scores = inputs.scaling * (own_k @ own_q[query]).double()
    size = float(shares.abs().sum())
    return Why(
        head=head_site,
        query=query,
        key=key,
        score=float(scores[key]),
        centred=float(scores[key] - scores[row].mean()),
        weight=float(call.weights(head_site.head)[query, key]),
        queries=tuple(asks),
        keys=tuple(answers),
        shares=shares.cpu().numpy(),
        tolerance=rounding(inputs.dtype, max(size, 1.0)),
        frozen=("norms", "gates") if sides.through_mlps else ("norms",),
        without=None
        if inputs.softcap is not None
        else _without(head_site, call, query, key, sides),
    )


def _without(
    head_site: Site, call: AttentionCall, query: int, key: int, sides: Sides
) -> Float64[np.ndarray, "query_component key_component"]:
    """The weight of a cell where one pair's part is taken from every score of its row.

    Of a softmax: w′ = w·e^−s ÷ (1 + Σ w·(e^−s − 1)), whatever else is in the row, sinks included.
    """
    inputs = call.inputs
    assert isinstance(inputs, AttentionInputs) and head_site.head is not None
    (_, q), (_, k) = sides.made("q"), sides.made("k")
    weights = call.weights(head_site.head)[query].double().to(q.device)
    kept = weights > 0
    parts = inputs.scaling * torch.einsum("ad,bkd->abk", q[:, query].double(), k[:, kept].double())
    least = parts.amin(-1, keepdim=True)  # keeps the exponentials finite
    scaled = weights[kept] * torch.exp(least - parts)
    rest = (1 - weights.sum()).clamp(min=0) * torch.exp(least[..., 0])
    place = int(kept[:key].sum())
    after: np.ndarray = (scaled[..., place] / (scaled.sum(-1) + rest)).cpu().numpy()
    return after if bool(kept[key]) else np.zeros_like(after)


def _side(sides: Sides, side: Side) -> tuple[list[Component], Tensor]:
    call = sides.call
    layer, inputs = call.projections.get(side), call.inputs
    assert isinstance(inputs, AttentionInputs)
    if layer is None:
        raise unknown(call, side)
    head = sides.head if side == "q" else inputs.kv_head(sides.head)
    columns = layer.columns(head, inputs.d_head)
    weight = layer.weight[:, columns].float()
    value = value_read(sides.run, call, layer)
    n_layer = 1 + max(recorded.layer for recorded in sides.run.calls)
    rules = Rules(through_mlps=sides.through_mlps, apart=n_layer <= MAX_LAYERS_APART)
    contributions = components(sides.run, value, rules)
    vectors = torch.stack([part.tensor[0] @ weight for part in contributions])
    names = [part.component for part in contributions]
    if layer.bias is not None:
        bias = layer.bias[columns].float().expand(1, *vectors.shape[1:])
        vectors = torch.cat([vectors, bias])
        names.append(Component(f"{BIAS}_{side.upper()}", "bias", call.layer, layer.module))
    if layer.turned:
        return names, rotation_of(call, 0).rotated(side, vectors)
    return names, vectors * layer.factor


def value_read(run: TracedRun, call: AttentionCall, layer: Projection) -> Value:
    """The value that W_Q or W_K of a call read; `UnsupportedAttention` where it is not known."""
    value = run.read_by(call, layer.module)
    if value is None:
        raise unknown(call, "q")
    return value


def head_called(run: TracedRun, head: Where) -> tuple[Site, AttentionCall]:
    """The head that is meant, and its call; `BadInput` for a layer or what does not exist."""
    layout = layout_of(run.calls)
    own = one_site(layout, head)
    return own, run.calls[layout.calls.index(layout.find(own)[0])]


def unknown(call: AttentionCall, side: Side) -> UnsupportedAttention:
    """The error for a head whose W_Q or W_K is not known."""
    reason = call.absent.get(side, "no layer of its own was seen to run")
    return UnsupportedAttention(
        f"{call.module}: it is not known which layer writes {side} ({reason}), so its score cannot"
        " be split into writers",
        code="no_projection",
        module=call.module,
        stage=side,
    )
