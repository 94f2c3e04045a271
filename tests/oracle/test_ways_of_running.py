"""`record` on models inside other modules, and in every way in which torch runs a module."""

import threading
import warnings
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.attention.flex_attention import flex_attention
from torch.utils.checkpoint import checkpoint
from transformers import BertConfig, BertModel, MiniMaxConfig, MiniMaxModel

import attnviz
from attnviz.capture.record.recorder import RecordedCalls, record
from attnviz.errors import UnsupportedAttention
from tests.support.tutorial_attention import ALiBi, D
from tests.support.tutorial_refused import Halved

X = torch.randn(2, 5, D, generator=torch.Generator().manual_seed(1))
IDS = torch.randint(3, 60, (2, 9), generator=torch.Generator().manual_seed(2))
BERT = [f"encoder.layer.{layer}.attention.self" for layer in (0, 1)]


def bert() -> BertModel:
    config = BertConfig(
        hidden_size=16,
        num_attention_heads=4,
        num_hidden_layers=2,
        intermediate_size=32,
        vocab_size=64,
    )
    return BertModel(config).eval()


def recorded(
    model: nn.Module, *args: Tensor, run: Callable[..., object] | None = None
) -> RecordedCalls:
    with torch.no_grad(), record(model) as calls:
        (run or model)(*args)
    for call in calls:
        call.verify().require()
    return calls


