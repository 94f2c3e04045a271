"""Rotary positions, on two arrows and on a real model's q and k (lesson 6).

In: small vectors, and the query and key of one pair of tokens of the embedded `stories-llama`
before their rotation. Out: cards. Source: Su et al. 2021, equations 16 and 34: the score of a
query at position m with a key at n depends on m − n only.
"""

import math

import numpy as np
from jaxtyping import Complex64, Float32, Float64

from attnviz.attention import rotary_of_call
from attnviz.attention.call import AttentionCall
from attnviz.attention.rotary import Rotation
from attnviz.attention.steps import derive
from attnviz.pictures.board import Board, Panel
from attnviz.pictures.motion.scenes import Motion
from attnviz.teach.course.arrays import apart
from attnviz.teach.course.positions.encodings import LLAMA_BASE, rope_factors, sinusoidal
from attnviz.teach.course.recipe import CardInputs
from attnviz.teach.lessons.cards.card import (
    Card,
    Chart,
    ChoiceQuestion,
    Link,
    NumberQuestion,
    Series,
)

TO_TWO_DIGITS = 0.006
DEGREES = 30
POSITIONS = ((3, 1), (4, 1), (4, 3))
LATER = 10  # positions by which both move on
MODEL, LAYER, HEAD = "stories-llama", 0, 4
TEXT = "The cat sat on the mat and the dog sat on the rug."
GAP, MAX_SHIFT = 3, 100


def _arrow(position: int) -> Float32[np.ndarray, "1 pair"]:
    """(1, 0) rotated for a position, by a fixed angle per step."""
    angle = math.radians(DEGREES) * position
    factor = np.array([[np.exp(1j * angle)]], dtype=np.complex64)
    start = np.array([[1.0, 0.0]], dtype=np.float32)
    return Rotation("neighbours", 2).rotated(start, factor)


def turn(inputs: CardInputs) -> Card:
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
    numbers: dict[str, float | int | str] = {
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
    film = Motion("rotary", {"turns": np.array([[m, n, DEGREES, LATER]], dtype=np.float64)})
    return Card("turn", numbers, (board,), question, (film,))


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


def _recovered(call: AttentionCall) -> Complex64[np.ndarray, "token pair"]:
    """The rotary factors of the model, recovered from q before and after rotation."""
    return rotary_of_call.rotation_of(call, 0).factors["q"]


def distance(inputs: CardInputs) -> Card:
    """The experiment: both tokens move; rotary scores stay, scores of added positions change."""
    call, shift = inputs.capture(MODEL, TEXT).calls[LAYER], int(inputs.number("shift"))
    q, k, scaling = _unrotated(call)
    shifts = np.arange(MAX_SHIFT + 1, dtype=np.float64)
    rotated, added = _scores(q, k, scaling, shifts)
    recovered = _recovered(call)
    expected = rope_factors(np.arange(len(recovered), dtype=np.float64), len(q))
    chart = Chart(
        "shift",
        "score",
        (Series("turned", shifts, rotated), Series("added", shifts, added)),
        marked_x=float(shift),
    )
    numbers: dict[str, float | int | str] = {
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
