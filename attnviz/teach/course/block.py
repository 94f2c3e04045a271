"""One block, eight operations: Linear, QKᵀ, ÷√d_k, mask, softmax, ·V, concat, Linear.

The cards follow one running example from X to the output: four words of four numbers each, two
heads of two columns, computed by `attnviz.attention.formula`. `example` takes a seed; the numbers
of seed 0 were made up so that "tired" finds "cat", other seeds draw small integers. The last card
multiplies the scores. Source: Vaswani et al. 2017, section 3.2, as course texts walk through it.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from jaxtyping import Float64

from attnviz import masks
from attnviz.attention import formula
from attnviz.pictures.board import Board, Panel
from attnviz.pictures.motion import Motion
from attnviz.teach.course.arrays import Matrix, apart, as_numbers
from attnviz.teach.course.recipe import CardInputs, Lesson, Recipe
from attnviz.teach.lessons.cards.card import (
    Card,
    CellQuestion,
    Chart,
    ChoiceQuestion,
    Link,
    NumberQuestion,
    Numbers,
    Series,
    Slider,
    Terms,
)
from attnviz.teach.lessons.cards.versions import ExampleWord

TO_TWO_DIGITS, ONE_DIGIT = 0.006, 0.06  # tolerances of numbers typed with two digits, with one
# one head as wide as the module, or narrow ones; scores on a circle, large enough to point
WIDTH, NARROW, LARGE = 64, 8, 1000.0
WIDE = ((512, 8), (768, 12), (256, 4))  # (d_model, heads) of models of the usual size
HEAD: Mapping[str, str | int] = {"model": "minilm", "layer": 3, "head": 1}
TIRED, CAT, WAS = 3, 1, 2
FACTOR = Slider("factor", (0.0, 0.5, 1.0, 2.0, 5.0), 2.0)
# the running example
WORDS = tuple(map(ExampleWord, ("the", "cat", "was", "tired")))
N_HEADS, D_HEAD = 2, 2
X = [[1, 0, 0, 1], [0, 2, 0, 1], [0, 0, 1, 1], [1, 0, 2, 0]]
W_Q = (
    [[0, 1], [1, 0], [1, 0], [0, 1]],
    [[1, 0], [0, 1], [1, 1], [0, 0]],
)
W_K = (
    [[0, 1], [1, 0], [0, 0], [1, 0]],
    [[1, 0], [0, 0], [0, 1], [1, 0]],
)
W_V = (
    [[1, 0], [0, 1], [0, 0], [1, 1]],
    [[0, 1], [1, 0], [1, 0], [0, 1]],
)
W_O = [[1, 0, 0, 1], [0, 1, 0, 0], [0, 0, 1, 0], [1, 0, 0, -1]]
ToHead = Float64[np.ndarray, "d_model d_head"]
OfHead = Float64[np.ndarray, "word d_head"]
Square = Float64[np.ndarray, "word key"]


@dataclass(frozen=True, eq=False)
class HeadSteps:
    """One head from its matrices to its output; scores without and with the causal mask."""

    w_q: ToHead
    q: OfHead
    k: OfHead
    v: OfHead
    scores: Square
    scaled: Square
    masked: Square
    weights: Square
    mixed: OfHead


@dataclass(frozen=True, eq=False)
class BlockExample:
    """The block: X, its heads, their outputs side by side, and the output after W_O."""

    x: Float64[np.ndarray, "word d_model"]
    heads: tuple[HeadSteps, ...]
    w_o: Float64[np.ndarray, "d_concat d_model"]

    @property
    def concat(self) -> Matrix:
        """The heads' outputs side by side."""
        return np.concatenate([head.mixed for head in self.heads], axis=1)

    @property
    def output(self) -> Matrix:
        """The output of the block, one row for each word."""
        return np.asarray(self.concat @ self.w_o)


