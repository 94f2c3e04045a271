"""Every form of a head's name is taken wherever a head is asked for."""

import numpy as np
import pytest

import attnviz
from attnviz.changes.site import site
from attnviz.errors import BadInput
from attnviz.models.loaded_model import LoadedModel
from attnviz.types import HeadId, Site

TEXT = "Lily gave the red ball to"
NAMES = ("L2.H1", HeadId(2, 1), (2, 1), (np.int64(2), 1), Site(2, 1))


@pytest.fixture(scope="module")
def stories() -> LoadedModel:
    return attnviz.load("stories")


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_a_site(name: object) -> None:
    assert site(name) == Site(2, 1)


@pytest.mark.parametrize("name", [(2, 1, 0), (2, -1), (2, "1"), (True, 1), 3, None])
def test_what_names_no_head_is_refused_with_every_form(name: object) -> None:
    with pytest.raises(BadInput, match=r"write L2\.H1 or \(2, 1\)"):
        site(name)


def test_results_take_every_form(stories: LoadedModel) -> None:
    on = attnviz.NextToken(" Tom")
    run = attnviz.experiment(stories, TEXT, on=on)
    parts = run.direct()
    changes = run.effects(to="zero", heads=[(2, 1), "L0.H0"])
    paths = run.paths(to="zero", senders=[(0, 1)])
    for name in NAMES:
        assert parts.of(name) == parts.of("L2.H1")
        assert changes.of(name) == changes.of("L2.H1")
        assert paths.of((0, 1), name, "q") == paths.of("L0.H1", "L2.H1", "q")
        assert run.edges(name, exact=0).head == parts_site(stories)
    with pytest.raises(BadInput, match=r"L9\.H0 is not a component of this answer; its heads are"):
        parts.of("L9.H0")
    assert run.effects(to="zero", heads="L2.H1").of((2, 1)) == changes.of("L2.H1")


def parts_site(stories: LoadedModel) -> Site:
    cap = attnviz.capture(stories, TEXT)
    return Site(2, 1, stack=cap.calls[2].stack)


def test_a_stack_is_left_out_where_only_one_has_such_a_head() -> None:
    lm = attnviz.load("translator")
    on = attnviz.Target("le chat .")
    changes = attnviz.experiment(lm, "the cat .", on=on).effects(
        to="zero", heads=["cross.L1.H0", "encoder.L0"]
    )
    assert changes.of("cross.L1.H0") == changes.of("decoder.cross.L1.H0")
    with pytest.raises(BadInput, match="was not taken away"):
        changes.of("cross.L0.H0")


def test_a_capture_reads_kind_and_stack_from_the_name() -> None:
    cap = attnviz.capture(attnviz.load("translator"), "the cat .", target="le chat .")
    cross = cap.weights(1, 0, kind="cross")
    assert np.array_equal(cap.weights("cross.L1.H0"), cross)
    assert np.array_equal(cap.weights("decoder.cross.L1.H0"), cross)
    assert np.array_equal(cap.head("cross.L1.H0").view("weights").values, cross)
    own = cap.weights("decoder.L1.H0")
    assert np.array_equal(own, cap.weights(1, 0, stack="decoder"))
    with pytest.raises(BadInput, match="stack='encoder' was given"):
        cap.weights("decoder.L1.H0", stack="encoder")


def test_a_name_with_a_kind_is_told_how_to_ask_where_it_is_not_taken() -> None:
    with pytest.raises(BadInput, match=r'give "L1\.H0" here, and kind="cross" and stack="decoder"'):
        HeadId.parse("decoder.cross.L1.H0")
