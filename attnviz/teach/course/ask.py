"""Queries ask, keys answer, values speak: three roles of a token.

    x'_i = Σ_j a_j·v_j,   a = softmax(s_i),   s_ij = q_i·k_j / √d          (Vaswani et al. 2017)

Six cards compute on made-up numbers. The last one, `_real`, takes a typed text to a MiniLM head:
the largest weight between two words beside even attention, beside the mean weight that the head's
other rows give the same key (the control: a head in which every row attends to one key says nothing
about this query), and beside the mean of all heads. `pointed` asks the same head about sentences of
a class.
"""

import math
from dataclasses import dataclass
from functools import partial

import numpy as np

from attnviz.attention.capture import Capture
from attnviz.pictures.board import Board, Panel
from attnviz.pictures.motion import Motion
from attnviz.teach.course.arrays import Matrix, apart, softmax
from attnviz.teach.course.recipe import CaptureText, CardInputs, Lesson, Recipe
from attnviz.teach.lessons.cards.card import (
    Card,
    CellQuestion,
    Chart,
    ChoiceQuestion,
    Link,
    NumberQuestion,
    Numbers,
    RealHead,
    Series,
    Slider,
    Terms,
    Typed,
)
from attnviz.teach.lessons.cards.versions import ExampleWord
from attnviz.tokens.words import Word, words
from attnviz.types import HeadId

