"""Lesson 7, three places for attention: encoder, decoder, and from the decoder to the encoder.

    Attention(Q, K, V) = Softmax(Q·Kᵀ/√d_k + Mask)·V;  in cross-attention Q comes from the decoder,
    K and V from the encoder's output

Source: Vaswani et al. 2017, section 3.2.3, and a textbook chapter on attention in translation. The
model is the embedded `translator`; the decoder's six tokens are those of that chapter. The cards on
masks are in `masks`.
"""

import numpy as np

from attnviz.course.places.masks import future, once, whose_mask
from attnviz.course.places.translation import HEAD, LAYER, MODEL, PAIRS, Writing, right_links, wrote
from attnviz.course.recipe import CardInputs, Lesson, Recipe
from attnviz.lessons.cards.card import (
    Board,
    Card,
    CellQuestion,
    ChoiceQuestion,
    Link,
    NumberQuestion,
    Panel,
    Pick,
    Slider,
    Typed,
)
from attnviz.types import Kind

LONGER = "We gave the beautiful queen a golden crown."
STEPS = tuple(float(step) for step in range(1, 10))
# three of the eight heads, the aligning one among them
HEADS = ("l0h1", "l0h2", "l1h1")
MOST_CHARS = 60
KINDS: tuple[Kind, Kind] = ("cross", "self")


def _weights(of: Writing, name: str = "weights", hidden: bool = False) -> Panel:
    """The aligning head's cross-attention."""
    return Panel(name, of.cross(), rows=of.written, columns=of.source, signed=False, hidden=hidden)


def _three(inputs: CardInputs) -> Card:
    """One head of each place on a short sentence: which is which shows in the labels."""
    pair = PAIRS[(2 + inputs.seed) % len(PAIRS)]
    of = wrote(inputs, pair.english)
    english, french = of.source, of.read
    panels = {
        "decoder": (of.cap.weights(1, 0, "self", "decoder"), french, french),
        "cross": (of.cap.weights(LAYER, HEAD, "cross", "decoder"), french, english),
        "encoder": (of.cap.weights(1, 0, "self", "encoder"), english, english),
    }
    pictures = {
        name: Board(
            (
                Panel(
                    name,
                    weights.astype(np.float64),
                    rows=rows,
                    columns=columns,
                    signed=False,
                    decimals=1,
                ),
            )
        )
        for name, (weights, rows, columns) in panels.items()
    }
    question = ChoiceQuestion(tuple(pictures), "cross", pictures)
    return Card("three", {"english": pair.english, "start": french[0]}, (), question)


def _keys(inputs: CardInputs) -> Card:
    """How many keys has a query of the decoder in cross-attention, in the middle of writing?"""
    of, n_read = wrote(inputs, LONGER), 4 + inputs.seed % 4
    cross, own = (of.cap.call(1, kind, "decoder") for kind in KINDS)
    n_key = cross.n_key
    board = Board((_weights(of),))
    numbers: dict[str, float | int | str] = {
        "english": LONGER,
        "read": " ".join(of.read[:n_read]),
        "n_read": n_read,
        "n_source": n_key,
        "rows": cross.n_query,
        "own": own.n_key,
    }
    wrong = {"own": n_read, "both": n_key + n_read, "words": len(LONGER.split())}
    return Card("keys", numbers, (), NumberQuestion(n_key, 0.1, wrong), (board,))


def _align(inputs: CardInputs) -> Card:
    """Which English word is attended to in the row that predicts a French word?"""
    pair = PAIRS[inputs.seed % len(PAIRS)]
    of = wrote(inputs, pair.english)
    row = of.written.index(pair.moved)
    weights = of.cross()
    column = int(weights[row].argmax())
    right = frozenset({(row, column)})
    n_row, n_column = weights.shape
    others = {(r, c) for r in range(n_row) for c in range(n_column) if r != row}
    before = int(weights[row - 1].argmax())
    wrong = {
        "neighbour": frozenset({(row, before)}),
        "row": frozenset(others),
    }
    numbers: dict[str, float | int | str] = {
        "english": pair.english,
        "french": pair.french,
        "word": pair.moved,
        "source": of.source[column],
        "before": of.written[row - 1],
        "before_source": of.source[before],
        "weight": float(weights[row, column]),
        "before_weight": float(weights[row, before]),
        "even": 1 / n_column,
    }
    board = Board((_weights(of, hidden=True),))
    view: dict[str, str | int] = {"model": MODEL, "text": pair.english, "layer": LAYER}
    link = Link("output", view | {"head": HEAD, "kind": "cross", "stack": "decoder"})
    return Card("align", numbers, (board,), CellQuestion("weights", right, wrong), link=link)


