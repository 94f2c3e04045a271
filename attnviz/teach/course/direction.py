"""Directions: rows as arrows, one matrix for queries and keys, a value that moves a row.

    q·k = |q|·|k|·cos,   S = X·W_Q·(X·W_K)ᵀ = X·(W_Q·W_Kᵀ)·Xᵀ        (Vaswani et al. 2017)

In: the embedding table, a head of MiniLM (that of lesson `ask`), and the copying head of the story
model. A bias of W_Q and W_K stands as one more row below them, met by a 1 at the end of each row of
X. The clouds of queries and keys are drawn as AttentionViz does (Yeh et al. 2023): keys moved by
one arrow, then queries times c and keys over c; a test holds the weights to stay. What a value adds
is read as in Elhage et al. 2021 and the logit lens; the control is a thousand random arrows of the
same length, from seed 0.
"""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from attnviz.pictures.board import Board, Panel
from attnviz.pictures.motion import Motion
from attnviz.teach.course import story
from attnviz.teach.course.arrays import Matrix, apart, as_numbers, softmax
from attnviz.teach.course.ask import HEAD, LAYER, MODEL, START
from attnviz.teach.course.real import INDUCTION, LISTS
from attnviz.teach.course.recipe import CardInputs, Lesson, Recipe
from attnviz.teach.lessons.cards.card import (
    Card,
    ChoiceQuestion,
    Link,
    NumberQuestion,
    Numbers,
    Slider,
)

# the lengths of two arrows and the angle between them, by seed
ARROWS = ((4.0, 3.0, 60.0), (5.0, 2.0, 60.0), (3.0, 2.0, 120.0))
KEY_AT = 20.0  # degrees, where the key is drawn
# a word of the story model; the word nearest to it; one spelled like it; one that stands beside it
WORDS = (
    ("dog", "cat", "dogs", "was"),
    ("red", "silver", "bed", "ball"),
    ("two", "three", "too", "dogs"),
)
N_NEAREST = 6
SHOWN = ("animal", "street", "it")  # tokens of START
N_RANDOM = 1000
STOPS = tuple(float(times) for times in np.arange(-1, 2.25, 0.25))
MOMENTS = np.linspace(-1, 2, 61)  # of the film, in times of the arrow
N_BARS = 6


def _angle(inputs: CardInputs) -> Card:
    """Two arrows whose dot product follows their angle."""
    length, other, angle = ARROWS[inputs.seed % len(ARROWS)]
    cosine = math.cos(math.radians(angle))
    answer = length * other * cosine
    mistakes = {"lengths": length * other, "cosine": cosine, "sum": length + other}
    numbers: Numbers = {
        "length": length,
        "other": other,
        "angle": angle,
        "cosine": round(cosine, 6),
        "answer": round(answer, 6),
        "long": story.word_rows(np.array([0])).shape[1],
    }
    film = Motion(
        "arrows",
        {"arrows": np.array([[length, KEY_AT], [other, KEY_AT]])},
        handles=("query", "key"),
    )
    question = NumberQuestion(answer, 0.06, apart(answer, mistakes, 0.06))
    link = Link("geometry", {"model": MODEL, "tab": "arrows"}, task=True)
    return Card("angle", numbers, (), question, (film,), link, (film.still(),))


def _nearest(inputs: CardInputs) -> Card:
    """Rows of the embedding table that point the same way."""
    word, alike, spelled, beside = WORDS[inputs.seed % len(WORDS)]
    names = story.vocabulary(space=story.SPACE)
    rows = _units(_words())
    cosines = rows @ rows.T
    row = cosines[names.index(f"␣{word}")]
    nearest = np.argsort(-row)[1 : N_NEAREST + 1]
    others = [names.index(f"␣{name}") for name in (spelled, beside)]
    pairs = cosines[~np.eye(len(cosines), dtype=np.bool_)]
    plain = story.vocabulary()

    def panel(name: str, tokens: "list[int] | np.ndarray", hidden: bool = False) -> Panel:
        columns = tuple(plain[token].strip() for token in tokens)
        return Panel(
            name, row[None, tokens], rows=(word,), columns=columns, scale="c", hidden=hidden
        )

    numbers: Numbers = {
        "word": word,
        "alike": plain[nearest[0]].strip(),
        "spelled": spelled,
        "beside": beside,
        "width": story.word_rows(np.array([0])).shape[1],
        "best": float(row[nearest[0]]),
        "spelled_cosine": float(row[others[0]]),
        "beside_cosine": float(row[others[1]]),
        "tokens": len(names),
        "mean": float(pairs.mean()),
        "deviation": float(pairs.std()),
        "n_nearest": N_NEAREST,
    }
    asked = Board((panel("asked", [int(nearest[0]), *others], hidden=True),))
    reveal = Board((panel("nearest", nearest), panel("asked", others)))
    question = ChoiceQuestion(("alike", "spelled", "beside"), "alike")
    return Card("nearest", numbers, (), question, (reveal,), situation=(asked,))