TOLERANCE = 0.006
# three tokens of the first card: the query of "it", the keys and values of all three
WORDS = tuple(map(ExampleWord, ("animal", "street", "it")))
Q_IT = np.array([[2.0, 1.0]])
KEYS = np.array([[2.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
VALUES = np.array([[4.0, 0.0], [0.0, 4.0], [2.0, 2.0]])
LEAD = 5.0
# the experiment: a query of this length is rotated among keys at these angles
LENGTH, KEY_ANGLES = 4.0, (0.0, 120.0, 240.0)
FULL_CIRCLE = 360
BETWEEN = 60.0  # degrees: as far from the first key as from the second
ROTATION_VALUES = np.array([[4.0, 0.0], [0.0, 4.0], [-4.0, 1.0]])
STOPS = tuple(float(angle) for angle in range(0, 360, 30))
weights_panel = partial(Panel, signed=False)
# the card on a real head
MODEL, LAYER, HEAD = "minilm", 3, 1
START = "The animal didn't cross the street because it was too tired."
WIDE = START.replace("tired", "wide")  # now "it" is rather the street
MAX_CHARS = 120


def _dictionary(inputs: CardInputs) -> Card:
    """One query among three keys; the question asks for the one that fits best."""
    keys = np.roll(KEYS, inputs.seed, axis=0)
    scores = Q_IT @ keys.T
    best, itself = int(scores.argmax()), len(WORDS) - 1
    row = WORDS[itself:]
    given = Board(
        (
            Panel("q", Q_IT, rows=row, decimals=0),
            Panel("k", keys, rows=WORDS, decimals=0),
        )
    )
    solution = Board((Panel("scores", scores, rows=row, columns=WORDS, decimals=0),))
    cells = [frozenset({(n, 0), (n, 1)}) for n in range(len(WORDS))]
    wrong = {"itself": cells[itself]} if best != itself else {}
    terms = " + ".join(f"{a:.0f}×{b:.0f}" for a, b in zip(Q_IT[0], keys[best], strict=True))
    numbers: Numbers = {"best": WORDS[best], "terms": terms, "score": float(scores.max())}
    return Card("dictionary", numbers, (given,), CellQuestion("k", cells[best], wrong), (solution,))


def _weights(inputs: CardInputs) -> Card:
    """Scores become shares of one whole; the question raises one of them."""
    raised, watched = (0, 1) if inputs.seed % 2 == 0 else (1, 2)
    before = Q_IT @ KEYS.T
    after = before + np.eye(len(WORDS))[[raised]]
    root, row = math.sqrt(Q_IT.shape[1]), WORDS[2:]
    weights, shared = softmax(before / root), softmax(after / root)

    def board(scaled: str, scores: Matrix, name: str, values: Matrix) -> Board:
        shares = weights_panel(name, values, before="→", rows=row, columns=WORDS, sums="rows")
        return Board((Panel(scaled, scores / root, rows=row, columns=WORDS), shares))

    numbers: Numbers = {
        "d": Q_IT.shape[1],
        "raised": WORDS[raised],
        "watched": WORDS[watched],
        "before": float(weights[0, watched]),
        "after": float(shared[0, watched]),
    }
    question = ChoiceQuestion(("rises", "stays", "falls"), "falls", is_scale=True)
    pictures = board("scaled", before, "weights", weights)
    return Card(
        "weights", numbers, (pictures,), question, (board("raised", after, "shared", shared),)
    )


def _values(inputs: CardInputs) -> Card:
    """The weights average the values; the question replaces these."""
    values = _integers(inputs.seed, VALUES)
    others = VALUES[::-1] - np.array([[1.0, 3.0]])
    weights, row = softmax(Q_IT @ KEYS.T / math.sqrt(Q_IT.shape[1])), WORDS[2:]

    def board(name: str, rows: Matrix) -> Board:
        return Board(
            (
                weights_panel("weights", weights, rows=row, columns=WORDS, sums="rows"),
                Panel(name, rows, before="·", rows=WORDS, decimals=0, scale="value"),
                Panel("output", weights @ rows, before="=", rows=row, scale="value"),
            )
        )

    question = ChoiceQuestion(("weights", "output", "both"), "output")
    pictures, reveal = board("values", values), board("others", others)
    best = int(weights.argmax())
    numbers: Numbers = {"heaviest": WORDS[best], "weight": float(weights[0, best])}
    return Card("values", numbers, (pictures,), question, (reveal,))


def _integers(seed: int, default: Matrix) -> Matrix:
    """The default numbers for seed 0, else random integers of the same shape."""
    if seed == 0:
        return default
    return np.random.default_rng(seed).integers(-3, 5, size=default.shape).astype(np.float64)


def _score(inputs: CardInputs) -> Card:
    """The score of one query and one key of four numbers each."""
    q, k = np.array([[1.0, 0.0, 2.0, 3.0]]), np.array([[2.0, 1.0, -1.0, 2.0]])
    if inputs.seed:
        draws = np.random.default_rng(inputs.seed)
        q, k = (draws.integers(1, 4, size=(1, 4)).astype(np.float64) for _ in range(2))
    product, d = float((q @ k.T)[0, 0]), q.shape[1]
    answer = product / math.sqrt(d)
    wrong = {"product": product, "whole": product / d, "times": product * math.sqrt(d)}
    board = Board((Panel("q", q, decimals=0), Panel("k_t", k.T.copy(), before="·", decimals=0)))
    question = NumberQuestion(answer, TOLERANCE, apart(answer, wrong, TOLERANCE))
    terms = Terms(" + ".join(f"{a:.0f}×{b:.0f}" for a, b in zip(q[0], k[0], strict=True)))
    numbers = {
        "d": d,
        "root": math.sqrt(d),
        "product": product,
        "score": answer,
        "terms": terms,
    }
    return Card("score", numbers, (board,), question)


def _onehot(inputs: CardInputs) -> Card:
    """All weight on one key returns its value exactly; a lead in the scores does so nearly."""
    rows = [[1.0, 5.0, -2.0], [0.0, 3.0, 3.0], [4.0, -1.0, 2.0], [2.0, 2.0, 0.0]]
    values = _integers(inputs.seed, np.array(rows))
    key = (2, 1, 3)[inputs.seed % 3]
    onehot = np.eye(len(values))[[key]]
    nearly = softmax(LEAD * onehot)
    board = Board(
        (
            weights_panel("weights", onehot),
            Panel("values", values, before="·", decimals=0, scale="value"),
            Panel("output", onehot @ values, before="=", hidden=True, scale="value"),
        )
    )
    nearly_onehot = Board(
        (
            weights_panel("nearly", nearly, decimals=3, sums="rows"),
            Panel("output", nearly @ values, before="→", decimals=3, scale="value"),
        )
    )
    cells = {row: frozenset((row, column) for column in range(3)) for row in range(len(values))}
    question = CellQuestion("values", cells[key], {"first": cells[0]})
    numbers = {
        "key": key,
        "difference": float(np.abs(onehot @ values - values[key]).max()),
        "lead": LEAD,
        "weight": nearly[0, key],
    }
    return Card("onehot", numbers, (board,), question, (nearly_onehot,))


def _rotate(inputs: CardInputs) -> Card:
    """The experiment: a query is rotated; the control is a query of zeros."""
    angle = inputs.number("angle")
    rotated, even = _weights_at(angle), softmax(np.zeros((1, len(KEY_ANGLES))))
    degrees = np.linspace(0, 360, 73)
    by_angle = np.concatenate([_weights_at(float(degree)) for degree in degrees])
    lines = tuple(Series(f"key{key}", degrees, by_angle[:, key]) for key in range(len(KEY_ANGLES)))
    values = Panel("values", ROTATION_VALUES, before="·", decimals=0, scale="value")
    control = Board(
        (
            weights_panel("control", even, sums="rows"),
            values,
            Panel("control_output", even @ ROTATION_VALUES, before="=", scale="value"),
        )
    )
    changed = Board(
        (
            weights_panel("changed", rotated, sums="rows"),
            values,
            Panel("output", rotated @ ROTATION_VALUES, before="=", scale="value"),
        )
    )
    numbers = {"angle": angle, "key": int(rotated.argmax()), "weight": rotated.max()}
    between = _weights_at(BETWEEN)
    numbers |= {"uniform": even[0, 0], "between": BETWEEN, "half": between[0, 0]}
    numbers |= {"rest": between[0, -1]}
    numbers |= {f"angle{key}": round(angle) for key, angle in enumerate(KEY_ANGLES)}
    chart = Chart("angle", "weight", lines, marked_x=angle)
    question = ChoiceQuestion(("first", "thirds", "halves"), "halves")
    film = _turning(angle)
    reveal = (film, control, changed, chart)
    return Card("turn", numbers, (), question, reveal, situation=(film.still(),))


def _weights_at(angle: float) -> Matrix:
    """The weights of a query that points at this angle, in degrees."""
    keys = np.concatenate([_unit(of_key) for of_key in KEY_ANGLES])
    return softmax(LENGTH * _unit(angle) @ keys.T / math.sqrt(2))


def _unit(angle: float) -> Matrix:
    return np.array([[math.cos(math.radians(angle)), math.sin(math.radians(angle))]])


def _turning(angle: float) -> Motion:
    """The query as it turns, by hand too: the weights and the output for each degree."""
    weights = np.concatenate([_weights_at(float(degree)) for degree in range(FULL_CIRCLE + 1)])
    arrays = {
        "keys": np.array([KEY_ANGLES]),
        "between": np.array([[BETWEEN]]),
        "weights": weights,
        "outputs": weights @ ROTATION_VALUES,
    }
    keys = tuple(f"series.key{key}" for key in range(len(KEY_ANGLES)))
    named = {"keys": keys, "output": ("panel.output",)}
    return Motion("query", arrays, named=named, handles=("angle",), values={"angle": angle})


def _real(inputs: CardInputs) -> Card:
    """The head as the page Head draws it, and its strongest pair of words in numbers."""
    text = typed(inputs)
    captured = inputs.capture(MODEL, text)
    query, key = strongest(captured, LAYER, HEAD)
    all_heads = captured.all_weights()[:, :, query, key]
    tired, wide = (_from_it(inputs, sentence) for sentence in (START, WIDE))
    labels = captured.tokens.labels
    numbers: Numbers = {
        "head": f"L{LAYER}.H{HEAD}",
        "layer": LAYER,
        "number": HEAD,
        "query": labels[query],
        "key": labels[key],
        "weight": float(all_heads[LAYER, HEAD]),
        "uniform": 1 / len(labels),
        "others": float(np.delete(captured.weights(LAYER, HEAD)[:, key], query).mean()),
        "tokens": len(labels),
        "heads": all_heads.size,
        "mean": float(all_heads.mean()),
        "sentence": START,
        "tired": tired["animal"],
        "wide": wide["animal"],
        "tired_street": tired["street"],
        "wide_street": wide["street"],
    }
    view: dict[str, str | int | float] = {
        "model": MODEL,
        "text": text,
        "layer": LAYER,
        "head": HEAD,
        "query": query,
        "key": key,
    }
    question = ChoiceQuestion(("more", "same", "less"), "less", is_scale=True)
    reveal = (RealHead(MODEL, text, LAYER, HEAD),)
    own = inputs.capture(MODEL, START)
    names = own.tokens.labels
    row = own.weights(LAYER, HEAD)[[names.index("it")]].astype(np.float64)
    given = weights_panel("row", row, rows=("it",), columns=names)
    beside: Numbers = {"model_b": MODEL, "text_b": WIDE, "layer_b": LAYER, "head_b": HEAD}
    link = Link("compare", {**view, "text": START, **beside}, task=True)
    return Card("real", numbers, (), question, reveal, link, (Board((given,)),))


def typed(inputs: CardInputs) -> str:
    """The typed text; the start sentence for an empty one."""
    return inputs.text("text").strip() or START


def strongest(captured: Capture, layer: int, head: int) -> tuple[int, int]:
    """(query, key) of the largest weight between two words; between two tokens for one word."""
    weights = captured.weights(layer, head)
    words = ~captured.tokens.special
    if words.sum() < 2:
        words = np.ones_like(words)
    between = weights * words[:, None] * words[None, :] * ~np.eye(len(words), dtype=np.bool_)
    query, key = np.unravel_index(between.argmax(), between.shape)
    return int(query), int(key)


def _from_it(inputs: CardInputs, sentence: str) -> dict[str, float]:
    """The weights that "it" gives "animal" and "street" in a sentence that has all three."""
    captured = inputs.capture(MODEL, sentence)
    labels = captured.tokens.labels
    row = captured.weights(LAYER, HEAD)[labels.index("it")]
    return {word: float(row[labels.index(word)]) for word in ("animal", "street")}


@dataclass(frozen=True)
class Pointed:
    """The weight that "it" gives a word in `head`, by chance (evenly), and in all other heads."""

    head: HeadId
    weight: float
    chance: float
    others: float


def pointed(capture: CaptureText, sentence: str, noun: str) -> Pointed | None:
    """The weight of the last "it" of a sentence on the noun's first place; None without both."""
    captured = capture(MODEL, sentence)
    found = words(captured.tokens, "".join)
    its, nouns = (_named(found, word) for word in ("it", noun))
    if not its or not nouns or noun.lower() == "it":
        return None
    of_noun = slice(nouns[0].start, nouns[0].stop)  # the sum over its pieces
    given = captured.all_weights()[:, :, its[-1].start, of_noun].sum(axis=2, dtype=np.float64)
    weight = float(given[LAYER, HEAD])
    return Pointed(
        HeadId(LAYER, HEAD),
        weight,
        (of_noun.stop - of_noun.start) / len(captured.tokens),
        float((given.sum() - weight) / (given.size - 1)),
    )


def _named(found: tuple[Word, ...], word: str) -> list[Word]:
    return [one for one in found if one.text.lower() == word.lower() and not one.special]


def text_control(start: str = START) -> Typed:
    """The box for a sentence of the learner."""
    return Typed("text", start, MAX_CHARS)


LESSON = Lesson(
    "ask",
    needs=("where",),
    recipes=(
        Recipe("dictionary", _dictionary),
        Recipe("score", _score),
        Recipe("weights", _weights),
        Recipe("values", _values),
        Recipe("onehot", _onehot),
        Recipe("turn", _rotate, (Slider("angle", STOPS, 30.0),), "experiment"),
        Recipe("real", _real, (text_control(),)),
    ),
)
