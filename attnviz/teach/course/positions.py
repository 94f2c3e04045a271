"""Positions: attention without them, and three ways to encode them.

    PE(pos, 2i) = sin(pos / 10000^(2i/d)),  PE(pos, 2i+1) = cos(pos / 10000^(2i/d))

The tables: sinusoidal (Vaswani et al. 2017, section 3.5), learned (Radford et al. 2018), rotary
(Su et al. 2021, equations 16 and 34: the score of a query at position m with a key at n depends on
m − n only). The rotary cards turn small vectors, then the query and key of one pair of tokens of
the embedded `stories-llama` before their rotation. The cards on shuffled tokens take the embedded
`mha-55` and its five rows, without mask and positions, where f(P·X) = P·f(X) for a permutation P of
the rows; then a sentence for the sentence encoder, which has positions.
"""

import math
from functools import cache

import numpy as np
import torch
from jaxtyping import Bool, Complex64, Float32, Float64
from torch import Tensor

from attnviz import masks
from attnviz.attention import formula, rotary
from attnviz.attention.call import AttentionCall
from attnviz.attention.rotary import Rotation
from attnviz.attention.steps import derive
from attnviz.experiment.outputs.similarity import pooled
from attnviz.models.loader import embedded_tensor
from attnviz.pictures.board import Board, Panel
from attnviz.pictures.motion import Motion
from attnviz.teach.course.arrays import Matrix, apart, as_numbers
from attnviz.teach.course.multihead import module_parts
from attnviz.teach.course.recipe import CardInputs, Lesson, Recipe
from attnviz.teach.lessons.cards.card import (
    Card,
    CellQuestion,
    Chart,
    ChoiceQuestion,
    Control,
    Link,
    NumberQuestion,
    Numbers,
    Pick,
    Series,
    Slider,
    Typed,
)

BASE = 10_000.0
LLAMA_BASE = 100.0  # of the embedded stories-llama
DEGREES = 30
POSITIONS = ((3, 1), (4, 1), (4, 3))
LATER = 10  # positions by which both move on
# the rotary card on a real head
MODEL, LAYER, HEAD = "stories-llama", 0, 4
TEXT = "The cat sat on the mat and the dog sat on the rug."
GAP, MAX_SHIFT = 3, 100
# the cards on shuffled tokens
SWAPS = ((0, 3), (1, 4), (0, 2))
START = "The dog bites the man."
OTHER = "I like cold beer."
SENTENCE_MODEL, MAX_CHARS = "minilm", 100
TO_TWO_DIGITS = 0.006
WIDTH, SHOWN = 8, 6
LONG = 12
NEAR, FAR = 7, 60  # positions that the film of the clocks passes in its two scenes
ROW = 20
MAX_DISTANCE = 64
SHIFTS = (0.0, 1.0, 5.0, 20.0, 50.0, 100.0)


def _shuffle(inputs: CardInputs) -> Card:
    """Two tokens are swapped; the question asks for the new weights."""
    parts = module_parts(inputs)
    order = _swapped(len(parts.x), inputs.seed)
    names = tuple(f"x{number}" for number in range(1, len(parts.x) + 1))
    new = tuple(names[row] for row in order)
    before, output = _run(inputs, parts.x)
    after, shuffled = _run(inputs, parts.x[order])
    ways = {"stay": before, "move": after, "rows": before[order]}
    pictures = {
        name: Board((Panel(name, values, rows=new, columns=new, signed=False),))
        for name, values in ways.items()
    }
    board = Board((Panel("before", before, rows=names, columns=names, signed=False),))
    first, second = SWAPS[inputs.seed % len(SWAPS)]
    numbers: Numbers = {
        "one": names[first],
        "other": names[second],
        "order": " ".join(new),
        "difference": float(np.abs(shuffled - output[order]).max()),
    }
    question = ChoiceQuestion(tuple(ways), "move", pictures)
    moved = {"weights": before, "order": np.array([order], dtype=np.float64)}
    film = Motion("shuffle", moved, {"tokens": names}, handles=("token",))
    return Card("shuffle", numbers, (board,), question, (film,))


def _swapped(n: int, seed: int) -> list[int]:
    """The order of the rows after two of them are swapped."""
    first, second = SWAPS[seed % len(SWAPS)]
    order = list(range(n))
    order[first], order[second] = second, first
    return order


