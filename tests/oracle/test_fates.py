"""What a fully masked row becomes in each interface, as the installed torch really has it."""

import numpy as np
import torch

from attnviz.capture.blocked_rows import FATES, dead_rows


def test_every_interface_has_its_fate() -> None:
    found = {row.fate: row.verdict for row in dead_rows(5)}
    assert tuple(found) == FATES
    assert found == {
        "multihead_weights": "nan",
        "multihead_fast": "nan",
        "multihead_grad": "zero",
        "sdpa": "zero",
        "transformers": "uniform",
    }


def test_uniform_means_every_key_alike() -> None:
    rows = {row.fate: row for row in dead_rows(5)}
    assert np.allclose(rows["transformers"].values, 1 / 5)


def test_the_callers_random_numbers_stay() -> None:
    torch.manual_seed(1)
    wanted = torch.rand(3)
    torch.manual_seed(1)
    dead_rows()
    assert torch.equal(torch.rand(3), wanted)
