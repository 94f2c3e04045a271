"""The switches: what travels, which texts they need, and what the browser may send back."""

import numpy as np
import pytest

import attnviz
from attnviz import changes
from attnviz.capture.request import Request
from attnviz.errors import BadInput
from attnviz.experiment.clean_run import prepare_request
from attnviz.experiment.run import Experiment
from attnviz.pictures import switches
from attnviz.pictures.group.app_capture import AppCapture, PageContext
from attnviz.pictures.shared.bars import Bar
from attnviz.pictures.shared.buffer import unpack
from attnviz.pictures.shared.canvas import packed
from attnviz.pictures.switches import (
    AnswerView,
    ForbiddenLook,
    Switch,
    SwitchesView,
    SwitchGroup,
    fill,
    parse,
    tiny,
    words,
    write,
)
from attnviz.types import STACKS
from tests.support.hostile import SCRIPT

VIEW = SwitchesView(
    model="tiny",
    groups=(
        SwitchGroup(
            "Decoder: cross-attention",
            "decoder.cross.",
            (2, 1),
            np.linspace(0, 1, 24, dtype=np.float32).reshape(2, 2, 2, 3),
            np.array([[0.5, 0.25], [0.125, np.nan]], np.float32),
        ),
    ),
    off=(Switch("decoder.cross.L0.H1"), Switch("decoder.cross.L1.H0", "even")),
    to="mean",
    answer=AnswerView(
        title="The next token",
        bars=(Bar("Mary", 0.1, second=0.9), Bar(SCRIPT, 0.8, second=0.05)),
        values="off",
        seconds="before",
        sentence="With L0.H1 off …",
        control="Control …",
        written=(("The model generates", SCRIPT),),
    ),
    effects="2 heads …",
)


def test_pack_switches_keeps_numbers_and_hostile_names() -> None:
    header, arrays = unpack(packed(switches.CANVAS, VIEW, "en"))
    assert header["off"][1]["change"] == "decoder.cross.L1.H0.weights=even"
    assert header["answer"]["bars"][1]["label"] == SCRIPT
    assert header["most"] == 0.5
    assert arrays["groups.0.weights"].shape == (2, 2, 2, 3)
    assert np.isnan(arrays["groups.0.effects"][1, 1])


@pytest.mark.parametrize(
    "text",
    [
        "L0.H0.mixed=mean",
        "L0.H0.weights=even,decoder.cross.L1.H3.mixed=zero",
        "encoder.L11.H11.mixed=resample",
        "L1000.H0.mixed=mean",
        *(f"{stack}.L0.H1.mixed=mean" for stack in STACKS),
    ],
)
def test_write_and_parse_agree_with_the_changes_of_the_library(text: str) -> None:
    assert write(parse(text)) == text
    assert changes.write(changes.parse(text)) == text


@pytest.mark.parametrize("text", ["", "@2", "L2.H1", "L2.H1@14", "decoder.cross.L0.H3@0"])
def test_a_look_is_read_as_it_is_written(text: str) -> None:
    assert str(ForbiddenLook.parse(text)) == text


@pytest.mark.parametrize("text", ["L2", "@", "@-1", "L2.H1@", "L2.H1@2,3", "@٣", "x@2", SCRIPT])
def test_what_is_no_look_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        ForbiddenLook.parse(text)


def test_nobody_has_chosen_is_not_all_on() -> None:
    assert parse("") is None
    assert parse("none") == ()
    assert (write(None), write(())) == ("", "none")


@pytest.mark.parametrize(
    "text",
    [SCRIPT, "L0.H0", "L0.mixed=mean", "L0.H0.mixed=mean;", "L0.H0.q=@x", "L0.H999999.mixed=zero"]
    + ["L0.H0.mixed=even", "evil.L0.H0.mixed=mean", ",".join(["L0.H0.mixed=mean"] * 9999)],
)
def test_parse_refuses_what_switches_no_head(text: str) -> None:
    with pytest.raises(BadInput):
        parse(text)


def test_tiny_keeps_the_largest_weight_of_what_a_cell_stands_for() -> None:
    weights = np.zeros((1, 70, 5), np.float32)
    weights[0, 69, 4] = 0.75
    small = tiny(weights)
    assert small.shape == (1, 24, 5)
    assert small[0, 23, 4] == 0.75
    assert small.sum() == 0.75