def _mix(inputs: CardInputs) -> Card:
    """The last row of head 0's output: weights times values."""
    head = example(inputs.seed).heads[0]
    weights, mixed = head.weights[TIRED : TIRED + 1], head.mixed[TIRED : TIRED + 1]
    board = Board(
        (
            Panel(
                "weights",
                weights,
                rows=WORDS[TIRED:],
                columns=WORDS,
                decimals=3,
                signed=False,
                sums="rows",
            ),
            _panel("values", head.v, before="·", decimals=0, scale="value"),
            Panel("mixed", mixed, "=", rows=WORDS[TIRED:], hidden=True, scale="value"),
        )
    )
    answer = float(mixed[0, 1])
    heaviest = int(weights[0].argmax())
    mistakes = {"largest": float(head.v[heaviest, 1]), "mean": float(head.v[:, 1].mean())}
    numbers: Numbers = {
        "token": WORDS[TIRED],
        "heaviest": WORDS[heaviest],
        "weight": float(weights[0, heaviest]),
        "terms": Terms(
            " + ".join(
                f"{weight:.3f}·{value:.0f}"
                for weight, value in zip(weights[0], head.v[:, 1], strict=True)
            )
        ),
        "mixed": answer,
    }
    question = NumberQuestion(answer, ONE_DIGIT, apart(answer, mistakes, ONE_DIGIT))
    labels = {"keys": WORDS, "query": WORDS[TIRED:]}
    film = Motion("blend", {"weights": weights, "values": head.v}, labels, handles=("weight",))
    return Card("mix", numbers, (board,), question, (film,), Link("steps", HEAD))


@cache
def example(seed: int) -> BlockExample:
    """The example of a seed."""
    draws = np.random.default_rng(seed)

    def matrix(made_up: list[list[int]], largest: int = 1) -> Matrix:
        numbers = np.array(made_up, dtype=np.float64)
        drawn = draws.integers(0, largest + 1, numbers.shape).astype(np.float64)
        return drawn if seed else numbers

    x = matrix(X, largest=2)
    heads = tuple(
        _steps(x, matrix(W_Q[head]), matrix(W_K[head]), matrix(W_V[head]))
        for head in range(N_HEADS)
    )
    return BlockExample(x, heads, matrix(W_O))


def _steps(
    x: Float64[np.ndarray, "word d_model"], w_q: ToHead, w_k: ToHead, w_v: ToHead
) -> HeadSteps:
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    scores = formula.scores(torch.from_numpy(q), torch.from_numpy(k))
    scaled = formula.scaled(scores, 1 / math.sqrt(D_HEAD))
    masked = formula.masked(scaled, masks.causal(len(x), len(x)))
    weights = formula.weights(masked)
    mixed = formula.mixed(weights, torch.from_numpy(v))
    return HeadSteps(w_q, q, k, v, *map(as_numbers, (scores, scaled, masked, weights, mixed)))


def _panel(name: str, values: Matrix, **options: object) -> Panel:
    """A matrix with a row for each word."""
    return Panel(name, values, rows=WORDS, **options)  # type: ignore[arg-type]


def _qkv(inputs: CardInputs) -> Card:
    """Q of head 0; the question asks for one number of it, row times column."""
    steps = example(inputs.seed)
    head = steps.heads[0]
    panels = (
        _panel("x", steps.x, decimals=0),
        Panel("w_q", head.w_q, before="·", decimals=0),
        _panel("q", head.q, before="=", decimals=0, hidden=True, scale="projected"),
    )
    others = Board(
        (
            _panel("k", head.k, decimals=0, scale="projected"),
            _panel("v", head.v, decimals=0, scale="projected"),
        )
    )
    answer = float(head.q[CAT, 0])
    mistakes = apart(answer, {"column": float(head.q[CAT, 1])}, 0.1)
    pairs = zip(steps.x[CAT], head.w_q[:, 0], strict=True)
    numbers: Numbers = {
        "token": WORDS[CAT],
        "answer": answer,
        "terms": Terms(" + ".join(f"{x:.0f}·{w:.0f}" for x, w in pairs)),
    }
    question = NumberQuestion(answer, 0.1, mistakes)
    return Card("qkv", numbers, (Board(panels),), question, (others,))


def _products(inputs: CardInputs) -> Card:
    """Q·Kᵀ; the question asks for the score of one query with one key."""
    head = example(inputs.seed).heads[0]
    panels = (
        _panel("q", head.q, decimals=0, asked_elsewhere=((CAT, 0),)),
        Panel("k_t", head.k.T.copy(), before="·", columns=WORDS, decimals=0),
        _square("scores", head.scores, before="=", decimals=0),
    )
    n = range(len(WORDS))
    question = CellQuestion(
        "scores",
        frozenset({(TIRED, CAT)}),
        {
            "transposed": frozenset({(CAT, TIRED)}),
            "column": frozenset((row, CAT) for row in n) - {(TIRED, CAT)},
            "row": frozenset((TIRED, column) for column in n) - {(TIRED, CAT)},
        },
    )
    numbers: Numbers = {
        "asked": WORDS[TIRED],
        "answers": WORDS[CAT],
        "score": head.scores[TIRED, CAT],
        "back": head.scores[CAT, TIRED],
    }
    return Card("products", numbers, (Board(panels),), question)


