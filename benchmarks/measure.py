"""What a measurement is, how its samples become a row, and how rows become one table or JSON."""

import argparse
import json
import os
import platform
import resource
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

COLUMNS = ("name", "median", "budget", "ok")
FAST, SLOW, WRONG, REPORTED, SKIPPED = "yes", "SLOW", "WRONG", "-", "skipped"


@dataclass(frozen=True)
class Result:
    """One row: `samples` in `unit`, what is allowed, and what is wrong with the results if any.

    `skipped` says why nothing was measured; then there are no samples.
    """

    name: str
    samples: tuple[float, ...]
    unit: str
    budget: float | None = None
    wrong: str | None = None
    skipped: str | None = None

    @property
    def median(self) -> float:
        return statistics.median(self.samples)

    @property
    def verdict(self) -> str:
        """Whether results were right and fast; without a budget only whether they were right."""
        if self.wrong is not None:
            return WRONG
        if self.skipped is not None:
            return SKIPPED
        if self.budget is None:
            return REPORTED
        return FAST if self.median <= self.budget else SLOW


def timed(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """How many milliseconds a call takes, by a clock that counts seconds."""
    start = clock()
    work()
    return 1000 * (clock() - start)


def peak_mib() -> float:
    """The largest memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@contextmanager
def one_thread() -> Iterator[None]:
    """Torch computes with one thread: CPU time of several would count their waiting."""
    import torch  # benchmarks of servers and browsers start without it

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def run_parts(
    module: str,
    about: str | None,
    parts: Mapping[str, Callable[[int], Iterable[Result]]],
    rounds: int,
    arguments: Sequence[str] | None,
) -> int:
    """Measure the parts that the command line names, print them; `report`'s exit code.

    `about` is the module's docstring, a part takes the number of samples of each figure.
    """
    parser = argparse.ArgumentParser(prog=module, description=(about or "").split("\n")[0])
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--part", choices=parts, action="append", help="default: every part")
    parser.add_argument("--rounds", type=int, default=rounds, help=f"samples, default: {rounds}")
    options = parser.parse_args(arguments)
    results = [row for part in options.part or parts for row in parts[part](options.rounds)]
    return report(results, in_json=options.json)


def report(results: Sequence[Result], *, in_json: bool = False) -> int:
    """Print all results; a benchmark's exit code: 1 if one of them is wrong."""
    print(as_json(results) if in_json else table(results))
    return 1 if any(result.verdict == WRONG for result in results) else 0


def table(results: Sequence[Result]) -> str:
    """All results as aligned text, what went wrong below."""
    lines = aligned([COLUMNS, *(_row(result) for result in results)])
    wrong = [f"WRONG {result.name}: {result.wrong}" for result in results if result.wrong]
    skipped = [f"skipped {result.name}: {result.skipped}" for result in results if result.skipped]
    return "\n".join([*lines, *wrong, *skipped, machine()])


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table whose first row is its head."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return lines


def _row(result: Result) -> tuple[str, str, str, str]:
    budget = "" if result.budget is None else f"{result.budget:g} {result.unit}"
    median = f"{result.median:.3g} {result.unit}" if result.samples else ""
    return result.name, median, budget, result.verdict


def as_json(results: Sequence[Result]) -> str:
    """All results with their extremes, for a machine."""
    entries = [
        {
            "name": result.name,
            "unit": result.unit,
            "median": result.median if result.samples else None,
            "least": min(result.samples, default=None),
            "most": max(result.samples, default=None),
            "samples": len(result.samples),
            "budget": result.budget,
            "ok": result.verdict,
            "wrong": result.wrong,
            "skipped": result.skipped,
        }
        for result in results
    ]
    return json.dumps({"machine": machine(), "results": entries}, indent=2)


def machine() -> str:
    """What the figures were taken on; a load near or above the cores makes them pessimistic."""
    load = os.getloadavg()[0]
    cores, python = os.cpu_count(), platform.python_version()
    return f"{cores} cores, load {load:.1f}, {platform.system()}, Python {python}"
