"""The card of lesson 0 on scripts: the same text cut by a list of pieces and by bytes.

In: a typed text. Out: its tokens in MiniLM, whose list has pieces of English, single kana and some
Chinese characters (Hangul falls apart into jamo, what is missing becomes [UNK]), and in the story
model, whose tokenizer works on bytes (UTF-8) and so loses nothing. Both are the models' own.
"""

from dataclasses import dataclass

import numpy as np

from attnviz.pictures.board import Board, Panel
from attnviz.teach.course.recipe import CardInputs
from attnviz.teach.course.where import story
from attnviz.teach.lessons.cards.card import Card, NumberQuestion, Numbers, Typed

PIECES = "minilm"
START = "学ぶ 배우다 学习 learn"  # "to learn" in Japanese, Korean, Chinese and English
ASKED = ("学", "배", "习")  # by seed: one sign each, three bytes in UTF-8
MAX_CHARS, UNKNOWN = 24, "[UNK"


def typed() -> Typed:
    """The box for a text in the learner's own script."""
    return Typed("text", START, MAX_CHARS)


@dataclass(frozen=True, eq=False)
class Pieces:
    """The tokens of a text without the marks around it: their labels and numbers."""

    labels: tuple[str, ...]
    ids: tuple[int, ...]

    def panel(self, name: str) -> Panel:
        """The tokens with their numbers."""
        values = np.array([self.ids], dtype=np.float64)
        return Panel(name, values, columns=self.labels, decimals=0, signed=False)


def cut(inputs: CardInputs, model: str, text: str) -> Pieces:
    """The tokens of a text in a model."""
    tokens = inputs.capture(model, text).tokens
    own = np.flatnonzero(~tokens.special)
    return Pieces(tuple(tokens.labels[n] for n in own), tuple(int(tokens.ids[n]) for n in own))


def script(inputs: CardInputs) -> Card:
    """The question asks for the number of bytes of one sign; then any text, cut in both ways."""
    text = inputs.text("text").strip() or START
    asked = ASKED[inputs.seed % len(ASKED)]
    answer = len(cut(inputs, story.MODEL, asked).ids)
    pieces, in_bytes = cut(inputs, PIECES, text), cut(inputs, story.MODEL, text)
    numbers: Numbers = {
        "asked": asked,
        "code_point": ord(asked),
        "answer": answer,
        "text": text,
        "characters": len(text),
        "utf8": len(text.encode()),
        "pieces": len(pieces.ids),
        "unknown": sum(label.startswith(UNKNOWN) for label in pieces.labels),
        "bytes": len(in_bytes.ids),
    }
    question = NumberQuestion(answer, 0.1, {"one": 1, "two": 2})
    boards = (Board((pieces.panel("pieces"),)), Board((in_bytes.panel("bytes"),)))
    return Card("script", numbers, (), question, boards)
