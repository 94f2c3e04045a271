"""`verify` speaks of every stage that is shown, and names those that it cannot compare."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from attnviz.attention.call import AttentionCall
from attnviz.attention.verification import Verification, joined
from attnviz.capture.record.recorder import record
from attnviz.capture.run import capture
from attnviz.models.loader import load
from tests.support import folders
from tests.support.adapted_layers import Attention, D

IDS = {"input_ids": [[6, 7, 8, 9, 10], [11, 12, 13, 14, 15]]}


def first_call(name: str) -> AttentionCall:
    return capture(load(folders.model(name)), inputs=IDS).call(0)


@pytest.mark.parametrize("name", ["bert", "gpt2", "llama"])
def test_verify_compares_q_k_v_and_w_o_of_every_head(name: str) -> None:
    call = first_call(name)
    turned = {"unrotated_q", "unrotated_k"} if name == "llama" else set()
    verified = call.verify()
    assert {c.stage for c in verified.comparisons} == {"q", "k", "v", "mixed", "projected"} | turned
    assert verified.ok and not verified.uncovered
    assert "not compared" not in repr(verified)


@pytest.mark.parametrize("stage", ["q", "k", "v"])
@pytest.mark.parametrize("name", ["bert", "llama"])
def test_verify_sees_an_x_that_is_not_the_models_in_one_row_of_the_batch(
    name: str, stage: str
) -> None:
    call = first_call(name)
    layer = call.projections[stage]
    wrong = layer.input.clone()
    wrong[1, 2, 3] += 0.5
    layers = call.projections | {stage: replace(layer, input=wrong)}
    verified = replace(call, projections=layers).verify()
    assert not verified.ok and verified.worst is not None
    assert verified.worst.stage in (stage, f"unrotated_{stage}")


def test_verify_sees_a_wrong_q_of_the_last_head() -> None:
    call = first_call("bert")
    query = call.inputs.query
    assert query is not None
    wrong = query.clone()
    wrong[1, -1, 4, 0] += 1e-3
    verified = replace(call, inputs=replace(call.inputs, query=wrong)).verify()
    assert [c.stage for c in verified.comparisons if not c.ok][0] == "q"


def test_verify_names_what_it_cannot_compare() -> None:
    class Normed(Attention):
        def __init__(self) -> None:
            super().__init__()
            self.q = nn.Sequential(self.q, nn.LayerNorm(D))

    torch.manual_seed(3)
    model = Normed().eval()
    with torch.no_grad(), record(model) as calls:
        model(torch.randn(2, 5, D))
    verified = calls[0].verify()
    assert verified.ok and verified.uncovered == {"Normed#0": ("q",)}
    assert repr(verified).endswith("; not compared: q of 1 call")


def test_joined_verifications_count_the_calls_of_each_stage() -> None:
    parts = [Verification((), (), {f"a#{n}": ("q", "k")}) for n in range(2)]
    parts.append(Verification((), (), {"b#0": ("v",)}))

    assert joined(parts).uncovered == {"a#0": ("q", "k"), "a#1": ("q", "k"), "b#0": ("v",)}


@pytest.mark.parametrize("name", ["llama", "bert", "gpt2"])
def test_autocast_is_judged_by_the_type_that_it_computes_in(name: str) -> None:
    model = folders.model(name)
    with torch.autocast("cpu", torch.bfloat16), torch.no_grad(), record(model) as calls:
        model(input_ids=torch.tensor(IDS["input_ids"]))
    for call in calls:
        verified = call.verify()
        assert verified.ok, verified


def test_a_wrong_mask_still_fails_under_autocast() -> None:
    model = folders.model("gpt2")
    with torch.autocast("cpu", torch.bfloat16), torch.no_grad(), record(model) as calls:
        model(input_ids=torch.tensor(IDS["input_ids"]))
    call = calls[0]
    without_mask: Tensor | None = None
    unmasked = replace(call.inputs, mask=without_mask, causal=False)
    assert not replace(call, inputs=unmasked).verify().ok
