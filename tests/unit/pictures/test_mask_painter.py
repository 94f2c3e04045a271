"""The wrapper of the mask painter: what travels, and what of the browser's answer is believed."""

import numpy as np
import pytest

from attnviz.pictures import mask_painter


def test_parse_reads_the_painted_cells() -> None:
    cells = mask_painter.parse("1.2,0.0", (2, 3))
    assert cells is not None
    assert np.argwhere(cells).tolist() == [[0, 0], [1, 2]]
    empty = mask_painter.parse("", (2, 3))
    assert empty is not None and not empty.any()


@pytest.mark.parametrize("sent", [None, 3, "2.0", "0.3", "a.b", "1", "0.0;1.1", "0.0," * 20000])
def test_parse_refuses_nonsense(sent: object) -> None:
    assert mask_painter.parse(sent, (2, 3)) is None
