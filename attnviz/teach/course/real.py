"""Real heads: patterns of the embedded models, each beside chance and a control.

In: captures of the embedded models, and heads that the models' cards name. Out: cards with measures
of `attnviz.metrics`; `chance` is uniform attention over the keys that a query may attend to. An
induction head attends from a token to the one that followed the same token earlier (Elhage et al.
2021, Olsson et al. 2022); its control keeps the positions and changes the words: a head that only
attends a fixed distance back would score the same. Other sources: Clark et al. 2019 (positions,
[CLS], [SEP]), Xiao et al. 2023 (sinks).
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float32, Float64

from attnviz.attention.capture import Capture
from attnviz.checks.cards import card
from attnviz.metrics.measures import induction_keys, measured
from attnviz.pictures.board import Board, Panel, Sums
from attnviz.pictures.motion import Motion
from attnviz.teach.course import story
from attnviz.teach.course.recipe import CardInputs, Lesson, Recipe
from attnviz.teach.lessons.cards.card import (
    Card,
    CellQuestion,
    ChoiceQuestion,
    Control,
    Link,
    NumberQuestion,
    Numbers,
    Pick,
    Typed,
)
from attnviz.teach.lessons.cards.versions import places
from attnviz.types import HeadId, Measure

INDUCTION = {"stories": HeadId(2, 1), "stories-llama": HeadId(1, 5)}
LISTS = (
    ("kite", "hat", "dog", "cat"),
    ("horse", "lamp", "egg", "boat"),
    ("cake", "fox", "cup", "bed"),
)
# words of the story models' vocabulary, one token each
OTHERS = (
    *("boat", "lake", "book", "tree", "duck", "box", "cup", "drum", "bed", "flower", "cake", "fox"),
    *("wolf", "bear", "goat", "lion", "pig", "cow", "sheep", "horse", "frog", "park", "farm"),
    *("store", "garden", "hill", "stone", "lamp", "chair", "coat", "cheese", "bread", "egg"),
    *("mouse", "boy", "girl", "queen", "kite", "hat", "dog", "cat", "ball"),
)
MAX_WORDS, N_CONTROLS = 8, 4
COPY_CONTROLS: tuple[Control, ...] = (
    Typed("words", "horse lamp egg boat cow fox", max_chars=48),
    Pick("model", ("stories", "stories-llama"), "stories"),
)
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
    mask = weights_panel(cap, may_attend(cap).astype(np.float32), "mask", decimals=0)
    board = Board((weights_panel(cap, uniform(cap), "uniform", sums="rows"),))
    numbers: Numbers = {
        "n": n,
        "row": row,
        "token": cap.tokens.labels[row],
        "open": row + 1,
        "answer": answer,
        "mean": chance(cap, "previous"),
    }
    return Card("chance", numbers, (), question, (board,), situation=(Board((mask,)),))


def weights_panel(
    cap: Capture,
    weights: Float32[np.ndarray, "query key"],
    name: str,
    hidden: bool = False,
    decimals: int = 2,
    sums: Sums = "none",
) -> Panel:
    """A panel of weights over the tokens of a capture."""
    labels, blocked = story.with_start(cap.tokens.labels), ~may_attend(cap)
    return Panel(
        name,
        weights.astype(np.float64),
        rows=labels,
        columns=labels,
        decimals=decimals,
        signed=False,
        blocked=blocked if blocked.any() else None,
        sums=sums,
        hidden=hidden,
    )


def may_attend(cap: Capture, batch: int = 0) -> Bool[np.ndarray, "query key"]:
    """The mask, True = may attend; it is the same in every layer of these models."""
    masked = cap.call(0).stages(0, batch)["masked"].numpy()
    return np.asarray(np.isfinite(masked))


def uniform(cap: Capture, batch: int = 0) -> Float32[np.ndarray, "query key"]:
    """The weights of a head that attends evenly to all keys that it may attend to."""
    allowed = may_attend(cap, batch)
    return np.asarray(allowed / allowed.sum(axis=1, keepdims=True), dtype=np.float32)


def chance(cap: Capture, measure: Measure, batch: int = 0) -> float:
    """The measure of uniform attention."""
    return _measure(cap, uniform(cap, batch), measure, batch)


def _measure(
    cap: Capture, weights: Float32[np.ndarray, "query key"], measure: Measure, batch: int
) -> float:
    visible = may_attend(cap, batch)[None]
    values = measured(weights[None, None], cap.tokens_of(batch), visible=visible)
    return float(values[measure][0, 0])


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
    numbers: Numbers = {
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
        **_on_random_tokens("stories", head),
    }
    question = CellQuestion("weights", frozenset({(row, row - 1)}), wrong)
    link = Link("head", {"model": "stories", "text": STORY, "layer": head.layer, "head": head.head})
    reveal = (Board((panel(mixed, head, "mixed"),)),)
    return Card(
        "previous", numbers, (Board((panel(cap, head, "weights"),)),), question, reveal, link
    )


def _on_random_tokens(model: str, head: HeadId) -> dict[str, float]:
    """The score of a head as the model's card has it, which `attnviz.checks` measures again."""
    model_card = card(model)
    assert model_card is not None, "the model is embedded"
    note = next(note for note in model_card.description.heads if note.head == str(head))
    assert note.chance is not None, "the card has a baseline"
    return {"random": note.score, "random_chance": note.chance}


