"""A circuit is born: by hand, in the curve of a training, and live in the page.

The induction circuit of Elhage et al. 2021, "A mathematical framework for transformer circuits", in
its plainest form, made by hand on letters that come twice; all vectors are one-hot, and a score is
`STRENGTH` where they meet and 0 elsewhere:

    layer 0, previous: q = position, k = position + 1; writes the letter before into the stream
    layer 0, other:    q = k = position; writes the token's own letter, which nothing reads
    layer 1:           q = letter, k = output of "previous": a letter finds its earlier successor

It appears within few steps of a training (Olsson et al. 2022): the curves were stored when the
embedded story models were trained; the page trains `attnviz.teach.course.toy_model`.
"""

import json
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import torch
from jaxtyping import Float, Float64, Int64
from torch import Tensor

from attnviz import masks
from attnviz.attention import formula
from attnviz.checks.cards import card
from attnviz.models.registry import embedded_folder
from attnviz.pictures.board import Board, Panel
from attnviz.pictures.motion import Motion
from attnviz.teach.course.recipe import CardInputs, Lesson, Recipe
from attnviz.teach.course.toy_model import (
    BLOCK,
    HEADS,
    LAYERS,
    MAX_LETTERS,
    STEPS,
    chance,
    fresh_letters,
    induction_cells,
    labels,
    repeated_letters,
)
from attnviz.teach.lessons.cards.card import (
    Card,
    CellQuestion,
    Chart,
    ChoiceQuestion,
    Link,
    LiveTraining,
    Numbers,
    Pick,
    Series,
)

STRENGTH = 5.0
Removed = Literal["none", "previous", "other"]
REMOVED: tuple[Removed, ...] = get_args(Removed)
# letters by their position in the alphabet; each sequence comes twice
HALVES = ((1, 3, 0, 2), (2, 0, 3, 1), (3, 1, 2, 0))
TARGET = 1  # the letter that the questions ask about
MODELS = ("stories", "stories-llama")
HALF = 0.5
RACE = ("previous", "induction")  # the scores of which one passes one half first
SHARE_REPEATED = 0.4  # of each training batch, random tokens that come twice (scripts.train)


@dataclass(frozen=True, eq=False)
class CircuitWeights:
    """The weights of the heads of both layers; the output of a removed head is 0."""

    previous: Float[Tensor, "query key"]
    other: Float[Tensor, "query key"]
    induction: Float[Tensor, "query key"]

    @property
    def score(self) -> float:
        """The mean weight from each letter of the second half to its successor in the first."""
        queries, keys, _ = induction_cells(len(self.induction))
        return float(self.induction[queries, keys].mean())


