"""What recording adds where a pass is short: `python -m benchmarks.small [--runs 60]`.

The embedded MiniLM and stories at 16, 64 and 512 tokens (or as many as they take), one thread, in
processor time. The plain pass, the capture and the capture with all weights take turns, so that a
machine that slows down slows all three. Printed are the ratios of the least and of the medians;
goals 1.10 and 1.25. The weights of every run's last capture must equal eager attention's to 1e-5.

Two controls say what there is no going below: a pass with one bare hook of torch's on each
attention, which keeps what it returned, and a pass with one on each of its linear layers as well,
which is what q, k, v, X and W_O need at the least. Two more say what all weights cost whoever
writes them: the model's own eager attention with `output_attentions=True`, and a plain pass with
q·kᵀ and its softmax of every layer, written into memory that is there. Beside each way stand the
function calls of one run, Python's and C's, which no other work on the machine changes.
"""

import argparse
import copy
import cProfile
import pstats
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

import attnviz
from attnviz.attention.call import AttentionCall
from attnviz.attention.inputs import AttentionInputs
from attnviz.capture.locate.modules import modules_by_name
from attnviz.capture.locate.own_code import asking_modules
from attnviz.capture.locate.projections_by_memory import layers_in_attention
from attnviz.models.loaded_model import LoadedModel

LENGTHS = (16, 64, 512)
GOALS = {"capture": 1.10, "with all weights": 1.25}
SAME = 1e-5


@dataclass
class Spent:
    """The milliseconds of each run of a way, and the function calls of one."""

    times: list[float]
    n_calls: int = 0


Inputs = dict[str, torch.Tensor]
Way = Callable[[], object]


def measure(lm: LoadedModel, length: int, runs: int) -> dict[str, Spent]:
    """What each way takes, in turns; raises unless its weights are those of eager attention."""
    n_ids = int(lm.model.get_input_embeddings().num_embeddings)
    ids = torch.randint(5, n_ids, (1, length), generator=torch.Generator().manual_seed(1))
    inputs = {"input_ids": ids}

    def with_weights() -> list[torch.Tensor]:
        return [call.weights() for call in attnviz.capture(lm, inputs=inputs).calls]

    eager: Any = copy.deepcopy(lm.model)
    eager.set_attn_implementation("eager")
    ways: dict[str, Way] = {
        "plain": lambda: run(lm.model, inputs),
        **hooked(lm.model, inputs),
        "capture": lambda: attnviz.capture(lm, inputs=inputs),
        "with all weights": with_weights,
        "eager, output_attentions=True": lambda: run(eager, inputs, output_attentions=True),
        "q·kᵀ and softmax, memory there": bare_weights(lm, inputs),
    }
    spent = {name: Spent([]) for name in ways}
    for number in range(3 + runs):  # the first rounds fill caches
        for name, way in ways.items():
            start = time.process_time()
            way()
            if number >= 3:
                spent[name].times.append(1000 * (time.process_time() - start))
    for name, way in ways.items():
        with cProfile.Profile() as profile:
            way()
        spent[name].n_calls = pstats.Stats(profile).total_calls  # type: ignore[attr-defined]  # stub
    theirs = run(eager, inputs, output_attentions=True).attentions
    for own, layer in zip(with_weights(), theirs, strict=True):
        assert float((own - layer[0]).abs().max()) <= SAME, "wrong weights"
    return spent


def run(model: nn.Module, inputs: Inputs, **options: bool) -> Any:
    """The answer of one pass."""
    with torch.no_grad():
        return model(**inputs, **options)


def hooked(model: nn.Module, inputs: Inputs) -> dict[str, Way]:
    """A pass with a bare hook on each attention, and one with hooks on its layers too."""
    modules = modules_by_name(model)
    attentions = [modules[name] for name in modules.fact(asking_modules)]
    layers = [*layers_in_attention(modules).values()]

    def keep(hooked_modules: list[nn.Module]) -> None:
        kept: list[object] = []
        handles = [
            module.register_forward_hook(lambda _module, *passed: kept.append(passed))
            for module in hooked_modules
        ]
        run(model, inputs)
        for handle in handles:
            handle.remove()
        assert len(kept) == len(hooked_modules)

    return {
        "a bare hook on each attention": lambda: keep(attentions),
        "and on its layers": lambda: keep([*attentions, *layers]),
    }


def bare_weights(lm: LoadedModel, inputs: Inputs) -> Way:
    """A pass, and behind it the scores and weights of every call, without a mask."""
    products = [scores_of(call) for call in attnviz.capture(lm, inputs=inputs).calls]

    def way() -> None:
        run(lm.model, inputs)
        for q, k, scores, weights in products:
            torch.softmax(torch.matmul(q, k, out=scores), dim=-1, out=weights)

    return way


def scores_of(call: AttentionCall) -> tuple[torch.Tensor, ...]:
    """A call's scaled q, kᵀ, and memory for their scores and weights."""
    inputs = call.inputs
    assert isinstance(inputs, AttentionInputs)
    q = inputs.query * inputs.scaling
    k = inputs.key.repeat_interleave(inputs.n_heads // inputs.n_kv_heads, dim=1).transpose(2, 3)
    scores = torch.empty(*q.shape[:3], inputs.n_key)
    return q, k, scores, torch.empty_like(scores)


def main() -> int:
    """Print the ratios; 1 when a goal is missed by the least of the runs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=60)
    runs = parser.parse_args().runs
    torch.set_num_threads(1)
    is_missed = False
    print("| model | tokens | plain, least | way | ÷ plain, least | median | goal | calls |")
    print("|---|---|---|---|---|---|---|---|")
    for name in ("minilm", "stories"):
        lm = attnviz.load(name)
        for length in dict.fromkeys(min(n, lm.max_tokens) for n in LENGTHS):
            spent = measure(lm, length, max(5, runs * 16 // max(16, length // 4)))
            plain = spent.pop("plain")
            for way, one in spent.items():
                least = min(one.times) / min(plain.times)
                median = statistics.median(one.times) / statistics.median(plain.times)
                goal = GOALS.get(way)
                is_missed |= goal is not None and least > goal
                print(
                    f"| {name} | {length} | {min(plain.times):.2f} ms | {way} | {least:.2f}"
                    f" | {median:.2f} | {goal or 'control'} | {one.n_calls} of {plain.n_calls} |",
                    flush=True,
                )
    return int(is_missed)


if __name__ == "__main__":
    sys.exit(main())
