"""Files of captures and figures, without the page: how large they are, and how long they take.

    python -m benchmarks.files

In: nothing; MiniLM, one thread, CPU time. Out: one table with the budgets. A capture file has to
come back bit-equal, a figure to be XML with its labels. Pages are measured by `benchmarks.take`.
"""

import argparse
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from functools import partial
from pathlib import Path

import torch

import attnviz
from attnviz.attention.capture import Capture
from attnviz.files.save import content
from benchmarks.measure import Result, report, timed
from benchmarks.texts import text_of

READ_MS, SVG_MS, SVG_KB = 10, 150, 50
N_TOKENS, HEAD = 128, "L5.H11"


def main() -> int:
    """Print the table; the exit code is 1 if a result is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="samples of a time (5)")
    results = measure(parser.parse_args().rounds)
    return report(results)


def measure(rounds: int) -> list[Result]:
    """Every row."""
    torch.set_num_threads(1)
    lm = attnviz.load("minilm")
    cap = attnviz.capture(lm, text_of(lm, N_TOKENS))
    return [*_capture_file(cap, rounds), *_figure(cap, rounds)]


def _capture_file(cap: Capture, rounds: int) -> list[Result]:
    with tempfile.TemporaryDirectory() as folder:
        path = attnviz.save(cap, Path(folder) / "x.safetensors")
        same = (attnviz.read(path).all_weights() == cap.all_weights()).all()
        wrong = None if same else "weights are not those that were saved"
        size = path.stat().st_size / 1e6
        read = _samples(partial(attnviz.read, path), rounds)
    return [
        Result(f"capture file, n={N_TOKENS}", (size,), "MB"),
        Result(f"capture file is read, n={N_TOKENS}, CPU", read, "ms", READ_MS, wrong),
    ]


def _figure(cap: Capture, rounds: int) -> list[Result]:
    figure = partial(content, cap, ".svg", head=HEAD)
    svg = figure()
    texts = [text.text for text in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]
    wrong = None if cap.tokens.labels[0] in texts else "a label is not in the figure"
    made = _samples(figure, rounds)
    return [
        Result(f"SVG of a head, n={N_TOKENS}", (len(svg) / 1e3,), "kB", SVG_KB, wrong),
        Result(f"SVG of a head is made, n={N_TOKENS}, CPU", made, "ms", SVG_MS),
    ]


def _samples(work: partial[object], rounds: int) -> tuple[float, ...]:
    work()
    return tuple(timed(work, time.process_time) for _ in range(rounds))


if __name__ == "__main__":
    sys.exit(main())
