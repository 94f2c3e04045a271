"""The speed of interventions and attributions: `python -m benchmarks.effects [--part …]`.

Every head of a model taken away alone, exactly; 50 edges of a head; which head feeds which; the
direct parts of an answer; why a head looks there; a switch clicked until the new answer is there;
and GPT-2 small's shape, 144 heads on 64 tokens. One thread computes and its CPU time is counted.

Each figure is checked while it is taken: effects against hooks on W_O's input by name, to the bit
for one head alone; exact edges against captures with that edge cut; sums of parts against the
model's own number (1e-5 of their size). A wrong result ends with code 1, a slow one is marked.
"""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode
from transformers import GPT2Config, GPT2LMHeadModel

import attnviz
from attnviz import Class, Cosine, NextToken, Target, ablate, cut
from attnviz.experiment.answer_measures import AnswerMeasure
from attnviz.models.loaded_model import LoadedModel
from attnviz.worlds import shapes
from benchmarks.measure import Result, one_thread, run_parts, timed

ROUNDS = 7
SAME = 2e-5  # rows of one batch and a row alone: 7e-6 of a logit at most
SHARE = 1e-5
STORE = "When Mary and John went to the store, John gave a book to"
CAT = "The cat sat on the mat and looked at the other dog there."
LONG = " ".join((CAT.split() * 5)[:58])  # 64 tokens
# as multiples of the multiplications alone, which take longer than a budget in ms on a slow core
SHORT_OVERHEAD, OVERHEAD = 1.6, 1.4
GPT2_MS = 4000  # all heads of GPT-2 small's shape, 16 tokens


@dataclass(frozen=True, eq=False)
class Case:
    """A model, what it reads, the number that is asked for, and W_O's name by layer."""

    model: str
    text: str | None
    on: AnswerMeasure
    w_o: str
    budget_ms: float | None
    head: str = "L0.H0"
    given: dict[str, Any] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The model, and how much it reads where that is not the usual text."""
        return f"{self.model}, 64 tokens" if self.text == LONG else self.model


MARY = NextToken(" Mary", against=" John")
DOG = Cosine("A dog lay on a rug.")
CASES = (
    Case("minilm", CAT, DOG, "encoder.layer.{}.attention.output.dense", 200),
    Case("minilm", LONG, DOG, "encoder.layer.{}.attention.output.dense", None),
    Case("stories", STORE, MARY, "transformer.h.{}.attn.c_proj", 30),
    Case("stories-llama", STORE, MARY, "model.layers.{}.self_attn.o_proj", 40),
    Case(
        "translator",
        "the little cat sleeps .",
        Target("le petit chat dort ."),
        "model.encoder.layers.{}.self_attn.out_proj",
        40,
        "encoder.L0.H0",
    ),
    Case(
        "sentiment",
        "the hotel was not bad at all .",
        Class("negative", against="positive"),
        "bert.encoder.layer.{}.attention.output.dense",
        30,
    ),
    Case(
        "shapes",
        None,
        Class(0, against=7),
        "vit.layers.{}.attention.o_proj",
        60,
        given={"image": shapes.sample(12).picture()},
    ),
)


def cpu(work: Callable[[], object], rounds: int) -> tuple[float, ...]:
    """CPU milliseconds of the work, after one run that nobody counts."""
    work()
    return tuple(timed(work, time.process_time) for _ in range(rounds))


def heads(rounds: int) -> Iterator[Result]:
    """Every head of each model, and one head alone against a hook."""
    for case in CASES:
        lm = attnviz.load(case.model)

        def run(lm: LoadedModel = lm, case: Case = case) -> Any:
            return attnviz.experiment(lm, case.text, on=case.on, **case.given).effects(to="zero")

        result = run()
        title = f"{case.title}: {len(result.heads)} heads"
        yield Result(title, cpu(run, rounds), "ms", case.budget_ms, _not_a_hook(lm, case, result))
        if case.model == "minilm":
            allowed = OVERHEAD if case.text == LONG else SHORT_OVERHEAD
            yield Result(f"{title} ÷ floor", over_floor(run, rounds), "×", allowed)


def over_floor(run: Callable[[], object], rounds: int) -> tuple[float, ...]:
    """CPU time ÷ that of as many multiplications in one matrix product, taken in turns.

    What is counted are the multiplications of the work itself: it cannot be faster than 1.
    """
    with FlopCounterMode(display=False) as counter:
        run()
    rows, weights = torch.ones(256, 768), torch.ones(768, 3072)
    product = 2 * 256 * 768 * 3072
    times = counter.get_total_flops() / product

    def floor() -> float:
        return times * min(timed(lambda: rows @ weights, time.process_time) for _ in range(9))

    return tuple(timed(run, time.process_time) / floor() for _ in range(rounds))


def _not_a_hook(lm: LoadedModel, case: Case, result: Any) -> str | None:
    """The difference from a hook on W_O's input: none for the head alone, rounding in a batch."""
    prepared = attnviz.experiment(lm, case.text, on=case.on, **case.given).prepared
    site = next(head for head in result.heads if str(head) == case.head)
    width = prepared.calls[0].output.shape[3]
    with torch.no_grad(), _zeroed(lm, case.w_o.format(0), slice(0, width)):
        theirs = lm.model(**prepared.inputs, **prepared.options)
    with torch.no_grad(), attnviz.changed(lm, ablate(site, "zero")):
        ours = lm.model(**prepared.inputs, **prepared.options)
    name = "logits" if "logits" in ours else "last_hidden_state"
    difference = float((ours[name] - theirs[name]).abs().max())
    if difference != 0.0:
        return f"{case.head} alone differs from a hook on W_O by {difference:.1e}"
    alone = attnviz.experiment(lm, case.text, on=case.on, **case.given).effects(
        to="zero", heads=[site], rows=1
    )
    off = abs(alone.of(site) - result.of(site))
    return f"{case.head} in a batch is off by {off:.1e}" if not off <= SAME else None


