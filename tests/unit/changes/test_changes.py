"""Changes as data: their text form there and back, and what is refused before any model runs."""

import math

import numpy as np
import pytest
import torch

from attnviz.attention.capture import Capture
from attnviz.changes import (
    Corpus,
    Cut,
    Site,
    ablate,
    cut,
    edit,
    mask,
    parse,
    patch,
    pattern,
    write,
)
from attnviz.changes.kinds import Ablate
from attnviz.changes.site import site
from attnviz.changes.text import MAX_CHANGES
from attnviz.errors import AttnVizError, BadInput, BadMask
from attnviz.masks.spec import MaskSet
from attnviz.types import HeadId, ModelKey
from tests.support.shapes import unchecked

OTHER = Capture(ModelKey("m", "r", "float32", "cpu"), (), {})
ROWS = torch.tensor([[1.0, 0.0], [0.25, 0.75]])
SEEN = np.array([[True, False], [True, True]])
GIVEN: dict[str, object] = {"other": OTHER, "rows": ROWS, "seen": SEEN}

TEXTS = (
    "L2.H1.mixed=mean",
    "L2.mixed=zero",
    "cross.L1.H0.mixed=resample",
    "encoder.L0.H3.mixed=resample:17",
    "decoder.cross.L1.H2.weights=even",
    "L0.H1.weights=temperature:0.5",
    "L0.H1.weights=@rows",
    "L2.H1.weights.20.7=0",
    "L2.H1.weights.20.7=0!",
    "L2.H1.weights.*.7=0!",
    "L2.H1.weights.20.*=0",
    "L0.H0.mixed=@other",
    "L0.H0.v=@other/1",
    "L0.k.4=@other",
    "L0.H1.mask=@seen",
    "L2.H1.mask=padding+causal+window:4",
    "L2.mask=none",
    "audio.L0.H1.mask=prefix:2+custom:+0.1:2.3-1.1:1.1",
    "L2.H1.q.3.5=0.7",
    "decoder.cross.L0.H3.scores.0.1=-2.5",
    "L2.H1.masked.2.4=-inf",
    "L2.H1.masked.2.*=inf",
)


@pytest.mark.parametrize("text", TEXTS)
def test_parse_and_write_are_each_others_inverse(text: str) -> None:
    changes = parse(text, GIVEN)
    assert len(changes) == 1
    assert write(changes) == text


def test_several_changes_stand_with_commas_between_them() -> None:
    changes = parse(",".join(TEXTS), GIVEN)
    assert write(changes) == ",".join(TEXTS)
    assert parse("") == ()


def test_parse_gives_a_corpus_to_the_ablations_that_draw_from_one() -> None:
    text = "L0.H1.mixed=zero,L0.H2.mixed=mean,L1.H0.mixed=resample:3"
    zero, mean, resample = parse(text, corpus=["a dog", "a cat"])
    assert [zero, mean, resample] == list(parse(text))
    corpora = [change.corpus for change in (zero, mean, resample) if isinstance(change, Ablate)]
    assert corpora == [None, ("a dog", "a cat"), ("a dog", "a cat")]


def test_functions_make_what_the_text_says() -> None:
    made = (
        ablate("L2.H1"),
        ablate(HeadId(2, 1), "resample", seed=17),
        pattern("L0.H1"),
        pattern("L0.H1", temperature=2),
        cut("L2.H1", 20, 7),
        cut("L2.H1", key=7, renormalise=False),
        patch("L0.H0", OTHER),
        patch(Site(0, 3, "cross", "decoder"), OTHER, "v", batch=2, position=4, name="b"),
        mask("L0", SEEN, name="seen"),
        mask("L0.H1", "causal+window:4"),
        mask("L0.H1", MaskSet(("padding", "causal"))),
        edit("L2.H1", "q", 3, 5, 0.7),
        edit((2, 1), "masked", 2, None, -math.inf),
    )
    assert [str(change) for change in made] == [
        "L2.H1.mixed=mean",
        "L2.H1.mixed=resample:17",
        "L0.H1.weights=even",
        "L0.H1.weights=temperature:2",
        "L2.H1.weights.20.7=0!",
        "L2.H1.weights.*.7=0",
        "L0.H0.mixed=@source",
        "decoder.cross.L0.H3.v.4=@b/2",
        "L0.mask=@seen",
        "L0.H1.mask=causal+window:4",
        "L0.H1.mask=padding+causal",
        "L2.H1.q.3.5=0.7",
        "L2.H1.masked.2.*=-inf",
    ]
    assert made[4] == Cut(Site(2, 1), 20, 7)
    assert pattern("L0.H1", ROWS).weights is not None


