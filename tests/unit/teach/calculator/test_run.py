"""The calculator's numbers: course texts to the printed digit, torch, and the code it gives out."""

import warnings

import numpy as np
import pytest
import torch

from attnviz.attention.steps import Steps, derive
from attnviz.teach.calculator.code import numpy_code, torch_code
from attnviz.teach.calculator.presets import PRESETS, preset
from attnviz.teach.calculator.run import call
from attnviz.teach.calculator.sheet import MASKS, SCALE_RULES, MaskChoice, ScaleRule, Sheet, sheet


def steps(made: Sheet) -> Steps:
    return derive(call(made), 0)


def made_sheet(mask: MaskChoice, scale: ScaleRule, from_x: bool) -> Sheet:
    draws = np.random.default_rng(11)
    custom = np.tril(np.ones((5, 5)))
    custom[2] = 0  # a row without keys
    shapes = {"x": (5, 7), "w_q": (7, 3), "w_k": (7, 3), "w_v": (7, 2), "w_o": (2, 6)}
    given = {"q": (5, 3), "k": (5, 3), "v": (5, 2), "w_o": (2, 6)}
    matrices = {name: draws.normal(size=of) for name, of in (shapes if from_x else given).items()}
    return sheet(matrices | {"mask": custom}, mask, scale)  # type: ignore[arg-type]


SHEETS = [made_sheet(m, s, x) for m in MASKS for s in SCALE_RULES for x in (False, True)]


@pytest.mark.parametrize("made", [*map(preset, PRESETS), *SHEETS])
@pytest.mark.parametrize("write", [numpy_code, torch_code])
def test_the_code_gives_the_same_numbers(made: Sheet, write: object) -> None:
    names: dict[str, object] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # 0 ÷ 0 in a row without keys
        exec(compile(write(made), "<code>", "exec"), names)  # type: ignore[operator]
    ours = steps(made)
    for stage in ("q", "k", "v", "scores", "scaled", "masked", "weights", "mixed", "projected"):
        wanted = getattr(ours, stage)
        if wanted is not None:
            found = np.asarray(names[stage], dtype=np.float64)
            np.testing.assert_allclose(found, wanted.numpy(), atol=1e-5, rtol=1e-5, err_msg=stage)


@pytest.mark.parametrize("made", SHEETS)
def test_every_badge_is_within_tolerance(made: Sheet) -> None:
    found = steps(made)
    assert set(found.errors) >= {"mixed", "concat", "projected"}
    assert max(found.errors.values()) < 1e-5


def test_the_block_gives_the_printed_rows_but_one() -> None:
    weights = steps(preset("block")).weights
    printed = torch.tensor([[1, 0, 0, 0], [0.67, 0.33, 0, 0], [0.02, 0.54, 0.44, 0], [0.05, 0.35, 0.52, 0.08]])  # fmt: skip  # noqa: E501
    off = (weights - printed).abs().amax(dim=1)
    assert (off[[0, 2, 3]] < 0.006).all()
    assert off[1] > 0.2  # the erratum: softmax(1.4, −0.7) is 0.891, 0.109
    assert weights[1, 0] == pytest.approx(0.891, abs=5e-4)


def test_the_seeded_example_differs_from_its_text_by_the_axis_of_the_softmax() -> None:
    found = steps(preset("seeded"))
    assert torch.allclose(found.weights.sum(dim=1), torch.ones(5))
    columns = torch.softmax(found.scaled, dim=0)
    printed = torch.tensor([0.173, 0.105, 0.163, 0.301, 0.240])
    assert torch.allclose(columns[0], printed, atol=6e-4)
    sums = torch.tensor([0.982, 1.658, 0.886, 0.704, 0.769])
    assert torch.allclose(columns.sum(dim=1), sums, atol=2e-3)


def test_head_0_of_torchs_module_has_the_printed_weights() -> None:
    found = steps(preset("multihead"))
    assert found.weights[0].tolist() == pytest.approx([0.0424, 0.2048, 0.3446, 0.2414, 0.1667], abs=6e-5)  # fmt: skip  # noqa: E501
    assert found.q[0].tolist() == pytest.approx([-1.3839, 0.3560], abs=6e-5)
