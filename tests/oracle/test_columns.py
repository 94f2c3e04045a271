"""A softmax over positions is told from one over the columns of a layer, whatever their numbers."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

import attnviz
from attnviz.attention.capture import MissingCall

N, D = 6, 12  # tokens; two heads are as wide as there are tokens


class Heads(nn.Module):
    """Attention by sums over pairs, with as many tokens as a head has columns."""

    def __init__(self, n_head: int, is_summed: bool) -> None:
        super().__init__()
        self.q, self.k, self.v, self.out = (nn.Linear(D, D) for _ in range(4))
        self.n_head, self.is_summed = n_head, is_summed
        self.truth = torch.empty(0)

    def forward(self, x: Tensor) -> Tensor:
        layers = self.q, self.k, self.v
        q, k, v = (layer(x).unflatten(-1, (self.n_head, -1)).transpose(1, 2) for layer in layers)
        weights = (q.unsqueeze(-2) * k.unsqueeze(-3)).sum(-1).softmax(-1)
        self.truth = weights.clone()
        pairs = (weights.unsqueeze(-1) * v.unsqueeze(-3)).sum(-2) if self.is_summed else weights @ v
        return self.out(pairs.transpose(1, 2).flatten(2))


class Behind(nn.Module):
    """Attention that is recorded, and something behind it."""

    def __init__(self, behind: Callable[[Tensor], Tensor], width: int = 30) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(D, 2, batch_first=True)
        self.layer = nn.Linear(D, width)
        self.single = nn.ModuleList(nn.Linear(D, 1) for _ in range(4))
        self.convolution = nn.Conv2d(1, 5, 3, padding=1)
        self.register_buffer("classes", torch.arange(16.0))
        self.behind = behind

    def forward(self, x: Tensor) -> Tensor:
        mixed = self.attention(x, x, x)[0]
        if isinstance(self.behind, nn.Module):
            return self.behind(mixed)
        return self.behind(self, mixed)


def missing_of(model: nn.Module, n_token: int = N) -> tuple[tuple[MissingCall, ...], list]:
    torch.manual_seed(0)
    with torch.no_grad(), attnviz.record(model.eval()) as calls:
        model(torch.randn(2, n_token, D))
    return tuple(calls.missing), [call for call in calls if call.module == "behind"]


@pytest.mark.parametrize(("n_head", "n_token"), [(1, 12), (2, 6), (2, 12), (3, 4), (4, 3), (3, 5)])
def test_scores_written_as_sums_are_recorded_or_named(n_head: int, n_token: int) -> None:
    heads = Heads(n_head, is_summed=False)
    missing, calls = missing_of(Behind(heads), n_token)
    assert missing == () and len(calls) == 1
    assert torch.equal(calls[0].weights(batch=1), heads.truth[1]) and calls[0].kind == "self"
    missing, calls = missing_of(Behind(Heads(n_head, is_summed=True)), n_token)
    assert calls == []
    assert [call.module for call in missing] == ["behind"]
    assert "no matrix product" in missing[0].reason


def binomial(self: Behind, x: Tensor) -> Tensor:
    """A distribution over classes by two numbers of each token (ZoeDepth)."""
    p, temperature = self.layer(x)[..., :2].sigmoid().split(1, -1)
    logits = self.classes * p.log() + (15 - self.classes) * (1 - p).log()
    return (logits / temperature).softmax(-1)


def exponentials(self: Behind, x: Tensor) -> Tensor:
    numbers = self.layer(x).exp()
    return numbers / numbers.sum(-1, keepdim=True)


OF_COLUMNS: dict[str, Callable[[Behind, Tensor], Tensor]] = {
    "channels (SuperPoint)": lambda self, x: self.convolution(x[:, None]).relu().softmax(1),
    "two classes of many (ShieldGemma 2)": lambda self, x: self.layer(x)[:, -1][:, [3, 7]].softmax(
        -1
    ),
    "a table of classes (ZoeDepth)": binomial,
    "gathered": lambda self, x: (
        self.layer(x).gather(-1, torch.zeros(2, N, 4, dtype=torch.long)).softmax(-1)
    ),
    "the largest of three": lambda self, x: (
        self.layer(x).unflatten(-1, (10, 3)).amax(-1).softmax(-1)
    ),
    "turned": lambda self, x: self.layer(x).mT.contiguous().softmax(1),
    "the mean of all tokens": lambda self, x: self.layer(x).mean(1).softmax(-1),
    "one token of each text": lambda self, x: self.layer(x)[
        torch.arange(2), torch.tensor([1, 3])
    ].softmax(-1),
    "stacked": lambda self, x: torch.stack([self.layer(x), self.layer(2 * x)], 1).softmax(-1),
    "a gate of half the columns": lambda self, x: functional.softmax(
        self.layer(x).chunk(2, -1)[0], -1
    ),
    "normed": lambda self, x: functional.layer_norm(self.layer(x), (30,)).softmax(-1),
    "pooled": lambda self, x: functional.adaptive_avg_pool1d(self.layer(x).mT, 2).softmax(1),
    "exponentials": exponentials,
    "a layer for each class, stacked": lambda self, x: torch.stack(
        [layer(x)[..., 0] for layer in self.single], -1
    ).softmax(-1),
    "a layer for each class, joined": lambda self, x: torch.cat(
        [layer(x) for layer in self.single], -1
    ).softmax(-1),
    "a logarithm": lambda self, x: self.layer(x).log_softmax(-1).exp(),
}


@pytest.mark.parametrize("name", OF_COLUMNS)
def test_a_softmax_over_columns_of_a_layer_is_not_named(name: str) -> None:
    assert missing_of(Behind(OF_COLUMNS[name]))[0] == ()


OF_POSITIONS: dict[str, Callable[[Behind, Tensor], Tensor]] = {
    "one layer for each token": lambda self, x: torch.stack(
        [self.single[0](token)[..., 0] for token in x.unbind(1)], -1
    ).softmax(-1),
    "a layer for each token": lambda self, x: torch.cat(
        [layer(token) for layer, token in zip(self.single, x.unbind(1), strict=False)], -1
    ).softmax(-1),
    "two layers over all tokens": lambda self, x: torch.cat(
        [layer(x) for layer in self.single[:2]], 1
    ).softmax(1),
}


@pytest.mark.parametrize("name", OF_POSITIONS)
def test_scores_of_tokens_side_by_side_are_not_taken_for_columns(name: str) -> None:
    (missing,) = missing_of(Behind(OF_POSITIONS[name]))[0]
    assert "no matrix product" in missing.reason
