"""Lesson 8, pictures are sentences of patches: the vision transformer's attention, on real numbers.

    [q, k, v] = z·U_qkv,  A = softmax(q·kᵀ/√D_h),  SA(z) = A·v,  MSA(z) = [SA_1; …; SA_k]·U_msa

Source: Dosovitskiy et al. 2020, appendix A, as course texts walk through it. The real model is the
embedded `shapes`; the cards about the attention of its [CLS] are in `attention`.
"""

import numpy as np
import torch
from torch import Tensor

from attnviz.attention import formula
from attnviz.attention.steps import derive
from attnviz.pictures.board import Board, Panel
from attnviz.pictures.motion.scenes import Motion
from attnviz.teach.calculator.presets import preset
from attnviz.teach.course.patches.attention import (
    SIDE,
    baseline,
    capture_picture,
    column,
    elsewhere,
    many,
    scene,
    strongest_patches,
)
from attnviz.teach.course.recipe import CardInputs, Lesson, Recipe
from attnviz.teach.lessons.cards.card import (
    Card,
    CellQuestion,
    Chart,
    ChoiceQuestion,
    NumberQuestion,
    Pick,
    Series,
    Slider,
)
from attnviz.worlds.shapes import PATCH_PX, SIDE_PX

# (side of the picture, side of a patch) in pixels: the embedded model's, and two of ViT-B's
PICTURES = ((SIDE_PX, PATCH_PX), (224, 16), (224, 32))
FINER = ((SIDE_PX, PATCH_PX), (224, 32), (224, 16))
PATCHES = (PATCH_PX, 16, 14)
PATCH_SIDES = (24.0, 16.0, 12.0, 8.0, 6.0, 4.0)
N_COLOURS = 3
# the number of the picture that is cut up here, and a patch at the edge of its largest thing
CUT, ROW, COLUMN = 4, 3, 2
SHOWN_NUMBERS = 8


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
    return Card("cut", numbers, (before,), question, (Motion("cut", arrays, labels),))


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


def _z_and_joint(seed: int) -> tuple[Tensor, Tensor]:
    """Four patches z and U_qkv: the calculator's example for seed 0, else random ones."""
    if seed == 0:
        matrices = preset("patches").matrices
        joint = np.concatenate([matrices[name] for name in ("w_q", "w_k", "w_v")], axis=1)
        return torch.from_numpy(matrices["x"]), torch.from_numpy(joint)
    draws = np.random.default_rng(seed)
    z, joint = np.round(draws.normal(size=(4, 6)), 2), np.round(draws.normal(size=(6, 9)) / 2, 2)
    return torch.from_numpy(z), torch.from_numpy(joint)


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
    return Card("joint", numbers, (Board(panels),), question)


def _product(left: Tensor, right: Tensor) -> tuple[Tensor | None, str]:
    """(the product, its shape), or (None, torch's error message)."""
    try:
        product = left @ right
    except RuntimeError as error:
        return None, str(error)
    return product, _shape(product)


def _shape(matrix: Tensor) -> str:
    return "×".join(map(str, matrix.shape))


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
    numbers: dict[str, float | int | str] = {
        "n": len(q),
        "d_head": q.shape[1],
        "left": _shape(left),
        "right": _shape(right),
        "said": outcome,
        "control": _shape(control),
    }
    question = ChoiceQuestion(("square", "error", "narrow"), "error")
    return Card("transpose", numbers, (), question, boards)


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


def _merge(inputs: CardInputs) -> Card:
    """Two heads side by side, times U_msa; the question asks for the rows of head 1."""
    draws = np.random.default_rng(11 + inputs.seed)
    concat, u_msa = (
        torch.from_numpy(np.round(draws.normal(size=shape), 1)) for shape in ((3, 4), (4, 4))
    )
    width = 2
    slices = (slice(0, width), slice(width, 2 * width))
    parts = [concat[:, columns] @ u_msa[columns] for columns in slices]
    board = Board(
        (
            Panel("concat", concat.numpy(), decimals=1),
            Panel("u_msa", u_msa.numpy(), before="·", decimals=1),
            Panel("msa", (concat @ u_msa).numpy(), before="=", scale="output"),
        )
    )
    sum_of_parts = Board(
        (
            Panel("part_0", parts[0].numpy(), scale="output"),
            Panel("part_1", parts[1].numpy(), before="+", scale="output"),
            Panel("sum", (parts[0] + parts[1]).numpy(), before="=", scale="output"),
        )
    )
    rows = {
        head: frozenset((head * width + r, c) for r in (0, 1) for c in range(4)) for head in (0, 1)
    }
    steps = derive(capture_picture(inputs, CUT).call(0), 0)
    numbers = {
        "heads": steps.call.n_heads,
        "d_head": steps.v.shape[1],
        "d": steps.concat.shape[1],
        "error": steps.errors["projected"],
        "difference": float((concat @ u_msa - parts[0] - parts[1]).abs().max()),
    }
    return Card(
        "merge",
        numbers,
        (board,),
        CellQuestion("u_msa", rows[1], {"first": rows[0]}),
        (sum_of_parts,),
    )


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
        Recipe("merge", _merge),
        Recipe("column", column),
        Recipe("looks", strongest_patches),
        Recipe("baseline", baseline),
        Recipe("elsewhere", elsewhere),
        Recipe(
            "many",
            many,
            (
                Slider("layer", (0.0, 1.0, 2.0, 3.0), 3.0),
                Slider("head", (0.0, 1.0, 2.0, 3.0), 1.0),
            ),
            "experiment",
        ),
    ),
)