def score(cap: Capture, head: HeadId, measure: Measure, batch: int = 0) -> float:
    """One measure of one head, the mean over the words of the text."""
    return _measure(cap, cap.weights(head.layer, head.head, batch=batch), measure, batch)


def panel(cap: Capture, head: HeadId, name: str, hidden: bool = False, decimals: int = 2) -> Panel:
    """A panel of a head's weights, with the tokens along both axes."""
    return weights_panel(cap, cap.weights(head.layer, head.head), name, hidden, decimals)


def _gallery(inputs: CardInputs) -> Card:
    """Three heads of a sentence encoder; one of them attends to the next token."""
    cap = inputs.capture("minilm", MAT)
    pictures: dict[str, Board] = {
        name: Board((panel(cap, head, f"of_{name}", decimals=1),)) for name, head in GALLERY.items()
    }
    numbers: dict[str, float | int | str] = {"chance": chance(cap, "next")}
    for name, head in GALLERY.items():
        numbers |= {f"{name}_head": str(head), name: score(cap, head, name)}
    numbers |= places(GALLERY)
    question = ChoiceQuestion(tuple(GALLERY), "next", pictures)
    link = Link(
        "atlas", {"model": "minilm", "measure_x": "previous", "measure_y": "next"}, task=True
    )
    return Card("gallery", numbers, (), question, link=link)