@contextmanager
def _zeroed(lm: LoadedModel, name: str, columns: slice) -> Iterator[None]:
    def zero(_module: object, args: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        read = args[0].clone()
        read[..., columns] = 0
        return (read, *args[1:])

    handle = lm.model.get_submodule(name).register_forward_pre_hook(zero)
    try:
        yield
    finally:
        handle.remove()


def edges(rounds: int) -> Iterator[Result]:
    """50 exact edges, the estimate that chooses them included; feeds; direct parts."""
    for name, head in (("stories", "L2.H1"), ("stories-llama", "L1.H5")):
        lm = attnviz.load(name)

        def run(lm: LoadedModel = lm, head: str = head) -> Any:
            return attnviz.experiment(lm, STORE, on=MARY).edges(head)

        result = run()
        query, key = result.cells[0]
        without = attnviz.capture(lm, STORE, changes=[cut(head, query, key, renormalise=False)])
        off = abs(_gap(lm, without) - result.before - result.exact[query, key])
        wrong = None if off <= SAME else f"{query}→{key} differs from a cut edge by {off:.1e}"
        yield Result(f"{name}: 50 exact edges of {head}", cpu(run, rounds), "ms", 300, wrong)
    lm = attnviz.load("minilm")
    result = attnviz.experiment(lm, CAT, on=DOG).edges("L3.H2")
    wrong = None if len(result.cells) >= 50 else f"{len(result.cells)} cells"
    samples = cpu(lambda: attnviz.experiment(lm, CAT, on=DOG).edges("L3.H2"), rounds)
    yield Result("minilm: 50 exact edges of L3.H2", samples, "ms", 300, wrong)
    for name, sender in (("stories", "L0.H1"), ("stories-llama", "L0.H4")):
        lm = attnviz.load(name)
        inputs = {"input_ids": _repeated(lm)}
        paths = attnviz.experiment(lm, inputs=inputs).paths(to="zero").strongest(6)
        wrong = None if sender in {str(path.sender) for path in paths} else f"no path from {sender}"
        samples = cpu(lambda: attnviz.experiment(lm, inputs=inputs).paths(to="zero"), rounds)  # noqa: B023
        yield Result(f"{name}: feeds", samples, "ms", 100, wrong)


def _gap(lm: LoadedModel, capture: Any) -> float:
    tokenizer = lm.text_tokenizer()
    mary, john = (
        tokenizer(name, add_special_tokens=False)["input_ids"][0] for name in (" Mary", " John")
    )
    return float(capture.logits[0, -1, mary] - capture.logits[0, -1, john])


def _repeated(lm: LoadedModel, n: int = 20) -> Tensor:
    ids = np.random.default_rng(0).integers(300, len(lm.text_tokenizer()) - 10, n)
    return torch.tensor(np.concatenate([[0], ids, ids]))[None]


def why(rounds: int) -> Iterator[Result]:
    """Direct parts of the answer; one score split into its writers, on a pass that is traced."""
    for case in CASES:
        lm = attnviz.load(case.model)

        def run(lm: LoadedModel = lm, case: Case = case) -> Any:
            return attnviz.experiment(lm, case.text, on=case.on, **case.given).direct()

        result = run()
        off = result.error / max(1.0, float(np.abs(result.values).sum()))
        wrong = None if off <= SHARE else f"Σ of parts is off by {off:.1e} of their size"
        yield Result(f"{case.title}: direct parts", cpu(run, rounds), "ms", None, wrong)
    for name, text, head, mlps in (
        ("stories", STORE, "L2.H1", True),
        ("stories-llama", STORE, "L1.H5", True),
        ("sentiment", "the hotel was not bad at all .", "L1.H0", True),
        ("minilm", CAT, "L3.H2", False),
    ):
        lm = attnviz.load(name)
        run = attnviz.experiment(lm, text)
        result = run.why(head, 4, 2, through_mlps=mlps)
        off = result.error / max(1.0, float(np.abs(result.shares).sum()))
        wrong = None if off <= SHARE else f"Σ of pairs is off by {off:.1e} of their size"
        samples = cpu(lambda: run.why(head, 4, 2, through_mlps=mlps), rounds)  # noqa: B023
        yield Result(
            f"{name}: why {head}{', through MLPs' if mlps else ''}", samples, "ms", 50, wrong
        )


def switch(rounds: int) -> Iterator[Result]:
    """A head switched off, until the new answer is there: a capture with one change."""
    for case in CASES:
        lm = attnviz.load(case.model)
        target = case.on.text if isinstance(case.on, Target) else None
        given = case.given | ({} if target is None else {"target": target})

        def run(lm: LoadedModel = lm, case: Case = case, given: Any = given) -> Any:
            return attnviz.capture(lm, case.text, changes=[ablate(case.head)], **given)

        result = run()
        changed = [call for call in result.calls if call.changes]
        wrong = None if result.verify().ok and len(changed) == 1 else str(result.verify())
        yield Result(f"{case.title}: a switch → new answer", cpu(run, rounds), "ms", 250, wrong)


def gpt2(rounds: int) -> Iterator[Result]:
    """144 heads of GPT-2 small's shape with random weights, on 16 and 64 tokens."""
    torch.manual_seed(0)
    lm = attnviz.load(GPT2LMHeadModel(GPT2Config()).eval())
    yield from _all_of(lm, 16, GPT2_MS, rounds)
    yield from _all_of(lm, 64, None, rounds)


def _all_of(
    lm: LoadedModel, n_token: int, budget_ms: float | None, rounds: int
) -> Iterator[Result]:
    inputs = {"input_ids": torch.randint(0, 50_000, (1, n_token))}
    on = NextToken(7, against=11)
    seen: list[float] = []

    def run() -> Any:
        seen.clear()
        return attnviz.experiment(lm, on=on, inputs=inputs).effects(to="zero", progress=seen.append)

    result = run()
    alone = attnviz.experiment(lm, on=on, inputs=inputs).effects(to="zero", heads=["L7.H3"], rows=1)
    off = abs(alone.of("L7.H3") - result.of("L7.H3"))
    wrong = None if off <= SAME else f"L7.H3 in a batch is off by {off:.1e}"
    wrong = wrong or (None if len(seen) > 4 and seen[-1] == 1.0 else "no progress")
    samples = tuple(timed(run, time.process_time) for _ in range(min(rounds, 2)))
    title = f"GPT-2 small shape, {n_token} tokens: 144 heads"
    yield Result(title, samples, "ms", budget_ms, wrong)
    yield Result(f"{title} ÷ floor", over_floor(run, min(rounds, 2)), "×", OVERHEAD)


RUN: dict[str, Callable[[int], Iterator[Result]]] = {
    "heads": heads,
    "edges": edges,
    "why": why,
    "switch": switch,
    "gpt2": gpt2,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and say by the exit code whether all results were right."""
    with one_thread():
        return run_parts("benchmarks.effects", __doc__, RUN, ROUNDS, arguments)


if __name__ == "__main__":
    sys.exit(main())
