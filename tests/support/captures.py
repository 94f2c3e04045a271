"""Captures made by hand, of every kind there is, and what it means for two to be the same.

The model's own output is what the formulas give, so that a capture made here verifies. Sizes are
different primes where the mathematics allows it.
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnviz.attention import memory
from attnviz.attention.call import AttentionCall
from attnviz.attention.capture import Capture, MissingCall
from attnviz.attention.inputs import AttentionInputs
from attnviz.attention.projection import Projection, WrittenLayer
from attnviz.attention.stored_weights import StoredWeights
from attnviz.capture.storage import Storage
from attnviz.types import ModelKey, Tokens, named_tokens
from attnviz.vision.token_boxes import Places
from attnviz.vision.windows import Windows

MODEL = ModelKey("by hand", "r1", "float32", "cpu")


def text_tokens(*labels: str) -> Tokens:
    """Tokens whose labels are the words of a text."""
    starts = np.cumsum([0, *(len(label) + 1 for label in labels)])[:-1].tolist()
    return replace(
        named_tokens(labels),
        text=" ".join(labels),
        ids=np.arange(len(labels), dtype=np.int64) + 100,
        offsets=tuple(
            (start, start + len(label)) for start, label in zip(starts, labels, strict=True)
        ),
    )


def qkv(
    n_batch: int = 2, n_heads: int = 6, n_kv: int = 3, n_query: int = 7, n_key: int = 7, **more: Any
) -> AttentionInputs:
    """q, k and v that are views of one memory, as a fused layer writes them."""
    generator = torch.Generator().manual_seed(n_query * 100 + n_key)
    d_head, d_value = 10, 10
    q = torch.randn(n_batch, n_query, n_heads * d_head, generator=generator)
    fused = torch.randn(n_batch, n_key, n_kv, d_head + d_value, generator=generator)
    settings = {"mask": None, "causal": False, "scaling": d_head**-0.5} | more
    return AttentionInputs(
        query=q.unflatten(2, (n_heads, d_head)).transpose(1, 2),
        key=fused[..., :d_head].transpose(1, 2),
        value=fused[..., d_head:].transpose(1, 2),
        **settings,
    )


def call(inputs: AttentionInputs | StoredWeights, layer: int = 0, **more: Any) -> AttentionCall:
    """A call whose output is what the formulas make of its inputs."""
    values = {"stack": None, "kind": "self"} | more
    if isinstance(inputs, StoredWeights) and inputs.value is None:
        output = torch.zeros(inputs.n_batch, inputs.n_query, inputs.n_heads, 0)
    else:
        mixed = [
            [inputs.stages(head, row)["mixed"] for head in range(inputs.n_heads)]
            for row in range(inputs.n_batch)
        ]
        output = torch.stack([torch.stack(heads, dim=1) for heads in mixed])
    return AttentionCall(f"layer.{layer}", 0, layer, inputs=inputs, output=output, **values)


def with_projections(plain: AttentionCall) -> AttentionCall:
    """The call with W_Q, W_K, W_V and W_O beside it; q, k and v are what three of them wrote."""
    inputs, d_model = plain.inputs, 13
    assert isinstance(inputs, AttentionInputs)
    generator = torch.Generator().manual_seed(5)
    x = torch.randn(inputs.n_batch, inputs.n_query, d_model, generator=generator)
    layers, heads = {}, {}
    for name, tensor in (("q", inputs.query), ("k", inputs.key), ("v", inputs.value)):
        n_heads, width = tensor.shape[1], tensor.shape[3]
        weight = torch.randn(n_heads * width, d_model, generator=generator).t()
        bias = torch.randn(n_heads * width, generator=generator) if name == "v" else None
        wrote = x @ weight + (0 if bias is None else bias)
        starts = tuple(range(0, n_heads * width, width))
        layers[name] = Projection(f"proj_{name}", WrittenLayer(weight, bias), x, wrote, starts)
        heads[name] = wrote.unflatten(2, (n_heads, width)).transpose(1, 2)
    turned = replace(inputs, query=heads["q"], key=heads["k"], value=heads["v"])
    done = call(turned, plain.layer)
    concat = done.output.flatten(2)
    weight = torch.randn(concat.shape[2], d_model, generator=generator)
    starts = tuple(range(0, concat.shape[2], heads["v"].shape[3]))
    layers["out"] = Projection("proj_out", WrittenLayer(weight), concat, concat @ weight, starts)
    return replace(done, projections=layers)


def capture(*calls: AttentionCall, **more: Any) -> Capture:
    """The calls with a token for each query."""
    n_query = calls[0].n_query
    words = "the cat sat on the mat today and then it slept".split()
    tokens = tuple(text_tokens(*words[:n_query]) for _ in range(calls[0].n_batch))
    return Capture(**{"model": MODEL, "calls": calls, "tokens_by_stack": {None: tokens}} | more)


@cache
def every_kind() -> dict[str, Capture]:
    """A capture of each kind, by its name; made once in a worker."""
    mask = torch.ones(2, 1, 1, 7, dtype=torch.bool)
    mask[1, ..., 5:] = False
    square = torch.linspace(-1, 1, 6 * 49).reshape(1, 6, 7, 7)
    plain = call(qkv())
    grid = Windows(count=4, side=2, shift=1, grid=(3, 4))
    patches = Places(
        (2, 4),
        ((0, 1), (1, 2)),
        ((0, 2), (2, 3), (3, 4)),
        (tuple((r, c) if c else None for r in (0, 1) for c in range(3)) + (None,),),
    )
    cross = call(qkv(n_query=5), stack="decoder", kind="cross")
    weights = torch.softmax(torch.randn(2, 3, 7, 7, generator=torch.Generator().manual_seed(3)), -1)
    names = {
        "encoder": tuple(text_tokens(*"abcdefg") for _ in range(2)),
        "decoder": tuple(text_tokens(*"uvwxy") for _ in range(2)),
    }
    gate = torch.linspace(-1, 1, 84).reshape(2, 6, 7, 1)
    small = call(qkv(n_batch=4, n_query=4, n_key=4))
    return {
        "grouped": capture(plain, call(qkv(), layer=1)),
        "causal": capture(call(qkv(causal=True)), n_generated=3),
        "padded": capture(call(qkv(mask=mask.expand(2, 6, 7, 7)))),
        "bias": capture(call(qkv(bias=square, softcap=20.0))),
        "sinks": capture(call(qkv(sinks=torch.linspace(-1, 1, 6)))),
        "gate": capture(call(qkv(sinks=gate, sinks_gate=True))),
        "projections": capture(with_projections(plain)),
        "thinned": capture(memory.thinned(with_projections(plain), 3)),
        "windows": capture(replace(small, windows=grid), grid=(3, 4)),
        "places": capture(replace(plain, key_places=patches), grid=(2, 4)),
        "cross": capture(call(qkv(), stack="encoder"), cross, tokens_by_stack=names),
        "stored": capture(call(StoredWeights(weights, value=torch.ones(2, 3, 7, 5)))),
        "weights alone": capture(call(StoredWeights(weights))),
        "missing": capture(plain, missing=(MissingCall("attn.3", "it ran twice"),)),
        "sound": capture(plain, frame_s=0.02),
        "half": capture(*Storage("float16").keep_all([call(qkv())])),
        "outputs": capture(plain, hidden=torch.ones(2, 7, 13), logits=torch.ones(2, 7, 17)),
    }  # fmt: skip


def of_heads() -> dict[str, Capture]:
    """Captures of some heads alone, which not every kind of file takes."""
    kinds = every_kind()
    return {
        f"heads, {name}": capture(memory.with_heads(kinds[name].calls[0], heads))
        for name, heads in (("projections", (1, 4)), ("thinned", (5,)), ("stored", (0, 2)))
    }


def assert_same(first: object, second: object, place: str = "capture") -> None:
    """Fail where two captures, or parts of them, differ in any bit."""
    assert type(first) is type(second), place
    if isinstance(first, Tensor):
        assert isinstance(second, Tensor)
        assert first.dtype == second.dtype and first.shape == second.shape, place
        assert torch.equal(first.nan_to_num(), second.nan_to_num()), place
        assert torch.equal(first.isnan(), second.isnan()), place
    elif isinstance(first, np.ndarray):
        np.testing.assert_array_equal(first, second, err_msg=place)
        assert isinstance(second, np.ndarray) and first.dtype == second.dtype, place
    elif is_dataclass(first):
        for field in fields(first):
            if field.name != "versions":  # counts writes to a tensor of this process
                values = (getattr(side, field.name) for side in (first, second))
                assert_same(*values, f"{place}.{field.name}")
    elif isinstance(first, Mapping):
        assert isinstance(second, Mapping) and list(first) == list(second), place
        for name in first:
            assert_same(first[name], second[name], f"{place}[{name}]")
    elif isinstance(first, tuple | list):
        assert isinstance(second, tuple | list) and len(first) == len(second), place
        for number, pair in enumerate(zip(first, second, strict=True)):
            assert_same(*pair, f"{place}[{number}]")
    else:
        assert first == second, place
