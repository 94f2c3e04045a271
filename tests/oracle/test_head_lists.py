"""Single heads in a list of modules, as first models are written: one layer (`head_lists`)."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

import attnviz
from attnviz.changes import Change
from attnviz.models.loaded_model import LoadedModel

D, H, DH, N = 12, 3, 4, 5


class Head(nn.Module):
    """One head, as a video course writes it; `of` changes its weights."""

    def __init__(self, width: int = DH, factor: float = DH**-0.5) -> None:
        super().__init__()
        self.key, self.query, self.value = (nn.Linear(D, width, bias=False) for _ in range(3))
        self.factor = factor
        self.of: Callable[[Tensor], Tensor] = lambda weights: weights

    def forward(self, x: Tensor) -> Tensor:
        scores = self.query(x) @ self.key(x).transpose(-2, -1) * self.factor
        n = x.shape[1]
        scores = scores.masked_fill(torch.tril(torch.ones(n, n)) == 0, float("-inf"))
        self.weights = self.of(scores.softmax(-1))
        return self.weights @ self.value(x)


class Heads(nn.Module):
    """A list of heads, side by side, with W_O or without it."""

    def __init__(self, *heads: Head, has_out: bool = True) -> None:
        super().__init__()
        self.heads = nn.ModuleList(heads or [Head() for _ in range(H)])
        self.proj = nn.Linear(D, D) if has_out else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.proj(torch.cat([head(x) for head in self.heads], dim=-1))
        return out


class GPT(nn.Module):
    """Blocks in a list, of which each has its heads in a list."""

    def __init__(self, has_out: bool = True) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(Heads(has_out=has_out) for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        for block in self.blocks:
            x = x + block(x)
        return x


def made(model: nn.Module, n_text: int = 2) -> tuple[LoadedModel, Tensor]:
    torch.manual_seed(11)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.5)
    return attnviz.load(model.eval()), torch.randn(n_text, N, D)


@pytest.mark.parametrize("has_out", [True, False])
def test_a_list_of_heads_is_one_layer(has_out: bool) -> None:
    model = GPT(has_out)
    lm, x = made(model)
    with torch.no_grad(), attnviz.record(lm.model) as calls:
        model(x)
    assert [(call.module, call.layer, call.n_heads) for call in calls] == [
        ("blocks.0.heads", 0, H),
        ("blocks.1.heads", 1, H),
    ]
    assert not calls.missing
    for call, block in zip(calls, model.blocks, strict=True):
        for batch in range(2):
            theirs = torch.stack([head.weights[batch] for head in block.heads])  # type: ignore[union-attr]
            torch.testing.assert_close(call.weights(batch=batch), theirs, atol=1e-6, rtol=0)
        stages = {"q", "k", "v"} | ({"out"} if has_out else set())
        assert call.projections.keys() == stages and ("projected" in call.absent) != has_out
        assert call.mask_kind == "causal" and call.verify().ok
        steps = attnviz.derive(call, 2, batch=1)
        assert max(view.error or 0 for view in steps.views()) < 1e-5
    weight = torch.cat([head.query.weight for head in model.blocks[0].heads])  # type: ignore[union-attr]
    assert torch.equal(calls[0].projections["q"].weight, weight.T)


def test_a_long_text_keeps_samples_of_a_list_of_heads() -> None:
    model = Heads()
    lm, _ = made(model)
    cap = attnviz.capture(lm, inputs={"x": torch.randn(1, 600, D)})
    assert cap.call(0).n_heads == H and cap.call(0).row_step > 1 and cap.verify().ok


CHANGES: dict[str, tuple[Change, int, Callable[[Tensor], Tensor]]] = {
    "output": (attnviz.ablate("L0.H1", "zero"), 1, torch.zeros_like),
    "weights": (
        attnviz.pattern("L0.H2"),
        2,
        lambda weights: (weights > 0) / (weights > 0).sum(-1, keepdim=True),
    ),
    "edge": (
        attnviz.cut("L0.H0", query=3, key=1, renormalise=False),
        0,
        lambda weights: weights * ~((torch.arange(N) == 3)[:, None] & (torch.arange(N) == 1)),
    ),
}


@pytest.mark.some(1)
@pytest.mark.parametrize("name", CHANGES)
def test_a_head_of_a_list_is_changed_exactly(name: str) -> None:
    change, head, by_hand = CHANGES[name]
    model = Heads()
    lm, x = made(model, n_text=1)
    plain = attnviz.capture(lm, inputs={"x": x})
    with torch.no_grad():
        model.heads[head].of = by_hand  # type: ignore[assignment]
        theirs = model(x)
        model.heads[head].of = lambda weights: weights  # type: ignore[assignment]
        with attnviz.changed(lm, change):
            ours = model(x)
        assert float((model(x) - theirs).abs().max()) > 1e-2
    torch.testing.assert_close(ours, theirs, atol=1e-6, rtol=0)
    cap = attnviz.capture(lm, inputs={"x": x}, changes=[change])
    assert cap.call(0).changes == (str(change),) and cap.verify().ok
    others = [number for number in range(H) if number != head]
    for number in others:
        assert (cap.weights(0, number) == plain.weights(0, number)).all()


@pytest.mark.parametrize(
    "heads",
    [
        (Head(), Head(), Head(width=3, factor=DH**-0.5)),
        (Head(), Head(), Head(factor=0.3)),
    ],
    ids=["widths", "scaling"],
)
def test_heads_that_differ_stay_apart(heads: tuple[Head, ...]) -> None:
    model = Heads(*heads, has_out=False)
    lm, x = made(model)
    with torch.no_grad(), attnviz.record(lm.model) as calls:
        model(x)
    assert [call.module for call in calls] == ["heads.0", "heads.1", "heads.2"]
    assert [call.layer for call in calls] == [0, 1, 2]


def test_blocks_in_a_list_stay_layers() -> None:
    """Each reads what the one before it wrote, though all are modules of one head in a list."""

    class Chain(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.blocks = nn.ModuleList(Head(width=D) for _ in range(2))

        def forward(self, x: Tensor) -> Tensor:
            for block in self.blocks:
                x = block(x)
            return x

    model = Chain()
    lm, x = made(model)
    with torch.no_grad(), attnviz.record(lm.model) as calls:
        model(x)
    assert [(call.layer, call.n_heads) for call in calls] == [(0, 1), (1, 1)]
