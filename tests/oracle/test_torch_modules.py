"""torch's own attention modules, recorded with the fast path on, equal what torch returns."""

import pytest
import torch
from torch import nn

from attnviz.attention.call import AttentionCall
from attnviz.capture.record.recorder import record

TOLERANCE = 1e-4
D_MODEL, HEADS, QUERIES, KEYS = 20, 4, 7, 11


def torch_input(length: int, seed: int) -> torch.Tensor:
    return torch.randn(2, length, D_MODEL, generator=torch.Generator().manual_seed(seed))


def hidden_keys(length: int, real: int) -> torch.Tensor:
    """torch's key padding mask: True = may not attend; the second row is padded."""
    hidden = torch.zeros(2, length, dtype=torch.bool)
    hidden[1, real:] = True
    return hidden


def peaky(module: nn.Module) -> nn.Module:
    torch.manual_seed(23)
    with torch.no_grad():
        for parameter in module.parameters():
            if parameter.dim() == 2:
                parameter.normal_(std=1.3 / parameter.shape[-1] ** 0.5)
    return module.eval()


def weights_of(attention: nn.MultiheadAttention, *args: torch.Tensor, **kwargs: object) -> object:
    """What torch itself returns as weights, head by head."""
    told = kwargs | {"need_weights": True, "average_attn_weights": False}
    return attention(*args, **told)[1]


def all_weights(call: AttentionCall) -> torch.Tensor:
    return torch.stack([call.weights(batch=batch) for batch in range(call.n_batch)])


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("grad", [True, False])
def test_torch_attention_with_and_without_its_fast_path(need_weights: bool, grad: bool) -> None:
    attention = peaky(nn.MultiheadAttention(D_MODEL, HEADS, batch_first=True))
    query, key = torch_input(QUERIES, 1), torch_input(KEYS, 2)
    padding = hidden_keys(KEYS, 8)
    with torch.set_grad_enabled(grad), record(attention) as calls:
        attention(query, key, key, key_padding_mask=padding, need_weights=need_weights)
    (call,) = calls
    assert (call.kind, call.n_heads, call.n_query, call.n_key) == ("cross", HEADS, QUERIES, KEYS)
    with torch.no_grad():
        theirs = weights_of(attention, query, key, key, key_padding_mask=padding)
    torch.testing.assert_close(all_weights(call), theirs, atol=TOLERANCE, rtol=0)


def torch_layer(kind: type[nn.Module]) -> nn.Module:
    return kind(D_MODEL, HEADS, dim_feedforward=13, batch_first=True)


def test_torch_encoder_with_padding_and_its_fast_path_on() -> None:
    layer = torch_layer(nn.TransformerEncoderLayer)
    encoder = peaky(nn.TransformerEncoder(layer, num_layers=2))
    assert torch.backends.mha.get_fastpath_enabled()
    x, padding = torch_input(KEYS, 3), hidden_keys(KEYS, 8)
    with torch.no_grad(), record(encoder) as calls:
        encoder(x, src_key_padding_mask=padding)
        first = encoder.layers[0].self_attn
        theirs = weights_of(first, x, x, x, key_padding_mask=padding)
    assert torch.backends.mha.get_fastpath_enabled()
    assert [call.module for call in calls][:2] == ["layers.0.self_attn", "layers.1.self_attn"]
    assert [call.kind for call in calls[:2]] == ["self", "self"]
    torch.testing.assert_close(all_weights(calls[0]), theirs, atol=TOLERANCE, rtol=0)


def test_torch_decoder_has_causal_self_and_cross_attention() -> None:
    decoder = peaky(nn.TransformerDecoder(torch_layer(nn.TransformerDecoderLayer), num_layers=2))
    x, memory = torch_input(QUERIES, 4), torch_input(KEYS, 5)
    causal = nn.Transformer.generate_square_subsequent_mask(QUERIES)
    with torch.no_grad(), record(decoder) as calls:
        decoder(x, memory, tgt_mask=causal)
    assert [call.kind for call in calls] == ["self", "cross"] * 2
    first = decoder.layers[0].self_attn
    theirs = weights_of(first, x, x, x, attn_mask=causal)
    torch.testing.assert_close(all_weights(calls[0]), theirs, atol=TOLERANCE, rtol=0)
    assert calls[0].weights().triu(1).eq(0).all()


def test_torch_transformer_tells_its_stacks_apart() -> None:
    transformer = nn.Transformer(
        D_MODEL,
        HEADS,
        num_encoder_layers=2,
        num_decoder_layers=2,
        dim_feedforward=13,
        batch_first=True,
    )
    with torch.no_grad(), record(peaky(transformer)) as calls:
        transformer(torch_input(KEYS, 6), torch_input(QUERIES, 7))
    found = [(call.stack, call.kind, call.layer) for call in calls]
    assert found == [
        ("encoder", "self", 0),
        ("encoder", "self", 1),
        ("decoder", "self", 0),
        ("decoder", "cross", 0),
        ("decoder", "self", 1),
        ("decoder", "cross", 1),
    ]
    for call in calls:
        assert call.verify().worst.error <= TOLERANCE