def _words() -> story.Rows:
    """The row of each token of the story model."""
    return story.word_rows(np.arange(len(story.vocabulary())))


def _units(rows: Matrix) -> Matrix:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class RealQK:
    """A head's queries and keys on a text; `x` ends with a 1, `w_q` and `w_k` with their bias."""

    labels: tuple[str, ...]
    x: Float64[np.ndarray, "token d_in"]
    w_q: Float64[np.ndarray, "d_in d_head"]
    w_k: Float64[np.ndarray, "d_in d_head"]

    @property
    def q(self) -> Float64[np.ndarray, "token d_head"]:
        return np.asarray(self.x @ self.w_q)

    @property
    def k(self) -> Float64[np.ndarray, "token d_head"]:
        return np.asarray(self.x @ self.w_k)

    @property
    def root(self) -> float:
        """√d_k."""
        return math.sqrt(self.w_q.shape[1])


def real_qk(inputs: CardInputs) -> RealQK:
    """The head of lesson `ask` on its sentence."""
    captured = inputs.capture(MODEL, START)
    projections = captured.call(LAYER).projections
    x = as_numbers(projections["q"].input[0])
    sides = []
    for kind in ("q", "k"):
        projection = projections[kind]
        width = projection.output.shape[-1] // captured.call(LAYER).n_heads
        columns = slice(HEAD * width, (HEAD + 1) * width)
        bias = projection.bias
        assert bias is not None, "MiniLM's layers have biases"
        weight = as_numbers(projection.weight[:, columns])
        sides.append(np.concatenate([weight, as_numbers(bias[columns][None])]))
    ones = np.ones((len(x), 1))
    return RealQK(captured.tokens.labels, np.concatenate([x, ones], axis=1), *sides)


def _matrix(inputs: CardInputs) -> Card:
    """The scores of a real head by two ways: Q·Kᵀ, and X·(W_Q·W_Kᵀ)·Xᵀ."""
    head = real_qk(inputs)
    rows = [head.labels.index(word) for word in SHOWN]
    one = head.w_q @ head.w_k.T
    by_parts, by_one = head.q @ head.k.T, head.x @ one @ head.x.T
    picked = np.ix_(rows, rows)

    def panel(name: str, values: Matrix) -> Panel:
        return Panel(name, values[picked], rows=SHOWN, columns=SHOWN, decimals=3, scale="score")

    d_model, d_head = len(one) - 1, head.w_q.shape[1]
    numbers: Numbers = {
        "head": f"L{LAYER}.H{HEAD}",
        "n": len(head.labels),
        "d_model": d_model,
        "d_head": d_head,
        "cells": d_model * d_model,
        "rank": int(np.linalg.matrix_rank(one[:-1, :-1])),
        "difference": float(np.abs(by_parts - by_one).max()),
        "there": float(by_one[picked][2, 0]),
        "back": float(by_one[picked][0, 2]),
    }
    question = ChoiceQuestion(("narrow", "wide", "square"), "wide")
    reveal = Board((panel("one", by_one),))
    given = Board((panel("parts", by_parts),))
    return Card("matrix", numbers, (given,), question, (reveal,))


@dataclass(frozen=True, eq=False)
class Clouds:
    """Queries and keys in the plane in which both together spread most.

    `shift` moves the keys' centre onto that of the queries; queries are then multiplied by `factor`
    and keys divided by it, so that both clouds are equally wide.
    """

    axes: Float64[np.ndarray, "axis d_head"]
    middle: Float64[np.ndarray, "d_head"]
    shift: Float64[np.ndarray, "d_head"]
    factor: float
    kept: float


