"""The effect of permuting tokens: none without positions, some with them (lesson 6).

In: the embedded `mha-55` and its five rows; a sentence for the sentence encoder. Out: cards. With P
for a permutation of the rows, attention without mask and positions has f(P·X) = P·f(X).
"""

import numpy as np
import torch
from jaxtyping import Bool, Float64
from torch import Tensor

from attnviz import masks
from attnviz.attention import formula
from attnviz.attention.rotary import Rotation
from attnviz.experiment.outputs.similarity import pooled
from attnviz.pictures.board import Board, Panel
from attnviz.pictures.motion.scenes import Motion
from attnviz.teach.course.arrays import Matrix, as_numbers
from attnviz.teach.course.heads.mha import module_parts
from attnviz.teach.course.positions.encodings import rope_factors, sinusoidal
from attnviz.teach.course.recipe import CardInputs
from attnviz.teach.lessons.cards.card import Card, ChoiceQuestion, Control, Pick, Typed

SWAPS = ((0, 3), (1, 4), (0, 2))
START = "The dog bites the man."
OTHER = "I like cold beer."
MODEL, MAX_CHARS = "minilm", 100


def _swapped(n: int, seed: int) -> list[int]:
    """The order of the rows after two of them are swapped."""
    first, second = SWAPS[seed % len(SWAPS)]
    order = list(range(n))
    order[first], order[second] = second, first
    return order


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


def shuffle(inputs: CardInputs) -> Card:
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
    numbers: dict[str, float | int | str] = {
        "one": names[first],
        "other": names[second],
        "order": " ".join(new),
        "difference": float(np.abs(shuffled - output[order]).max()),
    }
    question = ChoiceQuestion(tuple(ways), "move", pictures)
    moved = {"weights": before, "order": np.array([order], dtype=np.float64)}
    film = Motion("shuffle", moved, {"tokens": names})
    return Card("shuffle", numbers, (board,), question, (film,))


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


def broken(inputs: CardInputs) -> Card:
    """The experiment: the change of the output by a swap, without positions and with them."""
    control, changed = _error(inputs, "none"), _error(inputs, inputs.text("way"))
    panels = (
        Panel("control", control, decimals=3, scale="output"),
        Panel("changed", changed, decimals=3, scale="output"),
    )
    numbers: dict[str, float | int | str] = {
        "control": float(np.abs(control).max()),
        "changed": float(np.abs(changed).max()),
        "causal": float(np.abs(_error(inputs, "causal")).max()),
    }
    question = ChoiceQuestion(("yes", "no"), "yes" if numbers["causal"] != 0 else "no")
    return Card("broken", numbers, (), question, (Board(panels),))


def order_controls() -> tuple[Control, ...]:
    """The controls: a sentence, and a new order of its words."""
    ways = ("same", "reversed", "sorted", "swapped")
    return (Typed("text", START, MAX_CHARS), Pick("way", ways, "swapped"))


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
        captured = inputs.capture(MODEL, sentence)
        assert captured.hidden is not None, "the sentence encoder gives its hidden states"
        attended = torch.ones(captured.hidden.shape[:2], dtype=torch.bool)
        vectors.append(as_numbers(pooled(captured.hidden.float(), attended)))
    stacked = np.concatenate(vectors)
    return np.asarray(stacked @ stacked.T)


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
