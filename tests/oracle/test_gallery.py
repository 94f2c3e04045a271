"""The stored miniatures of the start page are what the models compute."""

from dataclasses import fields

import numpy as np
import pytest

from attnviz.pictures.gallery import stored
from scripts import write_gallery

LEAST = 1.1 * 10**-stored.DECIMALS  # a stored number is rounded
# a training drifts with the order of its sums: other machines, other last digits
LEAST_TRAINED = 0.05


def assert_equal(found: object, kept: object, within: float) -> None:
    """Compare two miniatures field by field."""
    for field in fields(kept):  # type: ignore[arg-type]
        new, old = getattr(found, field.name), getattr(kept, field.name)
        if isinstance(old, np.ndarray):
            np.testing.assert_allclose(new, old, atol=within, err_msg=field.name)
        else:
            assert new == (pytest.approx(old, abs=within) if isinstance(old, float) else old)


def test_the_miniatures_of_captures_are_computed_again() -> None:
    kept = stored.gallery()
    assert_equal(write_gallery.translator(), kept.translator, LEAST)
    assert_equal(write_gallery.picture(), kept.picture, LEAST)
    assert_equal(write_gallery.story(), kept.story, LEAST)


@pytest.mark.slow
def test_the_training_is_run_again() -> None:
    assert_equal(write_gallery.birth(), stored.gallery().birth, LEAST_TRAINED)
