"""What recording costs: `python -m benchmarks.capture [--lengths 128,512] [--runs 5]`.

GPT-2-small and BERT-base shapes with random weights, one text, one thread. Four ways of running the
same forward pass take turns, so that a machine that slows down slows all of them; times are the
process's CPU time, medians of the runs. Columns:

    sdpa      the plain forward pass, torch's fused kernel
    eager     eager attention with output_attentions=True, the usual way to get weights
    capture   attnviz.capture on ready-made inputs; budget 1.05 × sdpa, and 0.5 × eager at 2048
    one head  one head's weights out of the capture; budget 15 ms at 2048
    kept      what the capture holds against what eager's attentions hold; budget 1/10 at 2048

Every run is checked: the capture's weights of one head per layer must equal eager's to 1e-4.
Nothing is held while another way runs: it would pay for memory that the first gets for nothing.
Peers are measured in the same table when they are installed.
"""

import argparse
import importlib
import importlib.util
import statistics
import sys
import time
from collections.abc import Callable

import torch
from transformers import BertConfig, BertModel, GPT2Config, GPT2Model, PreTrainedModel

import attnviz

VOCABULARY = 1000
CAPTURE_BUDGET, EAGER_BUDGET, HEAD_BUDGET_MS, KEPT_BUDGET = 1.05, 0.5, 15.0, 0.1


def models(longest: int) -> dict[str, PreTrainedModel]:
    """The two shapes, seeded."""
    torch.manual_seed(0)
    return {
        "gpt2-small": GPT2Model(GPT2Config(vocab_size=VOCABULARY, n_positions=longest)).eval(),
        "bert-base": BertModel(
            BertConfig(vocab_size=VOCABULARY, max_position_embeddings=longest)
        ).eval(),
    }


def timed(run: Callable[[], object]) -> tuple[float, object]:
    """CPU milliseconds of one call, and what it returned."""
    start = time.process_time()
    result = run()
    return (time.process_time() - start) * 1e3, result


def measure(model: PreTrainedModel, length: int, runs: int) -> dict[str, float]:
    """Medians of all columns for one shape and length."""
    ids = torch.randint(0, VOCABULARY, (1, length), generator=torch.Generator().manual_seed(1))
    inputs = {"input_ids": ids}
    lm = attnviz.load(model)

    def sdpa() -> object:
        model.set_attn_implementation("sdpa")
        with torch.no_grad():
            return model(**inputs)

    def eager() -> object:
        model.set_attn_implementation("eager")
        with torch.no_grad():
            return model(**inputs, output_attentions=True).attentions

    def capture() -> object:
        model.set_attn_implementation("sdpa")
        return attnviz.capture(lm, inputs=inputs)

    ways = {"sdpa": sdpa, "eager": eager, "capture": capture}
    times: dict[str, list[float]] = {name: [] for name in (*ways, "one head")}
    row: dict[str, float] = {}
    theirs = eager()
    expected = [weights[0, layer].clone() for layer, weights in enumerate(theirs)]
    n_bytes = sum(weights.nbytes for weights in theirs)
    del theirs
    capture()  # the first pass fills caches
    for _ in range(runs):
        for name, way in ways.items():
            spent, result = timed(way)
            times[name].append(spent)
            if name == "capture":
                row["kept"] = result.nbytes / n_bytes
                times["one head"] += check(result, expected)
            # what is held while another way runs would leave it only memory that is new
            del result
    return row | {name: statistics.median(values) for name, values in times.items()}


def check(cap: attnviz.Capture, expected: list[torch.Tensor]) -> list[float]:
    """CPU milliseconds of one head of each layer, after comparing it with eager's."""
    spent = []
    for layer, theirs in enumerate(expected):
        taken, ours = timed(lambda layer=layer: cap.call(layer).weights(head=layer))
        assert float((ours - theirs).abs().max()) <= 1e-4, "wrong weights"
        spent.append(taken)
    return spent


