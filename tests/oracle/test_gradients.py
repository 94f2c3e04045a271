"""Gradients through a recorded pass, against autograd of the eager model of transformers.

Softcaps and sinks have kernels of attnviz's own: they must not cut W_V off from the gradients.
"""

from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import PreTrainedModel

import attnviz
from attnviz.attention.inputs import AttentionInputs
from attnviz.capture.record.recorder import record
from attnviz.errors import BadInput, UnsupportedAttention
from attnviz.experiment.first_order import slopes
from attnviz.experiment.readouts import readout
from tests.support.questions import MARY, STORE
from tests.support.tiny.configs import tiny_config
from tests.support.tiny.models import build, set_seed

IDS = {"input_ids": torch.tensor([[11, 7, 19, 7, 3, 23, 5]])}
FAMILIES = ("llama", "gemma2", "gpt_oss")
TOLERANCE = 1e-5  # of the largest gradient


@pytest.fixture(scope="module", params=FAMILIES)
def pair(request: pytest.FixtureRequest) -> tuple[PreTrainedModel, PreTrainedModel]:
    return build(request.param, tiny_config(request.param, "tiny", None))


def number(model: Any) -> Tensor:
    """A number of the answer that every layer takes part in."""
    set_seed()
    hidden = model(**IDS).last_hidden_state
    assert isinstance(hidden, Tensor)
    return (hidden[0, -1] * torch.linspace(-1, 1, hidden.shape[-1])).sum()


def off(ours: Tensor, theirs: Tensor) -> float:
    """The largest difference, as a share of the largest number."""
    assert float(theirs.abs().max()) > 0
    return float((ours - theirs).abs().max() / theirs.abs().max())


@pytest.mark.filterwarnings("ignore")  # transformers' own, of tiny configs
@pytest.mark.parametrize("grad", [False, True])
def test_recorded_models_keep_the_gradients_of_w_q_w_k_w_v_and_sinks(
    pair: tuple[PreTrainedModel, PreTrainedModel], grad: bool
) -> None:
    model, eager = pair
    names = [
        name
        for name, _ in eager.named_parameters()
        if name.endswith(("q_proj.weight", "k_proj.weight", "v_proj.weight", "sinks"))
    ]
    assert len(names) >= 6
    theirs = torch.autograd.grad(number(eager), [eager.get_parameter(name) for name in names])
    with record(model, grad=grad):
        value = number(model)
    ours = torch.autograd.grad(value, [model.get_parameter(name) for name in names])
    for name, our, their in zip(names, ours, theirs, strict=True):
        assert off(our, their) <= TOLERANCE, name


@pytest.mark.filterwarnings("ignore")
def test_the_slope_by_a_recorded_output_is_the_eager_models(
    pair: tuple[PreTrainedModel, PreTrainedModel],
) -> None:
    """Beside a hook on W_O's input of each layer of the eager model."""
    model, eager = pair
    read: list[Tensor] = []
    handles = [
        module.register_forward_pre_hook(lambda _module, args: read.append(args[0]))
        for name, module in eager.named_modules()
        if name.endswith("o_proj")
    ]
    theirs = torch.autograd.grad(number(eager), read)
    for handle in handles:
        handle.remove()
    with record(model, grad=True) as calls:
        value = number(model)
    ours = torch.autograd.grad(value, [call.output for call in calls], retain_graph=True)
    for our, their in zip(ours, theirs, strict=True):
        assert off(our.flatten(2), their) <= TOLERANCE
    first = calls[0].inputs
    assert isinstance(first, AttentionInputs)
    by_value = torch.autograd.grad(value, first.value)[0]
    assert float(by_value.abs().max()) > 0
    for call in calls:
        call.verify().require()


def test_the_first_order_of_each_cell_follows_from_a_recorded_gradient() -> None:
    """−α·(g·v), as `edges` estimates it and says that it does."""
    lm = attnviz.load("stories")
    prepared = attnviz.experiment(lm, STORE, on=MARY).prepared
    linear = readout(prepared).linear
    assert linear is not None
    with record(lm.model, grad=True) as calls:
        logits = lm.model(**prepared.inputs, **prepared.options).logits
    call = calls[2]
    (slope,) = torch.autograd.grad(linear(logits).sum(), call.output)
    stages = {stage: x.detach() for stage, x in call.stages(1).items()}
    estimate = -stages["weights"] * (slope[0, :, 1] @ stages["v"].T)
    found = attnviz.experiment(lm, STORE, on=MARY).edges("L2.H1", exact=1)
    seen = ~torch.tensor(found.estimate).isnan()
    theirs = torch.tensor(found.estimate).nan_to_num()
    assert float((estimate[seen] - theirs[seen]).abs().max()) <= 1e-5
    assert found.estimated == "the measure"
    kept = slopes(prepared).slope
    assert any(torch.allclose(slope[0], other, atol=1e-6) for other in kept.values())


def test_gradients_that_are_not_kept_are_refused_by_name() -> None:
    lm = attnviz.load("stories")
    inputs = {"input_ids": torch.tensor([[1, 2, 3]])}
    with pytest.raises(BadInput, match="inside torch.no_grad"), record(lm.model, grad=True):
        with torch.no_grad():
            lm.model(**inputs)
    own = attnviz.load("mha-55")
    assert own.example is not None
    with pytest.raises(UnsupportedAttention, match="records it without gradients") as error:
        with record(own.model, grad=True):
            own.model(**own.example.inputs)
    assert error.value.code == "own_code_gradient"


def test_a_model_with_frozen_parameters_still_has_slopes() -> None:
    lm = attnviz.load(build("llama", tiny_config("llama", "tiny", None))[0])
    lm.model.requires_grad_(False)
    with record(lm.model, grad=True) as calls:
        value = number(lm.model)
    slope = torch.autograd.grad(value, calls[0].output)[0]
    assert float(slope.abs().max()) > 0
