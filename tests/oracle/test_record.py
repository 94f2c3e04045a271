"""Recording leaves the model as it was, refuses what it cannot derive, and keeps threads apart."""

import re
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
import torch
from transformers import (
    BertConfig,
    BertModel,
    BigBirdConfig,
    BigBirdModel,
    GPT2Config,
    GPT2Model,
    LlamaConfig,
    LlamaModel,
    PreTrainedModel,
)

from attnviz.attention.call import AttentionCall
from attnviz.attention.steps import derive
from attnviz.capture.record.interface import unmodelled
from attnviz.capture.record.recorder import record
from attnviz.capture.run import capture
from attnviz.errors import CaptureMismatch, UnsupportedAttention
from attnviz.models.loaded_model import LoadedModel
from attnviz.models.loader import load

VOCAB = 61


def tiny(kind: str) -> PreTrainedModel:
    """A model with random weights large enough that its heads differ."""
    torch.manual_seed(7)
    made: dict[str, PreTrainedModel] = {
        "bert": BertModel(
            BertConfig(
                vocab_size=VOCAB,
                hidden_size=30,
                num_attention_heads=3,
                num_hidden_layers=2,
                intermediate_size=14,
            )
        ),
        "gpt2": GPT2Model(GPT2Config(vocab_size=VOCAB, n_embd=30, n_head=3, n_layer=2)),
        "llama": LlamaModel(
            LlamaConfig(
                vocab_size=VOCAB,
                hidden_size=24,
                num_attention_heads=6,
                num_key_value_heads=2,
                num_hidden_layers=2,
                intermediate_size=14,
            )
        ),
    }
    model = made[kind].eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 2:
                parameter.normal_(std=1.3 / parameter.shape[-1] ** 0.5)
    return model


def recorded(model: PreTrainedModel) -> tuple[list[AttentionCall], list[torch.Tensor]]:
    """The calls of a padded batch, and transformers' eager attention for the same input."""
    ids = torch.randint(3, VOCAB, (2, 7), generator=torch.Generator().manual_seed(3))
    inputs = {"input_ids": ids, "attention_mask": torch.tensor([[1] * 7, [1] * 5 + [0] * 2])}
    with torch.no_grad(), record(model) as calls:
        model(**inputs)
    model.set_attn_implementation("eager")
    with torch.no_grad():
        theirs = model(**inputs, output_attentions=True).attentions
    return calls, list(theirs)


@pytest.mark.parametrize("kind", ["bert", "gpt2", "llama"])
def test_small_models_equal_eager(kind: str) -> None:
    calls, theirs = recorded(tiny(kind))
    assert len(calls) == len(theirs) == 2
    for call, expected in zip(calls, theirs, strict=True):
        for batch, n_real in ((0, 7), (1, 5)):
            ours = call.weights(batch=batch)[:, :n_real]
            assert float((ours - expected[batch][:, :n_real]).abs().max()) <= 1e-5
        assert call.verify().worst.error <= 1e-5


def test_the_kind_of_mask_is_told() -> None:
    padded, _ = recorded(tiny("bert"))
    assert padded[0].mask_kind == "keys"
    padded_and_causal, _ = recorded(tiny("gpt2"))
    assert padded_and_causal[0].mask_kind == "cells"
    ids = torch.tensor([[5, 6, 7]])
    for kind, expected in (("bert", "none"), ("llama", "causal")):
        with torch.no_grad(), record(model := tiny(kind)) as calls:
            model(ids)
        assert calls[0].mask_kind == expected


def test_one_fused_layer_for_q_k_and_v_is_taken_apart_by_its_strides() -> None:
    calls, _ = recorded(tiny("gpt2"))
    steps = derive(calls[1], head=2, batch=1)
    assert set(steps.errors) >= {"q", "projected"}
    assert all(error <= 1e-5 for error in steps.errors.values())
    assert calls[0].projections["q"].module == "h.0.attn.c_attn"
    assert calls[0].projections["q"].starts == (0, 10, 20)


def is_free(lm: LoadedModel) -> bool:
    """True if this thread can take the lock of a model."""
    free = lm.lock.acquire(timeout=5)
    if free:
        lm.lock.release()
    return free


def test_the_model_is_put_back_after_success_and_after_failure(minilm: LoadedModel) -> None:
    model = minilm.model

    def hooks() -> int:
        return sum(len(module._forward_hooks) for module in model.modules())

    before = (model.config._attn_implementation, hooks())
    capture(minilm, "Fine.")
    assert (model.config._attn_implementation, hooks()) == before

    def fail(*_args: object) -> None:
        raise RuntimeError("in the middle")

    handle = model.get_submodule("encoder.layer.3.output").register_forward_hook(fail)
    try:
        with pytest.raises(RuntimeError, match="in the middle"):
            capture(minilm, "Broken.")
    finally:
        handle.remove()
    assert (model.config._attn_implementation, hooks()) == before
    with ThreadPoolExecutor() as pool:
        assert pool.submit(is_free, minilm).result()
    assert capture(minilm, "Fine again.").verify().ok


def test_nothing_half_captured_survives_a_failure() -> None:
    model = tiny("bert")
    with pytest.raises(RuntimeError, match="stop"), record(model) as calls:
        model(torch.tensor([[1, 2, 3]]))
        raise RuntimeError("stop")
    assert calls == []


