"""`parts`: the summands of a tensor against formulas by hand, and their sum each time."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from attnviz.experiment.dataflow.operations import LINEAR
from attnviz.experiment.dataflow.parts import Part, Walk, largest_error, parts
from attnviz.experiment.dataflow.rules import Leaf, Rules
from attnviz.experiment.dataflow.trace import Trace, Value
from tests.unit.experiment.dataflow.blocks import CLASSES, IDS, WIDTH, PostNorm, PreNorm, seeded


def traced(model: nn.Module, ids: Tensor = IDS) -> tuple[Trace, Value]:
    with torch.no_grad(), Trace(model) as trace:
        output = model(ids)
    return trace, trace.value(output)


def by_name(found: list[Part]) -> dict[str, Tensor]:
    assert len({part.name for part in found}) == len(found)
    return {part.name: part.tensor for part in found}


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("rms", [False, True])
def test_parts_sum_to_the_logits_above_the_stream(rms: bool, in_place: bool) -> None:
    _, logits = traced(seeded(PreNorm(rms=rms, in_place=in_place)))
    found = parts(logits, Rules(above_stream=True))
    names = set(by_name(found))
    assert {"embed", "places", "mlps.0.down", "mlps.1.down", "mlps.1.down.bias"} <= names
    assert largest_error(found, logits) <= 1e-5
    assert all(part.tensor.shape == (2, 3, CLASSES) for part in found)


def test_a_part_is_the_textbook_direct_logit_attribution() -> None:
    """component → (c − mean c) · γ ÷ σ(x) · W, with σ of the whole stream (here by name)."""
    model = seeded(PreNorm())
    trace, logits = traced(model)
    found = by_name(parts(logits, Rules(above_stream=True)))
    stream = trace.inputs_of["last"][0]
    assert stream is not None
    scale = (stream.tensor.var(-1, unbiased=False, keepdim=True) + model.last.eps).rsqrt()
    with torch.no_grad():
        written = model.embed(IDS)
        normed = (written - written.mean(-1, keepdim=True)) * scale * model.last.weight
        expected = normed @ model.head.weight.T
    assert float((found["embed"] - expected).abs().max()) <= 1e-6
    assert torch.equal(found["head.bias"], model.head.bias.detach().expand(2, 3, CLASSES))


def test_post_norm_streams_sum_too() -> None:
    _, hidden = traced(seeded(PostNorm()))
    found = parts(hidden)
    assert {"embed", "mlps.0.down", "norms.0.bias", "norms.1.bias"} <= set(by_name(found))
    assert largest_error(found, hidden) <= 1e-5


@pytest.mark.parametrize("rms", [False, True])
def test_mlps_can_be_passed_with_their_gates_frozen(rms: bool) -> None:
    trace, _ = traced(seeded(PreNorm(rms=rms)))
    stream = trace.inputs_of["last"][0]
    assert stream is not None
    found = parts(stream, Rules(through_mlps=True))
    ways = {part.via for part in found if part.name == "embed"}
    assert ways == {(), ("mlps.0.down",), ("mlps.1.down",), ("mlps.0.down", "mlps.1.down")}
    assert largest_error(found, stream) <= 1e-3 * float(stream.tensor.abs().max())
    merged = parts(stream, Rules(through_mlps=True, apart=False))
    together = sum(part.tensor for part in found if part.name == "embed")
    alone = next(part for part in merged if part.name == "embed")
    assert torch.allclose(alone.tensor, together, atol=1e-3)


def test_a_gated_mlp_freezes_one_factor_only() -> None:
    """down(silu(g)·up): the part of the embedding is linear in `up`, so it counts once."""
    model = seeded(PreNorm(rms=True))
    trace, _ = traced(model)
    mlp, into = model.mlps[0], trace.inputs_of["mlps.0"][0]
    assert into is not None
    written = next(
        operation.outputs[0]
        for operation in trace.operations
        if operation.module == "mlps.0.down" and operation.packet in LINEAR
    )
    found = parts(written, Rules(through_mlps=True, apart=False))
    with torch.no_grad():
        gate = torch.nn.functional.silu(mlp.gate(into.tensor))
        without_biases = (gate * (into.tensor @ mlp.up.weight.T)) @ mlp.down.weight.T
    ours = sum(part.tensor for part in found if part.kind == "embedding")
    assert torch.allclose(ours.reshape(without_biases.shape), without_biases, atol=1e-4)


def test_unknown_operations_end_the_walk_and_are_named() -> None:
    class Odd(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return torch.cumsum(x, 0) + x.sin()

    _, value = traced(Odd(), torch.ones(2, 3))
    assert {part.name for part in parts(value)} == {":aten.cumsum", ":aten.sin"}
    assert {part.kind for part in parts(value)} == {"other"}


def test_a_wrong_step_is_seen_in_the_error() -> None:
    """A source that does not sum to its value loses numbers: the sum shows it."""
    model = seeded(PostNorm())
    _, hidden = traced(model)

    def half(value: Value) -> list[Leaf] | None:
        made_by = value.made_by
        if made_by is None or made_by.module != "mlps.0.down" or "addmm" not in str(made_by.func):
            return None
        return [Leaf("half", "wrong", value.tensor / 2, value)]

    assert largest_error(parts(hidden, Rules(sources=half)), hidden) > 0.01


def test_total_sends_any_tensor_along_the_way_of_a_leaf() -> None:
    model = seeded(PreNorm())
    trace, logits = traced(model)
    stream = trace.inputs_of["last"][0]
    assert stream is not None

    def stop(value: Value) -> list[Leaf] | None:
        return [Leaf("stream", "stop", value.tensor, value)] if value is stream else None

    walk = Walk(logits, Rules(above_stream=True, sources=stop))
    part = by_name(walk.parts())["stream"]
    assert torch.equal(walk.total(lambda leaf: leaf.tensor if leaf.kind == "stop" else None), part)
    x = stream.tensor.clone().requires_grad_()
    carried = walk.total(lambda leaf: x if leaf.kind == "stop" else None)
    (slope,) = torch.autograd.grad(carried[0, -1, 2], x)
    assert slope.shape == (2, 3, WIDTH)
    assert float((slope * stream.tensor).sum() - part[0, -1, 2]) == pytest.approx(0, abs=1e-4)


def test_pieces_that_are_joined_keep_their_places() -> None:
    class Joins(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Parameter(torch.randn(1, 1, WIDTH))
            self.embed = nn.Embedding(11, WIDTH)

        def forward(self, ids: Tensor) -> Tensor:
            return torch.cat([self.first.expand(len(ids), -1, -1), self.embed(ids)], dim=1)

    model = Joins()
    _, value = traced(model)
    found = by_name(parts(value))
    assert largest_error(parts(value), value) == 0.0
    assert not found["embed"][:, 0].any() and not found["constant"][:, 1:].any()


def test_a_deep_model_is_walked_without_recursion() -> None:
    class Deep(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(3, 3)

        def forward(self, x: Tensor) -> Tensor:
            for _ in range(400):
                x = x + self.layer(x) / 400
            return x

    _, value = traced(seeded(Deep()), torch.ones(1, 3))
    found = parts(value)
    assert len(found) > 400
    assert largest_error(found, value) <= 1e-4 * float(value.tensor.abs().max())


class Arithmetic(nn.Module):
    """Two embeddings, added, subtracted and scaled in every way that a stream is."""

    def __init__(self, formula: Callable[[Tensor, Tensor], Tensor]) -> None:
        super().__init__()
        self.left, self.right = nn.Embedding(11, WIDTH), nn.Embedding(11, WIDTH)
        self.formula = formula

    def forward(self, ids: Tensor) -> Tensor:
        return self.formula(self.left(ids), self.right(ids))


@pytest.mark.parametrize(
    ("formula", "left", "right", "constant"),
    [
        (lambda x, y: x - y, 1, -1, 0),
        (lambda x, y: torch.sub(x, y, alpha=3), 1, -3, 0),
        (lambda x, y: torch.add(x, y, alpha=3), 1, 3, 0),
        (lambda x, y: x.clone().sub_(y), 1, -1, 0),
        (lambda x, y: (x - 2) + y, 1, 1, -2),
        (lambda x, y: (x + 5) - y, 1, -1, 5),
        (lambda x, y: x * 7 - y / 2, 7, -0.5, 0),
        (lambda x, y: x - (y - x), 2, -1, 0),
    ],
    ids=["sub", "sub alpha", "add alpha", "sub_", "less 2", "plus 5", "mul div", "twice"],
)
def test_parts_keep_the_sign_and_the_factor_of_every_term(
    formula: Callable[[Tensor, Tensor], Tensor], left: float, right: float, constant: float
) -> None:
    model = seeded(Arithmetic(formula))
    _, value = traced(model)
    found = {name: torch.zeros(2, 3, WIDTH) for name in ("left", "right", "constant")}
    for part in parts(value):
        found[part.name.split()[0]] += part.tensor
    with torch.no_grad():
        torch.testing.assert_close(found["left"], left * model.left(IDS))
        torch.testing.assert_close(found["right"], right * model.right(IDS))
    assert torch.equal(found["constant"], torch.full((2, 3, WIDTH), float(constant)))
