"""One mask in every convention: each snippet is run, and the interfaces give the same weights."""

from itertools import product

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention
from transformers import BertConfig, BertModel, GPT2Config, GPT2Model

import attnviz
from attnviz.masks.code import CONVENTIONS, Convention, MaskParts, code

N = 5
REAL = (True, True, True, False, True)
CELLS = tuple(tuple(abs(query - key) < 2 for key in range(N)) for query in range(N))
PARTS = [
    MaskParts(N, N, real, causal, cells)
    for real, causal, cells in product((None, REAL), (False, True), (None, CELLS))
]
PARTS += [MaskParts(N, N, causal=True, sizes={"window": 2})]
PARTS += [MaskParts(N, N, sizes={"prefix": 3})]
PARTS += [MaskParts(N, N, REAL, sizes={"block": 2})]
PARTS += [MaskParts(N, N, sizes={"window": 3, "prefix": 2, "block": 4})]


def wanted(parts: MaskParts) -> Tensor:
    """True = may attend, cell by cell."""
    window, prefix = parts.sizes.get("window", N), parts.sizes.get("prefix")
    block = parts.sizes.get("block", N)
    return torch.tensor(
        [
            [
                (parts.real is None or parts.real[key])
                and (not parts.causal or key <= query)
                and (parts.cells is None or parts.cells[query][key])
                and abs(query - key) < window
                and (prefix is None or key <= query or key < prefix)
                and query // block == key // block
                for key in range(parts.n_key)
            ]
            for query in range(parts.n_query)
        ]
    )


def run(parts: MaskParts, convention: Convention) -> Tensor:
    names: dict[str, object] = {}
    exec(compile(code(parts, convention), "<mask>", "exec"), names)
    mask = names["mask"]
    assert isinstance(mask, Tensor)
    return mask


@pytest.mark.parametrize("parts", PARTS)
def test_the_interfaces_of_torch_agree(parts: MaskParts) -> None:
    torch.manual_seed(3)
    x = torch.randn(1, N, 4)
    attention = nn.MultiheadAttention(4, 1, bias=False, batch_first=True).eval()
    with torch.no_grad():
        attention.in_proj_weight.copy_(torch.eye(4).repeat(3, 1))
        attention.out_proj.weight.copy_(torch.eye(4))
        theirs, weights = attention(x, x, x, attn_mask=run(parts, "multihead"))
    assert torch.equal(weights[0] > 0, wanted(parts))
    for convention in ("sdpa", "additive"):
        ours = scaled_dot_product_attention(x, x, x, attn_mask=run(parts, convention))
        assert torch.allclose(ours, theirs, atol=1e-6)


@pytest.mark.parametrize("parts", [MaskParts(N, N, REAL), MaskParts(N, N)])
def test_transformers_reads_its_own_convention(parts: MaskParts) -> None:
    config = BertConfig(
        vocab_size=11,
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=7,
    )
    lm = attnviz.load(BertModel(config).eval())
    inputs = {"input_ids": torch.arange(N)[None], "attention_mask": run(parts, "transformers")}
    weights = attnviz.capture(lm, inputs=inputs).weights(0)
    assert (torch.from_numpy(weights[0] > 0) == wanted(parts)).all()


def test_a_decoder_adds_the_causal_part_itself() -> None:
    parts = MaskParts(N, N, (True, True, True, True, False), causal=True)
    config = GPT2Config(
        vocab_size=11, n_embd=8, n_layer=1, n_head=2, n_positions=7, bos_token_id=0, eos_token_id=0
    )
    lm = attnviz.load(GPT2Model(config).eval())
    inputs = {"input_ids": torch.arange(N)[None], "attention_mask": run(parts, "transformers")}
    weights = attnviz.capture(lm, inputs=inputs).weights(0)
    assert (torch.from_numpy(weights[0] > 0) == wanted(parts)).all()


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_a_rectangle_is_built_too(convention: Convention) -> None:
    parts = MaskParts(2, 3, (True, False, True))
    mask = run(parts, convention)
    assert mask.shape == ((1, 3) if convention == "transformers" else (2, 3))
