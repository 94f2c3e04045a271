"""What a fully masked row becomes in each interface, as the installed torch really has it."""

import numpy as np
import torch

from attnviz.capture.blocked_rows import IMPLEMENTATIONS, blocked_rows


def test_every_interface_has_its_fate() -> None:
    found = {row.implementation: row.verdict for row in blocked_rows(5)}
    assert tuple(found) == IMPLEMENTATIONS
    assert found == {
        "multihead_weights": "nan",
        "multihead_fast": "nan",
        "multihead_grad": "zero",
        "sdpa": "zero",
        "transformers": "uniform",
    }


def test_uniform_means_every_key_alike() -> None:
    rows = {row.implementation: row for row in blocked_rows(5)}
    assert np.allclose(rows["transformers"].values, 1 / 5)


def test_the_callers_random_numbers_stay() -> None:
    torch.manual_seed(1)
    wanted = torch.rand(3)
    torch.manual_seed(1)
    blocked_rows()
    assert torch.equal(torch.rand(3), wanted)