def clouds(q: Matrix, k: Matrix) -> Clouds:
    """The plane of queries and keys, and what lays one on the other."""
    both = np.concatenate([q, k])
    middle = both.mean(axis=0)
    _, sizes, axes = np.linalg.svd(both - middle, full_matrices=False)
    spread_q, spread_k = (math.sqrt(cloud.var(axis=0).sum()) for cloud in (q, k))
    kept = float((sizes[:2] ** 2).sum() / (sizes**2).sum())
    shift = q.mean(axis=0) - k.mean(axis=0)
    return Clouds(axes[:2], middle, shift, math.sqrt(spread_k / spread_q), kept)


def _together(inputs: CardInputs) -> Card:
    """The joint picture of queries and keys, and what it leaves as it is."""
    head = real_qk(inputs)
    q, k, n = head.q, head.k, len(head.labels)
    plane = clouds(q, k)
    before = softmax(q @ k.T / head.root)
    moved = k + plane.shift
    keys_moved = softmax(q @ moved.T / head.root)
    laid = softmax((q * plane.factor) @ (moved / plane.factor).T / head.root)
    queries_moved = softmax((q + plane.shift) @ k.T / head.root)
    row = head.labels.index("it")
    strongest = int(before[row].argmax())
    numbers: Numbers = {
        "head": f"L{LAYER}.H{HEAD}",
        "n": n,
        "query": head.labels[row],
        "key": head.labels[strongest],
        "weight": float(before[row, strongest]),
        "apart": float(np.linalg.norm(plane.shift)),
        "spread": float(np.linalg.norm(q - q.mean(axis=0), axis=1).mean()),
        "keys_change": float(np.abs(keys_moved - before).max()),
        "laid_change": float(np.abs(laid - before).max()),
        "queries_change": float(np.abs(queries_moved - before).max()),
        "near_before": _nearest_is_strongest(q, k, before),
        "near_after": _nearest_is_strongest(q * plane.factor, moved / plane.factor, before),
        "kept": plane.kept,
    }
    film = Motion(
        "clouds",
        {
            "queries": (q - plane.middle) @ plane.axes.T,
            "keys": (k - plane.middle) @ plane.axes.T,
            "shift": (plane.axes @ plane.shift)[None],
            "factor": np.array([[plane.factor]]),
            "scores": (q @ k.T / head.root)[[row]],
            "along": k @ plane.axes.T / head.root,
            "query": np.array([[float(row)]]),
        },
        {"words": head.labels},
        handles=("keys", "queries"),
    )
    question = ChoiceQuestion(("none", "nearer", "even"), "none")
    view: Numbers = {"model": MODEL, "text": START, "layer": LAYER, "head": HEAD, "query": row}
    return Card(
        "together", numbers, (), question, (film,), Link("map", view, task=True), (film.still(),)
    )


def _nearest_is_strongest(q: Matrix, k: Matrix, weights: Float64[np.ndarray, "query key"]) -> int:
    """The number of queries whose nearest key is the one with the largest weight."""
    distances = np.linalg.norm(q[:, None] - k[None], axis=2)
    return int((distances.argmin(axis=1) == weights.argmax(axis=1)).sum())


@dataclass(frozen=True, eq=False)
class Copying:
    """The copying head on a list of words that begins anew; the last row attends to `key`."""

    ids: np.ndarray
    head: story.HeadPass
    key: int

    @property
    def arrow(self) -> Float64[np.ndarray, "d_model"]:
        return np.asarray(self.head.arrows[self.key])

    @property
    def names(self) -> tuple[str, ...]:
        return story.names(self.ids)


def copying(inputs: CardInputs) -> Copying:
    """The head on the list of this seed."""
    ids = np.asarray(inputs.capture(story.MODEL, _list(inputs.seed)).tokens.ids, dtype=np.int64)
    copier = INDUCTION[story.MODEL]
    head = story.head_pass(ids, copier.layer, copier.head)
    return Copying(ids, head, int(head.weights[-1].argmax()))


def _list(seed: int) -> str:
    words = LISTS[seed % len(LISTS)]
    return " ".join([*words, *words[:2]])