@pytest.mark.parametrize("n_words", [5, 43])
def test_a_point_of_switch_groups_is_hidden_where_all_of_its_cells_are(n_words: int) -> None:
    lm = attnviz.load("stories")
    capture = attnviz.capture(lm, " ".join(["cat"] * n_words))
    captured = AppCapture.alone(capture, lm)
    shown = PageContext("en", captured, captured.groups[0])
    (group,) = fill.switch_groups(shown, [""], None)
    assert group.visible is not None
    n, side = len(capture.tokens), 1 if n_words == 5 else 2
    assert group.visible.shape[0] == 1  # all layers hide the same, which is sent once
    for row, column in np.ndindex(*group.visible.shape[1:]):
        last = min(n, (row + 1) * side) - 1
        assert group.visible[0, row, column] == (column * side <= last)  # the last sees the most
    assert group.visible.shape[1] == -(-n // side)


def test_layers_of_other_sizes_hide_their_own_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """A layer of 2 tokens beside larger ones: its points are drawn at the size of these."""
    lm = attnviz.load("stories")
    captured = AppCapture.alone(attnviz.capture(lm, "cat"), lm)
    group = captured.groups[0]
    sizes = [n := group.calls[0].n_query, 2, n, n]
    monkeypatch.setattr(fill.groups, "mask", lambda _, layer: np.tri(sizes[layer], dtype=bool))
    monkeypatch.setitem(vars(group), "uneven", True)
    visible = fill.switch_groups(PageContext("en", captured, group), [""], None)[0].visible
    assert n == 3 and visible is not None and visible.shape == (4, n, n)
    assert (visible[0] == np.tri(n, dtype=bool)).all()
    assert visible[1].tolist() == [[True, True, False], [True, True, False], [True, True, True]]
    monkeypatch.setattr(fill.groups, "mask", lambda _, layer: np.ones((n, n), bool))
    assert fill.switch_groups(PageContext("en", captured, group), [""], None)[0].visible is None


def test_switch_groups_of_an_encoder_hide_nothing() -> None:
    lm = attnviz.load("minilm")
    capture = attnviz.capture(lm, "The cat sat.")
    captured = AppCapture.alone(capture, lm)
    shown = PageContext("en", captured, captured.groups[0])
    assert fill.switch_groups(shown, [""], None)[0].visible is None


@pytest.mark.parametrize(
    ("model", "other", "said"),
    [
        ("minilm", ("She sat on the bank of the river.",), "L2.H1’s look at “gave” in all rows"),
        ("stories", (), "L2.H1’s look at “gave”"),
    ],
)
def test_a_look_that_is_forbidden_in_all_rows_says_so(
    model: str, other: tuple[str, ...], said: str
) -> None:
    request = Request.of(("Mary gave a book to",))
    run = Experiment(prepare_request(attnviz.load(model), request), other)
    found = words.words_of("en", run, words.split_of(run))
    assert found is not None
    look = ForbiddenLook("L2.H1", 2)
    assert found.tokens[2].strip() == "gave" and found.name(look) == said
    last = attnviz.cut("L2.H1", len(found.tokens) - 1, 2)  # of an encoder one of seven rows
    all_rows, one = (
        run.with_changes(*each, draws=0).choices.after for each in (found.changes(look), [last])
    )
    assert np.allclose(all_rows, one, atol=1e-6) != said.endswith("in all rows")


def test_the_words_of_a_target_name_the_number_that_is_split() -> None:
    """The sum of its logits, each minus the mean: a log-likelihood could not be above 0."""
    request = Request.of(("The cat sleeps.",), target=("Le chat dort.",))
    run = Experiment(prepare_request(attnviz.load("translator"), request))
    found = words.words_of("en", run, words.split_of(run))
    assert found is not None and found.title.startswith(
        "the sum of the target’s logits, each minus"
    )
    labels = run.prepared.labels()[0]
    logits = run.prepared.clean["logits"][0, : len(labels)].double()
    centred = logits[range(len(labels)), labels] - logits.mean(-1)
    assert found.split.own == pytest.approx(float(centred.sum()), rel=1e-5) and found.split.own > 0
    assert f"{found.split.own:+.2f}" in found.view(ForbiddenLook()).sentences[0]
