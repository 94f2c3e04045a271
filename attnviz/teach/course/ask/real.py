"""The last card of lesson 2: a sentence of the learner in a real head.

In: a typed text. Out: the card, with the largest weight between two words, the weight of even
attention, the mean weight that the head's other rows give the same key (the control: a head in
which every row attends to one key says nothing about this query), and the mean of all heads.
"""

import numpy as np

from attnviz.attention.capture import Capture
from attnviz.teach.course.recipe import CardInputs
from attnviz.teach.lessons.cards.card import Card, ChoiceQuestion, Link, RealHead, Typed

MODEL, LAYER, HEAD = "minilm", 3, 1
START = "The animal didn't cross the street because it was too tired."
WIDE = START.replace("tired", "wide")  # now "it" is rather the street
MAX_CHARS = 120


def text_control(start: str = START) -> Typed:
    """The box for a sentence of the learner."""
    return Typed("text", start, MAX_CHARS)


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


def real(inputs: CardInputs) -> Card:
    """The head as the page Head draws it, and its strongest pair of words in numbers."""
    text = typed(inputs)
    captured = inputs.capture(MODEL, text)
    query, key = strongest(captured, LAYER, HEAD)
    all_heads = captured.all_weights()[:, :, query, key]
    tired, wide = (_from_it(inputs, sentence) for sentence in (START, WIDE))
    labels = captured.tokens.labels
    numbers: dict[str, float | int | str] = {
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
    question = ChoiceQuestion(("more", "same", "less"), "less")
    reveal = (RealHead(MODEL, text, LAYER, HEAD),)
    return Card("real", numbers, (), question, reveal, Link("steps", view))


def _from_it(inputs: CardInputs, sentence: str) -> dict[str, float]:
    """The weights that "it" gives "animal" and "street" in a sentence that has all three."""
    captured = inputs.capture(MODEL, sentence)
    labels = captured.tokens.labels
    row = captured.weights(LAYER, HEAD)[labels.index("it")]
    return {word: float(row[labels.index(word)]) for word in ("animal", "street")}