def test_threads_on_one_model_do_not_mix(minilm: LoadedModel) -> None:
    texts = [f"Sentence {'very ' * number}long." for number in range(6)]
    expected = [capture(minilm, text).weights(5) for text in texts]
    found: dict[int, np.ndarray] = {}

    def work(number: int) -> None:
        for _ in range(3):
            found[number] = capture(minilm, texts[number]).weights(5)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, weights in enumerate(expected):
        # another thread may sum in another order; a mix-up would change the shape or everything
        np.testing.assert_allclose(found[number], weights, atol=1e-5, rtol=0)


def test_the_fast_path_stays_off_until_the_last_watcher_has_gone() -> None:
    enabled = torch.backends.mha.get_fastpath_enabled
    layers = [torch.nn.MultiheadAttention(6, 2).eval() for _ in range(2)]
    x = torch.randn(3, 1, 6)
    assert enabled()
    outer = record(layers[0])
    inner = record(layers[1])
    with torch.no_grad():
        first, second = outer.__enter__(), inner.__enter__()
        layers[1](x, x, x)
        layers[0](x, x, x)
        outer.__exit__(None, None, None)  # the first to come is not the last to go
        assert not enabled()
        inner.__exit__(None, None, None)
    assert enabled()
    assert first and second


def test_blocks_that_end_in_the_order_of_their_beginning_leave_no_recorder() -> None:
    model, other, ids = tiny("llama"), tiny("llama"), torch.tensor([[5, 6, 7, 8]])
    outer, inner = record(model), record(other)
    with torch.no_grad():
        first = outer.__enter__()
        model(input_ids=ids)
        second = inner.__enter__()
        other(input_ids=ids)
        outer.__exit__(None, None, None)
        inner.__exit__(None, None, None)
        n_calls = len(first), len(second)
        model.set_attn_implementation("attnviz")
        model(input_ids=ids)
    assert (len(first), len(second)) == n_calls and first and second
    assert not any(module._forward_pre_hooks for module in model.modules())


def test_an_argument_that_no_step_models_is_refused_by_name() -> None:
    attention = tiny("llama").layers[0].self_attn
    harmless = {"softcap": 5.0, "position_ids": torch.arange(3), "new": None}
    assert unmodelled(attention, harmless) is None
    error = unmodelled(attention, {"temperature": 2.0, "block_indices": torch.ones(1)})
    assert error is not None and error.code == "unmodelled_argument"
    assert re.search(r"LlamaAttention .*block_indices, temperature", str(error))


def test_an_unmodelled_argument_leaves_out_its_call_and_no_other() -> None:
    model, ids = tiny("llama"), torch.tensor([[5, 6, 7, 8]])
    model.set_attn_implementation("eager")
    with torch.no_grad():
        expected = model(input_ids=ids).last_hidden_state
    odd = model.layers[1].self_attn
    odd.forward = partial(odd.forward, block_indices=torch.ones(1))
    with torch.no_grad(), record(model) as calls:
        ours = model(input_ids=ids).last_hidden_state
    assert "layers.1.self_attn" not in {call.module for call in calls} and calls
    assert [call.module for call in calls.missing] == ["layers.1.self_attn"]
    assert "block_indices" in calls.missing[0].reason
    torch.testing.assert_close(ours, expected, atol=1e-5, rtol=0)
    for layer in model.layers:
        layer.self_attn.forward = partial(layer.self_attn.forward, block_indices=torch.ones(1))
    with pytest.raises(UnsupportedAttention, match="block_indices") as caught, torch.no_grad():
        with record(model):
            model(input_ids=ids)
    assert caught.value.code == "unmodelled_argument"


def test_a_model_that_exchanges_its_modules_is_run_again() -> None:
    config = BigBirdConfig(
        vocab_size=VOCAB,
        hidden_size=24,
        num_attention_heads=3,
        num_hidden_layers=2,
        intermediate_size=14,
        attention_type="block_sparse",
    )
    model = BigBirdModel(config).eval()
    inputs = {"input_ids": torch.tensor([[5, 6, 7, 8]])}
    with pytest.raises(UnsupportedAttention, match="exchanged its attention modules"):
        with torch.no_grad(), record(model):
            model(**inputs)
    fresh = load(BigBirdModel(config).eval())
    assert capture(fresh, inputs=inputs).weights(1).shape == (3, 4, 4)


def test_what_cannot_be_recorded_raises() -> None:
    with pytest.raises(UnsupportedAttention, match="Linear has no attention"):
        with record(torch.nn.Linear(2, 2)):
            pass
    with pytest.raises(UnsupportedAttention, match="without one attention call"):
        with record(tiny("bert")):
            pass


def test_a_derived_number_that_disagrees_is_reported(minilm: LoadedModel) -> None:
    cap = capture(minilm, "Trust, but verify.")
    cap.verify().require()
    with torch.no_grad():
        cap.call(2).output[0, 1, 3, 4] += 0.5
    assert cap.verify().errors["encoder.layer.2.attention.self#0"] == pytest.approx(0.5, abs=1e-3)
    with pytest.raises(CaptureMismatch, match=r"layer\.2.*do not trust"):
        cap.verify().require()
    cap.call(2).output[0, 1, 3, 4] = torch.nan
    with pytest.raises(CaptureMismatch, match="nan"):
        cap.verify().require()
