"""The weights of all heads at once are those of one head after another, however they are made."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from attnviz.attention.batch_weights import all_weights
from attnviz.attention.inputs import AttentionInputs
from tests.support import captures


def alone(inputs: AttentionInputs) -> Tensor:
    texts = (
        torch.stack([inputs.weights(head, text) for head in inputs.kept_heads])
        for text in range(inputs.n_batch)
    )
    return torch.stack(list(texts))


@pytest.mark.parametrize("name", sorted(captures.every_kind()))
def test_all_heads_at_once_are_one_after_another_and_leave_what_they_are_made_of(name: str) -> None:
    for call in captures.every_kind()[name].calls:
        before = [tensor.clone() for tensor in call.inputs.tensors()]
        first, second = all_weights(call.inputs), all_weights(call.inputs)
        torch.testing.assert_close(first, alone(call.inputs))
        assert first.data_ptr() != second.data_ptr()
        for tensor, was in zip(call.inputs.tensors(), before, strict=True):
            assert torch.equal(tensor, was)


@pytest.mark.parametrize("causal", [False, True])
def test_weights_of_tensors_with_a_graph_have_their_gradient(causal: bool) -> None:
    inputs = captures.qkv(causal=causal)
    slopes = []

    def one_by_one(own: AttentionInputs) -> Tensor:
        return torch.stack([own.stages(head)["weights"] for head in range(6)])[None]

    for weights_of in (all_weights, one_by_one):
        query = inputs.query[:1].clone().requires_grad_()
        own = replace(inputs, query=query, key=inputs.key[:1], value=inputs.value[:1])
        weights_of(own)[0, :, 3, 2].sum().backward()
        slopes.append(query.grad)
    assert slopes[1].any()
    torch.testing.assert_close(*slopes)


def test_weights_inside_autocast_are_those_outside() -> None:
    inputs = captures.qkv()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        inside = all_weights(inputs)
    assert inside.dtype == torch.float32
    assert torch.equal(inside, all_weights(inputs))
