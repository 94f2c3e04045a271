"""The speed of what leads from a head to a circuit: `python -m benchmarks.circuits [--part …]`.

Many pairs beside a loop over them; an answer by head and token beside by head alone; circuits from
weights alone with the memory they take; all edges to first order beside backward passes; a circuit
found and cut out. One thread computes and its CPU time is counted; two figures of one row are taken
in turns, so that what else the machine does meets both.

Each figure is checked while it is taken: sets against the same texts one by one, cells against
their heads, compositions against whole matrices, edges against the model itself. A wrong result
ends with code 1, a slow one is marked.
"""

import itertools
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from transformers import GPT2Config, GPT2LMHeadModel

import attnviz
from attnviz import NextToken
from attnviz.experiment.circuit import EdgeWork
from attnviz.models.loaded_model import LoadedModel
from benchmarks.effects import MARY, SAME, STORE
from benchmarks.measure import Result, one_thread, peak_mib, run_parts, timed

ROUNDS = 5
N_PAIRS = 100
WEIGHTS_MS, WEIGHTS_MIB = 3000, 500
BY_TOKEN, NO_SLOWER, HALF, BACKWARD = 1.2, 1.0, 0.5, 3.0
Work = Callable[[], object]


def in_turns(ours: Work, theirs: Work, rounds: int) -> tuple[float, ...]:
    """CPU time of one ÷ that of the other, after a run of each that nobody counts."""
    ours(), theirs()
    return tuple(
        timed(ours, time.process_time) / timed(theirs, time.process_time) for _ in range(rounds)
    )


def pairs(rounds: int) -> Iterator[Result]:
    """100 sentences of other people, places and things: all at once, and one after the other."""
    lm = attnviz.load("stories")
    people = ("Mary", "John", "Lily", "Tom", "Sara", "Ben")
    says = "When {} and {} went to the {}, {} gave a {} to"
    things = itertools.product(("store", "park"), ("book", "ball"))
    asked = list(itertools.product(itertools.permutations(people, 2), things))[:N_PAIRS]
    texts = [says.format(a, b, place, b, thing) for (a, b), (place, thing) in asked]
    on = [NextToken(f" {a}", against=f" {b}") for (a, b), _ in asked]
    run = attnviz.experiment(lm, texts, on)

    def one_by_one(question: Callable[[Any], Any]) -> list[Any]:
        return [
            question(attnviz.experiment(lm, text, on=each))
            for text, each in zip(texts, on, strict=True)
        ]

    def effects() -> Any:
        return attnviz.experiment(lm, texts, on).effects(to="zero")

    def loop() -> list[Any]:
        return one_by_one(lambda single: single.effects(to="zero"))

    alone = np.stack([[each.of(head) for head in run.effects(to="zero").rows] for each in loop()])
    off = float(np.abs(effects().values.T - alone).max())
    wrong = None if off <= SAME else f"a text alone differs by {off:.1e}"
    name = f"stories: effects of {N_PAIRS} texts"
    yield Result(f"{name} ÷ a loop", in_turns(effects, loop, min(rounds, 3)), "×", NO_SLOWER, wrong)

    def written() -> Any:
        many = attnviz.experiment(lm, texts, on)
        return many.direct(), many.lens()

    parts, states = written()
    off = float(np.abs(parts.values.sum(0) - run.before).max())
    off = max(off, float(np.abs(states.values[-1] - run.before).max()))
    wrong = None if off <= SAME else f"the parts of a text miss its number by {off:.1e}"
    ratios = in_turns(
        written,
        lambda: one_by_one(lambda single: (single.direct(), single.lens())),
        min(rounds, 3),
    )
    yield Result(f"stories: direct and lens of {N_PAIRS} texts ÷ a loop", ratios, "×", HALF, wrong)