def _square(name: str, values: Matrix, **options: object) -> Panel:
    """A matrix with a row and a column for each word."""
    return Panel(name, values, rows=WORDS, columns=WORDS, **options)  # type: ignore[arg-type]


def _scale(inputs: CardInputs) -> Card:
    """The scores divided by √d_k; the question asks for one of them."""
    head = example(inputs.seed).heads[0]
    score, answer = float(head.scores[TIRED, CAT]), float(head.scaled[TIRED, CAT])
    board = Board(
        (
            _square("scores", head.scores, decimals=0, scale="scores"),
            _square("scaled", head.scaled, before="→", hidden=True, scale="scores"),
        )
    )
    mistakes = {"whole": score / D_HEAD, "times": score * math.sqrt(D_HEAD)}
    question = NumberQuestion(answer, ONE_DIGIT, apart(answer, mistakes, ONE_DIGIT))
    numbers: Numbers = {
        "asked": WORDS[TIRED],
        "answers": WORDS[CAT],
        "score": score,
        "scaled": answer,
    }
    return Card("scale", {**numbers, "d_k": D_HEAD, "root": math.sqrt(D_HEAD)}, (board,), question)


def _mask(inputs: CardInputs) -> Card:
    head, blocked = example(inputs.seed).heads[0], _blocked()
    n_open = int((~blocked).sum())
    kept = {"scale": "scores", "asked_elsewhere": ((TIRED, CAT),)}
    masked = _square("masked", head.masked, before="→", blocked=blocked, hidden=True, **kept)
    board = Board((_square("scaled", head.scaled, **kept), masked))
    question = NumberQuestion(n_open, 0.1, {"blocked": int(blocked.sum()), "all": blocked.size})
    numbers: Numbers = {"open": n_open, "all": blocked.size, "n": len(WORDS), "token": WORDS[CAT]}
    wiped = Motion("mask", {"scaled": head.scaled}, {"words": WORDS}, scenes=("scores", "wipe"))
    return Card("mask", {**numbers, "next": WORDS[WAS]}, (board,), question, (wiped,))


def _blocked() -> np.ndarray:
    return ~masks.causal(len(WORDS), len(WORDS)).numpy()


def _softmax(inputs: CardInputs) -> Card:
    """The row with two open cells; the question asks for its first weight."""
    head = example(inputs.seed).heads[0]
    first, second = (float(score) for score in head.masked[CAT, :2])
    weight, rest = (float(value) for value in head.weights[CAT, :2])
    board = Board(
        (
            _square("masked", head.masked, blocked=_blocked(), asked_elsewhere=((TIRED, CAT),)),
            _square("weights", head.weights, before="→", signed=False, sums="rows", hidden=True),
        )
    )
    divided = abs(first) / max(abs(first) + abs(second), 1e-9)
    numbers: Numbers = {
        "token": WORDS[CAT],
        "first_key": WORDS[0],
        "first": first,
        "second": second,
        "exp_first": math.exp(first),
        "exp_second": math.exp(second),
        "weight": weight,
        "rest": rest,
    }
    mistakes = apart(weight, {"divided": divided, "swapped": rest}, TO_TWO_DIGITS)
    row = head.masked[CAT : CAT + 1]
    film = Motion("softmax", {"scores": row}, {"keys": WORDS}, handles=("scores",))
    question = NumberQuestion(weight, TO_TWO_DIGITS, mistakes)
    return Card("softmax", numbers, (board,), question, (film,))


