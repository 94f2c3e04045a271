"""`record` on random adapters, changes in place and company: nothing that is shown is false."""

import contextlib
from collections import Counter

import pytest
import torch

from attnviz.attention.call import AttentionCall
from attnviz.attention.inputs import AttentionInputs
from attnviz.attention.steps import derive
from attnviz.capture.record.recorder import record
from attnviz.errors import UnsupportedAttention
from tests.support.adapted_layers import D, H
from tests.support.composed_attention import Around, composed, composition

N_FAST, N_SLOW, N_PART = 90, 10_000, 500
MODES = {
    "no_grad": torch.no_grad,
    "grad": contextlib.nullcontext,
    "inference": torch.inference_mode,
}
COARSE = 6e-2  # a LoRA in bfloat16


def fault(model: Around, call: AttentionCall) -> str | None:
    """The first thing shown that is not the model's own; None if all is."""
    own, kinds = model.attention.own, model.choice.kinds
    limit = COARSE if "lora_bfloat16" in kinds else 2e-5
    if not call.verify().ok:
        return f"not verified: {call.verify()}"
    for batch in range(call.n_batch):
        if float((call.weights(batch=batch) - own["weights"][batch]).abs().max()) > 1e-6:
            return "weights"
        if not isinstance(call.inputs, AttentionInputs):
            continue
        steps = derive(call, H - 1, batch)
        if not all(comparison.ok for comparison in steps.comparisons.values()):
            return f"steps: {steps.comparisons}"
        shown = {"x": steps.x, "o": steps.projected}
        for name, tensor in shown.items():
            if tensor is not None and float((tensor - own[name][batch]).abs().max()) > limit:
                return name
    for name in call.projections.keys() & {"q", "k", "v"}:
        if not torch.equal(call.projections[name].output, own[name]):
            return f"what {name} wrote"
    return None


def verdict(seed: int) -> str:
    """ "whole", "in part", "refused", or the fault."""
    model, choice = composed(seed), composition(seed)
    x = torch.randn(choice.n_text, 5, D)
    try:
        with MODES[choice.mode](), record(model) as calls:
            model(x)
    except UnsupportedAttention as error:  # nothing else is recorded
        named = [part.strip() for part in str(error).split(":")]
        return "refused" if "attention" in named else f"refused without its name: {error}"
    own = [call for call in calls if call.module == "attention"]
    missing = {call.module for call in calls.missing}
    if choice.beside is not None and not any(name.startswith("beside") for name in missing):
        return f"silent about {choice.beside.__name__}"
    if not own:
        return "refused" if "attention" in missing else "silent about the attention"
    if len(own) > 1 or (own[0].n_batch, own[0].n_heads) != (choice.n_text, H):
        return "axes"
    wrong = fault(model, own[0])
    return wrong or ("whole" if len(own[0].projections) == 4 else "in part")


def require_right(seeds: range) -> Counter[str]:
    """Every model of these seeds right; the counts."""
    verdicts = {seed: verdict(seed) for seed in seeds}
    right = ("whole", "in part", "refused")
    faults = {s: (v, composition(s)) for s, v in verdicts.items() if v not in right}
    assert not faults, (len(faults), list(faults.items())[:5])
    return Counter(verdicts.values())


@pytest.mark.some(1)
@pytest.mark.parametrize("start", range(0, N_FAST, N_FAST // 6))
def test_composed_attention_shows_nothing_false_and_leaves_nothing_unnamed(start: int) -> None:
    counts = require_right(range(start, start + N_FAST // 6))
    assert counts["whole"] >= 0.3 * sum(counts.values()), counts


def test_a_product_inside_a_layer_is_no_projection_of_its_own() -> None:
    """LoRA's base matrix as W_O, and what a layer reads after rounding as X."""
    verdicts = {seed: verdict(seed) for seed in (342, 441, 580)}
    assert set(verdicts.values()) <= {"whole", "in part"}, verdicts


@pytest.mark.slow
@pytest.mark.parametrize("start", range(N_FAST, N_FAST + N_SLOW, N_PART))
def test_more_composed_attention_shows_nothing_false(start: int) -> None:
    counts = require_right(range(start, start + N_PART))
    assert counts["whole"] >= 0.3 * sum(counts.values()), counts