class Around(nn.Module):
    """A model inside a user's module, with an attention behind it."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner, self.pool = inner, nn.MultiheadAttention(16, 4, batch_first=True)

    def forward(self, ids: Tensor) -> Tensor:
        tokens = self.inner(ids).last_hidden_state
        mixed: Tensor = self.pool(tokens, tokens, tokens)[0]
        return mixed


@pytest.mark.some(2)
@pytest.mark.parametrize(
    ("wrap", "prefix", "more"),
    [
        (Around, "inner.", ["pool"]),
        (nn.DataParallel, "module.", []),
        (lambda model: torch.compile(model, backend="eager"), "_orig_mod.", []),
        (nn.Sequential, "0.", []),
    ],
)
def test_a_model_inside_any_module_is_switched_and_put_back(
    wrap: Callable[[nn.Module], nn.Module], prefix: str, more: list[str]
) -> None:
    model = bert()
    calls = recorded(wrap(model).eval(), IDS)
    assert [call.module for call in calls] == [prefix + name for name in BERT] + more
    assert not calls.missing and model.config._attn_implementation == "sdpa"
    alone = recorded(model, IDS)
    torch.testing.assert_close(calls[1].weights(), alone[1].weights())


def test_a_part_of_a_model_is_recorded() -> None:
    model, states = bert(), torch.randn(2, 9, 16)
    assert [call.module for call in recorded(model.encoder, states)] == [
        name.removeprefix("encoder.") for name in BERT
    ]
    assert [call.module for call in recorded(model.encoder.layer[1], states)] == ["attention.self"]


class Scripted(nn.Module):
    """Attention that torch.jit can compile."""

    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(D, D) for _ in range(3))

    def forward(self, x: Tensor) -> Tensor:
        return torch.softmax(self.q(x) @ self.k(x).transpose(-1, -2), -1) @ self.v(x)


@pytest.mark.filterwarnings("ignore")  # torch's own, of torch.jit
def test_jitted_children_compiled_and_exported_modules_are_recorded() -> None:
    own = Scripted().eval()
    expected = recorded(own, X)[0].weights()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        variants = [
            nn.Sequential(torch.jit.script(own)),
            torch.fx.symbolic_trace(own),
            torch.export.export(own, (X,)).module(),
            torch.compile(own, backend="eager", fullgraph=True),
        ]
    for variant in variants:
        (call,) = recorded(variant, X)
        torch.testing.assert_close(call.weights(), expected)
    with pytest.raises(UnsupportedAttention, match=r"torch\.jit.*record the module that"):
        recorded(torch.jit.script(own), X)


def test_vmap_inference_mode_and_functional_calls_are_recorded() -> None:
    model = ALiBi().eval()
    expected = recorded(model, X)[0].weights()
    (mapped,) = recorded(model, X[None], run=torch.vmap(model))
    parameters = dict(model.named_parameters())
    (called,) = recorded(
        model, X, run=lambda x: torch.func.functional_call(model, parameters, (x,))
    )
    with torch.inference_mode(), record(model) as calls:
        model(X)
    for call in (mapped, called, *calls):
        torch.testing.assert_close(call.weights(), expected)
    assert len(calls) == 1


@pytest.mark.parametrize("reentrant", [False, True])
def test_what_a_checkpoint_computes_again_is_recorded_once(reentrant: bool) -> None:
    class Checkpointed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.attention = ALiBi()

        def forward(self, x: Tensor) -> Tensor:
            out: Tensor = checkpoint(self.attention, x, use_reentrant=reentrant)
            return out

    model = Checkpointed().eval()
    x = X.clone().requires_grad_()
    with record(model) as calls:
        model(x).sum().backward()
    assert len(calls) == 1 and x.grad is not None


class Dropping(ALiBi):
    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.heads(x)
        return self.joined(functional.dropout((q @ k.mT).softmax(-1), 0.5, self.training) @ v)


class Zeroing(ALiBi):
    """Its scores are no multiple of q·kᵀ, so that the weights alone are kept."""

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.heads(x)
        scores = q @ k.mT
        weights = (scores**3).softmax(-1)
        mixed = weights @ v
        weights.zero_()
        return self.joined(mixed)


class Doubling(ALiBi):
    def forward(self, x: Tensor) -> Tensor:
        mixed = functional.scaled_dot_product_attention(*self.heads(x))
        return self.joined(mixed.mul_(2))


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (Dropping().train(), r"training mode.*call \.eval\(\)"),
        (nn.MultiheadAttention(D, 3, dropout=0.3).train(), r"training mode.*call \.eval\(\)"),
        (Zeroing().eval(), "overwrote its weights"),
    ],
)
def test_what_changed_the_numbers_is_the_reason(model: nn.Module, reason: str) -> None:
    args = (X, X, X) if isinstance(model, nn.MultiheadAttention) else (X,)
    with pytest.raises(UnsupportedAttention, match=reason):
        recorded(model, *args)


def test_an_output_changed_in_place_is_no_false_alarm() -> None:
    (call,) = recorded(Doubling().eval(), X)
    assert call.verify().ok


class Flex(ALiBi):
    """flex_attention with a function of the scores."""

    def __init__(self, function: Callable[..., Tensor] | None) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Tensor) -> Tensor:
        return self.joined(flex_attention(*self.heads(x), score_mod=self.function))


@pytest.mark.filterwarnings("ignore")  # torch's own: flex_attention without a compiler is slow
def test_flex_attention_is_recorded_if_its_function_adds() -> None:
    (plain,) = recorded(Flex(None).eval(), X)
    assert plain.verify().ok
    (biased,) = recorded(Flex(lambda s, b, h, q, k: s - 0.3 * (q - k).abs()).eval(), X)
    assert biased.inputs.bias is not None
    with pytest.raises(UnsupportedAttention, match="flex_attention changes scores"):
        recorded(Flex(lambda s, b, h, q, k: torch.tanh(s)).eval(), X)


def test_a_subclass_of_torchs_own_module_may_take_other_arguments() -> None:
    class Own(nn.MultiheadAttention):
        def forward(self, x: Tensor) -> Tensor:  # type: ignore[override]
            return super().forward(x, x, x, need_weights=False)[0]

    assert [call.kind for call in recorded(Own(D, 3, batch_first=True).eval(), X)] == ["self"]


def test_kinds_are_decided_by_where_keys_come_from() -> None:
    class Normed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.ln, self.attn = nn.LayerNorm(D), nn.MultiheadAttention(D, 3, batch_first=True)

        def forward(self, x: Tensor, y: Tensor) -> Tensor:
            self.attn(self.ln(x), self.ln(x), self.ln(x))
            self.attn(x[:, :1], x, x)
            out: Tensor = self.attn(x, y, y)[0]
            return out

    calls = recorded(Normed().eval(), X, torch.randn(2, 5, D))
    assert [call.kind for call in calls] == ["self", "self", "cross"]


def test_one_odd_module_refuses_itself_and_the_capture_says_so() -> None:
    model = nn.Sequential(ALiBi(), Halved()).eval()
    cap = attnviz.capture(model, inputs={"input": X})
    assert [call.module for call in cap.calls] == ["0"]
    assert [missing.module for missing in cap.missing] == ["1"]
    assert "changed between the softmax and the values" in cap.missing[0].reason
    assert "1 not recorded" in repr(cap) and "1 not recorded" in repr(cap.verify())


def test_linear_attention_layers_of_a_hybrid_are_named() -> None:
    config = MiniMaxConfig(
        hidden_size=32,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        intermediate_size=32,
        num_hidden_layers=2,
        vocab_size=64,
        num_local_experts=2,
        layer_types=["linear_attention", "full_attention"],
        block_size=8,
    )
    calls = recorded(MiniMaxModel(config).eval(), IDS)
    assert [call.module for call in calls] == ["layers.1.self_attn"]
    assert [missing.module for missing in calls.missing] == ["layers.0.self_attn"]


def test_threads_that_record_one_module_take_turns() -> None:
    model, shapes = bert(), []

    def work(n_token: int) -> None:
        for _ in range(5):
            calls = recorded(model, IDS[:, :n_token])
            shapes.append({(call.n_query, len(calls)) for call in calls} == {(n_token, 2)})

    threads = [threading.Thread(target=work, args=(n,)) for n in (3, 5, 7, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert shapes == [True] * 20
    assert model.config._attn_implementation == "sdpa"
    assert not model._forward_pre_hooks
