"""The speed of the walk from a text to its pictures: `make bench`, or `python -m benchmarks.walk`.

In: nothing, or another commit: `make bench AGAINST=v0.3.0`. Out: the table of `benchmarks.spine`
and the pages of `benchmarks.workbench`; against a commit the ratio of each figure instead. Both
states run on this machine in turns, each in its own processes with the benchmarks of its own tree:
what else the machine does meets both. A ratio is the median over the turns, here ÷ there.

Ends with code 1 when a result of this state is wrong; a slow or slower one is only marked.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import WRONG, aligned, machine

ROOT = Path(__file__).parent.parent
COMMANDS = (
    ("benchmarks.spine",),
    ("benchmarks.workbench", "--part", "payload", "--part", "page"),
)
TURNS = 3
SLOWER = 1.10  # of that commit: more is marked, and needs a line in the CHANGELOG


@dataclass(frozen=True)
class Figure:
    """One row of a benchmark, as its JSON says it; `median` is None where nothing was measured."""

    name: str
    unit: str
    median: float | None
    budget: float | None
    ok: str
    wrong: str | None


Figures = dict[str, Figure]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and say by the exit code whether all results of this state were right."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.walk", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--against", metavar="COMMIT", help="compare with another state")
    parser.add_argument("--turns", type=int, default=TURNS, help=f"of both states ({TURNS})")
    parser.add_argument("--rounds", type=int, help="samples per figure and turn")
    options = parser.parse_args(arguments)
    if not options.against:
        found = measured(ROOT, options.rounds)
        print(figures_table(found))
        return _code([found])
    with tree_of(options.against) as other:
        turns = in_turns(other, options.turns, options.rounds)
    print(ratio_table(turns, options.against))
    return _code([here for here, _ in turns])


def _code(runs: Sequence[Figures]) -> int:
    return int(any(figure.ok == WRONG for run in runs for figure in run.values()))


@contextmanager
def tree_of(commit: str) -> Iterator[Path]:
    """A folder with the files of a commit; `SystemExit` with what to do where there is none."""
    with tempfile.TemporaryDirectory(prefix="attnviz-bench-") as name:
        folder = Path(name) / "tree"
        added = _git("worktree", "add", "--detach", str(folder), commit)
        if added.returncode != 0:
            raise SystemExit(f"AGAINST={commit}: {added.stderr.strip()}; name a commit or a tag")
        try:
            yield folder
        finally:
            _git("worktree", "remove", "--force", str(folder))


def _git(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)


def in_turns(other: Path, turns: int, rounds: int | None) -> list[tuple[Figures, Figures]]:
    """(this state, the other one) for each turn; which of them goes first takes turns as well."""
    found = []
    for turn in range(turns):
        order = (ROOT, other) if turn % 2 == 0 else (other, ROOT)
        runs = {tree: measured(tree, rounds) for tree in order}
        found.append((runs[ROOT], runs[other]))
    return found


def measured(tree: Path, rounds: int | None) -> Figures:
    """All figures of a tree, by name, in the order of its benchmarks."""
    found: Figures = {}
    for command in COMMANDS:
        more = () if rounds is None else ("--rounds", str(rounds))
        words = [sys.executable, "-m", *command, "--json", *more]
        print(f"{tree.name}: {' '.join(words[1:])}", file=sys.stderr, flush=True)
        run = subprocess.run(words, cwd=tree, stdout=subprocess.PIPE, text=True)
        if run.returncode not in (0, 1) or not run.stdout:
            raise SystemExit(f"{' '.join(command)} ended with code {run.returncode} in {tree}")
        for entry in json.loads(run.stdout)["results"]:
            fields = {name: entry.get(name) for name in Figure.__annotations__}
            found[entry["name"]] = Figure(**fields)
    return found


def figures_table(found: Figures) -> str:
    """The figures of one state beside their budgets, what is wrong below."""
    rows = [("name", "median", "budget", "ok")]
    rows += [
        (name, _amount(each.median, each.unit), _amount(each.budget, each.unit), each.ok)
        for name, each in found.items()
    ]
    return "\n".join([*aligned(rows), *_wrong(found, "here"), machine()])


def ratio_table(turns: Sequence[tuple[Figures, Figures]], commit: str) -> str:
    """Each figure that both states have: medians over the turns, their ratio and its range."""
    rows = [("name", "here", commit, "here ÷ there", "least to most", "")]
    first_here, first_there = turns[0]
    for name, figure in first_here.items():
        pairs = [(_median(here, name), _median(there, name)) for here, there in turns]
        both = [(here, there) for here, there in pairs if here and there]
        if not both:
            continue
        ratios = [here / there for here, there in both]
        ratio = statistics.median(ratios)
        amounts = [
            _amount(statistics.median(side), figure.unit) for side in zip(*both, strict=True)
        ]
        mark = "SLOWER" if ratio > SLOWER else ""
        spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
        rows.append((name, amounts[0], amounts[1], f"{ratio:.2f}", spread, mark))
    alone = [f"only here: {name}" for name in first_here if name not in first_there]
    alone += [f"only in {commit}: {name}" for name in first_there if name not in first_here]
    wrong = [
        line for here, there in turns for line in (*_wrong(here, "here"), *_wrong(there, commit))
    ]
    return "\n".join([*aligned(rows), *alone, *dict.fromkeys(wrong), machine()])


def _median(found: Figures, name: str) -> float | None:
    """The median of a figure that was right; None for one that was not measured."""
    figure = found.get(name)
    return None if figure is None or figure.ok == WRONG else figure.median


def _amount(value: float | None, unit: str) -> str:
    return "" if value is None else f"{value:.3g} {unit}"


def _wrong(found: Figures, state: str) -> list[str]:
    return [f"{WRONG} {state}: {name}: {each.wrong}" for name, each in found.items() if each.wrong]


if __name__ == "__main__":
    sys.exit(main())
