"""`nn.MultiheadAttention` opened up: X and its four weights, and the numbers of a printed article.

The article makes a module of two heads from seed 55 and prints its weights, its output and the
product of X with the stacked weights; everywhere else the module itself is the reference.
"""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from attnviz.attention.call import AttentionCall
from attnviz.attention.inputs import AttentionInputs
from attnviz.attention.steps import derive
from attnviz.attention.stored_weights import StoredWeights
from attnviz.capture.record import multihead
from attnviz.capture.record.recorder import record
from attnviz.checks import mha_55
from attnviz.checks.mha_55 import PRINTED_TO

D_MODEL, HEADS, BATCH, QUERIES, KEYS = 21, 3, 2, 7, 11
TOLERANCE = 1e-5


def close(
    ours: Tensor,
    theirs: Tensor | mha_55.Rows | tuple[mha_55.Rows, ...],
    tolerance: float = TOLERANCE,
) -> None:
    torch.testing.assert_close(ours, torch.as_tensor(theirs), atol=tolerance, rtol=0)


def drawn(*shape: int, seed: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def module(**options: object) -> nn.MultiheadAttention:
    """A module whose weights, biases among them, are all different."""
    torch.manual_seed(31)
    made = nn.MultiheadAttention(D_MODEL, HEADS, **options).eval()
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.normal_(std=0.3)
    return made


def one_call(attention: nn.Module, *args: Tensor, **kwargs: object) -> tuple[AttentionCall, Tensor]:
    with torch.no_grad(), record(attention) as calls:
        output = attention(*args, **kwargs)[0]
    (call,) = calls
    return call, output


def require_whole(call: AttentionCall, output: Tensor, batch: int) -> None:
    """Every stage of every head follows from X; the heads' shares of the output add up to it."""
    shares = torch.zeros_like(output)
    for head in range(call.n_heads):
        steps = derive(call, head, batch)
        assert set(steps.errors) == {"q", "k", "v", "mixed", "concat", "projected"}
        assert all(error <= TOLERANCE for error in steps.errors.values())
        assert steps.x is not None and steps.w_o is not None
        shares += steps.mixed @ steps.w_o
    bias = call.projections["out"].bias
    close(shares if bias is None else shares + bias, output)


@pytest.mark.parametrize("need_weights", [True, False])
def test_the_numbers_of_the_article(need_weights: bool) -> None:
    torch.manual_seed(55)
    x = torch.randn(1, 5, 4)
    attention = nn.MultiheadAttention(4, 2, bias=False, batch_first=True).eval()
    call, output = one_call(attention, x, x, x, need_weights=need_weights)
    close(call.weights(), mha_55.WEIGHTS, PRINTED_TO)
    close(output[0], mha_55.OUTPUT, PRINTED_TO)
    steps = [derive(call, head) for head in range(2)]
    of_heads = [getattr(of, name)[0] for name in "qkv" for of in steps]
    close(torch.cat(of_heads)[None], mha_55.FIRST_ROW, PRINTED_TO)
    close(steps[0].projected, mha_55.OUTPUT, PRINTED_TO)
    # W_Q, W_K and W_V of the two heads, stacked again, are torch's one weight
    stacked = [getattr(of, name).T for name in ("w_q", "w_k", "w_v") for of in steps]
    close(torch.cat(stacked), attention.in_proj_weight.detach(), tolerance=0)
    require_whole(call, output[0], batch=0)


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("bias", [True, False])
def test_self_attention_in_every_layout(need_weights: bool, batch_first: bool, bias: bool) -> None:
    x = drawn(BATCH, QUERIES, D_MODEL, seed=1)
    given = x if batch_first else x.transpose(0, 1)
    hidden = torch.zeros(BATCH, QUERIES, dtype=torch.bool)
    hidden[1, 5:] = True
    call, output = one_call(
        module(bias=bias, batch_first=batch_first),
        *(given, given, given),
        key_padding_mask=hidden,
        need_weights=need_weights,
    )
    assert (call.kind, call.n_batch, call.mask_kind) == ("self", BATCH, "keys")
    for batch in range(BATCH):
        close(derive(call, 1, batch).x, x[batch], tolerance=0)
        require_whole(call, (output if batch_first else output.transpose(0, 1))[batch], batch)


@pytest.mark.parametrize("need_weights", [True, False])
def test_cross_attention_with_a_weight_for_each_of_q_k_v(need_weights: bool) -> None:
    attention = module(kdim=13, vdim=17, batch_first=True)
    query = drawn(BATCH, QUERIES, D_MODEL, seed=2)
    key, value = drawn(BATCH, KEYS, 13, seed=3), drawn(BATCH, KEYS, 17, seed=4)
    call, output = one_call(attention, query, key, value, need_weights=need_weights)
    assert (call.kind, call.n_query, call.n_key) == ("cross", QUERIES, KEYS)
    assert call.projections["v"].weight.shape == (17, D_MODEL)
    for batch in range(BATCH):
        require_whole(call, output[batch], batch)


@pytest.mark.parametrize("need_weights", [True, False])
def test_masks_of_every_form(need_weights: bool) -> None:
    x = drawn(BATCH, QUERIES, D_MODEL, seed=5)
    attention = module(batch_first=True)
    causal = torch.ones(QUERIES, QUERIES, dtype=torch.bool).triu(1)
    added = drawn(BATCH * HEADS, QUERIES, QUERIES, seed=6)
    for mask in (causal, added, added.masked_fill(causal, -torch.inf)):
        call, output = one_call(attention, x, x, x, attn_mask=mask, need_weights=need_weights)
        with torch.no_grad():
            theirs = attention(x, x, x, attn_mask=mask, average_attn_weights=False)[1]
        for batch in range(BATCH):
            close(call.weights(batch=batch), theirs[batch])
            require_whole(call, output[batch], batch)


def test_one_text_without_a_batch() -> None:
    x = drawn(QUERIES, D_MODEL, seed=7)
    call, output = one_call(module(), x, x, x)
    require_whole(call, output, batch=0)


def stack(kind: str) -> tuple[nn.Module, Callable[[nn.Module], object]]:
    """torch's encoder or decoder of two layers, and how to run it."""
    options = {"dim_feedforward": 13, "batch_first": True}
    x, memory = drawn(BATCH, QUERIES, 20, seed=8), drawn(BATCH, KEYS, 20, seed=9)
    torch.manual_seed(32)
    if kind == "encoder":
        encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(20, 4, **options), 2)
        return encoder.eval(), lambda model: model(x)
    decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(20, 4, **options), 2)
    return decoder.eval(), lambda model: model(x, memory)


