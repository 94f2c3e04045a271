"""The registered model that is built from a seed: its claims, its own inputs, no trace outside."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import attnviz
from attnviz.checks import check, mha_55
from attnviz.errors import BadInput
from attnviz.models.loaded_model import LoadedModel

pytestmark = pytest.mark.usefixtures("own_models")  # two are compared, and one is changed


def test_every_claim_is_reached_and_can_be_missed() -> None:
    figures = check("mha-55")
    assert len(figures) == 4
    assert all(figure.reached for figure in figures), figures
    other = attnviz.load("mha-55")
    with torch.no_grad():
        other.model.in_proj_weight[0, 0] += 1e-3
    assert not all(figure.reached for figure in mha_55.check(other))


def test_loading_draws_nothing_from_the_callers_random_state() -> None:
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    first, second = attnviz.load("mha-55"), attnviz.load("mha-55")
    assert torch.equal(torch.rand(2), expected)
    assert first.key == second.key
    for ours, theirs in zip(first.model.parameters(), second.model.parameters(), strict=True):
        assert torch.equal(ours, theirs)


def test_it_brings_its_own_x() -> None:
    lm = attnviz.load("mha-55")
    cap = attnviz.capture(lm)
    assert cap.tokens.labels == ("x1", "x2", "x3", "x4", "x5")
    assert not cap.tokens.special.any()
    (call,) = cap.calls
    assert (call.kind, call.n_heads, cap.n_layers) == ("self", 2, 1)
    assert lm.example is not None
    steps = attnviz.derive(call, head=1)
    assert steps.x is not None and torch.equal(steps.x, lm.example.inputs["query"][0])
    assert [view.stage for view in steps.views()][0] == "x"
    cap.verify().require()


def test_its_own_x_can_be_replaced() -> None:
    x = torch.randn(1, 3, 4, generator=torch.Generator().manual_seed(1))
    cap = attnviz.capture(attnviz.load("mha-55"), inputs={"query": x, "key": x, "value": x})
    assert cap.weights(0).shape == (2, 3, 3)


def test_it_comes_in_another_type() -> None:
    lm = attnviz.load("mha-55", dtype="bfloat16")
    assert lm.example is not None
    assert {of.dtype for of in lm.example.inputs.values()} == {torch.bfloat16}
    exact = attnviz.capture(attnviz.load("mha-55")).weights(0)
    np.testing.assert_allclose(attnviz.capture(lm).weights(0), exact, atol=2e-2, rtol=0)


def test_a_model_without_inputs_of_its_own_is_given_something(minilm: LoadedModel) -> None:
    with pytest.raises(BadInput, match="given nothing"):
        attnviz.capture(minilm)
    lm = attnviz.load("mha-55")
    with pytest.raises(BadInput, match="without a tokenizer"):
        attnviz.capture(lm, "Some text.")


def test_the_card_tells_what_the_model_is() -> None:
    lm = attnviz.load("mha-55")
    assert lm.card.parameters == sum(of.numel() for of in lm.model.parameters())
    assert replace(lm.card, name="mha-55") in attnviz.models()
    described = mha_55.describe(lm)
    assert [note.score for note in described.heads] == pytest.approx([0.3446, 0.3166], abs=5e-5)


def test_a_head_of_it_is_taken_away() -> None:
    lm = attnviz.load("mha-55")
    plain = attnviz.capture(lm).call(0).output
    silent = attnviz.capture(lm, changes=[attnviz.ablate("L0.H1", "zero")]).call(0).output
    assert torch.equal(silent[..., 0, :], plain[..., 0, :])
    assert not silent[..., 1, :].any() and plain[..., 1, :].any()
