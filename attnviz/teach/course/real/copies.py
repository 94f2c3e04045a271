"""The cards of lesson 9 about induction: with a control, without a repeat, and on one sentence.

An induction head attends from a token to the one that followed the same token earlier (Elhage et
al. 2021, Olsson et al. 2022). The control keeps the positions and changes the words: a head that
only attends a fixed distance back would score the same.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float64

from attnviz.attention.capture import Capture
from attnviz.metrics.measures import induction_keys
from attnviz.pictures.board import Board, Panel
from attnviz.teach.course.real.heads import chance, panel, score, uniform
from attnviz.teach.course.recipe import CardInputs
from attnviz.teach.lessons.cards.card import (
    Card,
    CellQuestion,
    Chart,
    ChoiceQuestion,
    Control,
    Link,
    NumberQuestion,
    Pick,
    RealHead,
    Series,
    Typed,
)
from attnviz.types import HeadId

STORY = "One day Lily met a big goat near the river."
INDUCTION = {"stories": HeadId(2, 1), "stories-llama": HeadId(1, 5)}
LISTS = (
    ("kite", "hat", "dog", "cat"),
    ("horse", "lamp", "egg", "boat"),
    ("cake", "fox", "cup", "bed"),
)
# words of the story models' vocabulary, one token each
OTHERS = (
    *("boat", "lake", "book", "tree", "duck", "box", "cup", "drum", "bed", "flower", "cake", "fox"),
    *("wolf", "bear", "goat", "lion", "pig", "cow", "sheep", "horse", "frog", "park", "farm"),
    *("store", "garden", "hill", "stone", "lamp", "chair", "coat", "cheese", "bread", "egg"),
    *("mouse", "boy", "girl", "queen", "kite", "hat", "dog", "cat", "ball"),
)
MAX_WORDS, N_CONTROLS = 8, 4
# a head that seems to do induction on the first of these sentences
SEEMING_INDUCTION = HeadId(5, 11)
SENTENCES = (
    "The cat sat on the mat because it was tired.",
    "The old dog saw the young dog.",
    "The king gave the queen a ring.",
    "The boat on the lake was old.",
    "The teacher told the class a story.",
    "The bird left the nest at night.",
    "The wind blew the door open.",
    "The girl threw the ball to her father.",
)
COPY_CONTROLS: tuple[Control, ...] = (
    Typed("words", "horse lamp egg boat cow fox", max_chars=48),
    Pick("model", ("stories", "stories-llama"), "stories"),
)


def _twice(words: Sequence[str]) -> str:
    return " ".join(("Once", *words, *words))


def induction(inputs: CardInputs) -> Card:
    """A list of words twice; the question asks where the second copy of a word attends."""
    words = LISTS[inputs.seed % len(LISTS)]
    head = INDUCTION["stories"]
    cap = inputs.capture("stories", _twice(words))
    first, second = (n for n, label in enumerate(cap.tokens.labels) if label == words[1])
    wrong = {
        "same": frozenset({(second, first)}),
        "previous": frozenset({(second, second - 1)}),
        "self": frozenset({(second, second)}),
        "transposed": frozenset({(first + 1, second)}),
    }
    numbers: dict[str, float | int | str] = {
        "head": str(head),
        "token": words[1],
        "after": words[2],
        "weight": float(cap.weights(head.layer, head.head)[second, first + 1]),
        "chance": 1 / (second + 1),
        "score": score(cap, head, "induction"),
        "all_chance": chance(cap, "induction"),
    }
    question = CellQuestion("weights", frozenset({(second, first + 1)}), wrong)
    view: dict[str, str | int | float] = {
        "model": "stories",
        "text": _twice(words),
        "layer": head.layer,
        "head": head.head,
    }
    board = Board((panel(cap, head, "weights", hidden=True),))
    return Card("induction", numbers, (board,), question, link=Link("head", view))


def _words(inputs: CardInputs) -> tuple[str, ...]:
    """The typed words, at most eight; the card's own words if there are fewer than two."""
    typed = tuple(dict.fromkeys(inputs.text("words").split()))[:MAX_WORDS]
    return typed if len(typed) > 1 else LISTS[0]