def order(inputs: CardInputs) -> Card:
    """The experiment: the similarity of a sentence's vector to that of its words reordered."""
    text = inputs.text("text").strip() or START
    changed = _reordered(text, inputs.text("way"))
    cosine = _cosines(inputs, (text, changed, OTHER))
    same, asked, unrelated = _cosines(inputs, (START, _reordered(START, "swapped"), OTHER))[0]
    names = ("A", "B", "C")
    board = Board((Panel("cosine", cosine, rows=names, columns=names, decimals=3),))
    numbers: dict[str, float | int | str] = {
        "text": text,
        "changed": changed,
        "other": OTHER,
        "cosine": float(cosine[0, 1]),
        "unrelated": float(cosine[0, 2]),
        "same": float(cosine[0, 0]),
    }
    numbers |= {"start": START, "swapped": _reordered(START, "swapped"), "asked": float(asked)}
    right = "near" if abs(asked - same) < abs(asked - unrelated) else "low"
    question = ChoiceQuestion(("one", "near", "low"), right)
    return Card("order", numbers, (), question, (board,))


def _reordered(text: str, way: str) -> str:
    """The words in another order; a full stop stays at the end."""
    words = text.rstrip(".").split()
    if way == "swapped" and len(words) > 2:
        words[1], words[-1] = words[-1], words[1]
    elif way == "reversed":
        words = words[::-1]
    elif way == "sorted":
        words = sorted(words, key=str.lower)
    return " ".join(words) + ("." if text.endswith(".") else "")


def _cosines(inputs: CardInputs, sentences: tuple[str, ...]) -> Matrix:
    """The cosine of each sentence's vector with each other's."""
    vectors = []
    for sentence in sentences:
        captured = inputs.capture(SENTENCE_MODEL, sentence)
        assert captured.hidden is not None, "the sentence encoder gives its hidden states"
        attended = torch.ones(captured.hidden.shape[:2], dtype=torch.bool)
        vectors.append(as_numbers(pooled(captured.hidden.float(), attended)))
    stacked = np.concatenate(vectors)
    return np.asarray(stacked @ stacked.T)


def _run(
    inputs: CardInputs,
    x: Matrix,
    may_attend: Bool[Tensor, "query key"] | None = None,
    rotary: bool = False,
) -> tuple[Float64[np.ndarray, "query key"], Matrix]:
    """(weights of head 0, output) of the module's weights on rows X, in float64."""
    parts = module_parts(inputs)
    weights, concat = [], []
    for head in range(parts.n_heads):
        q, k, v = (x @ parts.weight(kind, head) for kind in ("q", "k", "v"))
        if rotary:
            q, k = _rotated(q), _rotated(k)
        scores = formula.scores(torch.from_numpy(q), torch.from_numpy(k))
        masked = formula.masked(formula.scaled(scores, parts.d_head**-0.5), may_attend)
        weights.append(as_numbers(formula.weights(masked)))
        concat.append(weights[-1] @ v)
    return weights[0], np.concatenate(concat, axis=1) @ parts.w_o


def _rotated(x: Matrix) -> Matrix:
    factors = rope_factors(np.arange(len(x), dtype=np.float64), x.shape[1])
    rotated = Rotation("neighbours", x.shape[1]).rotated(x.astype(np.float32), factors)
    return np.asarray(rotated.astype(np.float64))


