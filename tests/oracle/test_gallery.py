"""The stored miniatures and opening of the start page are what the models compute."""

from dataclasses import fields, replace

import numpy as np
import pytest

from attnviz.app.page_parts import start
from attnviz.app.server.edge import warm
from attnviz.app.session import openings
from attnviz.pictures import gallery, stage
from attnviz.pictures.shared.stored import is_same
from scripts import write_gallery

LEAST = 1.1 * 10**-gallery.DECIMALS  # a stored number is rounded
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
    kept = gallery.gallery()
    assert_equal(write_gallery.translator(), kept.translator, LEAST)
    assert_equal(write_gallery.picture(), kept.picture, LEAST)
    assert_equal(write_gallery.story(), kept.story, LEAST)


def test_the_stored_opening_of_the_stage_is_computed_again() -> None:
    computed, kept = start.computed_stage(*openings.OPENING), stage.stored_opening()
    assert is_same(computed, kept, start.WITHIN) and computed.answers.winner == "Mary"
    other = replace(kept, answers=replace(kept.answers, before=kept.answers.before + 0.01))
    assert not is_same(computed, other, start.WITHIN)


def test_a_server_that_begins_shows_the_stored_opening(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm, "is_under_way", lambda: True)
    monkeypatch.setattr(start, "computed_stage", lambda *_: pytest.fail("it was computed"))
    shown = start.stage_view(*openings.OPENING)
    assert shown.answers.winner == "Mary" and shown.text == openings.OPENING[1]


@pytest.mark.slow
def test_the_training_is_run_again() -> None:
    assert_equal(write_gallery.birth(), gallery.gallery().birth, LEAST_TRAINED)
