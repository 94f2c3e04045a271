"""The wrappers of steps and masks: what travels, which texts they need, what they believe."""

import re
from collections.abc import Callable
from dataclasses import fields, replace
from types import ModuleType

import numpy as np
import pytest

from attnviz.pictures import masks, steps
from attnviz.pictures.masks import MasksData
from attnviz.pictures.shared import bundle
from attnviz.pictures.shared.buffer import Packable, unpack
from attnviz.pictures.shared.canvas import packed, texts
from attnviz.pictures.shared.heads import LayerPatches, TokenAxis
from attnviz.pictures.steps import (
    FORMULAS,
    BlockedCells,
    HeadForm,
    HeadPlace,
    StepsData,
    StepTokens,
)
from attnviz.types import STAGES, AxisName, Stage, StepView

LABELS = ("[CLS]", "</script><img src=x>", "%{x}")
KEY_LABELS = ("a", "b", "c", "d", "[SEP]")
REASONS = ("the key is padding", "the key comes later")
D_HEAD, HEADS = 2, 3
HEAD = 1
SHAPES: dict[Stage, tuple[AxisName, AxisName]] = {
    "x": ("query", "d_model"),
    "q": ("query", "d_head"),
    "k": ("key", "d_head"),
    "v": ("key", "d_head"),
    "scores": ("query", "key"),
    "scaled": ("query", "key"),
    "masked": ("query", "key"),
    "weights": ("query", "key"),
    "mixed": ("query", "d_head"),
    "concat": ("query", "d_concat"),
    "projected": ("query", "d_model"),
}
SIZES = {"query": 3, "key": 5, "d_head": D_HEAD, "d_model": 5, "d_concat": D_HEAD * HEADS}
SHARED_BY_PICKER = {
    "layer",
    "head",
    "previous_layer",
    "next_layer",
    "previous_head",
    "next_head",
}


def axis(labels: tuple[str, ...]) -> TokenAxis:
    """Tokens in brackets are special; the last one was written by the model."""
    special = np.array([label.startswith("[") for label in labels])
    return TokenAxis(labels, special, np.arange(len(labels)) == len(labels) - 1)


def view_of(stage: Stage) -> StepView:
    rows, cols = SHAPES[stage]
    values = np.random.default_rng(len(stage)).normal(size=(SIZES[rows], SIZES[cols]))
    weights = stage == "weights"
    return StepView(
        stage=stage,
        values=values.astype(np.float32),
        rows=rows,
        cols=cols,
        signed=not weights,
        range=(0.0, 1.0) if weights else None,
        rows_sum_to=1.0 if weights else None,
        error=0.00000025 if stage in ("q", "k", "mixed") else None,
        tolerance=0.00001,
    )


def some_steps() -> StepsData:
    return StepsData(
        place=HeadPlace(1, HEAD, 2, HEADS),
        tokens=StepTokens(axis(LABELS), axis(KEY_LABELS), cross=True),
        form=HeadForm(scaling=0.5),
        views=tuple(view_of(stage) for stage in SHAPES if stage != "x"),
        absent={"x": "the layer reads something else"},
        blocked=BlockedCells(
            np.array([[0, 2, 3, 0, 0], [0, 0, 3, 0, 0], [0, 0, 1, 0, 0]], np.uint8),
            ("padding", "causal"),
            REASONS,
        ),
    )


def some_masks() -> MasksData:
    rng = np.random.default_rng(89)
    return MasksData(
        queries=(axis(LABELS), axis(("[CLS]", "b", "[PAD]"))),
        keys=(axis(KEY_LABELS), axis(KEY_LABELS)),
        cross=True,
        padding=np.array([[False] * 3, [False, False, True]]),
        key_padding=np.array([[False] * 5, [False] * 4 + [True]]),
        layer=0,
        head=2,
        n_layers=2,
        n_heads=HEADS,
        as_model=1,
        sizes={"window": 4, "prefix": 1, "block": 2},
        mask_names=("padding", "window"),
        mask_reasons=REASONS,
        padding_of="memory",
        model_blocks=rng.integers(0, 2, (2, 3, 5)).astype(np.bool_),
        weights=rng.random((2, 3, 5)).astype(np.float32),
        scaled=rng.normal(size=(2, 3, 5)).astype(np.float32),
        sinks=np.array([[-np.inf] * 3, [0.5] * 3], dtype=np.float32),
    )


PARTS: list[tuple[ModuleType, Callable[[], bytes]]] = [
    (steps, lambda: packed(steps.CANVAS, some_steps(), "en")),
    (masks, lambda: packed(masks.CANVAS, some_masks(), "en")),
]
each_part = pytest.mark.parametrize(("part", "packed"), PARTS, ids=["steps", "masks"])


