"""q, k, scores, mask and bias of a model's own code: what was seen leads to its own weights."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from attnviz.attention.inputs import AttentionInputs
from attnviz.attention.steps import derive
from attnviz.attention.stored_weights import StoredWeights
from attnviz.capture.record.recorder import RecordedCalls, record
from tests.support.tiny.check import tiny_case

D, H, N = 12, 3, 7
LOWEST = torch.finfo(torch.float32).min


class Own(nn.Module):
    """Attention with code of its own between the product and the softmax."""

    def __init__(self) -> None:
        super().__init__()
        self.to_q, self.to_k, self.to_v, self.to_out = (nn.Linear(D, D) for _ in range(4))

    def split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (H, D // H)).transpose(1, 2)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (self.split(layer(x)) for layer in (self.to_q, self.to_k, self.to_v))
        weights = self.scores(q, k).softmax(-1)
        out: Tensor = self.to_out((weights @ v).transpose(1, 2).flatten(2))
        return out

    def scores(self, q: Tensor, k: Tensor) -> Tensor:
        """q·kᵀ with what the model does to it."""
        raise NotImplementedError


def triangle() -> Tensor:
    return torch.ones(N, N, dtype=torch.bool).tril()


def slopes() -> Tensor:
    places = torch.arange(N)
    return -(places[:, None] - places).abs() * 0.5 ** torch.arange(H)[:, None, None]


class Causal(Own):
    def scores(self, q: Tensor, k: Tensor) -> Tensor:
        return (q @ k.mT / 2).masked_fill(~triangle(), LOWEST)


class InPlace(Own):
    def scores(self, q: Tensor, k: Tensor) -> Tensor:
        return (q @ k.mT).mul_(0.5).add_(slopes()).masked_fill_(~triangle(), -torch.inf)


class ScaledWithItsBias(Own):
    """The bias is divided by the same number as the scores."""

    def scores(self, q: Tensor, k: Tensor) -> Tensor:
        return torch.where(triangle(), (q @ k.mT + slopes()) / 2, torch.tensor(-1e4))


class Baddbmm(Own):
    """BLOOM's way: the bias enters with the product."""

    def scores(self, q: Tensor, k: Tensor) -> Tensor:
        bias = slopes().repeat(len(q), 1, 1)
        joined = torch.baddbmm(bias, q.flatten(0, 1), k.flatten(0, 1).mT, beta=1, alpha=0.5)
        return joined.unflatten(0, (len(q), H))


class Capped(Own):
    def scores(self, q: Tensor, k: Tensor) -> Tensor:
        return torch.tanh(q @ k.mT / 2)


class TwoProducts(Own):
    def scores(self, q: Tensor, k: Tensor) -> Tensor:
        return q @ k.mT + k @ q.mT


class Temperatures(Own):
    """Each head has a factor of its own."""

    def scores(self, q: Tensor, k: Tensor) -> Tensor:
        return q @ k.mT * (1 + torch.arange(H).float())[:, None, None]


def recorded(model: nn.Module) -> RecordedCalls:
    with torch.no_grad(), record(model.eval()) as calls:
        model(torch.randn(2, N, D, generator=torch.Generator().manual_seed(3)))
    return calls


@pytest.mark.parametrize("cls", [Causal, InPlace, ScaledWithItsBias, Baddbmm])
def test_every_step_of_own_code_is_derived(cls: type[Own]) -> None:
    torch.manual_seed(5)
    (call,) = recorded(cls())
    inputs = call.inputs
    assert isinstance(inputs, AttentionInputs) and inputs.scaling == 0.5
    assert inputs.causal == (cls is not Baddbmm) and inputs.mask is None
    if cls is Causal:
        assert inputs.bias is None
    else:
        assert inputs.bias is not None and inputs.bias.shape == (1, H, N, N)
        wanted = slopes() * (0.5 if cls is ScaledWithItsBias else 1)
        shown = triangle() if inputs.causal else torch.ones(N, N, dtype=torch.bool)
        torch.testing.assert_close(inputs.bias[0][:, shown], wanted[:, shown])
    assert set(call.projections) == {"q", "k", "v", "out"} and not call.absent
    for head in range(H):
        steps = derive(call, head, 1)
        assert steps.x is not None and steps.projected is not None
        assert all(comparison.ok for comparison in steps.comparisons.values())
    call.verify().require()


@pytest.mark.parametrize("cls", [Capped, TwoProducts, Temperatures])
def test_what_is_more_than_a_factor_a_bias_and_a_mask_stays_weights(cls: type[Own]) -> None:
    torch.manual_seed(5)
    (call,) = recorded(cls())
    assert isinstance(call.inputs, StoredWeights)
    assert (call.inputs.query is None) == (cls is TwoProducts)
    assert {"scaled", "masked", "x"} <= call.absent.keys()
    assert ("scores" in call.absent) == (cls is TwoProducts)
    call.verify().require()


def test_a_query_without_a_key_keeps_the_models_own_row() -> None:
    class Blind(Own):
        def scores(self, q: Tensor, k: Tensor) -> Tensor:
            return (q @ k.mT / 2).masked_fill(torch.arange(N)[:, None] == 2, LOWEST)

    (call,) = recorded(Blind())
    assert isinstance(call.inputs, AttentionInputs)
    torch.testing.assert_close(call.weights()[:, 2], torch.full((H, N), 1 / N))
    call.verify().require()


def test_scores_that_change_after_their_softmax_are_not_believed() -> None:
    class Overwritten(Own):
        def forward(self, x: Tensor) -> Tensor:
            q, k, v = (self.split(layer(x)) for layer in (self.to_q, self.to_k, self.to_v))
            scores = q @ k.mT
            weights = functional.softmax(scores, -1)
            scores.zero_()
            out: Tensor = self.to_out((weights @ v).transpose(1, 2).flatten(2))
            return out

    (call,) = recorded(Overwritten())
    assert isinstance(call.inputs, StoredWeights)


@pytest.mark.filterwarnings("ignore")  # transformers' own, of tiny configs
@pytest.mark.parametrize("name", ["gptj", "bloom"])
def test_own_code_of_transformers_shows_every_step(name: str) -> None:
    model, inputs, _ = tiny_case(name)
    with torch.no_grad(), record(model) as calls:
        model(**inputs)
    for call in calls:
        assert isinstance(call.inputs, AttentionInputs)
        assert set(call.projections) == {"q", "k", "v", "out"}
        assert (call.inputs.bias is not None) == (name == "bloom")  # ALiBi
        call.verify().require()


def test_fewer_keys_than_queries_are_searched_among_their_own_rows() -> None:
    """Keys of four tokens and a layer that wrote seven rows have nothing to do with one another."""

    class Cross(Own):
        def forward(self, x: Tensor) -> Tensor:
            self.to_out(x)
            few = x[:, :4]
            q, k, v = self.split(self.to_q(x)), self.split(self.to_k(few) * 2), self.to_v(few)
            weights = (q @ k.mT).softmax(-1)
            out: Tensor = self.to_out((weights @ self.split(v)).transpose(1, 2).flatten(2))
            return out

    (call,) = recorded(Cross())
    assert (call.n_query, call.n_key) == (N, 4)
    assert {"k", "v"} <= call.projections.keys() and call.projections["k"].factor == 2
    call.verify().require()
