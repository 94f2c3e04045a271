"""What is asked of a capture after its model, its inputs or the way of computing have changed."""

import copy
import gc
import pickle
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import attnviz
from attnviz.attention.capture import Capture
from attnviz.errors import UnsupportedAttention
from tests.support.pass_alterations import Adapted, default_dtype
from tests.support.tiny.noted import (
    ids,
    llama,
    require_same,
    require_same_call,
    require_same_capture,
    was_noted,
)


def exchange_parameter(layer: nn.Linear) -> None:
    layer.weight = nn.Parameter(torch.zeros_like(layer.weight))


def exchange_data(layer: nn.Linear) -> None:
    layer.weight.data = torch.zeros_like(layer.weight)


@pytest.mark.parametrize("exchange", [exchange_parameter, exchange_data])
def test_a_layer_is_shown_with_the_weight_that_it_had(
    exchange: Callable[[nn.Linear], None],
) -> None:
    lm = llama()
    attnviz.capture(lm, **ids())
    before = attnviz.capture(lm, **ids())
    exchange(lm.model.model.layers[0].self_attn.q_proj)
    after = attnviz.capture(lm, **ids())
    assert was_noted(before) and was_noted(after)
    assert before.head("L0.H1").w_q.any() and not after.head("L0.H1").w_q.any()
    before.verify().require()
    after.verify().require()


def test_a_tensor_that_is_overwritten_before_it_is_read_is_refused() -> None:
    lm, kept = llama(), []
    attention = lm.model.model.layers[1].self_attn
    attnviz.capture(lm, **ids())
    attention.register_forward_pre_hook(
        lambda _module, _args, kwargs: kept.append(kwargs["hidden_states"]), with_kwargs=True
    )
    first, second = (attnviz.capture(lm, **ids()) for _ in range(2))
    assert first.head("L1.H1").x is not None  # read in time, and copied
    for tensor in kept:
        tensor.zero_()
    first.verify().require()
    for _ in range(2):
        with pytest.raises(UnsupportedAttention, match="overwritten in place") as error:
            second.verify()
        assert error.value.code == "overwritten"


@pytest.mark.parametrize("is_read", [False, True])
@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda cap: pickle.loads(pickle.dumps(cap))]
)
def test_a_copy_of_a_capture_is_the_same(
    copied: Callable[[Capture], Capture], is_read: bool
) -> None:
    lm = llama()
    attnviz.capture(lm, **ids())
    cap = attnviz.capture(lm, **ids())
    assert was_noted(cap)
    expected = attnviz.capture(lm, **ids())
    if is_read:
        assert cap.calls
    with torch.inference_mode(is_read):
        ours = copied(cap)
    for one, other in zip(ours.calls, expected.calls, strict=True):
        require_same_call(one, other)
    require_same(ours.logits, expected.logits)
    assert ours.verify().comparisons == expected.verify().comparisons


def test_a_copy_has_keys_of_its_own() -> None:
    cap = attnviz.capture(llama(), **ids())
    shallow, deep = copy.copy(cap), copy.deepcopy(cap)
    weights = cap.weights("L1.H1")
    cap.call(1).inputs.key.mul_(2)
    for changed in (cap, shallow):
        with pytest.raises(UnsupportedAttention, match="keys were overwritten"):
            changed.weights("L1.H1")
    with pytest.raises(UnsupportedAttention, match="keys were overwritten"):
        copy.deepcopy(cap)
    assert (deep.weights("L1.H1") == weights).all()
    deep.call(1).inputs.key.mul_(2)
    with pytest.raises(UnsupportedAttention, match="keys were overwritten"):
        deep.weights("L1.H1")


def test_the_model_may_go_before_the_question() -> None:
    lm = llama()
    attnviz.capture(lm, **ids())
    cap, expected = attnviz.capture(lm, **ids()), lm.model.model.layers[1].self_attn.o_proj.weight
    embeddings = torch._C._WeakTensorRef(lm.model.model.embed_tokens.weight)
    del lm
    gc.collect()
    assert embeddings.expired()
    assert torch.equal(cap.call(1).projections["out"].weight, expected.T)


