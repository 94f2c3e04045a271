"""Attention whose W_Q, W_K, W_V and W_O are parameters, in the many ways in which that is written.

Each head has its matrix, as in the lessons on transformers from scratch and in the tools that look
into heads: W_Q [head, d_model, d_head], W_O [head, d_head, d_model].
"""

import random
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

D, H, DH = 12, 3, 4

# q, k or v [batch, token, head, d_head] of x [batch, token, d_model] and W [head, d_model, d_head]
INTO: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "einsum": lambda x, w: torch.einsum("btd,hdk->bthk", x, w),
    "heads first": lambda x, w: torch.einsum("btd,hdk->bhtk", x, w).transpose(1, 2),
    "matmul": lambda x, w: (x[:, None] @ w).transpose(1, 2),
    "tensordot": lambda x, w: torch.tensordot(x, w, dims=([2], [1])),
    "one matrix": lambda x, w: (x @ w.permute(1, 0, 2).reshape(D, H * DH)).reshape(
        *x.shape[:2], H, DH
    ),
    "linear": lambda x, w: functional.linear(x, w.transpose(1, 2).reshape(-1, D)).reshape(
        *x.shape[:2], H, DH
    ),
}
# what W_O [head, d_head, d_model] makes of z [batch, token, head, d_head]
OUT_OF: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "einsum": lambda z, w: torch.einsum("bthk,hkd->btd", z, w),
    "flat": lambda z, w: z.flatten(2) @ w.flatten(0, 1),
    "linear": lambda z, w: functional.linear(z.flatten(2), w.permute(2, 0, 1).reshape(D, -1)),
    "tensordot": lambda z, w: torch.tensordot(z, w, dims=([2, 3], [0, 1])),
    "one by one": lambda z, w: torch.einsum("bthk,hkd->bthd", z, w).sum(2),
}
BIASES = ("none", "added", "before", "in place")


def biased(x: Tensor, bias: Tensor, how: str) -> Tensor:
    """x with a bias, added in one of the `BIASES`' ways."""
    if how == "none":
        return x
    if how == "in place":
        x += bias
        return x
    return bias + x if how == "before" else x + bias


@dataclass(frozen=True)
class Way:
    """How the matrices are written, and what else may mislead."""

    into: str
    out_of: str
    bias: str
    out_bias: str
    n_text: int
    n_token: int
    are_alike: bool  # the texts
    is_tied: bool  # W_K is W_Q
    is_causal: bool
    n_layer: int


def way(seed: int) -> Way:
    """The way of this seed."""
    draw = random.Random(seed)
    return Way(
        draw.choice(sorted(INTO)),
        draw.choice(sorted(OUT_OF)),
        draw.choice(BIASES),
        draw.choice(BIASES),
        draw.choice([1, 2, 3]),
        draw.choice([1, 2, 5, H, DH]),
        draw.random() < 0.2,
        draw.random() < 0.15,
        draw.random() < 0.5,
        draw.choice([1, 2]),
    )


class ByHead(nn.Module):
    """One layer of attention; `read` and `wrote` are what went in and came out last."""

    def __init__(self, how: Way) -> None:
        super().__init__()
        self.how, self.num_heads = how, H
        for name in "QKV":
            setattr(self, f"W_{name}", nn.Parameter(torch.randn(H, D, DH) * D**-0.5))
            setattr(self, f"b_{name}", nn.Parameter(torch.randn(H, DH)))
        if how.is_tied:
            self.W_K = self.W_Q
        self.W_O, self.b_O = nn.Parameter(torch.randn(H, DH, D)), nn.Parameter(torch.randn(D))

    def forward(self, x: Tensor) -> Tensor:
        how, self.read = self.how, x.detach().clone()
        q, k, v = (
            biased(INTO[how.into](x, getattr(self, f"W_{n}")), getattr(self, f"b_{n}"), how.bias)
            for n in "QKV"
        )
        scores = torch.einsum("bqhk,bshk->bhqs", q, k) * 0.4
        if how.is_causal:
            scores = scores.masked_fill(torch.ones_like(scores).triu(1).bool(), -torch.inf)
        z = torch.einsum("bhqs,bshk->bqhk", scores.softmax(-1), v)
        result = biased(OUT_OF[how.out_of](z, self.W_O), self.b_O, how.out_bias)
        self.wrote = result.detach().clone()
        return result


class Stack(nn.Module):
    """Layers one after the other, each added to what it read."""

    def __init__(self, how: Way) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(ByHead(how) for _ in range(how.n_layer))

    def forward(self, x: Tensor) -> Tensor:
        for block in self.blocks:
            x = x + block(x)
        return x


class Model(nn.Module):
    """Ids, the layers, and logits."""

    def __init__(self, how: Way) -> None:
        super().__init__()
        self.embedding, self.body, self.head = nn.Embedding(20, D), Stack(how), nn.Linear(D, 20)

    def forward(self, input_ids: Tensor) -> dict[str, Tensor]:
        return {"logits": self.head(self.body(self.embedding(input_ids)))}
