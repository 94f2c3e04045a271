"""The cards of lesson 8 about a real [CLS]: the patches it attends to, and two baselines.

In: the embedded `shapes` on generated pictures, which give the patches that the target covers. The
baselines: the area of the target, and the places of other pictures' targets, which a head that only
prefers the middle reaches too.
"""

from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
from jaxtyping import Float32, Float64

from attnviz.attention.capture import Capture
from attnviz.checks.cards import card
from attnviz.checks.shapes import mass_on
from attnviz.pictures.board import Board, BoardCell, Panel
from attnviz.teach.course.recipe import CardInputs
from attnviz.teach.lessons.cards.card import (
    Card,
    CellQuestion,
    Chart,
    ChoiceQuestion,
    Link,
    NumberQuestion,
    RealHead,
    Series,
)
from attnviz.worlds.shapes import PATCH_PX, SIDE_PX, Scene, sample

MODEL = "shapes"
SIDE = SIDE_PX // PATCH_PX
# numbers of generated pictures: of the grid, of the cards by seed, of the experiment
GRID, CARD_PICTURES = 5, (4, 5, 2)
MANY = tuple(range(8))
COLUMNS = (17, 23, 9)
N_STRONGEST = 3
N_LAYERS, N_HEADS = 4, 4
CLEAR = 1.1  # times a baseline that count as more than it


@cache
def _target_head() -> tuple[int, int, float, float]:
    """Layer and number of the head whose [CLS] attends to the target; its score and chance."""
    model_card = card(MODEL)
    assert model_card is not None, "the model is embedded"
    note = model_card.description.heads[0]
    layer, head = note.head.removeprefix("L").split(".H")
    assert note.chance is not None, "its score has a baseline"
    return int(layer), int(head), note.score, note.chance


@cache
def scene(number: int) -> Scene:
    """The generated picture of a number."""
    return sample(number)


def capture_picture(inputs: CardInputs, number: int) -> Capture:
    """The model captured on a generated picture."""
    return inputs.capture(MODEL, image=scene(number).picture())


def picture(number: int, layer: int = 0, head: int = 0) -> RealHead:
    """The picture with its patches, as the app draws it."""
    view = {"image": f"sample-{number}"}
    return RealHead(MODEL, "", layer, head, shown="output", view=view)


def _grid(row: Float32[np.ndarray, "patch"]) -> Float64[np.ndarray, "row column"]:
    """One number for each patch, as the patches lie in the picture."""
    return row.astype(np.float64).reshape(SIDE, SIDE)


def _from_cls(captured: Capture, layer: int, head: int) -> Float64[np.ndarray, "row column"]:
    """The weight of [CLS] on each patch."""
    return _grid(captured.weights(layer, head)[0, 1:])


def column(inputs: CardInputs) -> Card:
    """A row of A as a grid of patches; the question asks for the patch of its column 17."""
    column, side = COLUMNS[inputs.seed % len(COLUMNS)], SIDE
    layer, head, *_ = _target_head()
    captured = capture_picture(inputs, GRID)
    right: BoardCell = divmod(column - 1, side)
    wrong = {
        "forgot_cls": frozenset({divmod(column, side)}),
        "transposed": frozenset({(right[1], right[0])}),
    }
    board = Board((Panel("grid", _from_cls(captured, layer, head), signed=False),))
    numbers: dict[str, float | int | str] = {
        "column": column,
        "before": column - 1,
        "side": side,
        "tokens": captured.call(0).n_query,
        "row": right[0],
        "in_row": right[1],
        "head": f"L{layer}.H{head}",
    }
    question = CellQuestion("grid", frozenset({right}), wrong)
    return Card("column", numbers, (board,), question, (picture(GRID, layer, head),))


def strongest_patches(inputs: CardInputs) -> Card:
    """The target by patch; the question asks for the patches to which [CLS] attends most."""
    number = CARD_PICTURES[inputs.seed % len(CARD_PICTURES)]
    layer, head, *_ = _target_head()
    cover = scene(number).cover().astype(np.float64)
    weights = _from_cls(capture_picture(inputs, number), layer, head)
    strongest = [divmod(int(patch), len(cover)) for patch in np.argsort(-weights.ravel())]
    right = frozenset(strongest[:N_STRONGEST])
    empty = {(int(row), int(column)) for row, column in np.argwhere(cover == 0)}
    board = Board(
        (
            Panel("cover", cover, signed=False),
            Panel("weights", weights, signed=False, marked=tuple(right), hidden=True),
        )
    )
    numbers: dict[str, float | int | str] = {
        "label": scene(number).label,
        "head": f"L{layer}.H{head}",
        "most": float(weights.max()),
        "row": strongest[0][0],
        "column": strongest[0][1],
        "top": N_STRONGEST,
    }
    link = Link(
        "output", {"model": MODEL, "image": f"sample-{number}", "layer": layer, "head": head}
    )
    question = CellQuestion("cover", right, {"beside": frozenset(empty) - right}, also=("weights",))
    reveal = (picture(number, layer, head),)
    return Card("looks", numbers, (board,), question, reveal, link)


