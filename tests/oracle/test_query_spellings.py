"""Loops over queries as code that saves memory spells them, and what only looks like one."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

import attnviz
from tests.oracle.test_query_chunks import DH, HIDDEN, C, Chunks, D, H, N, Two, ready


def turned(x: Tensor, first: int = 0) -> Tensor:
    """Rows [batch, head, row, d] turned by their places, as a rotary embedding does."""
    places = torch.arange(first, first + x.shape[2])[:, None]
    angles = torch.cat([places * torch.tensor([1.0, 0.3])] * 2, -1)
    left, right = x.chunk(2, -1)
    return x * angles.cos() + torch.cat([-right, left], -1) * angles.sin()


class Inner(nn.Module):
    """Attention in a module of its own, which runs for each part."""

    def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return (q @ k.mT).softmax(-1) @ v


class Spelled(nn.Module):
    """Loops as code that saves memory spells them; `weights` are those of all queries at once."""

    def __init__(self, form: str) -> None:
        super().__init__()
        self.form, self.num_heads = form, H
        self.q, self.k, self.v, self.out = (nn.Linear(D, D) for _ in range(4))
        self.norm, self.inner = nn.LayerNorm(DH), Inner()

    def split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (H, DH)).transpose(1, 2)

    def prepared(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """q, k, v of all tokens [batch, head, token, d]."""
        return self.split(self.q(x)), self.split(self.k(x)), self.split(self.v(x))

    def weights(self, x: Tensor) -> Tensor:
        q, k, _ = self.prepared(x)
        if self.form == "turned":
            q, k = turned(q), turned(k)
        if self.form == "normed":
            q = self.norm(q)
        scores = q @ k.mT
        last = torch.arange(N)[:, None] // C * C + C
        if self.form in ("layers", "cached"):
            scores = scores.masked_fill(torch.arange(N) >= last, HIDDEN)
        if self.form == "first alone":
            hidden = (torch.arange(N)[:, None] > 0) & (torch.arange(N) == 0)
            scores = scores.masked_fill(hidden, HIDDEN)
        return scores.softmax(-1)

    def forward(self, x: Tensor) -> Tensor:
        parts = [slice(i, i + C) for i in range(0, N, C)]
        found = LOOPS[self.form](self, x, *self.prepared(x), parts)
        return self.out(torch.cat(found, 2).transpose(1, 2).flatten(2))

    def inner_of(self, q: Tensor, k: Tensor, v: Tensor, head: int, part: slice) -> Tensor:
        """The result of a part of one head [batch, row, d]."""
        return (q[:, head, part] @ k[:, head].mT).softmax(-1) @ v[:, head]


Parts = list[slice]
Found = list[Tensor]


def by_layers(m: Spelled, x: Tensor, _q: Tensor, _k: Tensor, _v: Tensor, parts: Parts) -> Found:
    """All layers run on what each part needs."""
    reads = [(x[:, part], x[:, : part.stop], x[:, : part.stop]) for part in parts]
    layers = (m.q, m.k, m.v)
    return [
        m.inner(*(m.split(layer(one)) for layer, one in zip(layers, read, strict=True)))
        for read in reads
    ]


def by_cache(_m: Spelled, _x: Tensor, q: Tensor, k: Tensor, v: Tensor, parts: Parts) -> Found:
    """Keys and values grow part by part."""
    keys, values, found = k[:, :, :0], v[:, :, :0], []
    for part in parts:
        keys = torch.cat([keys, k[:, :, part]], 2)
        values = torch.cat([values, v[:, :, part]], 2)
        found.append((q[:, :, part] @ keys.mT).softmax(-1) @ values)
    return found


def into_q(_m: Spelled, _x: Tensor, q: Tensor, k: Tensor, v: Tensor, parts: Parts) -> Found:
    """Results are written over the queries."""
    for part in parts:
        q[:, :, part] = (q[:, :, part] @ k.mT).softmax(-1) @ v
    return [q]


def attended(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return (q @ k.mT).softmax(-1) @ v


LOOPS: dict[str, Callable[..., Found]] = {
    "turned": lambda _m, _x, q, k, v, parts: [
        attended(turned(q[:, :, p], p.start), turned(k), v) for p in parts
    ],
    "normed": lambda m, _x, q, k, v, parts: [attended(m.norm(q[:, :, p]), k, v) for p in parts],
    "indexed": lambda _m, _x, q, k, v, _parts: [
        attended(q[:, :, p], k, v) for p in torch.arange(N).split(C)
    ],
    "chosen": lambda _m, _x, q, k, v, _parts: [
        attended(torch.index_select(q, 2, p), k, v) for p in torch.arange(N).split(C)
    ],
    "inner": lambda m, _x, q, k, v, parts: [m.inner(q[:, :, p], k, v) for p in parts],
    "layers": by_layers,
    "cached": by_cache,
    "into q": into_q,
    "first alone": lambda _m, _x, q, k, v, _parts: [
        attended(q[:, :, :1], k, v),
        attended(q[:, :, 1:], k[:, :, 1:], v[:, :, 1:]),
    ],
    "heads, then parts": lambda m, _x, q, k, v, parts: [
        torch.stack([torch.cat([m.inner_of(q, k, v, h, p) for p in parts], 1) for h in range(H)], 1)
    ],
    "parts, then heads": lambda m, _x, q, k, v, parts: [
        torch.stack([m.inner_of(q, k, v, h, p) for h in range(H)], 1) for p in parts
    ],
}


@pytest.mark.parametrize("n_batch", [1, 2])
@pytest.mark.parametrize("form", LOOPS)
def test_other_spellings_of_a_loop(form: str, n_batch: int) -> None:
    model = Spelled(form)
    ready(model)
    x = torch.randn(n_batch, N, D)
    with torch.no_grad():
        theirs = model.weights(x)
        with attnviz.record(model) as calls:
            model(x)
    assert [(call.layer, call.n_heads, call.n_query, call.kind) for call in calls] == [
        (0, H, N, "self")
    ]
    assert not calls.missing and calls[0].verify().ok
    for batch in range(n_batch):
        ours = calls[0].weights(batch=batch)
        torch.testing.assert_close(ours, theirs[batch], atol=1e-6, rtol=0)
    found = {"q", "k", "v", "out"}
    if form in ("normed", "into q", "layers"):  # q is changed, or made part by part
        found.remove("q")
        reason = "some of the tokens at a time" if form == "layers" else "as the attention used it"
        assert reason in calls[0].absent["q"] and reason in calls[0].absent["x"]
    assert set(calls[0].projections) == found


def flash(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Key by key part, divided by the sum of all in the end."""
    parts = [(q @ k[:, i : i + C].mT).exp() for i in range(0, N, C)]
    mixed = [part @ v[:, i : i + C] for part, i in zip(parts, range(0, N, C), strict=True)]
    return sum(mixed) / sum(part.sum(-1, keepdim=True) for part in parts)