def rope_factors(
    positions: Float64[np.ndarray, "token"], width: int, base: float = LLAMA_BASE
) -> Complex64[np.ndarray, "token pair"]:
    """exp(i·pos·base^(−2i/d)): the factor of each pair of components in a rotary embedding."""
    theta = base ** (-2 * np.arange(width // 2) / width)
    return np.exp(1j * positions[:, None] * theta[None]).astype(np.complex64)


def _broken(inputs: CardInputs) -> Card:
    """The experiment: the change of the output by a swap, without positions and with them."""
    control, changed = _error(inputs, "none"), _error(inputs, inputs.text("way"))
    panels = (
        Panel("control", control, decimals=3, scale="output"),
        Panel("changed", changed, decimals=3, scale="output"),
    )
    numbers: Numbers = {
        "control": float(np.abs(control).max()),
        "changed": float(np.abs(changed).max()),
        "causal": float(np.abs(_error(inputs, "causal")).max()),
    }
    question = ChoiceQuestion(
        ("yes", "no"), "yes" if numbers["causal"] != 0 else "no", is_scale=True
    )
    return Card("broken", numbers, (), question, (Board(panels),))


def _error(inputs: CardInputs, way: str) -> Matrix:
    """f(P·X) − P·f(X) with positions encoded in this way."""
    x = module_parts(inputs).x
    order = _swapped(len(x), inputs.seed)
    table = sinusoidal(*x.shape) if way == "sinusoidal" else np.zeros_like(x)
    mask = masks.causal(len(x)) if way == "causal" else None
    rotary = way == "rotary"
    _, output = _run(inputs, x + table, mask, rotary)
    _, shuffled = _run(inputs, x[order] + table, mask, rotary)
    return np.asarray(shuffled - output[order])


def sinusoidal(positions: int, width: int) -> Float64[np.ndarray, "position column"]:
    """The table: sines in even columns, cosines in odd ones."""
    angle, table = angles(positions, width), np.empty((positions, width))
    table[:, 0::2], table[:, 1::2] = np.sin(angle[:, 0::2]), np.cos(angle[:, 1::2])
    return table


def angles(positions: int, width: int) -> Float64[np.ndarray, "position column"]:
    """The angles pos / 10000^(2i/d); both columns of a pair share them."""
    pair = np.arange(width) // 2
    return np.asarray(np.arange(positions)[:, None] / BASE ** (2 * pair / width))


def _table(inputs: CardInputs) -> Card:
    """One cell of the sinusoidal table, by its formula."""
    pos, column = 1 + (1 + inputs.seed) % 4, 1
    all_angles, table = angles(SHOWN, WIDTH), sinusoidal(SHOWN, WIDTH)
    angle, answer = float(all_angles[pos, column]), float(table[pos, column])
    wrong = {
        "sine": math.sin(angle),
        "degrees": math.cos(math.radians(angle)),
        "column": math.cos(pos / 10_000 ** (column / WIDTH)),
    }
    board = Board(
        (
            Panel("angles", all_angles, decimals=3, signed=False),
            Panel("table", table, before="→", hidden=True),
        )
    )
    question = NumberQuestion(answer, TO_TWO_DIGITS, apart(answer, wrong, TO_TWO_DIGITS))
    numbers = {"pos": pos, "column": column, "d": WIDTH, "angle": angle, "answer": answer}
    return Card("table", numbers, (board,), question)


def _waves(inputs: CardInputs) -> Card:
    """The question asks for the columns that change slowest, the last pair."""
    long = sinusoidal(LONG, WIDTH)
    last = WIDTH - 2
    rows = range(LONG)
    wrong = {
        "fast": frozenset((row, column) for row in rows for column in (0, 1)),
        "middle": frozenset((row, column) for row in rows for column in range(2, last)),
    }
    right = frozenset((row, column) for row in rows for column in (last, last + 1))
    periods = 2 * math.pi * 10_000 ** (2 * np.arange(WIDTH // 2) / WIDTH)
    numbers = {
        "first_period": float(periods[0]),
        "last_period": float(periods[-1]),
        "last": last,
        "last_cos": last + 1,
    }
    names = tuple(f"series.pair{pair}" for pair in range(WIDTH // 2))
    film = Motion(
        "clocks",
        {"periods": periods[None], "reach": np.array([[NEAR, FAR]], dtype=np.float64)},
        named={"pairs": names, "position": ("axis.position",)},
    )
    question = CellQuestion("table", right, wrong)
    return Card("waves", numbers, (Board((Panel("table", long),)),), question, (film,))


def _offsets(inputs: CardInputs) -> Card:
    """Products of rows of the table; they are equal at equal distances."""
    table = sinusoidal(SHOWN, WIDTH)
    products = table @ table.T
    row, column = 1, 3 + inputs.seed % 2
    gap = column - row
    cells = [(r, c) for r in range(SHOWN) for c in range(SHOWN)]
    right = {(r, c) for r, c in cells if abs(r - c) == gap} - {(row, column)}
    wrong = {
        "itself": frozenset({(row, column)}),
        "row": frozenset((row, c) for c in range(SHOWN)) - right - {(row, column)},
        "column": frozenset((r, column) for r in range(SHOWN)) - right - {(row, column)},
    }
    draws = np.random.default_rng(6 + inputs.seed)
    others = draws.normal(size=table.shape)
    others *= np.linalg.norm(table[0]) / np.linalg.norm(others, axis=1, keepdims=True)
    board = Board(
        (
            Panel("table", table),
            Panel("products", products, before="→", hidden=True, scale="products"),
        )
    )
    control = Board((Panel("random", others @ others.T, scale="products"),))
    diagonals = [np.diag(products, k) for k in range(SHOWN)]
    numbers = {
        "row": row,
        "column": column,
        "gap": gap,
        "value": float(products[row, column]),
        "spread": float(max(np.ptp(diagonal) for diagonal in diagonals)),
        "random_spread": float(max(np.ptp(np.diag(others @ others.T, k)) for k in range(1, 5))),
    }
    question = CellQuestion("products", frozenset(right), wrong)
    return Card("offsets", numbers, (board,), question, (control,))


def _learned(inputs: CardInputs) -> Card:
    """A trained table beside the one with which its training began, and beside a random one."""
    table, start = learned().astype(np.float64), before_training()
    random = np.random.default_rng(inputs.seed).normal(size=table.shape)
    gaps = np.arange(1, MAX_DISTANCE + 1, dtype=np.float64)
    after, before, control = (_cosine_by_distance(rows) for rows in (table, start, random))
    series = (Series("learned", gaps, after), Series("start", gaps, before))
    chart = Chart("distance", "cosine", (*series, Series("random", gaps, control)))
    numbers = {
        "rows": len(table),
        "d_model": table.shape[1],
        "row": ROW,
        "near": ROW + 1,
        "pair_before": _cosine(start[ROW], start[ROW + 1]),
        "pair_after": _cosine(table[ROW], table[ROW + 1]),
        "mean_before": float(before[0]),
        "mean_after": float(after[0]),
        "random": float(control[0]),
    }
    question = ChoiceQuestion(("made", "kept", "lost"), "kept")
    return Card("learned", numbers, (), question, (chart,))


@cache
def learned() -> Float32[np.ndarray, "position d_model"]:
    """The table that the embedded `stories` learned, a row for each position."""
    return embedded_tensor("stories", "transformer.wpe.weight")


def before_training() -> Float64[np.ndarray, "position d_model"]:
    """The table with which the training of `stories` began: waves from 2 to 512 tokens long.

    Half of the columns hold sines, half cosines, as `scripts.train.stories` sets them.
    """
    rows, width = learned().shape
    lengths = 2.0 ** np.linspace(1, 9, width // 2)
    turns = 2 * np.pi * np.arange(rows)[:, None] / lengths
    return np.concatenate([np.sin(turns), np.cos(turns)], axis=1)


def _cosine_by_distance(table: np.ndarray) -> np.ndarray:
    """The mean cosine of two rows, for each distance between them."""
    unit = table / np.linalg.norm(table, axis=1, keepdims=True)
    cosine = unit @ unit.T
    return np.array([np.diag(cosine, gap).mean() for gap in range(1, MAX_DISTANCE + 1)])


def _cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def _turn(inputs: CardInputs) -> Card:
    """Two arrows rotated by their positions; their score is the cosine of the difference."""
    m, n = POSITIONS[inputs.seed % len(POSITIONS)]
    q, k = (_arrow(position).astype(np.float64) for position in (m, n))
    answer = float((q @ k.T)[0, 0])
    step = math.radians(DEGREES)
    wrong = {
        "sum": math.cos(step * (m + n)),
        "unturned": 1.0,
        "one": math.cos(step * m),
    }
    start = _arrow(0).astype(np.float64)
    board = Board(
        (
            Panel("start", start),
            Panel("q", q, before="→"),
            Panel("k", k, before=","),
        )
    )
    later = float((_arrow(m + LATER) @ _arrow(n + LATER).T)[0, 0])
    numbers: Numbers = {
        "m": m,
        "n": n,
        "degrees": DEGREES,
        "q_degrees": DEGREES * m,
        "k_degrees": DEGREES * n,
        "between": DEGREES * (m - n),
        "answer": answer,
        "later": later,
    }
    question = NumberQuestion(answer, TO_TWO_DIGITS, apart(answer, wrong, TO_TWO_DIGITS))
    turns = np.array([[m, n, DEGREES, LATER]], dtype=np.float64)
    film = Motion("rotary", {"turns": turns}, handles=("query", "key"))
    return Card("turn", numbers, (board,), question, (film,))


def _arrow(position: int) -> Float32[np.ndarray, "1 pair"]:
    """(1, 0) rotated for a position, by a fixed angle per step."""
    angle = math.radians(DEGREES) * position
    factor = np.array([[np.exp(1j * angle)]], dtype=np.complex64)
    start = np.array([[1.0, 0.0]], dtype=np.float32)
    return Rotation("neighbours", 2).rotated(start, factor)


def _distance(inputs: CardInputs) -> Card:
    """The experiment: both tokens move; rotary scores stay, scores of added positions change."""
    call, shift = inputs.capture(MODEL, TEXT).calls[LAYER], int(inputs.number("shift"))
    q, k, scaling = _unrotated(call)
    shifts = np.arange(MAX_SHIFT + 1, dtype=np.float64)
    rotated, added = _scores(q, k, scaling, shifts)
    recovered = rotary.rotation_of(call, 0).factors["q"]
    expected = rope_factors(np.arange(len(recovered), dtype=np.float64), len(q))
    chart = Chart(
        "shift",
        "score",
        (Series("turned", shifts, rotated), Series("added", shifts, added)),
        marked_x=float(shift),
    )
    numbers: Numbers = {
        "shift": shift,
        "most": MAX_SHIFT,
        "gap": GAP,
        "m": shift + GAP,
        "turned": float(rotated[shift]),
        "turned_start": float(rotated[0]),
        "added": float(added[shift]),
        "added_start": float(added[0]),
        "turned_spread": float(np.ptp(rotated)),
        "added_spread": float(np.ptp(added)),
        "head": f"L{LAYER}.H{HEAD}",
        "base": int(LLAMA_BASE),
        "recovered": float(np.abs(recovered - expected).max()),
    }
    link = Link("steps", {"model": MODEL, "text": TEXT, "layer": LAYER, "head": HEAD})
    stays = float(np.ptp(rotated)) < float(np.ptp(added)) / 100
    question = ChoiceQuestion(("falls", "stays", "swings"), "stays" if stays else "swings")
    return Card("distance", numbers, (), question, (chart,), link)


def _unrotated(call: AttentionCall) -> tuple[np.ndarray, np.ndarray, float]:
    """(q of a late token and k of an earlier one before rotation, the scaling)."""
    steps = derive(call, HEAD)
    assert steps.unrotated_q is not None and steps.unrotated_k is not None, (
        "this model rotates both"
    )
    assert call.inputs.scaling is not None, "this model's scaling is known"
    row = len(steps.unrotated_q) - 2
    return steps.unrotated_q[row].numpy(), steps.unrotated_k[row - GAP].numpy(), call.inputs.scaling


def _scores(
    q: np.ndarray, k: np.ndarray, scaling: float, shifts: Float64[np.ndarray, "shift"]
) -> tuple[Float64[np.ndarray, "shift"], Float64[np.ndarray, "shift"]]:
    """The scores of q at shift + GAP with k at shift: (with rotary, with added positions)."""
    d = len(q)
    rotation = Rotation("halves", d)
    rotated_q = rotation.rotated(np.tile(q, (len(shifts), 1)), rope_factors(shifts + GAP, d))
    rotated_k = rotation.rotated(np.tile(k, (len(shifts), 1)), rope_factors(shifts, d))
    table = sinusoidal(MAX_SHIFT + GAP + 1, d)
    added_q, added_k = (
        vector + table[(shifts + gap).astype(int)] for vector, gap in ((q, GAP), (k, 0))
    )
    rotated, added = (
        scaling * (left * right).sum(axis=1)
        for left, right in ((rotated_q.astype(np.float64), rotated_k), (added_q, added_k))
    )
    return rotated, added


def order_controls() -> tuple[Control, ...]:
    """The controls: a sentence, and a new order of its words."""
    ways = ("same", "reversed", "sorted", "swapped")
    return (Typed("text", START, MAX_CHARS), Pick("way", ways, "swapped"))


LESSON = Lesson(
    "positions",
    needs=("ask",),
    recipes=(
        Recipe("shuffle", _shuffle),
        Recipe(
            "broken",
            _broken,
            (Pick("way", ("none", "sinusoidal", "rotary", "causal"), "sinusoidal"),),
            "experiment",
        ),
        Recipe("table", _table),
        Recipe("waves", _waves),
        Recipe("offsets", _offsets),
        Recipe("learned", _learned),
        Recipe("turn", _turn),
        Recipe("distance", _distance, (Slider("shift", SHIFTS, 5.0),), "experiment"),
        Recipe("order", order, order_controls(), "experiment"),
    ),
)