def _rest(inputs: CardInputs) -> Card:
    """A head that attends to [CLS], on a text and on its words in random order."""
    cap, mixed = (inputs.capture("minilm", text) for text in (MAT, MAT_MIXED))
    head = GALLERY["first"]
    separators = measured(cap.all_weights(), cap.tokens)["separator"]
    best = np.unravel_index(int(separators.argmax()), separators.shape)
    numbers: Numbers = {
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
    numbers: Numbers = {
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


def _induction(inputs: CardInputs) -> Card:
    """A list of words twice; the question asks where the second copy of a word attends."""
    words = LISTS[inputs.seed % len(LISTS)]
    head = INDUCTION["stories"]
    cap = inputs.capture("stories", _twice(words))
    first, second = (n for n, label in enumerate(cap.tokens.labels) if label == words[1])
    wrong = {
        "same": frozenset({(second, first)}),
        "previous": frozenset({(second, second - 1)}),
        "self": frozenset({(second, second)}),
        "transposed": frozenset({(first + 1, second)}),
    }
    numbers: Numbers = {
        "head": str(head),
        "token": words[1],
        "after": words[2],
        "weight": float(cap.weights(head.layer, head.head)[second, first + 1]),
        "chance": 1 / (second + 1),
        "score": score(cap, head, "induction"),
        "all_chance": chance(cap, "induction"),
    }
    question = CellQuestion("weights", frozenset({(second, first + 1)}), wrong)
    view: dict[str, str | int | float] = {
        "model": "stories",
        "text": _twice(words),
        "layer": head.layer,
        "head": head.head,
    }
    board = Board((panel(cap, head, "weights", hidden=True),))
    weights = cap.weights(head.layer, head.head).astype(np.float64)
    film = Motion(
        "induction",
        {
            "previous": np.zeros_like(
                weights
            ),  # where the keys come from is another lesson's matter
            "induction": weights,
            "asked": np.array([[second, first + 1]], dtype=np.float64),
        },
        {"letters": story.with_start(cap.tokens.labels)},
        scenes=("text", "match", "copy"),
        handles=("asked",),
    )
    return Card("induction", numbers, (board,), question, (film,), Link("head", view))


def _twice(words: Sequence[str]) -> str:
    return " ".join(("Once", *words, *words))


def _copied(inputs: CardInputs) -> Card:
    """The experiment: a list of words twice, beside lists without a repeat as the control."""
    model, words = inputs.text("model"), tuple(dict.fromkeys(inputs.text("words").split()))
    words = words[:MAX_WORDS] if len(words) > 1 else LISTS[0]
    head, twice = INDUCTION[model], inputs.capture(model, _twice(words))
    n_once = (len(twice.tokens) - 2) // 2
    cells = induction_keys(twice.tokens)
    cells[:-n_once] = False
    controls = inputs.capture(model, _controls(words, n_once))
    own = _mean_weight(twice, cells)
    control = np.mean([_mean_weight(controls, cells, batch) for batch in range(N_CONTROLS)], axis=0)
    even = (uniform(twice) * cells).sum(axis=1)[cells.any(axis=1)].mean()
    numbers: Numbers = {
        "head": str(head),
        "score": float(own[head.layer, head.head]),
        "control": float(control[head.layer, head.head]),
        "chance": float(even),
        "words": " ".join(words),
        "lists": N_CONTROLS,
    }
    control_panel, twice_panel = _by_head("control", control, head), _by_head("twice", own, head)
    question = ChoiceQuestion(("same", "half", "chance"), "chance")
    board = Board((control_panel, twice_panel))
    return Card("copied", numbers, (), question, (board,), situation=(Board((twice_panel,)),))


def _controls(words: Sequence[str], n_once: int) -> list[str]:
    """Texts of the words and as many other words as they have tokens."""
    others = [word for word in OTHERS if word not in words]
    return [
        " ".join(("Once", *words, *(others[(9 * n + m) % len(others)] for m in range(n_once))))
        for n in range(N_CONTROLS)
    ]


def _mean_weight(
    cap: Capture, cells: Bool[np.ndarray, "query key"], batch: int = 0
) -> Float64[np.ndarray, "layer head"]:
    """The mean weight of every head on these cells, over the rows that have one."""
    rows = cells.any(axis=1)
    weights = cap.all_weights(batch)[:, :, rows].astype(np.float64)
    return np.asarray((weights * cells[rows]).sum(axis=-1).mean(axis=-1))


def _by_head(name: str, scores: Float64[np.ndarray, "layer head"], marked: HeadId) -> Panel:
    """A panel with one number for each head, by layer."""
    n_layers, n_heads = scores.shape
    return Panel(
        name,
        scores,
        rows=tuple(f"L{layer}" for layer in range(n_layers)),
        columns=tuple(f"H{head}" for head in range(n_heads)),
        signed=False,
        marked=((marked.layer, marked.head),),
    )


LESSON = Lesson(
    "real",
    needs=("heads", "masks"),
    recipes=(
        Recipe("chance", _chance_card),
        Recipe("previous", _previous),
        Recipe("gallery", _gallery),
        Recipe("rest", _rest),
        Recipe("same", _same),
        Recipe("induction", _induction),
        Recipe(
            "copied",
            _copied,
            COPY_CONTROLS,
            "experiment",
        ),
    ),
)
