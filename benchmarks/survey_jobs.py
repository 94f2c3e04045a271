"""Long surveys: `python -m benchmarks.survey_jobs [--texts 100000]`.

The memory and the processes of a survey of generated texts by `stories`, each in a process of its
own, so that the peak is that of the survey:

    memory      the peak of a survey of many texts ÷ that of 1,000; budget 1.15: it is flat
    pool        one process ÷ two, by the clock on the wall; budget 1.6 on two idle cores
    same        both give the same numbers

Ends with code 1 when a result is wrong.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.measure import Result, report

FEW, FLAT, POOL = 1000, 1.15, 1 / 1.6
POOLED, SENTENCES = 20_000, 5  # texts for two processes, and sentences of each: a minute for one
CHILD = """
import json, resource, sys, time
import attnviz

n, workers, sentences = map(int, sys.argv[1:])
things = ("ball", "cake", "dog", "hat", "cup", "tree", "book")
texts = [f"Tom has {place} red {things[place % 7]}s. " * sentences for place in range(n)]
start = time.perf_counter()
survey = attnviz.survey("stories", texts, workers=workers)
spent = time.perf_counter() - start
assert survey.n_text == n
means = survey.tally.values.sum(axis=(1, 2)).tolist()
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"seconds": spent, "mib": peak / 1024, "sums": means}))
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and say by the exit code whether all results were right."""
    parser = argparse.ArgumentParser(prog="benchmarks.survey_jobs")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--texts", type=int, default=100_000, help="texts of the long survey")
    options = parser.parse_args(arguments)
    few, many = counted(FEW, 1, 1), counted(options.texts, 1, 1)
    one, two = counted(POOLED, 1, SENTENCES), counted(POOLED, 2, SENTENCES)
    same = None if one["sums"] == two["sums"] else "two processes count other numbers than one"
    results = [
        Result(f"peak of {FEW:,} texts", (few["mib"],), "MiB"),
        Result(f"peak of {options.texts:,} texts ÷ that", (many["mib"] / few["mib"],), "×", FLAT),
        Result("two processes ÷ one", (two["seconds"] / one["seconds"],), "×", POOL, same),
    ]
    return report(results, in_json=options.json)


def counted(n_text: int, workers: int, sentences: int) -> dict[str, float]:
    """The time, the peak of memory and the sums of a survey in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "child.py"
        script.write_text(f"if __name__ == '__main__':\n{indented(CHILD)}", encoding="utf-8")
        numbers = map(str, (n_text, workers, sentences))
        command = [sys.executable, str(script), *numbers]
        root = str(Path(__file__).parents[1])
        answer = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONPATH": root, "PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "1"},
        )
    found: dict[str, float] = json.loads(answer.stdout)
    return found


def indented(lines: str) -> str:
    """The lines inside a block."""
    return "".join(f"    {line}\n" for line in lines.strip().splitlines())


if __name__ == "__main__":
    sys.exit(main())
