"""Attention that is no product of a softmax with values, or more than one: each has to be named.

Each class is attention by any reading, and stands alone or beside attention that is recorded. Where
a part of it is recorded (`PARTLY`), the rest has to be named all the same.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from tests.support.tutorial_attention import DH, Base, D, H


class TalkingBothWays(Base):
    """Heads mixed before and after the softmax (Shazeer et al. 2020)."""

    def __init__(self) -> None:
        super().__init__()
        self.before, self.after = (nn.Parameter(torch.randn(H, H)) for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.heads(x)
        weights = torch.einsum("bhqk,hg->bgqk", q @ k.mT / DH**0.5, self.before).softmax(-1)
        return self.joined(torch.einsum("bhqk,hg->bgqk", weights, self.after) @ v)


class TalkingByLayers(Base):
    """The same with a layer over the heads (CaiT)."""

    def __init__(self) -> None:
        super().__init__()
        self.before, self.after = nn.Linear(H, H), nn.Linear(H, H)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.heads(x)
        scores = self.before((q @ k.mT / DH**0.5).permute(0, 2, 3, 1))
        weights = self.after(scores.softmax(2)).permute(0, 3, 1, 2)
        return self.joined(weights @ v)


class AdditiveStep(Base):
    """One query, added to every key (Bahdanau et al. 2015)."""

    def __init__(self) -> None:
        super().__init__()
        self.energy = nn.Linear(D, 1)

    def forward(self, x: Tensor) -> Tensor:
        scores = self.energy(torch.tanh(self.to_q(x[:, :1]) + self.to_k(x)))
        return (scores.softmax(1) * x).sum(1)


class Pooling(Base):
    """The tokens weighted by one score each (attention pooling)."""

    def __init__(self) -> None:
        super().__init__()
        self.score = nn.Linear(D, 1)

    def forward(self, x: Tensor) -> Tensor:
        return (self.score(x).softmax(1) * self.to_v(x)).sum(1)


class QueryByQuery(Base):
    """A loop over queries, without a product of matrices."""

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.to_q(x), self.to_k(x), self.to_v(x)
        rows = []
        for query in q.unbind(1):
            weights = (query[:, None] * k).sum(-1, keepdim=True).softmax(1)
            rows.append((weights * v).sum(1))
        return self.to_out(torch.stack(rows, 1))


class SumsOfProducts(Base):
    """Both products of matrices written as sums."""

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.heads(x)
        weights = (q[..., :, None, :] * k[..., None, :, :]).sum(-1).softmax(-1)
        return self.joined((weights[..., None] * v[:, :, None]).sum(-2))


class Graph(Base):
    """A softmax over the edges of each node (Velickovic et al. 2018)."""

    def forward(self, x: Tensor) -> Tensor:
        into, out_of = torch.tensor([[0, 0, 1, 2, 3, 4], [0, 1, 2, 3, 4, 0]])
        shares = (self.to_q(x)[:, into] * self.to_k(x)[:, out_of]).sum(-1).exp()
        totals = torch.zeros(x.shape[:2]).index_add(1, into, shares)
        messages = (shares / totals[:, into])[..., None] * self.to_v(x)[:, out_of]
        return torch.zeros_like(x).index_add(1, into, messages)


class AttentionFree(Base):
    """A softmax of each feature over the tokens (Zhai et al. 2021)."""

    def forward(self, x: Tensor) -> Tensor:
        mixed = (self.to_k(x).softmax(1) * self.to_v(x)).sum(1, keepdim=True)
        return self.to_out(self.to_q(x).sigmoid() * mixed)


class LinearBeside(Base):
    """Softmax and linear attention added up in one forward."""

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.heads(x)
        near = self.joined((q @ k.mT / DH**0.5).softmax(-1) @ v)
        return near + self.joined((functional.elu(q) + 1) @ ((functional.elu(k) + 1).mT @ v))


class ChildAndSigmoid(Base):
    """Attention by a sigmoid, behind a child that is recorded."""

    def __init__(self) -> None:
        super().__init__()
        self.child = _Plain()

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.heads(self.child(x))
        return self.joined((q @ k.mT / DH**0.5 - math.log(x.shape[1])).sigmoid() @ v)


class ValuesTwice(Base):
    """One softmax, two tensors of values."""

    def __init__(self) -> None:
        super().__init__()
        self.others = nn.Linear(D, D)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.heads(x)
        weights = (q @ k.mT / DH**0.5).softmax(-1)
        return self.joined(weights @ v) + self.joined(weights @ self.split(self.others(x)))


class UnfoldedWindows(Base):
    """Every query with the three keys around it, one by one in the batch."""

    def forward(self, x: Tensor) -> Tensor:
        n_batch, n_token, _ = x.shape
        q = self.to_q(x).view(n_batch, n_token, H, 1, DH)
        k, v = (
            functional.pad(layer(x), (0, 0, 1, 1))
            .unfold(1, 3, 1)
            .reshape(n_batch, n_token, H, DH, 3)
            for layer in (self.to_k, self.to_v)
        )
        mixed = (q @ k / DH**0.5).softmax(-1) @ v.mT
        return self.to_out(mixed.reshape(n_batch, n_token, D))


class StackedQueries(Base):
    """Multi-query attention with the queries of all heads one below the other."""

    def __init__(self) -> None:
        super().__init__()
        self.to_k, self.to_v = nn.Linear(D, DH), nn.Linear(D, DH)

    def forward(self, x: Tensor) -> Tensor:
        n_batch, n_token, _ = x.shape
        q = self.split(self.to_q(x)).reshape(n_batch, H * n_token, DH)
        mixed = (q @ self.to_k(x).mT / DH**0.5).softmax(-1) @ self.to_v(x)
        return self.joined(mixed.view(n_batch, H, n_token, DH))


class _Plain(Base):
    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.heads(x)
        return self.joined((q @ k.mT / DH**0.5).softmax(-1) @ v)


class MixedLayers(nn.Module):
    """One learned query at each token, over the states of several layers (Inkling 2)."""

    def __init__(self) -> None:
        super().__init__()
        self.query = nn.Parameter(torch.randn(1, D))

    def forward(self, x: Tensor) -> Tensor:
        states = torch.stack([x, x.tanh(), x.sin()], dim=-2)
        query = self.query.expand(*x.shape[:-1], -1, -1)
        mixed = functional.scaled_dot_product_attention(query, states, states)
        return mixed.squeeze(-2)


UNSEEN: tuple[type[nn.Module], ...] = (
    TalkingBothWays,
    TalkingByLayers,
    AdditiveStep,
    Pooling,
    QueryByQuery,
    SumsOfProducts,
    Graph,
    AttentionFree,
    UnfoldedWindows,
    StackedQueries,
    MixedLayers,
)
PARTLY: tuple[type[nn.Module], ...] = (LinearBeside, ChildAndSigmoid, ValuesTwice)