@pytest.mark.parametrize("kind", ["encoder", "decoder"])
def test_inside_torchs_own_stacks(kind: str) -> None:
    model, run = stack(kind)
    with torch.no_grad(), record(model) as calls:
        run(model)
    assert len(calls) == (2 if kind == "encoder" else 4)
    for call in calls:
        assert set(call.projections) == {"q", "k", "v", "out"} and not call.absent
        assert call.projections["q"].module == f"{call.module}.in_proj"
        assert call.verify().worst.error <= TOLERANCE
        require_whole(call, call.projections["out"].output[1], batch=1)


@pytest.mark.parametrize("option", ["add_bias_kv", "add_zero_attn"])
@pytest.mark.parametrize("need_weights", [True, False])
def test_a_key_that_the_module_adds_has_no_layer(option: str, need_weights: bool) -> None:
    x = drawn(BATCH, QUERIES, D_MODEL, seed=10)
    attention = module(**{option: True, "batch_first": True})
    call, output = one_call(attention, x, x, x, need_weights=need_weights)
    assert call.n_key == QUERIES + 1
    assert call.absent == {"k": multihead.OWN_KEY, "v": multihead.OWN_KEY}
    steps = derive(call, head=2, batch=1)
    assert steps.x is not None and steps.w_k is None
    close(steps.projected, output[1])


def test_a_row_without_keys_stays_as_torch_makes_it() -> None:
    x = drawn(1, QUERIES, D_MODEL, seed=11)
    nothing = torch.ones(1, QUERIES, dtype=torch.bool)
    call, _ = one_call(module(batch_first=True), x, x, x, key_padding_mask=nothing)
    assert isinstance(call.inputs, StoredWeights)
    assert call.weights().isnan().all()


class Twisted(nn.MultiheadAttention):
    """Scales what it is given before torch sees it, and what torch returns."""

    def forward(self, query: Tensor, key: Tensor, value: Tensor, **told: object) -> object:
        output, weights = super().forward(2 * query, key, value, **told)
        return 3 * output, weights


def test_a_weight_that_does_not_lead_to_the_output_is_left_out() -> None:
    attention = Twisted(D_MODEL, HEADS, batch_first=True).eval()
    x = drawn(BATCH, QUERIES, D_MODEL, seed=12)
    call, _ = one_call(attention, x, x, x)
    assert isinstance(call.inputs, AttentionInputs)
    assert set(call.projections) == {"k", "v"}
    assert call.absent == dict.fromkeys(("q", "x", "projected"), multihead.DIFFERS)
    steps = derive(call, head=0)
    assert steps.x is None and steps.projected is None
