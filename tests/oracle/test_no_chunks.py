"""Loops over heads, texts and windows, which are none over parts of the queries."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

import attnviz

D, H, DH, N = 12, 3, 4, 6


def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return (q @ k.mT).softmax(-1) @ v


class Shared(nn.Module):
    """Heads that share keys, one after the other; `way` says how they are taken."""

    def __init__(self, way: str) -> None:
        super().__init__()
        self.way = way
        self.q, self.k, self.v = nn.Linear(D, D), nn.Linear(D, DH), nn.Linear(D, DH)
        self.w, self.out = nn.Parameter(torch.randn(H, D, DH)), nn.Linear(D, D)

    def heads(self, x: Tensor) -> list[Tensor]:
        """The queries of each head [batch, row, d]."""
        n_batch, n, _ = x.shape
        q = self.q(x).view(n_batch, n, H, DH).transpose(1, 2).contiguous()
        if self.way == "one below the other":
            rows = q.reshape(n_batch, H * n, DH)
            return [rows[:, h * n : h * n + n] for h in range(H)]
        if self.way == "a matrix each":
            q = x[:, None] @ self.w
        return [q[:, h : h + 1].flatten(0, 1) for h in range(H)]

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        found = [attend(q, self.k(y), self.v(y)) for q in self.heads(x)]
        result: Tensor = self.out(torch.cat(found, -1))
        return result


@pytest.mark.parametrize("n_batch", [1, 4])
@pytest.mark.parametrize("n", [1, N])
@pytest.mark.parametrize("way", ["sliced", "one below the other", "a matrix each"])
def test_heads_that_share_keys_are_no_queries(way: str, n: int, n_batch: int) -> None:
    torch.manual_seed(2)
    model, x, y = Shared(way).eval(), torch.randn(n_batch, n, D), torch.randn(n_batch, H * n, D)
    with torch.no_grad(), attnviz.record(model) as calls:
        model(x, y)
    assert {(call.n_query, call.n_batch) for call in calls} == {(n, n_batch)}
    assert sum(call.n_heads for call in calls) == H and not calls.missing


class Flat(nn.Module):
    """Texts that are rows of one matrix, each of which attends to itself or to one memory."""

    def __init__(self, has_memory: bool) -> None:
        super().__init__()
        self.has_memory = has_memory
        self.q, self.k, self.v, self.out = (nn.Linear(D, D) for _ in range(4))

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        n_batch, n, _ = x.shape
        q, k, v = (layer(x).reshape(n_batch * n, D) for layer in (self.q, self.k, self.v))
        texts = [slice(b * n, b * n + n) for b in range(n_batch)]
        if self.has_memory:
            k, v = self.k(y), self.v(y)
        seen = [slice(None) if self.has_memory else text for text in texts]
        found = [attend(q[a], k[b], v[b]) for a, b in zip(texts, seen, strict=True)]
        result: Tensor = self.out(torch.cat(found, 0).view(n_batch, n, D))
        return result


@pytest.mark.parametrize("n", [1, N])
@pytest.mark.parametrize("has_memory", [False, True])
def test_texts_that_are_rows_of_one_matrix_are_no_queries_of_one_text(
    has_memory: bool, n: int
) -> None:
    torch.manual_seed(2)
    model = Flat(has_memory).eval()
    with torch.no_grad(), attnviz.record(model) as calls:
        model(torch.randn(4, n, D), torch.randn(17, D))
    assert [call.n_query for call in calls] == [n] * 4 and not calls.missing
    assert all(call.verify().ok for call in calls)


@pytest.mark.parametrize(
    "cut",
    [
        lambda x: [x[b : b + 1] for b in range(4)],
        lambda x: list(x.unbind(0)),
        lambda x: [x.view(4, 2, 3, D)[:, i] for i in range(2)],
    ],
)
def test_texts_and_windows_one_after_the_other_are_calls_of_their_own(
    cut: Callable[[Tensor], list[Tensor]],
) -> None:
    class Cut(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.q, self.k, self.v = (nn.Linear(D, D) for _ in range(3))
            self.num_heads = 1

        def forward(self, x: Tensor) -> Tensor:
            parts = (cut(layer(x)) for layer in (self.q, self.k, self.v))
            return torch.stack([attend(*part) for part in zip(*parts, strict=True)])

    torch.manual_seed(2)
    model, x = Cut().eval(), torch.randn(4, N, D)
    with torch.no_grad():
        n_part = len(cut(x))
        calls = recorded(model, x)
    assert len(calls) in (0, n_part)  # or no layer shows the order of their axes


def recorded(model: nn.Module, x: Tensor) -> list[int]:
    """The numbers of queries of each call; none where all are refused."""
    try:
        with attnviz.record(model) as calls:
            model(x)
    except attnviz.UnsupportedAttention:
        return []
    return [call.n_query for call in calls]
