"""Lesson 7, three places for attention: encoder, decoder, and from the decoder to the encoder.

    Attention(Q, K, V) = Softmax(Q·Kᵀ/√d_k + Mask)·V;  in cross-attention Q comes from the decoder,
    K and V from the encoder's output

Source: Vaswani et al. 2017, section 3.2.3, and a textbook chapter on attention in translation. The
model is the embedded `translator`; the decoder's six tokens come from that chapter. The cards on
masks are in `masks`.
"""

import numpy as np

from attnviz.pictures.board import Board, Panel
from attnviz.pictures.motion.scenes import Motion
from attnviz.teach.course.places.masks import future, once, whose_mask
from attnviz.teach.course.places.translation import (
    HEAD,
    LAYER,
    MODEL,
    PAIRS,
    Translation,
    right_links,
    translate,
)
from attnviz.teach.course.recipe import CardInputs, Lesson, Recipe
from attnviz.teach.lessons.cards.card import (
    Card,
    CellQuestion,
    ChoiceQuestion,
    Link,
    NumberQuestion,
    Pick,
    Slider,
    Typed,
)
from attnviz.teach.lessons.cards.example_words import Gloss
from attnviz.types import Kind

LONGER = "We gave the beautiful queen a golden crown."
UNKNOWN = "The zebra sees a tree."  # "zebra" is not in the model's word list
STEPS = tuple(float(step) for step in range(1, 10))
# three of the eight heads, the aligning one among them
HEADS = ("l0h1", "l0h2", "l1h1")
MAX_CHARS = 60
KINDS: tuple[Kind, Kind] = ("cross", "self")


def _weights(translation: Translation, hidden: bool = False) -> Panel:
    """The cross-attention of the aligning head."""
    return Panel(
        "weights",
        translation.cross(),
        rows=translation.written,
        columns=translation.source,
        signed=False,
        hidden=hidden,
    )


def _three(inputs: CardInputs) -> Card:
    """One head of each place on a short sentence; the labels tell them apart."""
    pair = PAIRS[(2 + inputs.seed) % len(PAIRS)]
    translation = translate(inputs, pair.english)
    english, french = translation.source, translation.read
    panels = {
        "decoder": (translation.captured.weights(1, 0, "self", "decoder"), french, french),
        "cross": (translation.captured.weights(LAYER, HEAD, "cross", "decoder"), french, english),
        "encoder": (translation.captured.weights(1, 0, "self", "encoder"), english, english),
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
    numbers = {"english": pair.english, "gloss": Gloss(pair.english), "start": french[0]}
    return Card("three", numbers, (), question)


def _keys(inputs: CardInputs) -> Card:
    """The question asks for the number of keys in cross-attention during generation."""
    translation, n_read = translate(inputs, LONGER), 4 + inputs.seed % 4
    cross, own = (translation.captured.call(1, kind, "decoder") for kind in KINDS)
    n_key = cross.n_key
    board = Board((_weights(translation),))
    numbers: dict[str, float | int | str] = {
        "english": LONGER,
        "gloss": Gloss(LONGER),
        "read": " ".join(translation.read[:n_read]),
        "n_read": n_read,
        "n_source": n_key,
        "rows": cross.n_query,
        "own": own.n_key,
    }
    wrong = {"own": n_read, "both": n_key + n_read, "words": len(LONGER.split())}
    return Card("keys", numbers, (), NumberQuestion(n_key, 0.1, wrong), (board,))


def _align(inputs: CardInputs) -> Card:
    """The question asks for the English word attended to by the row of a French word."""
    pair = PAIRS[inputs.seed % len(PAIRS)]
    translation = translate(inputs, pair.english)
    row = translation.written.index(pair.moved)
    weights = translation.cross()
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
        "gloss": Gloss(pair.english),
        "french": pair.french,
        "word": pair.moved,
        "source": translation.source[column],
        "before": translation.written[row - 1],
        "before_source": translation.source[before],
        "weight": float(weights[row, column]),
        "before_weight": float(weights[row, before]),
        "even": 1 / n_column,
    }
    board = Board((_weights(translation, hidden=True),))
    view: dict[str, str | int] = {"model": MODEL, "text": pair.english, "layer": LAYER}
    link = Link("output", view | {"head": HEAD, "kind": "cross", "stack": "decoder"})
    words = {"source": translation.source, "written": translation.written}
    film = Motion("alignment", {"weights": weights}, words)
    question = CellQuestion("weights", right, wrong)
    return Card("align", numbers, (board,), question, (film,), link)


