"""The cards of lesson 9 about induction: with a control, without a repeat, and on one sentence.

An induction head attends from a token to what followed the same token earlier (Elhage et al. 2021,
Olsson et al. 2022). The control keeps the places and changes the words, so that a head which only
looks so many tokens back would score the same.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float64

from attnviz.attention.call import Capture
from attnviz.course.real.heads import chance, panel, score, uniform
from attnviz.course.recipe import CardInputs
from attnviz.lessons.cards.card import (
    Board,
    Card,
    CellQuestion,
    Chart,
    ChoiceQuestion,
    Control,
    Link,
    NumberQuestion,
    Panel,
    Pick,
    RealHead,
    Series,
    Typed,
)
from attnviz.metrics.measures import induction_keys
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
MOST_WORDS, N_CONTROLS = 8, 4
# one sentence on which a head seems to do induction, and others of its kind
SEEMING = HeadId(5, 11)
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
    Typed("words", "horse lamp egg boat cow fox", most_chars=48),
    Pick("model", ("stories", "stories-llama"), "stories"),
)


def _twice(words: Sequence[str]) -> str:
    return " ".join(("Once", *words, *words))


def induction(inputs: CardInputs) -> Card:
    """Words that mean nothing together, twice: where does the second 'hat' look?"""
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
    shown = (Board((panel(cap, head, "weights", hidden=True),)),)
    return Card("induction", numbers, shown, question, link=Link("head", view))


def _words(inputs: CardInputs) -> tuple[str, ...]:
    """What was typed, as a few words; the card's own where that is too little to repeat."""
    typed = tuple(dict.fromkeys(inputs.text("words").split()))[:MOST_WORDS]
    return typed if len(typed) > 1 else LISTS[0]


def copied(inputs: CardInputs) -> Card:
    """The experiment: words that come twice, and in the same places words that come once."""
    model, words = inputs.text("model"), _words(inputs)
    head, twice = INDUCTION[model], inputs.capture(model, _twice(words))
    n_once = (len(twice.tokens) - 2) // 2
    places = induction_keys(twice.tokens)
    places[:-n_once] = False
    controls = inputs.capture(model, _controls(words, n_once))
    own = _on(twice, places)
    other = np.mean([_on(controls, places, batch) for batch in range(N_CONTROLS)], axis=0)
    chance_there = (uniform(twice) * places).sum(axis=1)[places.any(axis=1)].mean()
    numbers: dict[str, float | int | str] = {
        "head": str(head),
        "score": float(own[head.layer, head.head]),
        "control": float(other[head.layer, head.head]),
        "chance": float(chance_there),
        "words": " ".join(words),
        "lists": N_CONTROLS,
    }
    board = Board((_by_head("control", other, head), _by_head("twice", own, head)))
    return Card("copied", numbers, (board,))


def _controls(words: Sequence[str], n_once: int) -> list[str]:
    """The words, then as many others as they have tokens; several such texts."""
    free = [word for word in OTHERS if word not in words]
    return [
        " ".join(("Once", *words, *(free[(n * 9 + at) % len(free)] for at in range(n_once))))
        for n in range(N_CONTROLS)
    ]


def _by_head(name: str, scores: Float64[np.ndarray, "layer head"], marked: HeadId) -> Panel:
    """One number for each head, by layer."""
    n_layers, n_heads = scores.shape
    return Panel(
        name,
        scores,
        rows=tuple(f"L{layer}" for layer in range(n_layers)),
        columns=tuple(f"H{head}" for head in range(n_heads)),
        signed=False,
        marked=((marked.layer, marked.head),),
    )


def _on(
    cap: Capture, places: Bool[np.ndarray, "query key"], batch: int = 0
) -> Float64[np.ndarray, "layer head"]:
    """The mean weight on these cells, over the rows that have one, of every head."""
    rows = places.any(axis=1)
    weights = cap.all_weights(batch)[:, :, rows].astype(np.float64)
    return np.asarray((weights * places[rows]).sum(axis=-1).mean(axis=-1))


def quiet(inputs: CardInputs) -> Card:
    """A story in which nothing repeats: what does the induction head do then?"""
    head, cap = INDUCTION["stories"], inputs.capture("stories", STORY)
    numbers: dict[str, float | int | str] = {
        "head": str(head),
        "first": score(cap, head, "first"),
        "chance": chance(cap, "first"),
    }
    question = ChoiceQuestion(("spread", "previous", "first"), "first")
    real = RealHead("stories", STORY, head.layer, head.head)
    return Card("quiet", numbers, (), question, (real,))


def one(inputs: CardInputs) -> Card:
    """A score on one sentence, and on seven more."""
    cap, rows = inputs.capture("minilm", list(SENTENCES)), range(len(SENTENCES))
    scores = np.array([score(cap, SEEMING, "induction", row) for row in rows])
    by_chance = np.array([chance(cap, "induction", row) for row in rows])
    tokens = inputs.capture("minilm", SENTENCES[0]).tokens
    words = int((~tokens.special).sum())
    behind = int(induction_keys(tokens)[~tokens.special].any(axis=1).sum())
    x = np.arange(len(rows), dtype=np.float64)
    chart = Chart(
        "sentence", "score", (Series("head", x, scores), Series("chance", x, by_chance)), bars=True
    )
    numbers: dict[str, float | int | str] = {
        "head": str(SEEMING),
        "score": float(scores[0]),
        "chance": float(by_chance[0]),
        "text": SENTENCES[0],
        "behind": behind,
        "mean": float(scores.mean()),
        "mean_chance": float(by_chance.mean()),
        "least": float(scores.min()),
        "n": len(rows),
    }
    question = NumberQuestion(behind, 0.1, {"words": words, "tokens": len(tokens), "pair": 2})
    return Card("one", numbers, (), question, (chart,))