def name_of(part: ModuleType) -> str:
    return part.__name__.rpartition(".")[2]


def source_of(part: ModuleType) -> str:
    folder = bundle.FOLDER / name_of(part)
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.js")))


def test_every_matrix_of_the_steps_travels_as_it_is() -> None:
    data = some_steps()
    _, arrays = unpack(packed(steps.CANVAS, data, "en"))
    assert arrays.keys() == {"blocked", *(view.stage for view in data.views)}
    for view in data.views:
        np.testing.assert_array_equal(arrays[view.stage], view.values)
    np.testing.assert_array_equal(arrays["blocked"], data.blocked.blocked)


def test_a_panel_says_what_its_numbers_mean() -> None:
    header, _ = unpack(packed(steps.CANVAS, some_steps(), "en"))
    panels = {panel["stage"]: panel for panel in header["panels"]}
    assert list(panels) == [stage for stage in STAGES if stage in SHAPES]
    assert panels["x"]["absent"] == "the layer reads something else"
    assert panels["weights"]["range"] == [0, 1]
    assert panels["weights"]["rows_sum_to"] == 1
    assert panels["mixed"]["error"] == pytest.approx(2.5e-7)
    assert panels["scores"]["error"] is None
    assert (panels["concat"]["rows"], panels["concat"]["cols"]) == ("query", "d_concat")
    assert panels["concat"]["shape"] == [3, 6]
    assert header["head_slice"] == [2, 4]  # head 1 of heads that are 2 wide
    assert header["d_head"] == D_HEAD
    assert header["d_model"] == 5  # from the projected rows, X being absent


@pytest.mark.parametrize("error", [np.inf, np.nan, 0.1])
def test_an_error_above_tolerance_is_said_whatever_its_size(error: float) -> None:
    data = some_steps()
    views = tuple(replace(v, error=error) if v.stage == "mixed" else v for v in data.views)
    header, _ = unpack(packed(steps.CANVAS, replace(data, views=views), "en"))
    panels = {panel["stage"]: panel for panel in header["panels"]}
    assert panels["mixed"]["ok"] is False
    assert panels["mixed"]["error"] == (0.1 if error == 0.1 else None)
    assert panels["scores"]["ok"] is True


def test_stages_that_a_model_may_have_get_a_panel_when_they_exist() -> None:
    data = some_steps()
    bias = replace(view_of("scaled"), stage="biased")
    header, _ = unpack(packed(steps.CANVAS, replace(data, views=(*data.views, bias)), "en"))
    stages = [panel["stage"] for panel in header["panels"]]
    assert stages.index("biased") == stages.index("masked") - 1
    assert "capped" not in stages


def changed(**changes: object) -> StepsData:
    """The example with other parts: fields of its form or tokens, or of itself."""
    data = some_steps()
    for part in ("form", "tokens"):
        names = changes.keys() & {entry.name for entry in fields(getattr(data, part))}
        own = {name: changes.pop(name) for name in names}
        data = replace(data, **{part: replace(getattr(data, part), **own)})
    return replace(data, **changes)  # type: ignore[arg-type]


def formulas(**changes: object) -> dict[str, str]:
    header, _ = unpack(packed(steps.CANVAS, changed(**changes), "en"))
    return {panel["stage"]: panel["formula"] for panel in header["panels"]}


def test_formulas_are_those_of_the_model() -> None:
    views = {view.stage: view for view in some_steps().views}
    capped, biased = (replace(views["scaled"], stage=stage) for stage in ("capped", "biased"))
    usual = formulas(scaling=D_HEAD**-0.5, cross=False)
    assert usual["k"] == "K = X·W_K + b_K"
    assert usual["scaled"] == "S ÷ √d_k"
    assert usual["weights"] == "A = softmax(S ÷ √d_k + M)"
    assert formulas()["k"] == "K = E·W_K + b_K"  # cross-attention: from the encoder's output
    assert formulas()["v"] == "V = f(E·W_V)"  # no layer was found that makes it by itself
    assert formulas()["scaled"] == "S × 0.5"
    both = formulas(views=(*views.values(), capped, biased), sink=True)
    assert both["capped"] == "C = c·tanh((S × 0.5) ÷ c)"
    assert both["biased"] == "C + B"
    assert both["masked"] == "C + B + M"
    assert both["weights"] == "A = softmax(C + B + M | s)"


