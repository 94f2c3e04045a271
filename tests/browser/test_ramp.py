"""`figures.ramp` has the very colours of the screen: 256 entries of each table, both themes."""

from typing import get_args

import numpy as np
import pytest
from playwright.sync_api import Browser

from attnviz.figures import ramp
from tests.support.canvas import load_palettes, module_page

pytestmark = pytest.mark.browser


def test_the_tables_of_python_are_those_of_the_browser(browser: Browser) -> None:
    for theme, palette in load_palettes(browser).items():
        diverging = {"light": "diverging_light", "dark": "diverging_dark"}[theme]
        for name, colours in ((theme, palette.sequential), (diverging, palette.diverging)):
            assert name in ramp.RAMPS
            np.testing.assert_array_equal(ramp.table(name), np.array(colours), err_msg=name)


def test_levels_of_python_are_those_of_the_browser(browser: Browser) -> None:
    weights = np.linspace(0, 1, 1001)
    values = np.linspace(-3, 3, 1001)
    with module_page(browser) as page:
        theirs = page.evaluate(
            """async ({ weights, values, scales }) => {
                const { levelFor, signedLevel } = await import("/shared/colors.js");
                const of = (scale) => weights.map((weight) => levelFor(weight, scale));
                return { signed: values.map((value) => signedLevel(value, 2.5)),
                    ...Object.fromEntries(scales.map((scale) => [scale, of(scale)])) };
            }""",
            {
                "weights": weights.tolist(),
                "values": values.tolist(),
                "scales": list(get_args(ramp.Scale)),
            },
        )
    for scale in ramp.SCALES:
        assert ramp.levels(weights, scale).tolist() == theirs[scale]
    assert ramp.signed_levels(values, 2.5).tolist() == theirs["signed"]