def _rows(inputs: CardInputs) -> Card:
    """The experiment: other heads, and the next row, beside the head and row that align."""
    later = 1 if inputs.text("reading") == "read" else 0
    layer, head = (int(digit) for digit in inputs.text("head")[1::2])
    translation = translate(inputs, PAIRS[0].english)
    pairs = [(translate(inputs, pair.english), pair) for pair in PAIRS]
    control = [hit for text, pair in pairs for hit in right_links(text, pair, LAYER, HEAD)]
    chosen = [hit for text, pair in pairs for hit in right_links(text, pair, layer, head, later)]
    chance = np.mean([1 / len(text.source) for text, pair in pairs for _ in pair.links])
    changed = Panel(
        "changed",
        translation.rows(layer, head)[later : later + len(translation.written)],
        rows=translation.written,
        columns=translation.source,
        signed=False,
        decimals=1,
    )
    same = Panel(
        "control",
        translation.cross(),
        rows=translation.written,
        columns=translation.source,
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
    late = [hit for text, pair in pairs for hit in right_links(text, pair, LAYER, HEAD, 1)]
    numbers |= {"late": sum(late)}
    wrong = {"all": len(control), "chance": round(chance * len(control))}
    question = NumberQuestion(sum(late), 0.1, wrong)
    return Card("rows", numbers, (), question, (Board((same, changed)),))


def _steps(inputs: CardInputs) -> Card:
    """One row during generation, beside even weights."""
    translation, step = translate(inputs, PAIRS[0].english), int(inputs.number("step"))
    row, source = translation.cross()[step - 1 : step], translation.source
    n_key, word = len(source), translation.written[step - 1]
    even = np.full((1, n_key), 1 / n_key)
    board = Board(
        (
            Panel("row", row, rows=(word,), columns=source, signed=False),
            Panel("even", even, columns=source, signed=False),
        )
    )
    numbers: dict[str, float | int | str] = {
        "step": step,
        "read": " ".join(translation.read[:step]),
        "word": word,
        "source": source[int(row.argmax())],
        "weight": float(row.max()),
        "even": 1 / n_key,
    }
    strongest = translation.cross().argmax(axis=1)
    back = int((np.diff(strongest) < 0).sum())
    moved = int((strongest != np.arange(len(strongest))).sum())
    english = PAIRS[0].english
    numbers |= {"english": english, "gloss": Gloss(english), "back": back}
    numbers |= {"french": " ".join(translation.written)}
    question = NumberQuestion(back, 0.1, {"none": 0, "moved": moved})
    return Card("steps", numbers, (), question, (board,))


def _own(inputs: CardInputs) -> Card:
    """The learner's own sentence and its translation."""
    text = inputs.text("text").strip() or LONGER
    translation = translate(inputs, text)
    weights = translation.cross()
    strongest = weights.argmax(axis=1)
    numbers: dict[str, float | int | str] = {
        "english": text,
        "french": " ".join(translation.written),
        "n_source": len(translation.source),
        "n_written": len(translation.written),
        "back": int((np.diff(strongest) < 0).sum()),
        "strongest": float(weights.max(axis=1).mean()) if len(weights) else 0.0,
        "even": 1 / len(translation.source),
    }
    view: dict[str, str | int] = {"model": MODEL, "text": text, "layer": LAYER, "head": HEAD}
    link = Link("output", view | {"kind": "cross", "stack": "decoder"})
    unknown = translate(inputs, UNKNOWN)
    numbers |= {"unknown": UNKNOWN, "spelled": " ".join(unknown.written)}
    question = ChoiceQuestion(("refuses", "guesses", "spells"), "spells")
    reveal = (Board((_weights(translation),)),) if translation.written else ()
    return Card("own", numbers, (), question, reveal, link)


LESSON = Lesson(
    "places",
    needs=("masks",),
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
        Recipe("own", _own, (Typed("text", LONGER, MAX_CHARS),)),
    ),
)
