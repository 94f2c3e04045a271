"""Attention of some queries at a time: one call of all queries where that is shown, else a name."""

from collections.abc import Callable

import numpy
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

import attnviz
from attnviz.capture.record.recorder import RecordedCalls
from attnviz.changes import Change
from attnviz.errors import UnsupportedAttention
from tests.support.head_changes import CHANGES, check_changed_exactly

D, H, DH, N, C = 12, 3, 4, 11, 4  # 11 tokens: parts of 4, 4 and 3
HIDDEN = -torch.inf


class Chunks(nn.Module):
    """Attention for C queries at a time; `weights` has all weights after each run.

    `bound` says which keys a part sees, `cut` how its rows are taken, `product` how it is spelled,
    `joined` what becomes of its results.
    """

    def __init__(self, *, bound: str = "all", cut: str = "slice", product: str = "at",
                 joined: str = "cat", heads: int = H, width: int = C) -> None:  # fmt: skip
        super().__init__()
        self.bound, self.cut, self.product, self.joined = bound, cut, product, joined
        self.num_heads, self.width = heads, width
        self.q, self.k, self.v, self.out = (nn.Linear(D, D) for _ in range(4))
        self.weights: Tensor | None = None
        self.of: dict[int, Callable[[Tensor], Tensor]] = {}  # by head, of its weights

    def parts(self, q: Tensor) -> list[tuple[int, Tensor]]:
        """The first row and the rows of each part [batch, head, row, d]."""
        starts = range(0, q.shape[2], self.width)
        if self.cut == "split":
            return list(zip(starts, q.split(self.width, dim=2), strict=True))
        if self.cut == "chunk":
            return list(zip(starts, q.chunk(len(starts), dim=2), strict=True))
        return [(i, q[:, :, i : i + self.width]) for i in starts]

    def attend(self, start: int, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Weights [batch, head, row, key] and results of one part."""
        n_key = k.shape[2]
        first, last = 0, n_key
        if self.bound in ("prefix", "window"):
            last = start + q.shape[2]
        if self.bound == "window":
            first = max(0, start - 2)
        k, v = k[:, :, first:last], v[:, :, first:last]
        rows, keys = torch.arange(start, start + q.shape[2])[:, None], torch.arange(first, last)
        may_attend = torch.ones_like(rows >= keys) if self.bound == "all" else rows >= keys
        if self.product == "sdpa":
            hidden = numpy.where(may_attend.numpy(), 0.0, -numpy.inf)
            logits = q.numpy() @ k.mT.numpy() * DH**-0.5 + hidden
            exps = numpy.exp(logits)
            whole = torch.zeros(*q.shape[:3], n_key)
            whole[..., first:last] = torch.from_numpy(exps / exps.sum(-1, keepdims=True))
            mask = None if self.bound == "all" else may_attend
            return whole, functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        if self.product == "scaled":
            scores = (q * DH**-0.5) @ k.mT
        elif self.product == "einsum":
            scores = torch.einsum("bhqd,bhkd->bhqk", q, k) * DH**-0.5
        elif self.product == "bmm":
            scores = torch.bmm(q.flatten(0, 1), k.flatten(0, 1).mT).unflatten(0, q.shape[:2])
            scores = scores * DH**-0.5
        else:
            scores = q @ k.mT * DH**-0.5
        if self.bound != "all":
            scores = scores.masked_fill(~may_attend, HIDDEN)
        weights = scores.softmax(-1)
        for head, change in self.of.items():
            changed = change(weights[:, head])
            weights = torch.cat(
                [weights[:, :head], changed[:, None], weights[:, head + 1 :]], dim=1
            )
        whole = torch.zeros(*weights.shape[:3], n_key)
        whole[..., first:last] = weights
        if self.product == "einsum":
            return whole, torch.einsum("bhqk,bhkd->bhqd", weights, v)
        return whole, weights @ v

    def forward(self, x: Tensor, y: Tensor | None = None) -> Tensor:
        y = x if y is None else y
        heads = self.num_heads
        q, k, v = (
            layer(read).unflatten(-1, (heads, D // heads)).transpose(1, 2)
            for layer, read in ((self.q, x), (self.k, y), (self.v, y))
        )
        found = [self.attend(start, part, k, v) for start, part in self.parts(q)]
        self.weights = torch.cat([weights for weights, _ in found], 2)
        if self.joined == "buffer":
            mixed = torch.zeros_like(q)
            for start, (_, part) in zip(range(0, N, self.width), found, strict=True):
                mixed[:, :, start : start + part.shape[2]] = part
        elif self.joined == "layer":
            return torch.cat([self.out(part.transpose(1, 2).flatten(2)) for _, part in found], 1)
        else:
            mixed = torch.cat([part for _, part in found], 2)
        return self.out(mixed.transpose(1, 2).flatten(2))


def ready(model: nn.Module) -> nn.Module:
    torch.manual_seed(13)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.5)
    return model.eval()


def require_whole(model: Chunks, calls: RecordedCalls) -> None:
    assert [(call.name, call.layer, call.n_heads, call.n_query) for call in calls] == [
        ("Chunks#0", 0, model.num_heads, N)
    ]
    assert not calls.missing
    (call,) = calls
    assert model.weights is not None
    for batch in range(call.n_batch):
        ours = call.weights(batch=batch)
        torch.testing.assert_close(ours, model.weights[batch], atol=1e-6, rtol=0)
    assert call.verify().ok


@pytest.mark.some(6)
@pytest.mark.parametrize("joined", ["cat", "buffer", "layer"])
@pytest.mark.parametrize("product", ["at", "scaled", "einsum", "bmm", "sdpa"])
@pytest.mark.parametrize("cut", ["slice", "split", "chunk"])
@pytest.mark.parametrize("bound", ["all", "causal", "prefix", "window"])
def test_a_loop_over_queries_is_one_call(bound: str, cut: str, product: str, joined: str) -> None:
    model = Chunks(bound=bound, cut=cut, product=product, joined=joined)
    ready(model)
    with torch.no_grad(), attnviz.record(model) as calls:
        model(torch.randn(2, N, D))
    require_whole(model, calls)
    (call,) = calls
    assert call.kind == "self"
    kinds = {"all": "none", "window": "cells"}
    assert call.mask_kind == kinds.get(bound, "causal")
    found = {"q", "k", "v"} | ({"out"} if joined != "layer" else set())
    assert set(call.projections) == found
    names = {"q": "q", "k": "k", "v": "v", "out": "out"}
    assert all(call.projections[stage].module == names[stage] for stage in found)
    steps = attnviz.derive(call, 2, batch=1)
    assert max(view.error or 0 for view in steps.views()) < 1e-5


@pytest.mark.parametrize("n_batch", [1, 3])
@pytest.mark.parametrize(("width", "heads"), [(1, 3), (3, 1), (10, 3)])
def test_one_text_one_head_and_parts_of_one_query(n_batch: int, width: int, heads: int) -> None:
    model = Chunks(width=width, heads=heads)
    ready(model)
    with torch.no_grad(), attnviz.record(model) as calls:
        model(torch.randn(n_batch, N, D))
    require_whole(model, calls)


@pytest.mark.parametrize("mode", [torch.inference_mode, torch.enable_grad])
def test_in_every_mode(mode: Callable[[], torch.no_grad]) -> None:
    model = Chunks(bound="prefix", joined="buffer")
    ready(model)
    with mode(), attnviz.record(model) as calls:
        model(torch.randn(2, N, D))
    require_whole(model, calls)


def test_keys_of_another_text() -> None:
    model = Chunks()
    ready(model)
    with torch.no_grad(), attnviz.record(model) as calls:
        model(torch.randn(2, N, D), torch.randn(2, 7, D))
    require_whole(model, calls)
    assert calls[0].kind == "cross" and set(calls[0].projections) == {"q", "k", "v", "out"}


class Two(nn.Module):
    """Two such modules, or one that runs twice, or a text that asks twice."""

    def __init__(self, *blocks: nn.Module) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(blocks)

    def forward(self, x: Tensor) -> Tensor:
        for block in self.blocks:
            x = x + block(x)
        return x


def test_each_module_and_each_run_is_a_call_of_its_own() -> None:
    model = Two(Chunks(), Chunks(bound="prefix"))
    ready(model)
    with torch.no_grad(), attnviz.record(model) as calls:
        model(torch.randn(2, N, D))
    assert [(call.name, call.layer) for call in calls] == [("blocks.0#0", 0), ("blocks.1#0", 1)]
    block = Chunks()
    twice = Two(block, block)
    ready(twice)
    with torch.no_grad(), attnviz.record(twice) as calls:
        twice(torch.randn(2, N, D))
    found = [(call.name, call.layer, call.n_query) for call in calls]
    assert found == [("blocks.0#0", 0, N), ("blocks.0#1", 1, N)]
    assert not calls.missing and all(call.verify().ok for call in calls)


@pytest.mark.parametrize("bound", ["causal", "prefix"])
@pytest.mark.parametrize(("change", "by_hand"), CHANGES)
def test_a_head_is_changed_exactly(
    bound: str, change: Change, by_hand: Callable[[Tensor], Tensor]
) -> None:
    model = ready(Chunks(bound=bound, joined="buffer"))
    check_changed_exactly(model, torch.randn(1, N, D), change, by_hand)


def test_kept_heads_half_precision_and_all_steps() -> None:
    model = Chunks(bound="prefix")
    lm = attnviz.load(ready(model))
    x = torch.randn(1, N, D)
    whole = attnviz.capture(lm, inputs={"x": x})
    some = attnviz.capture(lm, inputs={"x": x}, keep="L0.H2")
    half = attnviz.capture(lm, inputs={"x": x}, store="float16")
    assert model.weights is not None
    theirs = model.weights[0, 2].detach().numpy()
    for cap, error in ((whole, 1e-6), (some, 1e-6), (half, 2e-3)):
        numpy.testing.assert_allclose(cap.weights(0, 2), theirs, atol=error, rtol=0)
        assert cap.verify().ok
    steps = attnviz.derive(whole.call(0), 2)
    assert steps.projected is not None
    with torch.no_grad():
        numpy.testing.assert_allclose(steps.projected, model(x)[0], atol=1e-5, rtol=0)


class Odd(nn.Module):
    """Parts of one text's queries that are none of a loop over all of them, told by `form`."""

    def __init__(self, form: str) -> None:
        super().__init__()
        self.form = form
        self.q, self.k, self.v, self.out = (nn.Linear(D, D) for _ in range(4))

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        q, k, v = self.q(x), self.k(x), self.v(x)
        other = self.k(y), self.v(y)
        same = k, v
        asked = {
            "overlap": [(q[:, i : i + 4], same) for i in (0, 3, 7)],
            "gap": [(q[:, i : i + 3], same) for i in (0, 4, 8)],
            "not all": [(q[:, i : i + 4], same) for i in (0, 4)],
            "not the first": [(q[:, i : i + 5], same) for i in (1, 6)],
            "other keys": [(q[:, :5], same), (q[:, 5:], other)],
            "reversed": [(q[:, 8:], same), (q[:, 4:8], same), (q[:, :4], same)],
            "keys": [(q, (k[:, i : i + 4], v[:, i : i + 4])) for i in (0, 4, 8)],
            "unseen key": [
                (q[:, i : i + 4], (k[:, 1 : i + 4], v[:, 1 : i + 4])) for i in (0, 4, 8)
            ],
            "other values": [(q[:, i : i + 4], (k, v * (1 + i))) for i in (0, 4, 8)],
            "cls": [(q[:, :1], same)],
            "last": [(q[:, -1:], same)],
        }[self.form]
        found = [(part @ keys.mT).softmax(-1) @ values for part, (keys, values) in asked]
        if self.form == "keys":
            return self.out(torch.stack(found).mean(0))
        return self.out(torch.cat(found[::-1] if self.form == "reversed" else found, 1))


@pytest.mark.parametrize(
    ("form", "reason"),
    [
        *(
            (form, "nothing shows that these are all rows of one tensor")
            for form in ("overlap", "gap", "not all")
        ),
        ("not the first", "nothing shows that these are all rows of one tensor"),
        *((form, "other keys and values") for form in ("other keys", "unseen key", "other values")),
        ("keys", "a softmax for each part of its keys"),
    ],
)
def test_what_only_looks_like_a_loop_is_refused_by_name(form: str, reason: str) -> None:
    model = Odd(form)
    ready(model)
    texts = torch.randn(2, 2, N, D)
    with torch.no_grad(), pytest.raises(UnsupportedAttention, match=reason):
        with attnviz.record(model):
            model(*texts)
    beside = nn.Sequential(Chunks(), Beside(Odd(form)))
    ready(beside)
    with torch.no_grad(), attnviz.record(beside) as calls:
        beside(texts[0])
    assert [(call.module, call.n_query) for call in calls] == [("0", N)]
    assert [(call.module, reason in call.reason) for call in calls.missing] == [("1.inner", True)]


class Beside(nn.Module):
    """A module that reads one text twice."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(x, x.flip(1))


@pytest.mark.parametrize(("form", "n_query"), [("cls", 1), ("last", 1), ("reversed", N)])
def test_one_query_alone_and_parts_in_another_order(form: str, n_query: int) -> None:
    model = Odd(form)
    ready(model)
    x, y = torch.randn(2, 2, N, D)
    with torch.no_grad(), attnviz.record(model) as calls:
        model(x, y)
    assert [(call.name, call.n_query) for call in calls] == [("Odd#0", n_query)]
    assert "out" in calls[0].projections and calls[0].verify().ok and not calls.missing
    if form == "reversed":
        theirs = (model.q(x) @ model.k(x).mT).softmax(-1)
        for batch in range(2):
            ours = calls[0].weights(0, batch)
            torch.testing.assert_close(ours, theirs[batch].detach(), atol=1e-6, rtol=0)
