"""`ramp.table`, `levels` and `signed_levels`: the ends are the stops, and equal steps look equal.

That the 256 colours are those of the screen is shown in tests/unit/pictures/test_colors.py.
"""

import numpy as np
import pytest

from attnviz.figures import ramp


@pytest.mark.parametrize("name", ramp.RAMPS)
def test_a_table_passes_through_its_stops(name: ramp.Ramp) -> None:
    colours = ramp.table(name).astype(int)
    assert colours.shape == (256, 3)
    for place, colour in ramp.STOPS[name]:
        nearest = colours[round(255 * place)]
        assert np.abs(nearest - np.array(ramp.rgb(colour))).max() <= 3, (name, place)
    assert tuple(colours[0]) == ramp.rgb(ramp.STOPS[name][0][1])
    assert tuple(colours[-1]) == ramp.rgb(ramp.STOPS[name][-1][1])


def test_the_light_ramp_only_gets_darker() -> None:
    luminance = ramp.table("light").astype(float) @ [0.2126, 0.7152, 0.0722]
    assert (np.diff(luminance) <= 0).all()


def test_weights_find_their_level() -> None:
    """√0.25 = 0.5, and half of 255 rounds up to 128; log10(0.01) is half-way down to 1e-4."""
    weights = np.array([0, 0.25, 1, 2, -1, np.nan])
    assert ramp.levels(weights, "sqrt").tolist() == [0, 128, 255, 255, 0, 0]
    assert ramp.levels(weights, "linear").tolist() == [0, 64, 255, 255, 0, 0]
    assert ramp.levels(np.array([0, 1e-5, 1e-4, 0.01, 1]), "log").tolist() == [0, 0, 0, 128, 255]


def test_signed_numbers_find_their_level() -> None:
    values = np.array([-2, -1, 0, 0.5, 1, np.inf, np.nan])
    assert ramp.signed_levels(values, 1.0).tolist() == [0, 0, 128, 191, 255, 128, 128]
    assert ramp.signed_levels(values, 0.0).tolist() == [128] * 7


def test_a_table_cannot_be_spoiled() -> None:
    with pytest.raises(ValueError, match="read-only"):
        ramp.table("light")[0] = 0