def _sizes(inputs: CardInputs) -> Card:
    """Two heads side by side; the question asks for the width of a head of a usual model."""
    d_model, n_heads = WIDE[inputs.seed % len(WIDE)]
    steps = example(inputs.seed)
    panels = (
        _panel("head0", steps.heads[0].mixed, scale="output", asked_elsewhere=((TIRED, 1),)),
        _panel("head1", steps.heads[1].mixed, scale="output"),
        _panel("concat", steps.concat, before="→", scale="output", asked_elsewhere=((TIRED, 1),)),
    )
    question = NumberQuestion(d_model // n_heads, 0.5, {"whole": d_model, "heads": n_heads})
    numbers: Numbers = {"d_model": d_model, "heads": n_heads, "d_k": d_model // n_heads}
    return Card(
        "sizes",
        {**numbers, "own_heads": N_HEADS, "own_d_k": D_HEAD, "own_d_model": N_HEADS * D_HEAD},
        (Board(panels),),
        question,
    )


def _output(inputs: CardInputs) -> Card:
    """Concat·W_O, the last operation; the question asks for a number of the output."""
    steps = example(inputs.seed)
    row, column = TIRED, 0
    answer = float(steps.output[row, column])
    one_head = float(steps.heads[0].mixed[row] @ steps.w_o[:D_HEAD, column])
    board = Board(
        (
            _panel("concat", steps.concat, scale="output", asked_elsewhere=((TIRED, 1),)),
            Panel("w_o", steps.w_o, before="·", decimals=0),
            _panel("output", steps.output, before="=", hidden=True, scale="output"),
        )
    )
    mistakes = apart(answer, {"one_head": one_head}, ONE_DIGIT)
    numbers: Numbers = {
        "token": WORDS[row],
        "column": column,
        "answer": answer,
        "one_head": one_head,
    }
    question = NumberQuestion(answer, ONE_DIGIT, mistakes)
    return Card("output", numbers, (board,), question)


def _rank(inputs: CardInputs) -> Card:
    """One wide head beside narrow ones: the share of random scores that a rank can keep."""
    random = np.random.default_rng(inputs.seed).normal(size=(WIDTH, WIDTH))
    sizes = np.linalg.svd(random, compute_uv=False) ** 2
    kept = np.cumsum(sizes) / sizes.sum()  # by the nearest matrix of each rank (Eckart and Young)
    turns = 2 * np.pi * np.arange(WIDTH) / WIDTH
    circle = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    pointed = as_numbers(formula.weights(torch.from_numpy(LARGE * circle @ circle.T)))
    numbers: Numbers = {
        "width": WIDTH,
        "heads": WIDTH // NARROW,
        "narrow": NARROW,
        "kept": float(kept[NARROW - 1]),
        "pointed": float(np.diag(pointed).min()),
    }
    question = ChoiceQuestion(("larger", "rank", "none"), "rank")
    line = Series("kept", np.arange(1, WIDTH + 1, dtype=np.float64), kept)
    chart = Chart("rank", "share", (line,), marked_x=float(NARROW))
    return Card("rank", numbers, (), question, (chart,))


def _order(inputs: CardInputs) -> Card:
    """The eight operations as a list; the question asks for a mask behind the softmax."""
    question = ChoiceQuestion(("nothing", "sums", "error"), "sums")
    head = example(inputs.seed).heads[0]
    unmasked = np.exp(head.scaled - head.scaled.max(axis=1, keepdims=True))
    late = np.where(_blocked(), 0.0, unmasked / unmasked.sum(axis=1, keepdims=True))
    board = Board((_square("late", late, signed=False, sums="rows", blocked=_blocked()),))
    repaired = late / late.sum(axis=1, keepdims=True)
    numbers: Numbers = {
        "token": WORDS[CAT],
        "total": float(late[CAT].sum()),
        "difference": float(np.abs(repaired - head.weights).max()),
    }
    return Card("order", numbers, (), question, (board,))


def _sharper(inputs: CardInputs) -> Card:
    """The experiment: the weights of all scores times a factor, beside those without it."""
    factor, head = inputs.number("factor"), example(inputs.seed).heads[0]
    scores = formula.masked(
        torch.from_numpy(factor * head.scaled), masks.causal(len(WORDS), len(WORDS))
    )
    changed = as_numbers(formula.weights(scores))
    blocked = _blocked()
    board = Board(
        (
            _square("control", head.weights, signed=False, sums="rows", blocked=blocked),
            _square("changed", changed, signed=False, sums="rows", blocked=blocked),
        )
    )
    numbers: Numbers = {
        "factor": factor,
        "token": WORDS[TIRED],
        "before": float(head.weights[TIRED].max()),
        "after": float(changed[TIRED].max()),
    }
    question = ChoiceQuestion(("zero", "even", "same"), "even")
    return Card("sharper", numbers, (), question, (board,))


LESSON = Lesson(
    "block",
    needs=("ask",),
    recipes=(
        Recipe("mix", _mix),
        Recipe("qkv", _qkv),
        Recipe("products", _products),
        Recipe("scale", _scale),
        Recipe("mask", _mask),
        Recipe("softmax", _softmax),
        Recipe("sizes", _sizes),
        Recipe("output", _output),
        Recipe("rank", _rank),
        Recipe("order", _order),
        Recipe("sharper", _sharper, (FACTOR,), "experiment"),
    ),
)