def copied(inputs: CardInputs) -> Card:
    """The experiment: a list of words twice, beside lists without a repeat as the control."""
    model, words = inputs.text("model"), _words(inputs)
    head, twice = INDUCTION[model], inputs.capture(model, _twice(words))
    n_once = (len(twice.tokens) - 2) // 2
    cells = induction_keys(twice.tokens)
    cells[:-n_once] = False
    controls = inputs.capture(model, _controls(words, n_once))
    own = _mean_weight(twice, cells)
    control = np.mean([_mean_weight(controls, cells, batch) for batch in range(N_CONTROLS)], axis=0)
    even = (uniform(twice) * cells).sum(axis=1)[cells.any(axis=1)].mean()
    numbers: dict[str, float | int | str] = {
        "head": str(head),
        "score": float(own[head.layer, head.head]),
        "control": float(control[head.layer, head.head]),
        "chance": float(even),
        "words": " ".join(words),
        "lists": N_CONTROLS,
    }
    board = Board((_by_head("control", control, head), _by_head("twice", own, head)))
    question = ChoiceQuestion(("same", "half", "chance"), "chance")
    return Card("copied", numbers, (), question, (board,))


def _controls(words: Sequence[str], n_once: int) -> list[str]:
    """Texts of the words and as many other words as they have tokens."""
    others = [word for word in OTHERS if word not in words]
    return [
        " ".join(("Once", *words, *(others[(9 * n + m) % len(others)] for m in range(n_once))))
        for n in range(N_CONTROLS)
    ]


def _by_head(name: str, scores: Float64[np.ndarray, "layer head"], marked: HeadId) -> Panel:
    """A panel with one number for each head, by layer."""
    n_layers, n_heads = scores.shape
    return Panel(
        name,
        scores,
        rows=tuple(f"L{layer}" for layer in range(n_layers)),
        columns=tuple(f"H{head}" for head in range(n_heads)),
        signed=False,
        marked=((marked.layer, marked.head),),
    )


def _mean_weight(
    cap: Capture, cells: Bool[np.ndarray, "query key"], batch: int = 0
) -> Float64[np.ndarray, "layer head"]:
    """The mean weight of every head on these cells, over the rows that have one."""
    rows = cells.any(axis=1)
    weights = cap.all_weights(batch)[:, :, rows].astype(np.float64)
    return np.asarray((weights * cells[rows]).sum(axis=-1).mean(axis=-1))


def quiet(inputs: CardInputs) -> Card:
    """The induction head on a story without a repeat."""
    head, cap = INDUCTION["stories"], inputs.capture("stories", STORY)
    numbers: dict[str, float | int | str] = {
        "head": str(head),
        "first": score(cap, head, "first"),
        "chance": chance(cap, "first"),
    }
    question = ChoiceQuestion(("spread", "previous", "first"), "first")
    real = RealHead("stories", STORY, head.layer, head.head)
    return Card("quiet", numbers, (), question, (real,))


def one_sentence(inputs: CardInputs) -> Card:
    """A score on one sentence, and on seven more."""
    cap, rows = inputs.capture("minilm", list(SENTENCES)), range(len(SENTENCES))
    scores = np.array([score(cap, SEEMING_INDUCTION, "induction", row) for row in rows])
    by_chance = np.array([chance(cap, "induction", row) for row in rows])
    tokens = inputs.capture("minilm", SENTENCES[0]).tokens
    words = int((~tokens.special).sum())
    n_counted = int(induction_keys(tokens)[~tokens.special].any(axis=1).sum())
    x = np.arange(len(rows), dtype=np.float64)
    chart = Chart(
        "sentence", "score", (Series("head", x, scores), Series("chance", x, by_chance)), bars=True
    )
    numbers: dict[str, float | int | str] = {
        "head": str(SEEMING_INDUCTION),
        "score": float(scores[0]),
        "chance": float(by_chance[0]),
        "text": SENTENCES[0],
        "behind": n_counted,
        "mean": float(scores.mean()),
        "mean_chance": float(by_chance.mean()),
        "least": float(scores.min()),
        "n": len(rows),
    }
    question = NumberQuestion(n_counted, 0.1, {"words": words, "tokens": len(tokens), "pair": 2})
    return Card("one", numbers, (), question, (chart,))
