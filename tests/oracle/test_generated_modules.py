"""`record` on generated attention modules: each is exact, or refused with a reason."""

import contextlib
from collections import Counter
from dataclasses import asdict, replace

import pytest
import torch

from attnviz.attention.call import AttentionCall
from attnviz.capture.record.recorder import recording
from attnviz.errors import UnsupportedAttention
from tests.support.attention_modules import Choice, Generated, choice, generated, model_of

N_FAST, N_SLOW, N_PART = 120, 10_000, 500
LEAST_EXACT = 0.7  # a product that is written out as a sum is refused
TOLERANCE = {"bfloat16": 2e-2, "autocast": 2e-2}


def ran(made: Choice, seed: int) -> tuple[Generated, list[AttentionCall], list[str]]:
    """The module after one recorded run, its calls, and the modules that are missing."""
    torch.manual_seed(seed)
    module = generated(made)
    model = model_of(module)
    x = torch.randn(made.n_batch, made.n_query, 12)
    args = (x, torch.randn(made.n_batch, 4, 12)) if made.is_cross else (x,)
    if made.mode == "bfloat16":
        model, args = model.bfloat16(), tuple(arg.bfloat16() for arg in args)
    modes = {
        "grad": contextlib.nullcontext,
        "inference": torch.inference_mode,
        "autocast": lambda: torch.autocast("cpu", torch.bfloat16),
    }
    calls = []
    with contextlib.suppress(UnsupportedAttention):  # of all that ran: its parts are named
        with modes.get(made.mode, torch.no_grad)(), recording(model) as recorder:
            model(*args)
        calls = recorder.calls
    missing = [call.module.removeprefix("inner") for call in recorder.missing.calls]
    return module, calls, missing


def verdict(made: Choice, seed: int) -> str:
    """ "exact", "refused", or the fault."""
    module, calls, missing = ran(made, seed)
    if made.beside is not None and not any(name.startswith("beside") for name in missing):
        return "silent about what is beside"
    if not calls:
        return "refused" if any(not name.startswith("beside") for name in missing) else "silent"
    assert module.truth is not None
    if made.layout == "loop" and len(calls) < made.n_head and missing:
        return "refused"  # some of its heads, by name
    # without a product that shows q and k, nothing tells heads from steps of time; in coarse types
    # derived weights and the model's own are not put together
    is_shown = calls[0].inputs.query is not None
    is_mixed = len({type(call.inputs) for call in calls}) > 1 and made.mode in TOLERANCE
    per_head = made.layout == "loop" and len(calls) == made.n_head and (is_mixed or not is_shown)
    if per_head:
        rows = [torch.cat([call.weights(batch=b) for call in calls]) for b in range(made.n_batch)]
    elif len(calls) == 1 and calls[0].n_batch == made.n_batch:
        rows = [calls[0].weights(batch=b) for b in range(made.n_batch)]
    else:
        return f"axes {[(call.n_batch, call.n_heads) for call in calls]}"
    ours = torch.stack(rows)
    if ours.shape != module.truth.shape:
        return f"shape {tuple(ours.shape)} for {tuple(module.truth.shape)}"
    if not float((ours - module.truth).abs().max()) <= TOLERANCE.get(made.mode, 1e-5):
        return "wrong"
    if not all(call.verify().ok for call in calls):
        return "not verified"
    kind = "cross" if made.is_cross else "self"
    return "exact" if {call.kind for call in calls} == {kind} else "kind"


def require_right(seeds: range) -> Counter[str]:
    """Every module of these seeds exact or refused; the counts."""
    verdicts = {seed: verdict(choice(seed), seed) for seed in seeds}
    faults = {
        s: (v, asdict(choice(s))) for s, v in verdicts.items() if v not in ("exact", "refused")
    }
    assert not faults, (len(faults), list(faults.items())[:5])
    return Counter(verdicts.values())


@pytest.mark.some(1)
@pytest.mark.parametrize("start", range(0, N_FAST, N_FAST // 3))
def test_generated_modules_are_exact_or_refused(start: int) -> None:
    counts = require_right(range(start, start + N_FAST // 3))
    assert counts["exact"] >= LEAST_EXACT * sum(counts.values()), counts


def test_a_logarithm_of_a_sum_in_half_precision_hides_no_softmax() -> None:
    """exp(x − logsumexp(x)) sums to 1 up to 4 % in bfloat16: these seeds were missed silently."""
    seeds = 961, 1231, 2422, 2795, 3317
    verdicts = {seed: verdict(replace(choice(seed), part=None), seed) for seed in seeds}
    refused = dict.fromkeys((961, 1231, 2422, 3317), "refused")
    assert verdicts == refused | {2795: "exact"}


@pytest.mark.slow
@pytest.mark.parametrize("start", range(N_FAST, N_FAST + N_SLOW, N_PART))
def test_more_generated_modules_are_exact_or_refused(start: int) -> None:
    counts = require_right(range(start, start + N_PART))
    assert counts["exact"] >= LEAST_EXACT * sum(counts.values()), counts
