"""Captures beside one another, number by number, and tiny models whose short passes are noted."""

from typing import Any

import torch
from torch import Tensor
from transformers import BertConfig, BertModel, LlamaConfig, LlamaForCausalLM

import attnviz
from attnviz.attention.call import AttentionCall
from attnviz.attention.capture import Capture
from attnviz.attention.inputs import AttentionInputs
from attnviz.models.loaded_model import LoadedModel

SIZES = {"vocab_size": 50, "hidden_size": 24, "intermediate_size": 20, "num_hidden_layers": 2}
SIZES |= {"num_attention_heads": 4}


def was_noted(cap: Capture) -> bool:
    return "calls" not in vars(cap)


def require_same(ours: object, theirs: object) -> None:
    if isinstance(ours, Tensor):
        assert isinstance(theirs, Tensor) and ours.dtype == theirs.dtype
        torch.testing.assert_close(ours, theirs, atol=0, rtol=0, equal_nan=True)
    else:
        assert ours == theirs


def require_same_call(ours: AttentionCall, theirs: AttentionCall) -> None:
    for name in ("module", "index", "layer", "stack", "kind", "absent", "row_step", "name"):
        require_same(getattr(ours, name), getattr(theirs, name))
    require_same(ours.output, theirs.output)
    if isinstance(theirs.inputs, AttentionInputs):
        names = (*"query key value mask causal scaling bias softcap sinks sinks_gate".split(),)
        for name in names:
            require_same(getattr(ours.inputs, name), getattr(theirs.inputs, name))
    assert ours.projections.keys() == theirs.projections.keys()
    for name, layer in ours.projections.items():
        other = theirs.projections[name]
        for part in ("module", "input", "output", "starts", "turned", "factor", "bias"):
            require_same(getattr(layer, part), getattr(other, part))
        require_same(layer.weight, other.weight)


def require_same_capture(ours: Capture, theirs: Capture) -> None:
    for one, other in zip(ours.calls, theirs.calls, strict=True):
        require_same_call(one, other)
    require_same(ours.hidden, theirs.hidden)
    require_same(ours.logits, theirs.logits)
    assert (ours.missing, ours.grid, ours.n_generated) == (
        theirs.missing, theirs.grid, theirs.n_generated
    )  # fmt: skip
    assert ours.tokens_by_stack.keys() == theirs.tokens_by_stack.keys()
    for stack, rows in ours.tokens_by_stack.items():
        assert [row.labels for row in rows] == [r.labels for r in theirs.tokens_by_stack[stack]]
    assert ours.verify().comparisons == theirs.verify().comparisons
    assert ours.nbytes == theirs.nbytes and repr(ours) == repr(theirs)


def llama() -> LoadedModel:
    torch.manual_seed(0)
    return attnviz.load(LlamaForCausalLM(LlamaConfig(**SIZES, num_key_value_heads=2)).eval())


def bert() -> LoadedModel:
    torch.manual_seed(0)
    return attnviz.load(BertModel(BertConfig(**SIZES), add_pooling_layer=False).eval())


def ids(n: int = 7) -> dict[str, Any]:
    numbers = torch.randint(50, (1, n), generator=torch.Generator().manual_seed(1))
    return {"inputs": {"input_ids": numbers}}