@pytest.mark.parametrize(
    "around",
    [
        lambda: default_dtype(torch.bfloat16),
        lambda: default_dtype(torch.float64),
        lambda: torch.autocast("cpu", torch.bfloat16),
    ],
)
@pytest.mark.parametrize("is_noted", [False, True])
def test_what_is_asked_inside_another_number_type_is_float32(
    around: Callable[[], AbstractContextManager[None]], is_noted: bool
) -> None:
    lm = llama()
    expected = attnviz.capture(lm, **ids())
    cap = attnviz.capture(lm, **ids()) if is_noted else expected
    weights, steps = expected.weights(1), expected.head("L1.H1")
    checked = expected.verify().comparisons
    with around():
        assert was_noted(cap) == is_noted
        again, own = cap.weights(1), cap.head("L1.H1")
        assert again.dtype == np.float32 and (again == weights).all()
        assert cap.call(1).inputs.weights(1).dtype == torch.float32
        for stage in ("q", "k", "scores", "weights", "mixed", "projected", "value_norms"):
            require_same(getattr(own, stage), getattr(steps, stage))
        assert cap.verify().comparisons == checked


@pytest.mark.parametrize("as_given", [Tensor.numpy, Tensor.clone])
@pytest.mark.parametrize("is_noted", [False, True])
def test_inputs_that_are_used_again_change_no_capture(
    as_given: Callable[[Tensor], Any], is_noted: bool
) -> None:
    """Rows of a mask that blocks all keys are compared with nothing: `verify` was ok."""
    lm, mask = llama(), torch.ones(1, 1, 7, 7, dtype=torch.bool).tril()
    whole = {"input_ids": ids()["inputs"]["input_ids"], "attention_mask": mask}
    for _ in range(1 + is_noted):
        given = {name: as_given(value.clone()) for name, value in whole.items()}
        cap = attnviz.capture(lm, inputs=given)
    assert was_noted(cap) == is_noted
    for value in given.values():
        value[:] = 0
    require_same_capture(cap, attnviz.capture(lm, inputs=whole))


@pytest.mark.slow
def test_an_adapter_that_ran_in_autocast_is_called_in_it() -> None:
    lm = llama()
    attention = lm.model.model.layers[1].self_attn
    attention.q_proj, attention.o_proj = Adapted(attention.q_proj), Adapted(attention.o_proj)
    lm = attnviz.load(lm.model.eval())
    with torch.autocast("cpu", torch.bfloat16):
        cap = attnviz.capture(lm, **ids())
    assert cap.call(1).projections["out"].module.endswith("o_proj")
    cap.verify().require()


def test_an_adapter_that_was_changed_since_is_refused_by_name() -> None:
    lm = llama()
    attention = lm.model.model.layers[1].self_attn
    attention.o_proj = Adapted(attention.o_proj)
    cap = attnviz.capture(attnviz.load(lm.model.eval()), **ids())
    cap.verify().require()
    lm.model.half()
    with pytest.raises(UnsupportedAttention, match="was it changed since") as error:
        cap.verify()
    assert error.value.code == "overwritten"


def test_each_pass_has_the_mask_that_is_filled_anew_for_it() -> None:
    model, mask = llama().model, torch.ones(1, 1, 7, 7, dtype=torch.bool).tril()
    given = {"input_ids": ids()["inputs"]["input_ids"], "attention_mask": mask}
    with attnviz.record(model) as calls, torch.no_grad():
        model(**given)
        mask[:] = mask.new_zeros(()).logical_or(torch.arange(7) == 0)
        model(**given)
    assert not calls.missing and all(call.verify().ok for call in calls)
    for call, sees_itself in zip(calls, (True, True, False, False), strict=True):
        assert bool(call.weights(0).diagonal()[1:].any()) is sees_itself


@pytest.mark.parametrize("kept", [{}, {"keep": "L1.H1"}])
def test_a_model_of_float16_is_asked_inside_an_autocast_of_bfloat16(kept: dict[str, Any]) -> None:
    """Inside it PyTorch joins no tensors of float16: `verify` ended in its error."""
    lm = attnviz.load(llama().model.half())
    cap = attnviz.capture(lm, **ids(), **kept)
    expected, layers = cap.verify().comparisons, cap.call(1).projections
    parts = [(layer.weight, layer.heads(0, 6)) for layer in layers.values()]
    with torch.autocast("cpu", torch.bfloat16):
        assert cap.verify().comparisons == expected
        for layer, (weight, heads) in zip(layers.values(), parts, strict=True):
            require_same(layer.weight, weight)
            require_same(layer.heads(0, 6), heads)


def test_a_model_of_float64_is_verified() -> None:
    lm = attnviz.load(llama().model.double())
    for _ in range(2):
        attnviz.capture(lm, **ids()).verify().require()
