"""Attention code of a model's own: weights·V is what the model's own product gave."""

import pytest
import torch

from attnviz.capture.record.gaps import NOT_ASKED
from attnviz.capture.record.recorder import record
from tests.support.tiny.check import check, tiny_case
from tests.support.tiny.models import set_seed

# heads before windows, twice; added to in place afterwards, twice; masked after the softmax
NAMES = ("hiera", "gemma3n_audio", "nystromformer", "vits", "cpmant")


@pytest.mark.some(1)
@pytest.mark.filterwarnings("ignore")  # transformers' own, of tiny configs
@pytest.mark.parametrize("name", NAMES)
def test_weights_times_values_are_the_models_own(name: str) -> None:
    model, inputs, expected = tiny_case(name)
    assert expected.has_attention
    with torch.no_grad(), record(model) as calls:
        set_seed()
        model(**inputs)
    assert len({call.n_query for call in calls} | {call.inputs.d_head for call in calls}) > 1
    assert max(call.verify().worst.error for call in calls) <= 1e-5


def test_a_mask_after_the_softmax_is_in_the_weights() -> None:
    """CPM-Ant sets what is hidden to 0 once more: a row that may see nothing sums to 0."""
    model, inputs, _ = tiny_case("cpmant")
    inputs = {**inputs, "input_ids": inputs["input_ids"].clone()}
    inputs["input_ids"][1, 3:] = 0  # padding
    with torch.no_grad(), record(model) as calls:
        model(**inputs)
    sums = torch.stack([call.weights(batch=1).sum(-1) for call in calls])
    whole, nothing = (sums - 1).abs() <= 1e-5, sums == 0
    assert bool((whole | nothing).all()) and bool(whole.any())
    for call in calls:
        assert call.verify().worst.error <= 1e-5


@pytest.mark.filterwarnings("ignore")
def test_a_class_that_gets_past_the_interface_is_watched() -> None:
    """Kosmos-2.5's pictures: the file asks for the interface in a way that always gives eager."""
    verdict = check("kosmos_2_5_vision_model", record)
    assert (verdict.status, verdict.eager, verdict.recorded) == ("exact", 2, 2), verdict.problems


def test_an_attention_module_that_does_not_ask_is_named() -> None:
    """Its forward was replaced by code that computes no attention: it must not just be gone."""
    model, inputs, _ = tiny_case("bert")
    replaced = model.encoder.layer[1].attention.self
    replaced.forward = lambda hidden, *args, **kwargs: (hidden, None)  # type: ignore[method-assign]
    with torch.no_grad(), record(model) as calls:
        model(**inputs)
    assert [call.module for call in calls] == ["encoder.layer.0.attention.self"]
    assert [missing.module for missing in calls.missing] == ["encoder.layer.1.attention.self"]
    assert NOT_ASKED in calls.missing[0].reason


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_sliding_window_is_recorded_over_all_keys() -> None:
    verdict = check("longformer", record)
    assert (verdict.status, verdict.with_steps) == ("exact", 2), verdict.problems


@pytest.mark.filterwarnings("ignore")
def test_a_window_beside_global_tokens_is_refused_by_name() -> None:
    model, inputs, _ = tiny_case("longformer")
    everywhere = torch.zeros_like(inputs["input_ids"])
    everywhere[:, 0] = 1
    with torch.no_grad(), record(model) as calls:
        model(**inputs, global_attention_mask=everywhere)
    # the rows of the global token have a softmax of their own over all keys
    assert {(call.n_heads, call.n_query, call.n_key) for call in calls} == {(4, 1, 12)}
    for call in calls:
        call.verify().require()
    names = {f"encoder.layer.{layer}.attention.self" for layer in (0, 1)}
    assert {missing.module for missing in calls.missing} == names
