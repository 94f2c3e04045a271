"""Heads that one module computes one after the other: one layer, and steps of time are none."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

import attnviz
from attnviz.changes import Change
from tests.support.head_changes import CHANGES, check_changed_exactly

D, H, DH, N = 12, 3, 4, 5


class Loop(nn.Module):
    """A loop over heads; `columns` says whose columns a head has, `joined` what becomes of it."""

    def __init__(self, columns: str, joined: str) -> None:
        super().__init__()
        self.columns, self.joined = columns, joined
        if columns == "lists":
            self.q, self.k, self.v = (
                nn.ModuleList(nn.Linear(D, DH) for _ in range(H)) for _ in range(3)
            )
        elif columns == "parameters":
            self.w = nn.Parameter(torch.empty(3, H, D, DH))
        else:
            self.q, self.k, self.v = (nn.Linear(D, D) for _ in range(3))
        self.proj = nn.Linear(D, D)
        self.of: dict[int, Callable[[Tensor], Tensor]] = {}
        self.weights: list[Tensor] = []

    def head(self, x: Tensor, number: int) -> list[Tensor]:
        """q, k, v of one head [batch, token, d_head]."""
        part = slice(number * DH, (number + 1) * DH)
        if self.columns == "parameters":
            return [x @ self.w[which, number] for which in range(3)]
        layers = self.q, self.k, self.v
        if self.columns == "lists":
            return [layer[number](x) for layer in layers]  # type: ignore[operator]
        if self.columns == "weights":
            return [functional.linear(x, a.weight[part], a.bias[part]) for a in layers]
        return [layer(x)[..., part] for layer in layers]

    def forward(self, x: Tensor) -> Tensor:
        self.weights, mixed = [], []
        causal = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
        for number in range(H):
            q, k, v = self.head(x, number)
            scores = (q @ k.mT * DH**-0.5).masked_fill(~causal, -torch.inf)
            weights = scores.softmax(-1)
            self.weights.append(weights)
            mixed.append(self.of.get(number, lambda same: same)(weights) @ v)
        if self.joined == "stack":
            return self.proj(torch.stack(mixed, 2).flatten(2))
        if self.joined == "sum":
            parts = self.proj.weight.split(DH, dim=1)
            return sum(z @ part.T for z, part in zip(mixed, parts, strict=True)) + self.proj.bias
        return self.proj(torch.cat(mixed, -1))


class Two(nn.Module):
    """Two such modules."""

    def __init__(self, columns: str, joined: str) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(Loop(columns, joined) for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        for block in self.blocks:
            x = x + block(x)
        return x


def ready(model: nn.Module) -> nn.Module:
    torch.manual_seed(11)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.5)
    return model.eval()


def recorded(model: nn.Module, *inputs: Tensor, times: int = 1) -> list[tuple[str, int, int]]:
    """Name, layer and number of heads of each call."""
    with torch.no_grad(), attnviz.record(ready(model)) as calls:
        for _ in range(times):
            model(*inputs)
    assert all(call.verify().ok for call in calls)
    return [(call.name, call.layer, call.n_heads) for call in calls]


@pytest.mark.some(4)
@pytest.mark.parametrize("joined", ["cat", "stack", "sum"])
@pytest.mark.parametrize("columns", ["lists", "parameters", "weights", "slices"])
def test_a_loop_over_heads_is_one_layer(columns: str, joined: str) -> None:
    model = Two(columns, joined)
    ready(model)
    with torch.no_grad(), attnviz.record(model) as calls:
        model(torch.randn(2, N, D))
    assert [(call.name, call.layer, call.n_heads) for call in calls] == [
        ("blocks.0#0", 0, H),
        ("blocks.1#0", 1, H),
    ]
    assert not calls.missing
    for call, block in zip(calls, model.blocks, strict=True):
        for batch in range(2):
            theirs = torch.stack([weights[batch] for weights in block.weights])  # type: ignore[union-attr, index]
            torch.testing.assert_close(call.weights(batch=batch), theirs, atol=1e-6, rtol=0)
        assert call.mask_kind == "causal" and call.kind == "self" and call.verify().ok
        assert ("out" in call.projections) == (joined != "sum")
        assert ("projected" in call.absent) == (joined == "sum")
        if columns in ("lists", "slices"):
            named = {stage: call.projections[stage].module for stage in "qkv"}
            end = ".*" if columns == "lists" else ""
            assert named == {stage: f"{call.module}.{stage}{end}" for stage in "qkv"}
        steps = attnviz.derive(call, 2, batch=1)
        assert max(view.error or 0 for view in steps.views()) < 1e-5


@pytest.mark.parametrize("columns", ["lists", "slices"])
@pytest.mark.parametrize(("change", "by_hand"), CHANGES)
def test_a_head_of_a_loop_is_changed_exactly(
    columns: str, change: Change, by_hand: Callable[[Tensor], Tensor]
) -> None:
    model = ready(Loop(columns, "cat"))
    check_changed_exactly(model, torch.randn(1, N, D), change, by_hand)


def test_each_run_on_one_text_is_a_call_of_its_own() -> None:
    assert recorded(Loop("lists", "cat"), torch.randn(1, N, D), times=2) == [
        ("Loop#0", 0, H),
        ("Loop#1", 0, H),
    ]

    class Twins(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = Loop("slices", "cat")

        def forward(self, x: Tensor) -> Tensor:
            return self.encoder(x) - self.encoder(x)

    twins = recorded(Twins(), torch.randn(1, N, D))
    assert twins == [("encoder#0", 0, H), ("encoder#1", 1, H)]


def test_other_columns_in_a_second_pass_are_no_heads_of_the_first() -> None:
    model, x = Loop("lists", "cat"), torch.randn(1, N, D)
    with torch.no_grad(), attnviz.record(ready(model)) as calls:
        for _ in range(2):
            model(x)
            model.q, model.k = model.k, model.q
    assert [(call.name, call.n_heads) for call in calls] == [("Loop#0", H), ("Loop#1", H)]


class Steps(nn.Module):
    """A decoder that attends once a step; with `buffer` it keeps its state in one tensor."""

    def __init__(self, joins_all: bool, buffer: bool) -> None:
        super().__init__()
        self.joins_all, self.buffer = joins_all, buffer
        self.q, self.k, self.v = (nn.Linear(D, D) for _ in range(3))
        self.cell, self.out = nn.GRUCell(D, D), nn.Linear(H * D if joins_all else D, D)

    def forward(self, x: Tensor) -> Tensor:
        state, k, v, contexts = torch.ones_like(x[:, :1]), self.k(x), self.v(x), []
        for _ in range(H):
            context = (self.q(state) @ k.mT).softmax(-1) @ v
            contexts.append(context)
            new = self.cell(context[:, 0], state[:, 0])[:, None]
            state = state.copy_(new) if self.buffer else new
        return self.out(torch.cat(contexts, -1 if self.joins_all else 1))


@pytest.mark.parametrize("buffer", [False, True])
@pytest.mark.parametrize("joins_all", [False, True])
def test_steps_of_time_are_no_heads(joins_all: bool, buffer: bool) -> None:
    found = recorded(Steps(joins_all, buffer), torch.randn(2, N, D))
    assert found == [(f"Steps#{step}", 0, 1) for step in range(H)]


class Pairs(nn.Module):
    """Two attentions of one text, of which the second is subtracted; with one v for both."""

    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v = nn.Linear(D, 2 * D), nn.Linear(D, 2 * D), nn.Linear(D, D)

    def forward(self, x: Tensor) -> Tensor:
        v = self.v(x)
        first, second = (
            (q @ k.mT).softmax(-1) @ v
            for q, k in zip(self.q(x).chunk(2, -1), self.k(x).chunk(2, -1), strict=True)
        )
        return first - 0.5 * second


class Memories(nn.Module):
    """A text that asks two others, one after the other."""

    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v = nn.Linear(D, 2 * D), nn.Linear(D, D), nn.Linear(D, D)
        self.out = nn.Linear(2 * D, D)

    def forward(self, x: Tensor, y: Tensor, z: Tensor) -> Tensor:
        asked = zip(self.q(x).chunk(2, -1), (y, z), strict=True)
        found = [(q @ self.k(given).mT).softmax(-1) @ self.v(given) for q, given in asked]
        return self.out(torch.cat(found, -1))


def test_attention_that_shows_no_head_stays_apart() -> None:
    x, y, z = torch.randn(3, 1, N, D)
    assert recorded(Pairs(), x) == [("Pairs#0", 0, 1), ("Pairs#1", 0, 1)]
    assert recorded(Memories(), x, y, z) == [("Memories#0", 0, 1), ("Memories#1", 0, 1)]


def test_a_loop_with_a_head_that_is_refused_has_no_numbers_for_the_others() -> None:
    model = Loop("lists", "cat")
    model.of = {1: lambda weights: weights * weights}
    ready(model)
    with torch.no_grad(), attnviz.record(model) as calls:
        model(torch.randn(1, N, D))
    assert [call.n_heads for call in calls] == [1, 1] and len(calls.missing) == 1


@pytest.mark.parametrize("n_heads", [1, 3])
def test_a_fused_kernel_in_a_loop(n_heads: int) -> None:
    class Fused(Loop):
        def forward(self, x: Tensor) -> Tensor:
            heads = [self.head(x, number) for number in range(n_heads)]
            mixed = [functional.scaled_dot_product_attention(*head) for head in heads]
            return self.proj(torch.cat(mixed * (H // n_heads), -1))

    assert recorded(Fused("lists", "cat"), torch.randn(2, N, D)) == [("Fused#0", 0, n_heads)]