def verdict(length: int, row: dict[str, float]) -> str:
    """Which budgets are missed."""
    missed = []
    if row["capture"] > CAPTURE_BUDGET * row["sdpa"]:
        missed.append(f"capture > {CAPTURE_BUDGET} sdpa")
    if length >= 2048:
        if row["capture"] > EAGER_BUDGET * row["eager"]:
            missed.append(f"capture > {EAGER_BUDGET} eager")
        if row["one head"] > HEAD_BUDGET_MS:
            missed.append(f"one head > {HEAD_BUDGET_MS} ms")
        if row["kept"] > KEPT_BUDGET:
            missed.append(f"kept > {KEPT_BUDGET} eager")
    return ", ".join(missed) or "ok"


def peers(length: int, runs: int) -> list[str]:
    """One line for each peer: measured where it is installed, the reason where it is not.

    Each reads all weights of the GPT-2 shape in its own way, in turns with our capture.
    """
    model = models(length)["gpt2-small"]
    ids = torch.randint(0, VOCABULARY, (1, length), generator=torch.Generator().manual_seed(1))
    lm = attnviz.load(model)
    lines = []
    for name, (module, read) in PEERS.items():
        if importlib.util.find_spec(module) is None:
            lines.append(f"{name}: skipped, the package {module} is not installed")
        elif read is None:
            lines.append(f"{name}: skipped, it loads models by a hub's name only")
        else:
            theirs, ours = [], []
            for _ in range(runs):
                model.set_attn_implementation("eager")
                theirs.append(timed(lambda read=read: read(model, ids))[0])
                ours.append(timed(lambda: attnviz.capture(lm, inputs={"input_ids": ids}))[0])
            spent, capture = statistics.median(theirs), statistics.median(ours)
            lines.append(f"{name}: n={length}, {spent:.0f} ms; attnviz.capture {capture:.0f} ms")
    return lines


@torch.no_grad()
def by_lists(model: PreTrainedModel, ids: torch.Tensor) -> object:
    """BertViz's way: eager attentions, as lists for its page."""
    return [layer.tolist() for layer in model(ids, output_attentions=True).attentions]


@torch.no_grad()
def by_tracing(model: PreTrainedModel, ids: torch.Tensor) -> object:
    """nnsight's way: the weights that every attention module returns, out of a trace."""
    nnsight = importlib.import_module("nnsight")
    wrapped = nnsight.NNsight(model)
    with wrapped.trace(input_ids=ids):
        kept = nnsight.save([])
        for layer in wrapped.h:
            kept.append(layer.attn.output[1])
    assert len(kept) == model.config.n_layer, "nnsight lost layers"
    return kept


# package, and how it reads all weights of a model that is in memory; None where it cannot
PEERS: dict[str, tuple[str, Callable[[PreTrainedModel, torch.Tensor], object] | None]] = {
    "BertViz": ("bertviz", by_lists),
    "nnsight": ("nnsight", by_tracing),
    "TransformerLens": ("transformer_lens", None),
}


def main() -> int:
    """Print the table; 1 when a budget is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lengths", default="128,512,1024,2048")
    parser.add_argument("--runs", type=int, default=5)
    args = parser.parse_args()
    lengths = [int(length) for length in args.lengths.split(",")]
    torch.set_num_threads(1)
    print("| shape | n | sdpa | eager | capture | ÷ sdpa | ÷ eager | one head | kept | budgets |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    all_ok = True
    for name, model in models(max(lengths)).items():
        for length in lengths:
            row = measure(model, length, args.runs)
            says = verdict(length, row)
            all_ok &= says == "ok"
            print(
                f"| {name} | {length} | {row['sdpa']:.0f} ms | {row['eager']:.0f} ms"
                f" | {row['capture']:.0f} ms | {row['capture'] / row['sdpa']:.2f}"
                f" | {row['capture'] / row['eager']:.2f} | {row['one head']:.1f} ms"
                f" | 1/{1 / row['kept']:.1f} | {says} |",
                flush=True,
            )
    print("\n".join(peers(min(lengths), args.runs)))
    return 0 if all_ok else 1


if __name__ == "__main__":
    sys.exit(main())
