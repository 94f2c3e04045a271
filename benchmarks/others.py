"""What BertViz and CircuitsVis take to make their page of the same heads, where they are installed.

Both make HTML in Python and leave the drawing to scripts from a content network, which is not
reached here: the time is that of the HTML alone, the size what a notebook would keep. Neither is
a dependency; one that is absent gives a row with its reason.
"""

import importlib
import importlib.util
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

import attnviz
from benchmarks.measure import Result, timed
from benchmarks.workbench_models import N_TOKENS, save_deep, words_of

Make = Callable[[list[str], np.ndarray], str]


def measure(rounds: int) -> list[Result]:
    """The rows of this part."""
    missing = [name for name in MAKERS if importlib.util.find_spec(name) is None]
    results = [
        Result(f"{name}: HTML of 12 × 12 heads", (), "ms", skipped=f"{name} is not installed")
        for name in missing
    ]
    if len(missing) == len(MAKERS):
        return results
    with tempfile.TemporaryDirectory() as folder:
        model = attnviz.load(str(save_deep(Path(folder) / "encoder", "encoder")))
        capture = attnviz.capture(model, words_of(model, N_TOKENS))
    labels, weights = list(capture.tokens.labels), capture.all_weights()
    present = [name for name in MAKERS if name not in missing]
    return results + [row for name in present for row in of_tool(name, labels, weights, rounds)]


def of_tool(name: str, labels: list[str], weights: np.ndarray, rounds: int) -> list[Result]:
    """Time and size of one tool's HTML."""
    made: list[str] = []
    samples = [timed(lambda: made.append(MAKERS[name](labels, weights))) for _ in range(rounds)]
    html = made[-1]
    few = (
        None if len(html) >= weights.size else f"{len(html)} characters do not hold as many weights"
    )
    title = f"{name}: HTML of {len(weights)} × {weights.shape[1]} heads, n={weights.shape[-1]}"
    return [
        Result(title, tuple(samples), "ms", wrong=few),
        Result(f"{title}, size", (len(html.encode()) / 1000,), "kB", wrong=few),
    ]


def _bertviz(labels: list[str], weights: np.ndarray) -> str:
    attention = [torch.from_numpy(layer)[None] for layer in weights]
    made = importlib.import_module("bertviz").model_view(attention, labels, html_action="return")
    return str(made.data)


def _circuitsvis(labels: list[str], weights: np.ndarray) -> str:
    patterns = importlib.import_module("circuitsvis.attention").attention_patterns
    heads = weights.reshape(-1, *weights.shape[2:])
    return str(patterns(tokens=labels, attention=heads))


MAKERS: dict[str, Make] = {"bertviz": _bertviz, "circuitsvis": _circuitsvis}