def test_a_site_is_a_head_or_every_head_of_a_layer() -> None:
    assert site("L5.H11") == site(HeadId(5, 11)) == Site(5, 11)
    assert site("vision.L3") == Site(3, None, "self", "vision")
    assert Site(3, 2, "cross", "decoder").whole_layer == Site(3, None, "cross", "decoder")
    assert Site(3, None).with_head(2) == Site(3, 2)


HOSTILE = (
    "L2.H1.mixed",
    "L2.H1.mixed=",
    "L2.H1.mixed=nothing",
    "L2.H1.mixed=mean:3",
    "L2.H1.mixed=resample:x",
    "L2.H1.mixed=resample:99999999999",
    "L2.H1.weights=odd",
    "L2.H1.weights=temperature:0",
    "L2.H1.weights=temperature:nan",
    "L2.H1.weights=temperature:x",
    "L2.H1.weights.1=0",
    "L2.H1.weights.*.*=0",
    "L2.H1.weights.1.2=3",
    "L2.H1.q=zero",
    "L2.H1.q=@rows",
    "L2.H1.q=@missing",
    "L2.H1.mask=@rows",
    "L2.H1.mask.3=@seen",
    "L2.H1.scores=@rows",
    "L2.H1.mask=causal+windows:4",
    "L2.H1.mask=window",
    "L2.H1.mask.3=causal",
    "L2.q.3.5=0.7",
    "L2.H1.q.3.5=nan",
    "L2.H1.q.3.*=1",
    "L2.H1.masked.2.*=1",
    "L2.H1.mixed.3.5=1",
    "lower.L2.H1.mixed=mean",
    "cross.decoder.L2.H1.mixed=mean",
    "L99999.H1.mixed=mean",
    "L2.H1.mixed=mean;L2.H2.mixed=mean",
    "</script><img onerror=x>",
    "L٢.H1.mixed=mean",
    "L2.H1.weights.٢.1=0",
    "L2.H1.mixed=@" + "a" * 99,
    "x" * 30_000,
    ",".join(["L0.H0.mixed=mean"] * (MAX_CHANGES + 1)),
)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_nonsense_in_an_address_is_refused_by_name(text: str) -> None:
    with pytest.raises(AttnVizError) as error, unchecked():
        parse(text, GIVEN)
    assert isinstance(error.value, BadInput | BadMask)


@pytest.mark.parametrize("where", ["", "H1", "L1H2", "L-1", "L1.H1.x", "L1.H1 ", 3, None, ("L", 1)])
def test_what_is_no_head_is_refused(where: object) -> None:
    with pytest.raises(BadInput, match="names no head"):
        site(where)


def test_arguments_that_do_not_go_together_are_refused() -> None:
    with pytest.raises(BadInput, match="to is 'median'"):
        ablate("L0.H0", "median")
    with pytest.raises(BadInput, match="seed"):
        ablate("L0.H0", seed=3)
    with pytest.raises(BadInput, match="corpus"):
        ablate("L0.H0", "zero", corpus=["a text"])
    with pytest.raises(BadInput, match="list of texts"):
        ablate("L0.H0", corpus="one text")
    with pytest.raises(BadInput, match="takes Capture as source"), unchecked():
        patch("L0.H0", "other")
    with pytest.raises(BadInput, match="one of q, k, v, weights, mixed"):
        patch("L0.H0", OTHER, "scores")
    with pytest.raises(BadInput, match="a query, a key, or both"):
        cut("L0.H0")
    with pytest.raises(BadInput, match="query is -1"):
        cut("L0.H0", query=-1, key=0)
    with pytest.raises(BadInput, match="key is True"):
        cut("L0.H0", query=1, key=True)
    with pytest.raises(BadInput, match="one of both"):
        pattern("L0.H0", ROWS, temperature=2)
    with pytest.raises(BadInput, match="sum to 1"):
        pattern("L0.H0", ROWS * 2)
    with pytest.raises(BadInput, match="sum to 1"):
        pattern("L0.H0", ROWS - 0.5)
    with pytest.raises(BadInput, match="matrix"), unchecked():
        pattern("L0.H0", torch.ones(3))
    with pytest.raises(BadMask, match="boolean"), unchecked():
        mask("L0.H0", ROWS)


def test_a_corpus_says_what_it_lacks() -> None:
    with pytest.raises(BadInput, match="nothing of L2.H1"):
        Corpus("two texts", 2, 9, {}).vectors(Site(2, 1))


@pytest.mark.parametrize(
    "shown",
    ["Site(2, 1)", "Site(2)", "Site(0, 3, 'cross')", "Site(0, None, 'self', 'decoder')"],
)
def test_a_site_prints_the_call_that_makes_it(shown: str) -> None:
    assert repr(eval(shown, {"Site": Site})) == shown
