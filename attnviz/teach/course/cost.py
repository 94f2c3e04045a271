"""Long context: n² cells, the key–value cache, grouped queries, windows, their reach.

Sources: Vaswani et al. 2017, section 4 (cost of a layer); Shazeer 2019 and Ainslie et al. 2023
(grouped queries); Beltagy et al. 2020 (windows). Numbers of `stories` and `stories-llama`.
"""

import numpy as np
import torch
from jaxtyping import Bool, Float, Float64
from torch import Tensor

from attnviz import masks
from attnviz.attention.capture import Capture
from attnviz.pictures.board import Board, Panel
from attnviz.pictures.motion import Motion
from attnviz.teach.course.recipe import CardInputs, Lesson, Recipe
from attnviz.teach.lessons.cards.card import (
    Card,
    Chart,
    ChoiceQuestion,
    Link,
    NumberQuestion,
    Numbers,
    Series,
    Slider,
)

WIDTHS = (144, 512, 768)  # the story model, and two usual widths
TEXT, NEXT = "Lily gave the red ball to", "Tom"
SIZES = ((10, 3), (12, 4), (9, 3))  # (tokens, window)
N, WINDOW, ASKED = 8, 3, 2  # the experiment on reach: tokens, window, layers asked for
LAYERS = (1.0, 2.0, 3.0, 4.0)
EXACT = 0.1  # tolerance of a whole number
ONE_MORE = 1.0  # from one more token on the second part costs more: that answer is right, too


def _grows(inputs: CardInputs) -> Card:
    """The number of tokens from which the products with n² outgrow those with the matrices."""
    d_model = WIDTHS[inputs.seed % len(WIDTHS)]
    n_tokens = np.linspace(1, 4 * d_model, 60)
    lines = (Series(name, n_tokens, y / 1e6) for name, y in products(n_tokens, d_model).items())
    equal = 2 * d_model
    numbers: Numbers = {
        "d_model": d_model,
        "four": 4 * d_model,
        "answer": equal,
        "times": float(products(np.array([2.0]), d_model)["cells"][0])
        / float(products(np.array([1.0]), d_model)["cells"][0]),
    }
    mistakes = {"width": d_model, "twice": 4 * d_model}
    chart = Chart("tokens", "products", tuple(lines), marked_x=float(equal))
    question = NumberQuestion(equal, ONE_MORE, mistakes)
    return Card("grows", numbers, (), question, (chart,))


def products(n_tokens: np.ndarray, d_model: int) -> dict[str, np.ndarray]:
    """Multiplications of one layer on so many tokens: W_Q, W_K, W_V, W_O; Q·Kᵀ and weights·V."""
    return {"projections": 4 * n_tokens * d_model**2, "cells": 2 * n_tokens**2 * d_model}


def _cache(inputs: CardInputs) -> Card:
    """One more token: the keys of a decoder's earlier tokens stay, those of an encoder change."""
    decoder, encoder = key_changes(inputs, "stories", 0), key_changes(inputs, "minilm", 1)
    boards = []
    for name, changes in (("decoder", decoder), ("encoder", encoder)):
        layers = tuple(f"L{layer}" for layer in range(changes.shape[1]))
        panel = Panel(name, changes, rows=("",), columns=layers, signed=False)
        boards.append(Board((panel,)))
    numbers: Numbers = {
        "text": TEXT,
        "next": NEXT,
        "n": len(inputs.capture("stories", TEXT).tokens),
        "kept": float(decoder.max()),
        "encoder": float(encoder.max()),
    }
    question = ChoiceQuestion(("all", "own", "query"), "own")
    return Card("cache", numbers, (), question, tuple(boards))


def key_changes(inputs: CardInputs, model: str, n_special: int) -> Float64[np.ndarray, "1 layer"]:
    """max |key with one more token − key| over the earlier tokens, for each layer.

    A text of the model ends with `n_special` tokens of its own, which one more token moves.
    """
    before, after = (inputs.capture(model, text) for text in (TEXT, f"{TEXT} {NEXT}"))
    earlier = slice(0, len(before.tokens) - n_special)
    changes = []
    for layer in range(before.n_layers):
        old, new = (keys(capture, layer)[:, :, earlier] for capture in (before, after))
        changes.append(float((new - old).abs().max()))
    return np.array([changes])


def keys(capture: Capture, layer: int) -> Float[Tensor, "batch kv_head token d_head"]:
    """The keys of a layer, as the model had them."""
    key = capture.call(layer).inputs.key
    assert key is not None, "the embedded models keep their keys"
    return key