def _rows(inputs: CardInputs) -> Card:
    """The experiment: other heads, and the row after, beside the head and row that align."""
    later = 1 if inputs.text("reading") == "read" else 0
    layer, head = (int(digit) for digit in inputs.text("head")[1::2])
    of = wrote(inputs, PAIRS[0].english)
    every = [(wrote(inputs, pair.english), pair) for pair in PAIRS]
    control = [hit for one, pair in every for hit in right_links(one, pair, LAYER, HEAD)]
    chosen = [hit for one, pair in every for hit in right_links(one, pair, layer, head, later)]
    chance = np.mean([1 / len(one.source) for one, pair in every for _ in pair.links])
    changed = Panel(
        "changed",
        of.rows(layer, head)[later : later + len(of.written)],
        rows=of.written,
        columns=of.source,
        signed=False,
        decimals=1,
    )
    same = Panel(
        "control",
        of.cross(),
        rows=of.written,
        columns=of.source,
        signed=False,
        decimals=1,
    )
    numbers: dict[str, float | int | str] = {
        "links": len(control),
        "sentences": len(PAIRS),
        "control_right": sum(control),
        "right": sum(chosen),
        "by_chance": float(chance * len(control)),
        "head": f"L{layer}.H{head}",
        "control": f"L{LAYER}.H{HEAD}",
    }
    return Card("rows", numbers, (Board((same, changed)),))


def _steps(inputs: CardInputs) -> Card:
    """One row while the model writes, beside even weights."""
    of, step = wrote(inputs, PAIRS[0].english), int(inputs.number("step"))
    row, n_key = of.cross()[step - 1 : step], len(of.source)
    even = np.full((1, n_key), 1 / n_key)
    board = Board(
        (
            Panel("row", row, rows=(of.written[step - 1],), columns=of.source, signed=False),
            Panel("even", even, columns=of.source, signed=False),
        )
    )
    numbers: dict[str, float | int | str] = {
        "step": step,
        "read": " ".join(of.read[:step]),
        "word": of.written[step - 1],
        "source": of.source[int(row.argmax())],
        "weight": float(row.max()),
        "even": 1 / n_key,
    }
    return Card("steps", numbers, (board,))


def _own(inputs: CardInputs) -> Card:
    """The learner's own sentence, as the model writes it."""
    text = inputs.text("text").strip() or LONGER
    of = wrote(inputs, text)
    weights = of.cross()
    strongest = weights.argmax(axis=1)
    numbers: dict[str, float | int | str] = {
        "english": text,
        "french": " ".join(of.written),
        "n_source": len(of.source),
        "n_written": len(of.written),
        "back": int((np.diff(strongest) < 0).sum()),
        "strongest": float(weights.max(axis=1).mean()) if len(weights) else 0.0,
        "even": 1 / len(of.source),
    }
    view: dict[str, str | int] = {"model": MODEL, "text": text, "layer": LAYER, "head": HEAD}
    link = Link("output", view | {"kind": "cross", "stack": "decoder"})
    return Card("own", numbers, (Board((_weights(of),)),) if of.written else (), link=link)


LESSON = Lesson(
    "places",
    minutes=8,
    recipes=(
        Recipe("three", _three),
        Recipe("keys", _keys),
        Recipe("future", future),
        Recipe("once", once),
        Recipe("whose_mask", whose_mask),
        Recipe("align", _align),
        Recipe(
            "rows",
            _rows,
            (Pick("reading", ("predicts", "read"), "read"), Pick("head", HEADS, "l1h1")),
            "experiment",
        ),
        Recipe("steps", _steps, (Slider("step", STEPS, 1.0),), "experiment"),
        Recipe("own", _own, (Typed("text", LONGER, MOST_CHARS),)),
    ),
)