def baseline(inputs: CardInputs) -> Card:
    """The weight on the target of a head that attends evenly, in percent."""
    number = CARD_PICTURES[inputs.seed % len(CARD_PICTURES)]
    pictured = scene(number)
    layer, head, score, chance = _target_head()
    area, n_patches = float(pictured.cover().mean()), pictured.cover().size
    mass = float(mass_on(pictured, capture_picture(inputs, number).weights(layer, head)))
    wrong = {"one_patch": 100 / n_patches, "half": 50.0, "all": 100.0}
    numbers: dict[str, float | int | str] = {
        "label": pictured.label,
        "area": 100 * area,
        "mass": 100 * mass,
        "times": mass / area,
        "patches": n_patches,
        "covered": float(pictured.cover().sum()),
        "head": f"L{layer}.H{head}",
        "score": 100 * score,
        "chance": 100 * chance,
        "all_times": score / chance,
    }
    board = Board((Panel("cover", pictured.cover().astype(np.float64), signed=False),))
    return Card("baseline", numbers, (board,), NumberQuestion(100 * area, 0.6, wrong))


@dataclass(frozen=True, eq=False)
class TargetWeights:
    """The weight of [CLS] of one head on eight pictures, in fractions.

    `own` lies on the picture's target, `others` is the mean on the places of the other pictures'
    targets, `areas` are covered by the target.
    """

    own: Float64[np.ndarray, "picture"]
    others: Float64[np.ndarray, "picture"]
    areas: Float64[np.ndarray, "picture"]

    def chart(self) -> Chart:
        """The three fractions as bars."""
        x = np.array(MANY, dtype=np.float64)
        lines = {"own": self.own, "control": self.others, "area": self.areas}
        series = tuple(Series(name, x, 100 * values) for name, values in lines.items())
        return Chart("picture", "mass", series, bars=True)

    def numbers(self, head: str) -> dict[str, float | int | str]:
        """The means, in percent."""
        own, control, area = (
            100 * float(values.mean()) for values in (self.own, self.others, self.areas)
        )
        times = {"over_area": own / area, "over_control": own / control}
        means = {"own": own, "control": control, "area": area}
        return {"head": head, "pictures": len(MANY), **means, **times}


def _target_weights(inputs: CardInputs, layer: int, head: int) -> TargetWeights:
    scenes = [scene(number) for number in MANY]
    captured = inputs.capture(MODEL, image=[picture.picture() for picture in scenes])
    weights = [captured.weights(layer, head, batch=row) for row in range(len(scenes))]
    mass = np.array([[float(mass_on(target, rows)) for target in scenes] for rows in weights])
    own = np.diag(mass).copy()
    others = (mass.sum(axis=1) - own) / (len(MANY) - 1)
    areas = np.array([float(picture.cover().mean()) for picture in scenes])
    return TargetWeights(own, others, areas)


def elsewhere(inputs: CardInputs) -> Card:
    """The same weights on the targets of other pictures: a harder baseline."""
    layer, head, *_ = _target_head()
    weights = _target_weights(inputs, layer, head)
    question = ChoiceQuestion(("area", "between", "same"), "between")
    return Card("elsewhere", weights.numbers(f"L{layer}.H{head}"), (), question, (weights.chart(),))


def many(inputs: CardInputs) -> Card:
    """The experiment: any head on eight pictures, each beside its control."""
    layer, head = int(inputs.number("layer")), int(inputs.number("head"))
    weights = _target_weights(inputs, layer, head)
    heads = [
        _target_weights(inputs, each_layer, each_head).numbers("")
        for each_layer in range(N_LAYERS)
        for each_head in range(N_HEADS)
    ]
    above_area = [float(head["over_control"]) for head in heads if float(head["over_area"]) > CLEAR]
    above_both = sum(times > CLEAR for times in above_area)
    question = ChoiceQuestion(("all", "some", "none"), _how_many(above_both, len(above_area)))
    numbers = weights.numbers(f"L{layer}.H{head}") | {
        "heads": len(heads),
        "above_area": len(above_area),
        "above_both": above_both,
        "clear": CLEAR,
    }
    return Card("many", numbers, (), question, (weights.chart(),))


def _how_many(part: int, whole: int) -> Literal["all", "some", "none"]:
    return "none" if not part else "all" if part == whole else "some"
