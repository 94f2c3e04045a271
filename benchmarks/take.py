"""What leaves attnviz: how large files are, and how long they take.

    python -m benchmarks.take

In: nothing; MiniLM, one thread, CPU time. Out: one table with the budgets. A capture file has to
come back bit-equal, a page to hold its tokens, a figure to be XML with its labels.
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
from attnviz.export.save import content
from benchmarks.measure import Result, table, timed
from benchmarks.texts import text_of

PAGE_MB = {16: 0.4, 64: 1.2, 128: 3.5, 512: 14.0}
PAGE_MS, READ_MS, SVG_MS, SVG_KB = 300, 10, 150, 50
LONG, HEAD = 128, "L5.H11"


def main() -> int:
    """Print the table; the exit code is 1 if a result is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="samples of a time (5)")
    results = measure(parser.parse_args().rounds)
    print(table(results))
    return 1 if any(result.wrong for result in results) else 0


def measure(rounds: int) -> list[Result]:
    """Every row."""
    torch.set_num_threads(1)
    lm = attnviz.load("minilm")
    captures = {n: attnviz.capture(lm, text_of(lm, n)) for n in PAGE_MB}
    sizes = [_page_size(n, cap) for n, cap in captures.items()]
    return [*sizes, *_times(captures[LONG], rounds)]


def _page_size(n_tokens: int, cap: Capture) -> Result:
    page = content(cap, ".html")
    label = cap.tokens.labels[1]
    wrong = None if label.encode() in page else f"no token {label!r} in the page"
    return Result(f"page, n={n_tokens}", (len(page) / 1e6,), "MB", PAGE_MB[n_tokens], wrong)


def _times(cap: Capture, rounds: int) -> list[Result]:
    """The rows of one text: a page, a capture file and a figure."""
    with tempfile.TemporaryDirectory() as folder:
        path = attnviz.save(cap, Path(folder) / "x.safetensors")
        again = attnviz.read(path)
        same = (again.all_weights() == cap.all_weights()).all()
        wrong = None if same else "weights are not those that were saved"
        read = _samples(partial(attnviz.read, path), rounds)
        size = path.stat().st_size / 1e6
    figure = partial(content, cap, ".svg", at=HEAD)
    svg = figure()
    texts = [text.text for text in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]
    missing = None if cap.tokens.labels[0] in texts else "a label is not in the figure"
    page = _samples(partial(content, cap, ".html"), rounds)
    return [
        Result(f"page is made, n={LONG}, CPU", page, "ms", PAGE_MS),
        Result(f"capture file, n={LONG}", (size,), "MB"),
        Result(f"capture file is read, n={LONG}, CPU", read, "ms", READ_MS, wrong),
        Result(f"SVG of a head, n={LONG}", (len(svg) / 1e3,), "kB", SVG_KB, missing),
        Result(f"SVG of a head is made, n={LONG}, CPU", _samples(figure, rounds), "ms", SVG_MS),
    ]


def _samples(work: partial[object], rounds: int) -> tuple[float, ...]:
    work()
    return tuple(timed(work, time.process_time) for _ in range(rounds))


if __name__ == "__main__":
    sys.exit(main())