def _needs(inputs: CardInputs) -> Card:
    """The question what a key must contain, so that the right letter is found."""
    tokens = _letters(inputs.seed)
    letters = labels(tokens)
    numbers: Numbers = {
        "text": " ".join(letters[: len(letters) // 2 + TARGET + 1]),
        "asked": letters[TARGET],
        "after": letters[TARGET + 1],
    }
    question = ChoiceQuestion(("itself", "before", "place"), "before")
    read = replace(_film(tokens), scenes=("text",), handles=())
    return Card("needs", numbers, (read,), question)


def _letters(seed: int) -> Int64[Tensor, "token"]:
    return torch.tensor(HALVES[seed % len(HALVES)] * 2)


def _by_hand(inputs: CardInputs) -> Card:
    """Two heads with chosen weights; the question asks where a letter's second copy attends."""
    tokens = _letters(inputs.seed)
    hand_made, letters, half = circuit(tokens), labels(tokens), len(tokens) // 2
    row, column = half + TARGET, TARGET + 1
    board = Board(
        (
            _panel("previous", hand_made.previous, tokens),
            _panel("induction", hand_made.induction, tokens, hidden=True),
        )
    )
    wrong = {
        "same": frozenset({(row, TARGET)}),
        "previous": frozenset({(row, row - 1)}),
        "self": frozenset({(row, row)}),
        "transposed": frozenset({(column, row)}),
    }
    numbers: Numbers = {
        "asked": letters[TARGET],
        "after": letters[TARGET + 1],
        "row": row,
        "column": column,
        "weight": float(hand_made.induction[row, column]),
        "score": hand_made.score,
        "chance": chance(len(tokens)).induction,
        "first": letters[0],
        "first_row": half,
        "first_weight": float(hand_made.induction[half, 1]),
    }
    question = CellQuestion("induction", frozenset({(row, column)}), wrong)
    return Card("by_hand", numbers, (board,), question, (_film(tokens),))


def _film(tokens: Int64[Tensor, "token"]) -> Motion:
    """The circuit at work on these letters."""
    hand_made = circuit(tokens)
    arrays = {
        "previous": hand_made.previous.double().numpy(),
        "induction": hand_made.induction.double().numpy(),
        "asked": np.array([[len(tokens) // 2 + TARGET, TARGET + 1]], dtype=np.float64),
    }
    return Motion("induction", arrays, {"letters": labels(tokens)}, handles=("asked",))


def circuit(tokens: Int64[Tensor, "token"], removed: Removed = "none") -> CircuitWeights:
    """The circuit on these tokens, whole or with one head of layer 0 removed."""
    letters = torch.nn.functional.one_hot(tokens).double()
    positions = torch.eye(len(tokens), dtype=torch.float64)
    # the key of position p is p + 1, so that query p + 1 matches it; no query matches the last key
    previous = _weights(positions, torch.diag(torch.ones(len(tokens) - 1, dtype=torch.float64), 1))
    other = _weights(positions, positions)
    previous_output = formula.mixed(previous, letters) * float(removed != "previous")
    other_output = formula.mixed(other, letters) * float(removed != "other")
    # the stream of layer 1 has a subspace for each: the letter and both outputs
    stream = torch.cat([letters, previous_output, other_output], dim=1)
    n_letters = letters.shape[1]
    return CircuitWeights(
        previous, other, _weights(stream[:, :n_letters], stream[:, n_letters : 2 * n_letters])
    )


def _weights(
    q: Float[Tensor, "token d_head"], k: Float[Tensor, "token d_head"]
) -> Float[Tensor, "token token"]:
    """The weights of causal attention whose scores are STRENGTH times Q·Kᵀ."""
    scores = formula.scaled(formula.scores(q, k), STRENGTH)
    return formula.weights(formula.masked(scores, masks.causal(len(q), len(k))))


def _panel(name: str, weights: Tensor, tokens: Tensor, hidden: bool = False) -> Panel:
    """A panel of weights with the letters along both axes."""
    letters = labels(tokens)
    blocked = np.triu(np.ones(tuple(weights.shape), dtype=np.bool_), 1)
    return Panel(
        name,
        weights.double().numpy(),
        rows=letters,
        columns=letters,
        signed=False,
        blocked=blocked,
        hidden=hidden,
    )


def _removed(inputs: CardInputs) -> Card:
    """The experiment: the circuit with one head of layer 0 removed, beside the whole one."""
    tokens = _letters(inputs.seed)
    removed = next(head for head in REMOVED if head == inputs.text("without"))
    whole, rest = circuit(tokens), circuit(tokens, removed)
    numbers: dict[str, float | int | str] = {
        "whole": whole.score,
        "now": rest.score,
        "chance": chance(len(tokens)).induction,
    }
    board = Board(
        (_panel("control", whole.induction, tokens), _panel("changed", rest.induction, tokens))
    )
    scores = {head: circuit(tokens, head).score for head in REMOVED}
    numbers |= {"without_previous": scores["previous"], "without_other": scores["other"]}
    question = ChoiceQuestion(("either", "previous", "second"), "previous")
    return Card("removed", numbers, (), question, (board,))


def _moment(inputs: CardInputs) -> Card:
    """The loss on stories without repeats: when did the induction head come?

    The reveal shows the loss of the training batches, in which repeats are frequent.
    """
    name = MODELS[inputs.seed % len(MODELS)]
    curve = _curve(name)
    steps, induction = curve["step"], curve["induction"]
    after = int(np.argmax(induction > HALF))
    # on a straight line between the points around it
    answer = float(np.interp(HALF, induction[after - 1 : after + 1], steps[after - 1 : after + 1]))
    held_out = Series("held_out_loss", steps, curve["held_out_loss"])
    losses = Chart(
        "step", "loss", (held_out, Series("loss", steps, curve["loss"])), marked_x=answer
    )
    names = ("induction", "previous", "copying")
    heads = Chart(
        "step", "share", tuple(Series(name, steps, curve[name]) for name in names), marked_x=answer
    )
    numbers: dict[str, float | int | str] = {
        "model": name,
        "last": int(steps[-1]),
        "early": int(steps[1 + int(np.diff(curve["held_out_loss"]).argmin())]),
        "late": int(steps[-1] / 2),
        "repeated": 100 * SHARE_REPEATED,
    }
    numbers |= _step_numbers(curve, after)
    question = ChoiceQuestion(("early", "shelf", "late"), "shelf", is_scale=True)
    chart = Chart("step", "loss", (held_out,))
    return Card("moment", numbers, (chart,), question, (losses, heads))


@cache
def _curve(model: str) -> dict[str, Float64[np.ndarray, "point"]]:
    """The figures measured every few steps while an embedded model was trained."""
    folder = embedded_folder(model)
    assert folder is not None, "the model is embedded"
    return _columns(folder / "curve.json")


def _step_numbers(
    curve: dict[str, Float64[np.ndarray, "point"]], after: int
) -> dict[str, float | int]:
    """Scores and loss at the measurement of this index and at the one before it."""
    before = after - 1
    return {
        "before_step": int(curve["step"][before]),
        "after_step": int(curve["step"][after]),
        "before": float(curve["induction"][before]),
        "after": float(curve["induction"][after]),
        "loss_before": float(curve["loss"][before]),
        "loss_after": float(curve["loss"][after]),
    }


def _buys(inputs: CardInputs) -> Card:
    """The use of the circuit: copying improves at once, the loss on stories hardly falls."""
    name = MODELS[inputs.seed % len(MODELS)]
    curve = _curve(name)
    after = int(np.argmax(curve["induction"] > HALF))
    before, later = after - 1, after + 1
    held_out, batches, copying = curve["held_out_loss"], curve["loss"], curve["copying"]
    numbers: dict[str, float | int | str] = {
        "model": name,
        "from": int(curve["step"][before]),
        "to": int(curve["step"][later]),
        "rise": float(curve["induction"][later] - curve["induction"][before]),
        "loss_before": float(held_out[before]),
        "loss_after": float(held_out[later]),
        "training_before": float(batches[before]),
        "training_after": float(batches[later]),
        "copy_before": 100 * float(copying[before]),
        "copy_after": 100 * float(copying[later]),
        "repeated": 100 * SHARE_REPEATED,
    }
    steps = curve["step"]
    span = later - before
    numbers |= {
        "span": int(steps[later] - steps[before]),
        "fall": float(held_out[before] - held_out[later]),
        "fall_before": float(held_out[before - span] - held_out[before]),
        "fall_later": float(held_out[later] - held_out[later + span]),
    }
    lines = (Series("held_out_loss", steps, held_out), Series("loss", steps, batches))
    chart = Chart("step", "loss", lines, marked_x=float(steps[after]))
    question = ChoiceQuestion(("falls", "hardly", "rises"), "hardly")
    return Card("buys", numbers, (), question, (chart,))


def _expect(inputs: CardInputs) -> Card:
    """The control of the training: the score on letters that do not repeat."""
    asked = {"repeated": repeated_letters(), "fresh": fresh_letters()}
    panels = (
        Panel(name, np.zeros((1, MAX_LETTERS)), columns=labels(letters[0]), hidden=True)
        for name, letters in asked.items()
    )
    return Card(
        "expect",
        _tiny_numbers(),
        (),
        ChoiceQuestion(("high", "low", "exact"), "low"),
        (_of_trainings("induction", "control"), LiveTraining("birth", inputs.seed, "control")),
        situation=(Board(tuple(panels)),),
    )


def _of_trainings(*names: str) -> Chart:
    """The scores that were measured at the end of each training."""
    trained = births()
    lines = (Series(name, trained["seed"], trained[name]) for name in names)
    return Chart("training", "score", tuple(lines), bars=True)


@cache
def births() -> dict[str, Float64[np.ndarray, "training"]]:
    """The rows of `scripts.measure_births`, trainings from many seeds; NaN for never."""
    return _columns(Path(__file__).with_name("births.json"))


def _columns(path: Path) -> dict[str, Float64[np.ndarray, "row"]]:
    """The columns of rows that are stored in JSON."""
    rows = json.loads(path.read_text(encoding="utf-8"))
    return {name: np.array([row[name] for row in rows], dtype=np.float64) for name in rows[0]}


def _span(steps: Float64[np.ndarray, "training"]) -> str:
    """The first and the last of some steps; one where they are the same."""
    return "–".join(f"{step:.0f}" for step in np.unique([steps.min(), steps.max()]))


def _tiny_numbers() -> dict[str, float | int | str]:
    even, trained = chance(MAX_LETTERS), births()
    induction, previous = trained["induction_step"], trained["previous_step"]
    return {
        "trials": len(induction),
        "control_most": float(trained["control"].max() / even.induction),
        "induction_least": float(trained["induction"].min()),
        "without_most": float(trained["without_previous"].max()),
        "other_least": float(trained["without_other"].min()),
        "copy_most": 100 * float(trained["accuracy_without_previous"].max()),
        "first_times": int((induction < np.nan_to_num(previous, nan=np.inf)).sum()),
        "induction_steps": _span(induction),
        "previous_early": int(np.nanmin(previous)),
        "steps": STEPS,
        "layers": LAYERS,
        "heads": HEADS,
        "letters": MAX_LETTERS,
        "block": BLOCK,
        "chance": even.induction,
        "accuracy": 100 * even.accuracy,
    }


def _ablate(inputs: CardInputs) -> Card:
    """The head of layer 0 that the circuit needs: the trained model with each ablated."""
    question = ChoiceQuestion(("induction", "previous", "either"), "previous")
    scores = _of_trainings("induction", "without_previous", "without_other")
    reveal = (scores, LiveTraining("birth", inputs.seed, "ablation"))
    return Card("ablate", _tiny_numbers(), (), question, reveal)


def _live(inputs: CardInputs) -> Card:
    """The training in the page, after a prediction; the next two cards ask about it."""
    question = ChoiceQuestion(("previous", "induction", "together"), "induction")
    live = LiveTraining("birth", inputs.seed)
    scores = (Series(name, np.linspace(0, STEPS, 2), np.full(2, np.nan)) for name in RACE)
    empty = Chart("step", "score", tuple(scores))
    return Card("live", _tiny_numbers(), (), question, (live,), situation=(empty,))


def _found(inputs: CardInputs) -> Card:
    """The same two heads in a model that was trained to tell stories."""
    model_card = card("stories")
    assert model_card is not None, "the model is embedded"
    previous, induction = model_card.description.heads[:2]
    layer, head = induction.head.removeprefix("L").split(".H")
    assert previous.chance is not None and induction.chance is not None
    numbers: Numbers = {
        "previous": previous.head,
        "previous_score": previous.score,
        "previous_chance": previous.chance,
        "induction": induction.head,
        "induction_score": induction.score,
        "induction_chance": induction.chance,
    }
    measured = np.array([[note.score, note.chance] for note in (previous, induction)])
    names = (previous.head, induction.head)
    board = Board(
        (
            Panel("score", measured[:, :1], rows=names, signed=False),
            Panel("chance", measured[:, 1:], rows=names, signed=False),
        )
    )
    view = {"model": "stories", "text": "Once kite hat dog cat kite hat dog cat"}
    link = Link("circuit", view | {"layer": int(layer), "head": int(head)}, task=True)
    question = ChoiceQuestion(("proof", "hint", "nothing"), "hint")
    return Card("found", numbers, (board,), question, link=link)


LESSON = Lesson(
    "birth",
    needs=("claims",),
    recipes=(
        Recipe("needs", _needs),
        Recipe("by_hand", _by_hand),
        Recipe("removed", _removed, (Pick("without", REMOVED, "other"),), "experiment"),
        Recipe("live", _live),
        Recipe("expect", _expect),
        Recipe("ablate", _ablate),
        Recipe("moment", _moment),
        Recipe("buys", _buys),
        Recipe("found", _found),
    ),
)
