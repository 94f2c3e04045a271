"""Heads of torch's own `nn.MultiheadAttention`, changed when it returns.

The reference computes the module's attention by hand from its weights.
"""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import linear

import attnviz
from attnviz.capture.changed.run import changed
from attnviz.changes import Change, ablate, cut, pattern
from attnviz.errors import UnsupportedAttention

D, HEADS, N = 12, 3, 5
TOLERANCE = 1e-6
CAUSAL = nn.Transformer.generate_square_subsequent_mask(N)


def by_hand(
    module: nn.MultiheadAttention, x: Tensor, told: Callable[[Tensor], Tensor], mask: Tensor | None
) -> Tensor:
    """The module's output for x [batch, token, d], whose weights [batch, head, …] are `told`."""
    q, k, v = (
        part.unflatten(-1, (HEADS, D // HEADS)).transpose(1, 2)
        for part in linear(x, module.in_proj_weight, module.in_proj_bias).chunk(3, -1)
    )
    scores = q @ k.mT / (D // HEADS) ** 0.5 + (0 if mask is None else mask)
    mixed = told(scores.softmax(-1)) @ v
    return linear(mixed.transpose(1, 2).flatten(2), module.out_proj.weight, module.out_proj.bias)


def silent(weights: Tensor) -> Tensor:
    weights = weights.clone()
    weights[:, 1] = 0
    return weights


def even(weights: Tensor) -> Tensor:
    weights, allowed = weights.clone(), (weights[:, 1] > 0).float()
    weights[:, 1] = allowed / allowed.sum(-1, keepdim=True)
    return weights


def without_edge(weights: Tensor) -> Tensor:
    weights = weights.clone()
    weights[:, 1, 3, 2] = 0
    return weights


CHANGES: tuple[tuple[Change, Callable[[Tensor], Tensor]], ...] = (
    (ablate("L0.H1", "zero"), silent),
    (pattern("L0.H1"), even),
    (cut("L0.H1", 3, 2, renormalise=False), without_edge),
)


class Wrapped(nn.Module):
    """A module of torch's own, called in one of its ways with a text [batch, token, d]."""

    def __init__(self, batch_first: bool, need_weights: bool, mask: Tensor | None) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(D, HEADS, batch_first=batch_first)
        nn.init.normal_(self.attention.in_proj_bias)
        self._need_weights, self._mask = need_weights, mask

    def forward(self, x: Tensor) -> Tensor:
        given = x if self.attention.batch_first else x.transpose(0, 1)
        options: dict[str, Any] = {"need_weights": self._need_weights, "attn_mask": self._mask}
        output, _ = self.attention(given, given, given, **options)
        return output if self.attention.batch_first else output.transpose(0, 1)


@pytest.mark.some(1)
@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("mask", [None, CAUSAL], ids=["plain", "causal"])
def test_a_head_of_torchs_own_module_is_changed_as_by_hand(
    batch_first: bool, need_weights: bool, mask: Tensor | None
) -> None:
    torch.manual_seed(3)
    model, x = Wrapped(batch_first, need_weights, mask).eval(), torch.randn(2, N, D)
    lm = attnviz.load(model)
    attnviz.capture(lm, inputs={"x": x})
    with torch.no_grad():
        plain = model(x)
        for change, told in CHANGES:
            theirs = by_hand(model.attention, x, told, mask)
            with changed(lm, change):
                ours = model(x)
            assert float((ours - theirs).abs().max()) <= TOLERANCE, change
            assert float((theirs - plain).abs().max()) > 1e-3
        assert torch.equal(model(x), plain)
    capture = attnviz.capture(lm, inputs={"x": x}, changes=[change])
    (call,) = capture.calls
    assert call.changes == (str(change),) and capture.verify().ok
    assert call.stages(1)["weights"][3, 2] == 0
    assert float((call.projections["out"].output - theirs).abs().max()) <= TOLERANCE


def test_layers_of_an_encoder_of_torchs_own_are_changed() -> None:
    torch.manual_seed(3)
    layer = nn.TransformerEncoderLayer(D, HEADS, 24, batch_first=True, dropout=0.0)
    model, x = (
        nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval(),
        torch.randn(1, N, D),
    )
    lm = attnviz.load(model)
    attnviz.capture(lm, inputs={"src": x})
    with torch.no_grad():
        plain = model(x)
        with changed(lm, ablate("L1.H2", "zero")):
            ours = model(x)
        model.layers[1].self_attn.out_proj.weight[:, 8:] = 0
        theirs = model(x)
    assert float((ours - theirs).abs().max()) <= TOLERANCE
    assert float((theirs - plain).abs().max()) > 1e-3


def test_the_effects_of_the_embedded_module_are_those_of_its_weights() -> None:
    lm = attnviz.load("mha-55")
    found = attnviz.experiment(lm, on=lambda output: output["output"][0][:, 0, 0]).effects(
        to="zero"
    )
    assert len(found.heads) == 2 and found.spread == 0.0
    for head, site in enumerate(found.heads):
        (after,) = attnviz.capture(lm, changes=[ablate(site, "zero")]).calls
        number = float(after.projections["out"].output[0, 0, 0])
        assert found.after[head] == pytest.approx(number, abs=TOLERANCE)


def test_gradients_do_not_pass_and_it_is_said() -> None:
    torch.manual_seed(3)
    model, x = Wrapped(True, False, None).eval(), torch.randn(1, N, D)
    lm = attnviz.load(model)
    attnviz.capture(lm, inputs={"x": x})
    with (
        pytest.raises(UnsupportedAttention, match="gradients"),
        changed(lm, ablate("L0.H1", "zero")),
    ):
        model(x)