def test_formulas_of_a_rotary_embedding_and_of_layers_without_a_bias() -> None:
    views = {view.stage: replace(view, error=0.0) for view in some_steps().views}
    before = replace(views["q"], stage="unrotated_q")
    told = formulas(
        views=(before, *views.values()),
        turned=frozenset({"q", "k"}),
        without_bias=frozenset({"q", "projected"}),
        cross=False,
    )
    assert told["unrotated_q"] == "Q′ = X·W_Q"
    assert told["q"] == "Q_t = R_t·Q′_t"
    assert told["k"] == "K_t = R_t·(X·W_K)_t"  # of a long text it is not kept
    assert told["v"] == "V = X·W_V + b_V"
    assert told["projected"] == f"[Z_0 … Z_{HEADS - 1}]·W_O"
    assert "unrotated_k" not in told


def test_a_constant_factor_stands_in_the_formula_with_its_number() -> None:
    views = {view.stage: replace(view, error=0.0) for view in some_steps().views}
    changes: dict[str, object] = {
        "views": tuple(views.values()),
        "scaling": 1.0,
        "cross": False,
        "factors": {"q": D_HEAD**-0.5, "k": -0.3},
        "without_bias": frozenset({"k"}),
    }
    told = formulas(**changes)
    assert told["q"] == "Q = s_Q·(X·W_Q + b_Q)"
    assert told["k"] == "K = s_K·X·W_K"
    assert told["v"] == "V = X·W_V + b_V"
    assert told["scaled"] == "S × 1"
    header, _ = unpack(packed(steps.CANVAS, changed(**changes), "en"))
    said = {
        stage: text.replace("\N{NO-BREAK SPACE}", " ") for stage, text in header["factors"].items()
    }
    assert said == {"q": "s_Q = 0.7071 = 1 ÷ √d_k", "k": "s_K = −0.3"}
    unproven = tuple(replace(view, error=None) for view in views.values())
    assert formulas(**changes | {"views": unproven})["q"] == "Q = f(X·W_Q)"


def test_every_stage_has_a_formula_a_title_and_a_place_in_the_strip() -> None:
    assert FORMULAS.keys() == set(STAGES)
    assert all(f"title_{stage}" in texts("steps", "en") for stage in STAGES)
    folder = bundle.FOLDER / "steps"
    source = (folder / "stages.js").read_text(encoding="utf-8")
    lines = re.search(r"^export const LINES = (.*?);$", source, re.M | re.S)
    assert lines is not None
    assert re.findall(r'"(\w+)"', lines[1]) == list(STAGES)
    roles = (folder / "highlight.js").read_text(encoding="utf-8").partition("ROW_ROLES = {")[2]
    assert re.findall(r"(\w+): \[", roles.partition("};")[0]) == list(STAGES)


def test_masks_travel_with_what_any_variant_is_made_of() -> None:
    data = some_masks()
    header, arrays = unpack(packed(masks.CANVAS, data, "en"))
    expected: dict[str, Packable] = {
        "model_blocks": data.model_blocks.astype(np.uint8),
        "weights": data.weights,
        "scaled": data.scaled,
        "sinks": data.sinks,
    }
    assert arrays.keys() == expected.keys()
    for name, array in expected.items():
        np.testing.assert_array_equal(arrays[name], array)
    assert arrays["sinks"][0, 0] == -np.inf
    assert header["padding"] == [[0, 0, 0], [0, 0, 1]]
    assert header["key_padding"] == [[0] * 5, [0] * 4 + [1]]
    assert header["sizes"] == {"window": 4, "prefix": 1, "block": 2}
    assert header["tokens"][1] == ["[CLS]", "b", "[PAD]"]
    assert header["as_model"] == 1


def test_a_picture_travels_with_the_blocks_that_keys_stand_for() -> None:
    seen = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
    boxes = ((0, 0, 2, 2), (0, 2, 2, 4), None)
    patches = LayerPatches(2, 4, (8, 4), top=2, first=1, key_boxes=boxes, said="blocks")
    data = changed(patches=patches, picture=seen, coarser=True)
    header, arrays = unpack(packed(steps.CANVAS, data, "en"))
    np.testing.assert_array_equal(arrays["picture"], seen)
    assert header["patches"]["key_boxes"] == [[0, 0, 2, 2], [0, 2, 2, 4], None]
    assert header["patches"]["query_boxes"] is None
    assert (header["patches"]["grid"], header["patches"]["top"]) == ([8, 4], 2)
    assert header["source"] == "X̄"
    assert [panel["formula"] for panel in header["panels"] if panel["stage"] == "k"] == [
        "K = X̄·W_K + b_K"
    ]
    assert unpack(packed(steps.CANVAS, some_steps(), "en"))[0]["source"] == "E"
