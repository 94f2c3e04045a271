"""The last card of lesson 2: the learner's own sentence, read by a real head.

In: a typed text. Out: the card, with the word that leans most on another word, what its weight
would be if nothing were asked (uniform), and what the other heads of the model give the same pair.
"""

import numpy as np

from attnviz.attention.call import Capture
from attnviz.course.recipe import Ask
from attnviz.lessons.cards.card import Card, Link, RealHead, Typed

MODEL, LAYER, HEAD = "minilm", 5, 11
START = "The animal didn't cross the street because it was too tired."
MOST_CHARS = 120


def text_control(start: str = START) -> Typed:
    """The box for a sentence of one's own."""
    return Typed("text", start, MOST_CHARS)


def typed(ask: Ask) -> str:
    """What was typed; the sentence to begin with where that is nothing."""
    return ask.text("text").strip() or START


def strongest(captured: Capture, layer: int, head: int) -> tuple[int, int]:
    """(query, key) of the largest weight between two different words, or tokens if there is one."""
    weights = captured.weights(layer, head)
    words = ~captured.tokens.special
    if words.sum() < 2:
        words = np.ones_like(words)
    among = weights * words[:, None] * words[None, :] * ~np.eye(len(words), dtype=np.bool_)
    query, key = np.unravel_index(among.argmax(), among.shape)
    return int(query), int(key)


def real(ask: Ask) -> Card:
    """The head in the app's own view, and its strongest pair of words in numbers."""
    text = typed(ask)
    captured = ask.capture(MODEL, text)
    query, key = strongest(captured, LAYER, HEAD)
    everywhere = captured.all_weights()[:, :, query, key]
    labels = captured.tokens.labels
    numbers: dict[str, float | int | str] = {
        "head": f"L{LAYER}.H{HEAD}",
        "query": labels[query],
        "key": labels[key],
        "weight": float(everywhere[LAYER, HEAD]),
        "uniform": 1 / len(labels),
        "tokens": len(labels),
        "heads": everywhere.size,
        "mean": float(everywhere.mean()),
    }
    view: dict[str, str | int | float] = {
        "model": MODEL,
        "text": text,
        "layer": LAYER,
        "head": HEAD,
        "query": query,
        "key": key,
    }
    return Card("real", numbers, (RealHead(MODEL, text, LAYER, HEAD),), link=Link("steps", view))
