"""What the pages of the workbench promise: `python -m benchmarks.workbench`.

One table for everything a visitor waits for on a model of 12 × 12 heads: bytes that travel, grid of
a new text, order of the heads, head switch, hover, cell selection, an edited number, masks that are
switched and dragged, the memory of the page. `--part long` adds one head of 16,384 tokens, as
`benchmarks.tiles` measures it, `--part others` what BertViz and CircuitsVis take for the same heads
where they are installed, `--part sound` half a minute as Whisper-tiny hears it. Results are checked
against the library while they are timed. Payload and pages are a part of `make bench`.

Ends with code 1 when a result is wrong; a slow one is only marked.
"""

import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import torch

import attnviz
from attnviz.app.server.sources import VARIABLE
from benchmarks import library, others, sound, tiles, workbench_page
from benchmarks.measure import Result, run_parts
from benchmarks.workbench_models import N_TOKENS, save_deep, words_of

ROUNDS = 8
LONGEST = 16_384
CAUSAL_SHARE = 0.5  # a causal head has nothing above its diagonal


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and say by the exit code whether all results were right."""
    return run_parts("benchmarks.workbench", __doc__, PARTS, ROUNDS, arguments)


def payloads(_rounds: int) -> list[Result]:
    """Bytes for all heads of an encoder, and of a decoder, which sees no future."""
    with tempfile.TemporaryDirectory() as name:
        before = os.environ.get(VARIABLE)
        os.environ[VARIABLE] = name
        try:
            return [payload(Path(name), kind) for kind in ("encoder", "decoder")]
        finally:
            if before is None:
                del os.environ[VARIABLE]
            else:
                os.environ[VARIABLE] = before


def payload(root: Path, kind: str) -> Result:
    folder = save_deep(root / kind, kind)
    model = attnviz.load(str(folder))
    text = words_of(model, N_TOKENS)
    capture = attnviz.capture(model, text)
    share = CAUSAL_SHARE if kind == "decoder" else 1.0
    return library.payload(
        text, capture, f"payload of 12 × 12 heads, {kind}", share, model=str(folder)
    )


def long_text(rounds: int) -> list[Result]:
    """Pyramid, cold jumps and pans of 16,384 tokens."""
    from benchmarks import tiles_browser

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        model = attnviz.load(tiles.small_model(LONGEST))
        return [
            *tiles.measure(model, LONGEST),
            *tiles_browser.measure(model.model, LONGEST, rounds),
        ]
    finally:
        torch.set_num_threads(threads)


PARTS: dict[str, Callable[[int], list[Result]]] = {
    "payload": payloads,
    "page": workbench_page.measure,
    "long": long_text,
    "sound": sound.measure,
    "others": others.measure,
}

if __name__ == "__main__":
    sys.exit(main())