def tokens(rounds: int) -> Iterator[Result]:
    """The answer by head and token, beside by head alone."""
    cases = (("stories", STORE), ("stories-llama", STORE), ("GPT-2 small shape, 64 tokens", None))
    for name, text in cases:
        lm = attnviz.load(name) if text is not None else gpt2_shape()
        drawn = torch.randint(0, 50_000, (1, 64), generator=torch.Generator().manual_seed(1))
        given: dict[str, Any] = {"inputs": {"input_ids": drawn}} if text is None else {}
        on = NextToken(7, against=11) if text is None else MARY

        def run(
            lm: LoadedModel = lm, text: str | None = text, on: Any = on, given: Any = given
        ) -> Any:
            return attnviz.experiment(lm, text, on=on, **given)

        both = run()
        by_head, by_token = both.direct(), both.direct(by="token")
        heads = [by_head.of(head) for head in by_token.heads]
        off = float(np.abs(by_token.values.sum(1) - heads).max())
        size = max(1.0, float(np.abs(by_head.values).sum()))
        wrong = None if off <= 1e-5 * size else f"Σ over tokens misses a head by {off:.1e}"
        ratios = in_turns(lambda: run().direct(by="token"), lambda: run().direct(), rounds)
        yield Result(f"{name}: direct by token ÷ direct", ratios, "×", BY_TOKEN, wrong)


def gpt2_shape() -> LoadedModel:
    """GPT-2 small's shape with random weights."""
    torch.manual_seed(0)
    return attnviz.load(GPT2LMHeadModel(GPT2Config()).eval())


def weights(rounds: int) -> Iterator[Result]:
    """Composition of all pairs of 144 heads on q, k and v, and the copying and matching of each."""
    lm = gpt2_shape()
    small = attnviz.circuits("stories")
    small.composition("k"), small.ov("L2.H1")  # what torch allocates once

    def work() -> Any:
        c = attnviz.circuits(lm)
        for side in ("q", "k", "v"):
            c.composition(side)
        c.shares("OV"), c.shares("QK")
        return c

    before = peak_mib()
    c = work()
    memory = peak_mib() - before
    with torch.no_grad():
        sender, receiver = (c.layers.layers[layer] for layer in (3, 7))
        written = sender.part("v", 5) @ sender.part("out", 5)
        read = receiver.part("k", 2) @ receiver.part("q", 2).T
        wanted = float((written @ read).norm() / (written.norm() * read.norm()))
    off = abs(c.composition("k").of("L3.H5", "L7.H2") - wanted)
    wrong = None if off <= 1e-5 else f"K composition differs from whole matrices by {off:.1e}"
    samples = tuple(timed(work, time.process_time) for _ in range(rounds))
    title = "GPT-2 small shape: weights alone, 144 heads"
    yield Result(title, samples, "ms", WEIGHTS_MS, wrong)
    yield Result(f"{title}, memory", (memory,), "MiB", WEIGHTS_MIB)


def edges(rounds: int) -> Iterator[Result]:
    """All edges to first order ÷ backward passes through them; a circuit found and cut out."""
    lm = attnviz.load("stories")
    other_text = STORE.replace("John gave", "Mary gave")
    run, other = (attnviz.experiment(lm, text, on=MARY) for text in (STORE, other_text))
    work = EdgeWork.of(run.prepared, other.prepared)
    wrong = None if work.error <= SAME else f"all edges on are off by {work.error:.1e}"
    embed = lm.model.get_input_embeddings()
    embedded = embed(run.prepared.inputs["input_ids"]).detach().requires_grad_()

    def backward() -> None:
        torch.autograd.grad(lm.model(inputs_embeds=embedded).logits[0, -1].sum(), embedded)

    ratios = in_turns(lambda: work.estimate(1), backward, rounds)
    name = "stories: 479 edges to first order ÷ a backward pass of the model"
    yield Result(name, ratios, "×", BACKWARD, wrong)
    found = attnviz.experiment(lm, STORE, on=MARY).circuit(other, exact=60)
    wrong = None if found.least == 10 else f"{found.least} edges keep 90 %"
    samples = tuple(
        timed(lambda: run.circuit(other, exact=60), time.process_time)
        for _ in range(min(rounds, 3))
    )
    yield Result("stories: a circuit, 60 edges exactly, its curves", samples, "ms", None, wrong)


RUN: dict[str, Callable[[int], Iterator[Result]]] = {
    "pairs": pairs,
    "tokens": tokens,
    "weights": weights,
    "edges": edges,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and say by the exit code whether all results were right."""
    with one_thread():
        return run_parts("benchmarks.circuits", __doc__, RUN, ROUNDS, arguments)


if __name__ == "__main__":
    sys.exit(main())
