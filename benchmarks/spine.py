"""The speed of the walk from a text to its heads: `make bench`, or `python -m benchmarks.spine`.

Prints one table (name, median, budget, ok) and checks that results are right while it times them.
The library part takes turns between a capture and the plain forward pass of the same text and
compares medians; it derives heads one by one; it counts the bytes of the overview's buffer. The
browser part starts the app and Chromium: cold start, head switch from key event to painted pixels
with no message to the server, new text to painted grid. How each is taken stands in `library` and
`browser` beside this file. Other work on the machine makes figures worse, never better.

Ends with code 1 when a result is wrong; a slow one is only marked. `--json` prints the same for a
machine, `--part library` leaves the browser out, `--rounds` says how many samples to take.
"""

import argparse
import importlib
import sys
from collections.abc import Sequence

import attnviz
from benchmarks.measure import report

PARTS = ("library", "browser")
ROUNDS = {"library": 60, "browser": 15}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and say by the exit code whether all results were right."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.spine", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--part", choices=PARTS, action="append", help="default: every part")
    parser.add_argument("--rounds", type=int, help=f"samples per figure (default: {ROUNDS})")
    options = parser.parse_args(arguments)
    model = attnviz.load("minilm")
    results = [
        result
        for part in options.part or PARTS
        for result in importlib.import_module(f"benchmarks.{part}").measure(
            model, options.rounds or ROUNDS[part]
        )
    ]
    return report(results, in_json=options.json)


if __name__ == "__main__":
    sys.exit(main())