def running(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """The same with the largest score so far, as Flash attention does."""
    mixed, largest = torch.zeros_like(q), torch.full((*q.shape[:2], 1), HIDDEN)
    total = torch.zeros_like(largest)
    for i in range(0, N, C):
        scores = q @ k[:, i : i + C].mT
        now = torch.maximum(largest, scores.amax(-1, keepdim=True))
        weights, left = (scores - now).exp(), (largest - now).exp()
        mixed = mixed * left + weights @ v[:, i : i + C]
        total, largest = total * left + weights.sum(-1, keepdim=True), now
    return mixed / total


def weighed(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """A softmax for each part of the keys, weighed by its sum."""
    scores = [q @ k[:, i : i + C].mT for i in range(0, N, C)]
    mixed = [s.softmax(-1) @ v[:, i : i + C] for s, i in zip(scores, range(0, N, C), strict=True)]
    shares = torch.stack([part.logsumexp(-1) for part in scores], -1).softmax(-1)
    return sum(shares[..., n : n + 1] * part for n, part in enumerate(mixed))


def flipped(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Rows of each part in another order."""
    parts = [attended(q[:, i : i + C].flip(1), k, v).flip(1) for i in range(0, N, C)]
    return torch.cat(parts, 1)


class Refused(nn.Module):
    """Attention that no softmax over all keys, or no place of its queries, shows."""

    def __init__(self, way: Callable[[Tensor, Tensor, Tensor], Tensor]) -> None:
        super().__init__()
        self.way = way
        self.q, self.k, self.v, self.out = (nn.Linear(D, D) for _ in range(4))

    def forward(self, x: Tensor) -> Tensor:
        return self.out(self.way(self.q(x), self.k(x), self.v(x)))


@pytest.mark.parametrize(
    ("way", "reason"),
    [
        (flash, "not divided by their sum"),
        (running, "not divided by their sum"),
        (weighed, "a softmax for each part of its keys"),
        (flipped, "nothing shows that these are all rows of one tensor"),
    ],
)
def test_parts_of_keys_and_rows_in_another_order_are_refused_by_name(
    way: Callable[[Tensor, Tensor, Tensor], Tensor], reason: str
) -> None:
    model = Two(Refused(way), Chunks())
    ready(model)
    with torch.no_grad(), attnviz.record(model) as calls:
        model(torch.randn(2, N, D))
    assert [call.module for call in calls] == ["blocks.1"]
    assert {call.module for call in calls.missing} == {"blocks.0"}
    assert any(reason in call.reason for call in calls.missing)


class Runs(nn.Module):
    """torch's own module, run for each part of the queries, or for two texts in one tensor."""

    def __init__(self, n_text: int) -> None:
        super().__init__()
        self.n_text = n_text
        self.attention = nn.MultiheadAttention(D, H, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        if self.n_text == 2:
            texts = x[:, :5], x[:, 5:]
            return torch.cat([self.attention(text, text, text)[0] for text in texts], 1)
        return torch.cat([self.attention(x[:, i : i + C], x, x)[0] for i in range(0, N, C)], 1)


def test_runs_of_torchs_module_on_parts_are_refused_and_on_two_texts_are_two_calls() -> None:
    model = Two(Runs(1), Chunks())
    ready(model)
    with torch.no_grad(), attnviz.record(model) as calls:
        model(torch.randn(2, N, D))
    assert [(call.module, call.index) for call in calls] == [("blocks.1", 0)]
    assert [call.module for call in calls.missing] == ["blocks.0.attention"]
    assert "each of its runs numbers its queries from 0" in calls.missing[0].reason
    model = Two(Runs(2))
    ready(model)
    with torch.no_grad(), attnviz.record(model) as calls:
        model(torch.randn(2, N, D))
    assert [(call.index, call.n_query) for call in calls] == [(0, 5), (1, 6)] and not calls.missing


def test_parts_of_distances_are_one_call_of_stored_weights() -> None:
    def near(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        parts = (q[:, i : i + C, None] - k[:, None] for i in range(0, N, C))
        return torch.cat([(-part.square().sum(-1)).softmax(-1) @ v for part in parts], 1)

    model, x = Refused(near), torch.randn(2, N, D)
    ready(model)
    with torch.no_grad(), attnviz.record(model) as calls:
        model(x)
    with torch.no_grad():
        theirs = (-torch.cdist(model.q(x), model.k(x)).square()).softmax(-1)
    assert [(call.n_query, call.kind) for call in calls] == [(N, "self")] and not calls.missing
    for batch in range(2):
        torch.testing.assert_close(calls[0].weights(0, batch), theirs[batch], atol=1e-5, rtol=0)


class Steps(nn.Module):
    """A decoder that asks its own tokens one by one, with a cache that grows."""

    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v, self.out = (nn.Linear(D, D) for _ in range(4))

    def forward(self, x: Tensor) -> Tensor:
        q, keys, values, found = self.q(x), [], [], []
        for n in range(N):
            keys.append(self.k(x[:, n : n + 1]))
            values.append(self.v(x[:, n : n + 1]))
            found.append(attended(q[:, n : n + 1], torch.cat(keys, 1), torch.cat(values, 1)))
        return self.out(torch.cat(found, 1))


def test_steps_with_a_cache_are_calls_of_their_own() -> None:
    model = ready(Steps())
    with torch.no_grad(), attnviz.record(model) as calls:
        model(torch.randn(1, N, D))
    assert [(call.n_query, call.n_key) for call in calls] == [(1, n + 1) for n in range(N)]
    assert not calls.missing
