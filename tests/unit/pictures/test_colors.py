"""shared/colors.js and `figures.ramp`: the very same colours and levels, in both themes."""

from typing import get_args

import numpy as np

from attnviz.figures import ramp
from tests.support.node import in_node, needs_node

TABLES = """async () => {
    const { sequential, diverging } = await load("shared/colors.js");
    const parts = (v) => [v & 255, (v >> 8) & 255, (v >> 16) & 255];
    const table = (lut) => [...lut].map(parts);
    return { light: table(sequential(false)), dark: table(sequential(true)),
        diverging_light: table(diverging(false)), diverging_dark: table(diverging(true)) };
}"""
LEVELS = """async ({ weights, values, scales }) => {
    const { levelFor, signedLevel } = await load("shared/colors.js");
    const of = (scale) => weights.map((weight) => levelFor(weight, scale));
    return { signed: values.map((value) => signedLevel(value, 2.5)),
        ...Object.fromEntries(scales.map((scale) => [scale, of(scale)])) };
}"""


@needs_node
def test_the_tables_of_python_are_those_of_the_browser() -> None:
    tables = in_node(TABLES)
    assert tables.keys() == set(ramp.RAMPS)
    for name, colours in tables.items():
        np.testing.assert_array_equal(ramp.table(name), np.array(colours), err_msg=name)


@needs_node
def test_levels_of_python_are_those_of_the_browser() -> None:
    weights, values = np.linspace(0, 1, 1001), np.linspace(-3, 3, 1001)
    scales = list(get_args(ramp.Scale))
    sent = {"weights": weights.tolist(), "values": values.tolist(), "scales": scales}
    theirs = in_node(LEVELS, sent)
    for scale in ramp.SCALES:
        assert ramp.levels(weights, scale).tolist() == theirs[scale]
    assert ramp.signed_levels(values, 2.5).tolist() == theirs["signed"]
