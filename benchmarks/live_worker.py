"""The worker of the live pages without a page: what a key, a switch and all effects cost.

    python -m benchmarks.live_worker

In: nothing; Node, one thread, CPU time. Out: one table with the budgets. The weights of each model
have to be torch's within 1e-5. From a key to its picture in a browser: `benchmarks.live_page`.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import attnviz
from attnviz.live import prepared
from benchmarks.measure import Result, report
from benchmarks.texts import text_of
from tests.support.live_worker import ROOM, model_files, opening, show

PROGRAM = Path(__file__).with_suffix(".mjs")
LENGTHS = (16, 64)
# of the part of a key that the worker does; the canvas and the frames take the rest
BUDGETS = {("stories", 16): 10, ("stories", 64): 20, ("minilm", 16): 30, ("minilm", 64): 75}
SWITCH_MS, EFFECTS_MS = 20, 50
MEMORY_MB = {"stories": 50, "minilm": 200}
N_CONTROLS = 8


def main() -> int:
    """Print the table; the exit code is 1 if a result is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--rounds", type=int, default=15, metavar="N", help="samples of a time (15)"
    )
    rounds = parser.parse_args().rounds
    results = [row for name in ("stories", "minilm") for row in measure(name, rounds)]
    return report(results)


def measure(name: str, rounds: int) -> list[Result]:
    """Every row of a model."""
    lm = attnviz.load(name)
    texts = {n: text_of(lm, n) for n in LENGTHS}
    capture = attnviz.capture(lm, texts[LENGTHS[0]])
    with tempfile.TemporaryDirectory() as folder:
        info = model_files(
            lm, Path(folder), reference=prepared.reference(capture, texts[LENGTHS[0]])
        )
        found = _timed(
            [*opening(info), {"kind": "verify", "model": name}], _cases(name, texts), rounds
        )
    verified = found["answers"][-1]
    wrong = None if verified.get("ok") else f"weights are {verified.get('weights')} from torch's"
    rows = [
        Result(f"{name}: largest difference from torch", (verified["weights"],), "", 1e-5, wrong),
        Result(f"{name}: heap and kernels' memory", (found["held"] / 1e6,), "MB", MEMORY_MB[name]),
    ]
    for case, times in found["times"].items():
        kind, _, length = case.partition(" ")
        budget = _budget(name, kind, int(length))
        rows.append(Result(f"{name}: {kind}, n={length}, CPU", tuple(times), "ms", budget))
    return rows


def _budget(name: str, kind: str, length: int) -> float | None:
    if kind in ("switch", "effects"):
        quick = name == "stories" and length == LENGTHS[0]
        return (SWITCH_MS if kind == "switch" else EFFECTS_MS) if quick else None
    return BUDGETS[name, length] if kind == "overview" else None


def _cases(name: str, texts: dict[int, str]) -> dict[str, list[dict[str, Any]]]:
    """Requests on each text, in turns with one of another first letter."""
    cases: dict[str, list[dict[str, Any]]] = {}
    off = {"off": "L0.H1.mixed=mean"}
    for n, text in texts.items():
        for own in (text, text[0].swapcase() + text[1:]):
            effects = {"kind": "effects", "model": name, "input": {"text": own}, "to": "mean"}
            requests = {
                "overview": show(name, ["grid"], text=own),
                "head": show(name, ["head"], text=own),
                "steps": show(name, ["steps"], text=own),
                "switch": show(name, ["switches"], text=own, **off),
                "control": show(name, ["switches"], text=own, controls=N_CONTROLS, **off),
                "effects": effects,
            }
            for kind, request in requests.items():
                cases.setdefault(f"{kind} {n}", []).append(request)
    return cases


def _timed(
    first: list[dict[str, Any]], cases: dict[str, list[dict[str, Any]]], rounds: int
) -> dict[str, Any]:
    worker = (ROOM / "worker.js").as_uri()
    asked = {"worker": worker, "opening": first, "cases": cases, "rounds": rounds}
    result = subprocess.run(
        ["node", "--expose-gc", str(PROGRAM)],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(result.stdout)
    return found


if __name__ == "__main__":
    sys.exit(main())
