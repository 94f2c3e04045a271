"""Every text form of an address: any value comes back, and no text can do more than be refused."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from attnviz.app.page_parts.learn import pointer
from attnviz.app.page_parts.learn.pointer import Pointing
from attnviz.attention import edits
from attnviz.attention.edits import EDITABLE, Edit
from attnviz.errors import BadInput
from attnviz.masks import spec
from attnviz.masks.spec import MASK_NAMES, SIZED, MaskSet, Stroke
from attnviz.teach.calculator import sheet
from attnviz.teach.lessons.cards import progress
from tests.support.hostile import TOKENS

Form = tuple[Callable[[str], Any], Callable[[Any], str]]
FORMS: dict[str, Form] = {
    "edits": (edits.parse, edits.write),
    "masks": (spec.parse, spec.write),
    "sheet": (sheet.parse, sheet.write),
    "progress": (progress.parse, progress.write),
    "pointing": (lambda text: Pointing.read("card", text), Pointing.written),
}
N_VALUES = 300
PIECES = ["q", "masked", "window", "custom", "tokens", "=", ".", ",", "~", "&", ";", "/", "+", "-"]
PIECES += ["0", "7", "99999", "123456", "1e9", "inf", "nan", "%", "%7E", "*", " ", "\n", "１", "猫"]
# addresses as they were written before the forms shared their machinery
WRITTEN = {
    "edits": ["", "q.3.5=0.7,masked.2.4=-inf,scores.0.1=-2.5", "masked.2.*=-inf,masked.3.*=inf"],
    "masks": ["none", "padding,causal,window=3", "causal,custom=+1.2:3.5-2.3:2.3", "custom="],
    "sheet": [
        "q=1,2;3,4~k=1,2;3,4~v=1,2;3,4~mask=none~scale=sqrt",
        "x=1,2;3,4~w_q=1,0;0,1~w_k=1,0;0,1~w_v=1;2~custom=1,0;1,1~mask=custom~scale=d"
        "~tokens=the 50% a=b",
    ],
    "progress": ["", "factor=2.0&text=Hi+%26", "sizes=64&erratum=1.0&mix=%3F", "a=~0.5"],
    "pointing": ["", "learn.order.0/2/1/0"],
}


def random_edits(rng: random.Random) -> tuple[Edit, ...]:
    cells = {(rng.choice(EDITABLE), rng.randrange(99_999), rng.randrange(99_999)) for _ in range(9)}
    made = [Edit(*cell, round(rng.uniform(-1e6, 1e6), 2)) for cell in sorted(cells)]
    return (*made, Edit("masked", rng.randrange(99), None, rng.choice((-np.inf, np.inf))))


def random_masks(rng: random.Random) -> MaskSet:
    on = tuple(name for name in MASK_NAMES if rng.random() < 0.5)
    sizes = {name: rng.randint(1, 99_999) for name in on if name in SIZED}
    corners = [[rng.randrange(99_999) for _ in range(4)] for _ in range(rng.randint(1, 64))]
    strokes = tuple(Stroke(rng.random() < 0.5, *corner) for corner in corners)
    return MaskSet(on, sizes, strokes if "custom" in on else ())


def random_sheet(rng: random.Random) -> sheet.Sheet:
    n, d = rng.randint(2, 8), rng.randint(1, 8)
    matrices = {
        name: np.array([[rng.uniform(-9, 9) for _ in range(d)] for _ in range(n)]).round(6)
        for name in ("q", "k", "v")
    }
    words = [word for word in (_word(rng) for _ in range(n)) if word]
    return sheet.sheet(matrices, rng.choice(("none", "causal")), "d", tuple(words))


def random_answers(rng: random.Random) -> dict[str, str]:
    return {_word(rng) + str(n): _word(rng) for n in range(rng.randint(0, 20))}


def random_pointing(rng: random.Random) -> Pointing:
    at = (rng.randrange(9), rng.randrange(99_999), rng.randrange(9))
    return Pointing(card="card", picture="p" + _word(rng), at=at)


def _word(rng: random.Random) -> str:
    return "".join(rng.choices("ab%7E250=&~;/+ 猫é<\u202e\n", k=rng.randint(0, 6)))


VALUES: dict[str, Callable[[random.Random], Any]] = {
    "edits": random_edits,
    "masks": random_masks,
    "sheet": random_sheet,
    "progress": random_answers,
    "pointing": random_pointing,
}


def plain(value: Any) -> Any:
    """A value that `==` can compare."""
    if not isinstance(value, sheet.Sheet):
        return value
    rows = {name: matrix.tolist() for name, matrix in value.matrices.items()}
    return rows, value.mask, value.scale, value.tokens


@pytest.mark.parametrize("name", FORMS)
def test_any_value_comes_back_from_its_text(name: str) -> None:
    parse, write = FORMS[name]
    rng = random.Random(11)
    for _ in range(N_VALUES):
        value = VALUES[name](rng)
        text = write(value)
        assert plain(parse(text)) == plain(value), text
        assert write(parse(text)) == text


@pytest.mark.parametrize(("name", "text"), [(n, text) for n in WRITTEN for text in WRITTEN[n]])
def test_addresses_of_old_are_written_as_they_were(name: str, text: str) -> None:
    parse, write = FORMS[name]
    assert write(parse(text)) == text


@pytest.mark.parametrize("name", FORMS)
def test_no_text_does_more_than_be_refused(name: str) -> None:
    """What is accepted has one written form; what is not raises `BadInput` and nothing else."""
    parse, write = FORMS[name]
    rng = random.Random(13)
    texts = ["".join(rng.choices(PIECES, k=rng.randint(0, 12))) for _ in range(3000)]
    n_accepted = 0
    for text in [*texts, *TOKENS, "=" * 9000, "," * 9000, "~" * 9000, "&" * 9000, "/" * 9000]:
        try:
            written = write(parse(text))
        except BadInput as error:
            assert error.code and error.details
            continue
        n_accepted += 1
        assert write(parse(written)) == written
    assert n_accepted < len(texts) or name == "pointing"


@pytest.mark.parametrize("text", ["a/x/1/2", "a/1/2", "a/-1/2/3", "a/1/2/3/4", "/1//3", "a;b;c"])
def test_a_stage_that_points_nowhere_points_at_nothing(text: str) -> None:
    assert Pointing.read("card", text) == Pointing(card="card")


@pytest.mark.parametrize("text", ["", ";", ";1.2.3", ";x.2.3.4", ";..1.", "a/1/2/3", ";１.2.."])
def test_read_chosen_reads_a_head_or_nothing(text: str) -> None:
    assert pointer.read_chosen(text) == {}
    chosen = {"layer": 3, "head": 5, "query": 1, "key": None}
    assert pointer.read_chosen("a/0/1/2;3.5.1.") == chosen


@pytest.mark.parametrize(("text", "n"), [(";run.2", 2), (";run.x", 0), (";run", 0), ("run.2", 0)])
def test_read_begun_reads_the_count_of_a_training(text: str, n: int) -> None:
    assert pointer.read_begun(text) == n
