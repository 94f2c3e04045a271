"""Pictures are sentences of patches: the vision transformer's attention, on real numbers.

    [q, k, v] = z·U_qkv,  A = softmax(q·kᵀ/√D_h),  SA(z) = A·v,  MSA(z) = [SA_1; …; SA_k]·U_msa

Source: Dosovitskiy et al. 2020, appendix A, as course texts walk through it. The real model is the
embedded `shapes` on generated pictures, which give the patches that the target covers. The cards on
the attention of its [CLS] have two baselines: the area of the target, and the places of other
pictures' targets, which a head that only prefers the middle reaches too.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from jaxtyping import Float64
from torch import Tensor

from attnviz.attention import formula
from attnviz.attention.capture import Capture
from attnviz.attention.steps import derive
from attnviz.checks.cards import card
from attnviz.checks.shapes import mass_on
from attnviz.pictures.board import Board, BoardCell, Panel
from attnviz.pictures.motion import Motion
from attnviz.teach.calculator.presets import preset
from attnviz.teach.course.recipe import CardInputs, Lesson, Recipe
from attnviz.teach.lessons.cards.card import (
    Card,
    CellQuestion,
    Chart,
    ChoiceQuestion,
    Link,
    NumberQuestion,
    Numbers,
    Pick,
    RealHead,
    Series,
    Slider,
)
from attnviz.worlds.shapes import PATCH_PX, SIDE_PX, Scene, sample

# (side of the picture, side of a patch) in pixels: the embedded model's, and two of ViT-B's
PICTURES = ((SIDE_PX, PATCH_PX), (224, 16), (224, 32))
FINER = ((SIDE_PX, PATCH_PX), (224, 32), (224, 16))
PATCHES = (PATCH_PX, 16, 14)
PATCH_SIDES = (24.0, 16.0, 12.0, 8.0, 6.0, 4.0)
N_COLOURS = 3
# the number of the picture that is cut up here, and a patch at the edge of its largest thing
CUT, ROW, COLUMN = 4, 3, 2
SHOWN_NUMBERS = 8
# the cards on [CLS]
MODEL = "shapes"
SIDE = SIDE_PX // PATCH_PX
# numbers of generated pictures: of the grid, of the cards by seed, of the experiment
GRID, CARD_PICTURES = 5, (4, 5, 2)
MANY = tuple(range(8))
COLUMNS = (17, 23, 9)
N_STRONGEST = 3
N_LAYERS, N_HEADS = 4, 4
CLEAR = 1.1  # times a baseline that count as more than it


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
        times: dict[str, float | int] = {
            "over_area": own / area,
            "over_control": own / control,
            "beaten": int((self.others > self.own).sum()),
        }
        means = {"own": own, "control": control, "area": area}
        return {"head": head, "pictures": len(MANY), **means, **times}


def _cut(inputs: CardInputs) -> Card:
    side, patch = PICTURES[inputs.seed % len(PICTURES)]
    along = side // patch
    n_patches = along * along
    question = NumberQuestion(
        n_patches + 1, 0.1, {"no_cls": n_patches, "side": along, "pixels": side * side}
    )
    numbers = {"side": side, "patch": patch, "along": along, "patches": n_patches}
    numbers |= {"tokens": n_patches + 1}
    if side != SIDE_PX:
        return Card("cut", numbers, (), question)
    arrays = {
        "pixels": scene(CUT).picture().astype(np.float64).reshape(side, -1),
        "along": np.array([[along]], dtype=np.float64),
    }
    labels = {"cls": ("[CLS]",)}
    before = Motion("cut", arrays, labels, scenes=("whole", "cut"))
    return Card(
        "cut", numbers, (before,), question, (Motion("cut", arrays, labels, handles=("patch",)),)
    )


@cache
def scene(number: int) -> Scene:
    """The generated picture of a number."""
    return sample(number)


def _vector(inputs: CardInputs) -> Card:
    """The numbers of one patch, and the beginning of its vector in front of the first block."""
    captured, patch = capture_picture(inputs, CUT), PATCHES[inputs.seed % len(PATCHES)]
    z = derive(captured.call(0), 0).x
    assert z is not None, "W_Q of this model is found"
    token = 1 + ROW * SIDE + COLUMN
    top, left = ROW * PATCH_PX, COLUMN * PATCH_PX
    pixels = scene(CUT).picture()[top : top + PATCH_PX, left : left + PATCH_PX, 0]
    board = Board((Panel("pixels", pixels.astype(np.float64), decimals=0, signed=False),))
    vector = Board((Panel("z", z[token : token + 1, :SHOWN_NUMBERS].double().numpy()),))
    in_patch = patch * patch * N_COLOURS
    wrong = {"colourless": patch * patch, "edge": patch * N_COLOURS, "width": z.shape[1]}
    numbers = {
        "patch": patch,
        "colours": N_COLOURS,
        "in_patch": in_patch,
        "width": z.shape[1],
        "shown": SHOWN_NUMBERS,
        "row": ROW,
        "column": COLUMN,
        "drawn": PATCH_PX,
    }
    return Card("vector", numbers, (board,), NumberQuestion(in_patch, 0.5, wrong), (vector,))


def capture_picture(inputs: CardInputs, number: int) -> Capture:
    """The model captured on a generated picture."""
    return inputs.capture(MODEL, image=scene(number).picture())


def _joint(inputs: CardInputs) -> Card:
    """One product gives q, k and v; the question asks for the first cell of k of patch 2."""
    z, joint = _z_and_joint(inputs.seed)
    qkv, width, row = z @ joint, joint.shape[1] // 3, 2
    panels = (
        Panel("z", z.numpy()),
        Panel("u_qkv", joint.numpy(), before="·"),
        Panel("qkv", qkv.numpy(), before="="),
    )
    wrong = {
        "query": frozenset({(row, column) for column in range(width)}),
        "value": frozenset({(row, column) for column in range(2 * width, 3 * width)}),
        "late": frozenset({(row, width + 1), (row, width + 2)}),
        "patch": frozenset({(other, width) for other in range(len(z)) if other != row}),
    }
    question = CellQuestion("qkv", frozenset({(row, width)}), wrong)
    numbers = {
        "n": len(z),
        "d": z.shape[1],
        "d_head": width,
        "columns": 3 * width,
        "row": row,
        "first": width,
        "value": float(qkv[row, width]),
    }
    steps = derive(capture_picture(inputs, CUT).call(0), 0)
    numbers |= {
        "real_heads": steps.call.n_heads,
        "real_width": steps.v.shape[1],
        "error": steps.errors["projected"],
    }
    return Card("joint", numbers, (Board(panels),), question)


def _z_and_joint(seed: int) -> tuple[Tensor, Tensor]:
    """Four patches z and U_qkv: the calculator's example for seed 0, else random ones."""
    if seed == 0:
        matrices = preset("patches").matrices
        joint = np.concatenate([matrices[name] for name in ("w_q", "w_k", "w_v")], axis=1)
        return torch.from_numpy(matrices["x"]), torch.from_numpy(joint)
    draws = np.random.default_rng(seed)
    z, joint = np.round(draws.normal(size=(4, 6)), 2), np.round(draws.normal(size=(6, 9)) / 2, 2)
    return torch.from_numpy(z), torch.from_numpy(joint)


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
    numbers: Numbers = {
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


@cache
def _target_head() -> tuple[int, int, float, float]:
    """Layer and number of the head whose [CLS] attends to the target; its score and chance."""
    model_card = card(MODEL)
    assert model_card is not None, "the model is embedded"
    note = model_card.description.heads[0]
    layer, head = note.head.removeprefix("L").split(".H")
    assert note.chance is not None, "its score has a baseline"
    return int(layer), int(head), note.score, note.chance


def _from_cls(captured: Capture, layer: int, head: int) -> Float64[np.ndarray, "row column"]:
    """The weight of [CLS] on each patch."""
    return captured.weights(layer, head)[0, 1:].astype(np.float64).reshape(SIDE, SIDE)


def picture(number: int, layer: int = 0, head: int = 0) -> RealHead:
    """The picture with its patches, as the app draws it."""
    view = {"image": f"sample-{number}"}
    return RealHead(MODEL, "", layer, head, shown="output", view=view)


def _transpose(inputs: CardInputs) -> Card:
    """The experiment: other ways to multiply q and k, beside the one that attention uses."""
    z, joint = _z_and_joint(inputs.seed)
    q, k, _ = torch.chunk(z @ joint, 3, dim=1)
    ways = {"plain": (q, k), "features": (q.T, k), "swapped": (k, q.T)}
    left, right = ways[inputs.text("way")]
    product, outcome = _product(left, right)
    control = formula.scores(q, k)
    changed = [Panel("left", left.numpy()), Panel("right", right.numpy(), before="·")]
    if product is not None:
        changed.append(Panel("product", product.numpy(), before="=", scale="scores"))
    boards = (
        Board(
            (
                Panel("q", q.numpy()),
                Panel("k_t", k.T.numpy(), before="·"),
                Panel("scores", control.numpy(), before="=", scale="scores"),
            )
        ),
        Board(tuple(changed)),
    )
    numbers: Numbers = {
        "n": len(q),
        "d_head": q.shape[1],
        "left": _shape(left),
        "right": _shape(right),
        "said": outcome,
        "control": _shape(control),
    }
    question = ChoiceQuestion(("square", "error", "narrow"), "error")
    return Card("transpose", numbers, (), question, boards, situation=boards[:1])


def _product(left: Tensor, right: Tensor) -> tuple[Tensor | None, str]:
    """(the product, its shape), or (None, torch's error message)."""
    try:
        product = left @ right
    except RuntimeError as error:
        return None, str(error)
    return product, _shape(product)


def _shape(matrix: Tensor) -> str:
    return "×".join(map(str, matrix.shape))


def _square(inputs: CardInputs) -> Card:
    """The number of a head's weights over the side of a patch."""
    side, patch = FINER[inputs.seed % len(FINER)]
    coarse, fine = (_n_tokens(side, size) for size in (patch, patch // 2))
    times = (fine / coarse) ** 2
    sides = np.array(PATCH_SIDES)
    weights = np.array([_n_tokens(SIDE_PX, int(size)) ** 2 for size in PATCH_SIDES], np.float64)
    chart = Chart("patch", "weights", (Series("cells", sides, weights),), marked_x=float(PATCH_PX))
    numbers = {
        "side": side,
        "patch": patch,
        "half": patch // 2,
        "coarse": coarse,
        "fine": fine,
        "coarse_cells": coarse**2,
        "fine_cells": fine**2,
        "times": times,
        "drawn": SIDE_PX,
    }
    question = NumberQuestion(times, 0.7, {"twice": 2, "patches": 4, "cubed": 8})
    return Card("square", numbers, (), question, (chart,))


def _n_tokens(side: int, patch: int) -> int:
    return (side // patch) ** 2 + 1


def _strongest_patches(inputs: CardInputs) -> Card:
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
    numbers: Numbers = {
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


def _baseline(inputs: CardInputs) -> Card:
    """The weight on the target of a head that attends evenly, in percent."""
    number = CARD_PICTURES[inputs.seed % len(CARD_PICTURES)]
    pictured = scene(number)
    layer, head, score, chance = _target_head()
    area, n_patches = float(pictured.cover().mean()), pictured.cover().size
    mass = float(mass_on(pictured, capture_picture(inputs, number).weights(layer, head)))
    wrong = {"one_patch": 100 / n_patches, "half": 50.0, "all": 100.0}
    numbers: Numbers = {
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


def _elsewhere(inputs: CardInputs) -> Card:
    """The same weights on the targets of other pictures: a harder baseline."""
    layer, head, *_ = _target_head()
    weights = _target_weights(inputs, layer, head)
    question = ChoiceQuestion(("area", "between", "same"), "between")
    return Card("elsewhere", weights.numbers(f"L{layer}.H{head}"), (), question, (weights.chart(),))


def _target_weights(inputs: CardInputs, layer: int, head: int) -> TargetWeights:
    scenes = [scene(number) for number in MANY]
    captured = inputs.capture(MODEL, image=[picture.picture() for picture in scenes])
    weights = [captured.weights(layer, head, batch=row) for row in range(len(scenes))]
    mass = np.array([[float(mass_on(target, rows)) for target in scenes] for rows in weights])
    own = np.diag(mass).copy()
    others = (mass.sum(axis=1) - own) / (len(MANY) - 1)
    areas = np.array([float(picture.cover().mean()) for picture in scenes])
    return TargetWeights(own, others, areas)


def _many(inputs: CardInputs) -> Card:
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
    answer = "none" if not above_both else "all" if above_both == len(above_area) else "some"
    question = ChoiceQuestion(("all", "some", "none"), answer, is_scale=True)
    numbers = weights.numbers(f"L{layer}.H{head}") | {
        "heads": len(heads),
        "above_area": len(above_area),
        "above_both": above_both,
        "clear": CLEAR,
    }
    return Card("many", numbers, (), question, (weights.chart(),))


LESSON = Lesson(
    "patches",
    needs=("heads",),
    recipes=(
        Recipe("cut", _cut),
        Recipe("vector", _vector),
        Recipe("joint", _joint),
        Recipe(
            "transpose",
            _transpose,
            (Pick("way", ("plain", "features", "swapped"), "features"),),
            "experiment",
        ),
        Recipe("square", _square),
        Recipe("column", column),
        Recipe("looks", _strongest_patches),
        Recipe("baseline", _baseline),
        Recipe("elsewhere", _elsewhere),
        Recipe(
            "many",
            _many,
            (
                Slider("layer", (0.0, 1.0, 2.0, 3.0), 3.0),
                Slider("head", (0.0, 1.0, 2.0, 3.0), 1.0),
            ),
            "experiment",
        ),
    ),
)