def _gqa(inputs: CardInputs) -> Card:
    """The numbers that the cache keeps for each token where several heads share keys and values."""
    capture = inputs.capture("stories-llama", TEXT)
    n_layers, heads = capture.n_layers, capture.call(0).n_heads
    _, groups, _, d_head = keys(capture, 0).shape
    kept = 2 * n_layers * groups * d_head
    reads = np.zeros((heads, groups))
    for head in range(heads):
        reads[head, head // (heads // groups)] = 1
    board = Board(
        (
            Panel(
                "reads",
                reads,
                rows=tuple(f"H{head}" for head in range(heads)),
                columns=tuple(f"K{group}, V{group}" for group in range(groups)),
                decimals=0,
                signed=False,
            ),
        )
    )
    numbers: Numbers = {
        "layers": n_layers,
        "heads": heads,
        "groups": groups,
        "d_head": d_head,
        "each": heads // groups,
        "kept": kept,
        "full": 2 * n_layers * heads * d_head,
    }
    mistakes = {
        "heads": 2 * n_layers * heads * d_head,
        "one": n_layers * groups * d_head,
        "layer": 2 * groups * d_head,
    }
    view: dict[str, str | int | float] = {
        "model": "stories-llama",
        "text": f"{TEXT} {NEXT}.",
        "layer": n_layers - 1,
        "head": 0,
    }
    question = NumberQuestion(kept, EXACT, mistakes)
    return Card("gqa", numbers, (board,), question, link=Link("steps", view))


def _window(inputs: CardInputs) -> Card:
    """The open cells of a causal mask with a window."""
    n_tokens, window = SIZES[inputs.seed % len(SIZES)]
    cells = sliding(n_tokens, window)
    n_open, causal = int(cells.sum()), n_tokens * (n_tokens + 1) // 2
    numbers: Numbers = {
        "n": n_tokens,
        "window": window,
        "before": window - 1,
        "open": n_open,
        "causal": causal,
        "full": n_tokens * window,
        "lost": n_tokens * window - n_open,
        "twice": int(sliding(2 * n_tokens, window).sum()),
        "twice_causal": n_tokens * (2 * n_tokens + 1),
    }
    mistakes = {"causal": causal, "corner": n_tokens * window}
    question = NumberQuestion(n_open, EXACT, mistakes)
    board = Board((_may("may", cells),))
    return Card("window", numbers, (), question, (board,))


def sliding(n_tokens: int, window: int) -> Bool[np.ndarray, "query key"]:
    """The causal mask with a window: a token attends to itself and to `window` − 1 before it."""
    return np.asarray(
        masks.combine(
            masks.causal(n_tokens, n_tokens), masks.window(n_tokens, n_tokens, window)
        ).numpy()
    )


def _may(name: str, cells: Bool[np.ndarray, "query key"]) -> Panel:
    return Panel(name, cells.astype(float), decimals=0, signed=False, blocked=~cells)


def _reach(inputs: CardInputs) -> Card:
    """The experiment: layers with a window, one above the other; the control is a single layer."""
    n_layers, cells = int(inputs.number("layers")), sliding(N, WINDOW)
    after = reached(cells, n_layers)
    back = {layers: int(reached(cells, layers)[-1].sum()) - 1 for layers in (1, ASKED, n_layers)}
    numbers: Numbers = {
        "window": WINDOW,
        "before": WINDOW - 1,
        "asked": ASKED,
        "answer": back[ASKED],
        "layers": n_layers,
        "back": back[n_layers],
        "n": N,
    }
    mistakes = {"one": back[1], "window": ASKED * WINDOW}
    board = Board((_may("control", cells), _may("changed", after)))
    question = NumberQuestion(back[ASKED], EXACT, mistakes)
    return Card("reach", numbers, (), question, (_cone(n_layers), board))


def _cone(n_layers: int) -> Motion:
    """From the last token down to all that can have come to its row; one layer is one scene."""
    rows = (*(f"L{layer}" for layer in reversed(range(n_layers))), "X")
    return Motion(
        "reach",
        {"size": np.array([[n_layers, WINDOW, N - 1]], dtype=np.float64)},
        {"tokens": tuple(map(str, range(N))), "rows": rows},
        scenes=("one", "all")[:n_layers],
        handles=("token", "window"),
    )


def reached(cells: Bool[np.ndarray, "query key"], n_layers: int) -> Bool[np.ndarray, "query key"]:
    """True where something of a token can have come to a row after so many layers."""
    one = torch.from_numpy(cells.astype(float))
    return np.asarray((torch.linalg.matrix_power(one, n_layers) > 0).numpy())


LESSON = Lesson(
    "cost",
    needs=("masks", "heads"),
    recipes=(
        Recipe("grows", _grows),
        Recipe("cache", _cache),
        Recipe("gqa", _gqa),
        Recipe("window", _window),
        Recipe("reach", _reach, (Slider("layers", LAYERS, 3.0),), "experiment"),
    ),
)