def _carries(inputs: CardInputs) -> Card:
    """The word whose row is nearest to what a value adds."""
    found = copying(inputs)
    shown = np.arange(found.key - 1, found.key + 3)
    cosines = _units(found.head.arrows) @ _units(_words()).T
    own = cosines[1:].argmax(axis=1) == found.ids[1:]
    names = tuple(found.names[token] for token in shown)
    values = cosines[np.ix_(shown, found.ids[shown])]
    copier = INDUCTION[story.MODEL]
    others = [
        float((_units(arrows) * _units(story.word_rows(found.ids))).sum(axis=1)[1:].mean())
        for each in range(story.HEADS)
        if each != copier.head
        for arrows in [story.head_pass(found.ids, copier.layer, each).arrows]
    ]
    numbers: Numbers = {
        "head": str(copier),
        "text": _list(inputs.seed),
        "value": found.names[found.key],
        "after": found.names[found.key + 1],
        "width": found.arrow.size,
        "d_head": found.arrow.size // story.HEADS,
        "best": float(cosines[found.key, found.ids[found.key]]),
        "tokens": len(story.vocabulary()),
        "own": int(own.sum()),
        "n": len(own),
        "mean": float(np.diag(cosines[1:, found.ids[1:]]).mean()),
        "others": float(np.mean(others)),
    }
    question = ChoiceQuestion(("own", "next", "none"), "own")
    reveal = Board((Panel("cosines", values, rows=names, columns=names),))
    return Card("carries", numbers, (), question, (reveal,))


def _moves(inputs: CardInputs) -> Card:
    """The experiment: the head's arrow is added to the last row; the control is a random one."""
    times = inputs.number("times")
    found = copying(inputs)
    row, word = found.head.stream[-1], int(found.ids[found.key])
    drawn = _units(np.random.default_rng(0).normal(size=(N_RANDOM, found.arrow.size)))
    random = drawn * np.linalg.norm(found.arrow)  # as long as the head's
    one = random[0]
    by_head = softmax(story.next_logits(row + MOMENTS[:, None] * found.arrow))
    by_chance = softmax(story.next_logits(row + MOMENTS[:, None] * one))
    before, after = _chances(row[None])[0], _chances((row + found.arrow)[None])[0]
    controls = _chances(row + random)[:, word]
    at = _chances((row + times * found.arrow)[None])[0]
    most = np.argsort(-np.maximum(before, after))[:N_BARS]
    bars = [int(token) for token in (most if word in most else [*most[:-1], word])]
    numbers: Numbers = {
        "head": str(INDUCTION[story.MODEL]),
        "text": _list(inputs.seed),
        "row": found.names[-1],
        "word": found.names[found.key],
        "weight": float(found.head.weights[-1, found.key]),
        "before": float(before[word]),
        "after": float(after[word]),
        "length": float(np.linalg.norm(found.arrow)),
        "n_random": N_RANDOM,
        "mean": float(controls.mean()),
        "most": float(controls.max()),
        "times": times,
        "at": float(at[word]),
    }
    film = Motion(
        "push",
        {"head": by_head[:, bars], "random": by_chance[:, bars], "times": MOMENTS[None]},
        {"words": story.names(bars)},
        {"arrows": ("panel.head", "panel.random")},
        handles=("times",),
        values={"times": times},
    )
    question = ChoiceQuestion(("same", "little", "most"), "little")
    view: Numbers = {"model": story.MODEL, "text": _list(inputs.seed), "query": len(found.ids) - 1}
    return Card("moves", numbers, (), question, (film,), Link("output", view), (film.still(),))


def _chances(stream: Matrix) -> Float64[np.ndarray, "row vocab"]:
    """The probability of each next token, read from these rows."""
    return np.asarray(story.softmax(story.next_logits(stream)))


LESSON = Lesson(
    "direction",
    needs=("ask", "block"),
    recipes=(
        Recipe("angle", _angle),
        Recipe("nearest", _nearest),
        Recipe("matrix", _matrix),
        Recipe("together", _together),
        Recipe("carries", _carries),
        Recipe("moves", _moves, (Slider("times", STOPS, 1.0),), "experiment"),
    ),
)
