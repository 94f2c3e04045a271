"""Lesson 9, real heads: patterns of the embedded models, each beside chance and a control.

Sources: Clark et al. 2019 (positions, [CLS], [SEP]), Xiao et al. 2023 (sinks), Olsson et al. 2022
(induction). The models' cards and `attnviz.metrics` name the heads. `copies` has the cards
on induction.
"""

import numpy as np

from attnviz.metrics.measures import measured
from attnviz.pictures.board import Board
from attnviz.teach.course.real.copies import COPY_CONTROLS, copied, induction
from attnviz.teach.course.real.heads import chance, panel, score, uniform, weights_panel
from attnviz.teach.course.recipe import CardInputs, Lesson, Recipe
from attnviz.teach.lessons.cards.card import (
    Card,
    CellQuestion,
    ChoiceQuestion,
    Link,
    NumberQuestion,
)
from attnviz.types import HeadId, Measure

STORY, MAT = "Lily gave the red ball to Tom.", "The cat sat on the mat."
STORY_MIXED, MAT_MIXED = "Tom red the gave Lily to ball.", "mat the on sat the cat."
TWICE, NOT_TWICE = "The old dog saw the young dog.", "The young cat saw my old dog."
# the heads of the gallery by the measure in which each is high
GALLERY: dict[Measure, HeadId] = {
    "first": HeadId(4, 5),
    "previous": HeadId(0, 2),
    "next": HeadId(1, 8),
}
SAME = HeadId(2, 9)
PREVIOUS = {"stories": HeadId(0, 1), "stories-llama": HeadId(0, 4)}
QUERIES = (5, 4, 7)


def _chance_card(inputs: CardInputs) -> Card:
    """Uniform attention under a causal mask: the baseline of every other card."""
    cap, row = inputs.capture("stories", STORY), QUERIES[inputs.seed % len(QUERIES)]
    n, answer = len(cap.tokens), 1 / (row + 1)
    question = NumberQuestion(answer, 0.006, {"all": 1 / n, "before": 1 / row, "half": 0.5})
    board = Board((weights_panel(cap, uniform(cap), "uniform", hidden=True, sums="rows"),))
    numbers: dict[str, float | int | str] = {
        "n": n,
        "row": row,
        "token": cap.tokens.labels[row],
        "open": row + 1,
        "answer": answer,
        "mean": chance(cap, "previous"),
    }
    return Card("chance", numbers, (board,), question)


def _previous(inputs: CardInputs) -> Card:
    """The story model's previous-token head, on a text and on its words in random order."""
    cap, mixed = (inputs.capture("stories", text) for text in (STORY, STORY_MIXED))
    head, row = PREVIOUS["stories"], QUERIES[inputs.seed % len(QUERIES)]
    wrong = {
        "transposed": frozenset({(row - 1, row)}),
        "self": frozenset({(row, row)}),
        "next": frozenset({(row, row + 1), (row + 1, row)}),
    }
    llama = inputs.capture("stories-llama", STORY)
    numbers: dict[str, float | int | str] = {
        "head": str(head),
        "token": cap.tokens.labels[row],
        "before": cap.tokens.labels[row - 1],
        "weight": float(cap.weights(head.layer, head.head)[row, row - 1]),
        "score": score(cap, head, "previous"),
        "chance": chance(cap, "previous"),
        "mixed": score(mixed, head, "previous"),
        "mixed_text": STORY_MIXED,
        "other_head": str(PREVIOUS["stories-llama"]),
        "other": score(llama, PREVIOUS["stories-llama"], "previous"),
    }
    question = CellQuestion("weights", frozenset({(row, row - 1)}), wrong)
    link = Link("head", {"model": "stories", "text": STORY, "layer": head.layer, "head": head.head})
    reveal = (Board((panel(mixed, head, "mixed"),)),)
    return Card(
        "previous", numbers, (Board((panel(cap, head, "weights"),)),), question, reveal, link
    )


def _gallery(inputs: CardInputs) -> Card:
    """Three heads of a sentence encoder; one of them attends to the next token."""
    cap = inputs.capture("minilm", MAT)
    pictures: dict[str, Board] = {
        name: Board((panel(cap, head, f"of_{name}", decimals=1),)) for name, head in GALLERY.items()
    }
    numbers: dict[str, float | int | str] = {"chance": chance(cap, "next")}
    for name, head in GALLERY.items():
        numbers |= {f"{name}_head": str(head), name: score(cap, head, name)}
    question = ChoiceQuestion(tuple(GALLERY), "next", pictures)
    return Card("gallery", numbers, (), question)


def _rest(inputs: CardInputs) -> Card:
    """A head that attends to [CLS], on a text and on its words in random order."""
    cap, mixed = (inputs.capture("minilm", text) for text in (MAT, MAT_MIXED))
    head = GALLERY["first"]
    separators = measured(cap.all_weights(), cap.tokens)["separator"]
    best = np.unravel_index(int(separators.argmax()), separators.shape)
    numbers: dict[str, float | int | str] = {
        "head": str(head),
        "score": score(cap, head, "first"),
        "chance": chance(cap, "first"),
        "mixed": score(mixed, head, "first"),
        "mixed_text": MAT_MIXED,
        "separator": float(separators.max()),
        "separator_head": str(HeadId(int(best[0]), int(best[1]))),
        "heads": separators.size,
    }
    question = ChoiceQuestion(("chance", "separator", "stays"), "stays")
    board = Board((panel(cap, head, "weights"),))
    return Card("rest", numbers, (board,), question, (Board((panel(mixed, head, "mixed"),)),))


def _same(inputs: CardInputs) -> Card:
    """A head that attends to another copy of the same word; without one, to [CLS]."""
    cap, control = (inputs.capture("minilm", text) for text in (TWICE, NOT_TWICE))
    first, second = (n for n, label in enumerate(cap.tokens.labels) if label == "dog")
    weights = cap.weights(SAME.layer, SAME.head)
    query = control.tokens.labels.index("dog")
    numbers: dict[str, float | int | str] = {
        "head": str(SAME),
        "weight": float(weights[second, first]),
        "chance": 1 / len(cap.tokens),
        "control_text": NOT_TWICE,
        "rest": float(control.weights(SAME.layer, SAME.head)[query, 0]),
    }
    wrong = {
        "itself": frozenset({(second, second)}),
        "transposed": frozenset({(first, second)}),
        "previous": frozenset({(second, second - 1)}),
    }
    question = CellQuestion("weights", frozenset({(second, first)}), wrong)
    board = Board((panel(cap, SAME, "weights", hidden=True),))
    reveal = (Board((panel(control, SAME, "control"),)),)
    link = Link("head", {"model": "minilm", "text": TWICE, "layer": SAME.layer, "head": SAME.head})
    return Card("same", numbers, (board,), question, reveal, link)


LESSON = Lesson(
    "real",
    needs=("heads", "masks"),
    recipes=(
        Recipe("chance", _chance_card),
        Recipe("previous", _previous),
        Recipe("gallery", _gallery),
        Recipe("rest", _rest),
        Recipe("same", _same),
        Recipe("induction", induction),
        Recipe(
            "copied",
            copied,
            COPY_CONTROLS,
            "experiment",
        ),
    ),
)
