"""Attention code of a model's own: weights·V is what the model's own product gave."""

import pytest
import torch

from attnviz.capture.record.recorder import record
from tests.support.tiny.check import tiny_case
from tests.support.tiny.models import set_seed

# heads before windows, twice; added to in place afterwards, twice; masked after the softmax
NAMES = ("hiera", "gemma3n_audio", "nystromformer", "vits", "cpmant")


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
