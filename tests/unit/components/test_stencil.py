"""The wrapper of the stencil: what travels, and what of the browser's answer is believed."""

import json

import numpy as np
import pytest

from attnviz.components import bundle, stencil
from attnviz.components.heads import strings_of


def test_demo_json_is_the_header_that_travels() -> None:
    strings = strings_of(stencil.STRING_KEYS, lambda key: key.removeprefix("component."))
    data = stencil.pack_stencil(("it",), ("it", "was"), np.zeros((1, 2), np.bool_), strings)
    demo = json.loads((bundle.FOLDER / "stencil" / "demo.json").read_text(encoding="utf-8"))
    assert json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")]) == demo


def test_parse_reads_the_painted_cells() -> None:
    cells = stencil.parse("1.2,0.0", (2, 3))
    assert cells is not None
    assert np.argwhere(cells).tolist() == [[0, 0], [1, 2]]
    empty = stencil.parse("", (2, 3))
    assert empty is not None and not empty.any()


@pytest.mark.parametrize("sent", [None, 3, "2.0", "0.3", "a.b", "1", "0.0;1.1", "0.0," * 20000])
def test_parse_refuses_nonsense(sent: object) -> None:
    assert stencil.parse(sent, (2, 3)) is None
