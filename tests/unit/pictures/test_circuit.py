"""The circuit: what travels, which texts it needs, and what the browser may send back."""

from dataclasses import replace

import numpy as np
import pytest

from attnviz.pictures import circuit
from attnviz.pictures.circuit import (
    Chosen,
    CircuitColumn,
    CircuitHead,
    CircuitView,
    CutCell,
    PathDetail,
    checked,
    parse_chosen,
    parse_sides,
)
from attnviz.pictures.shared.buffer import unpack
from attnviz.pictures.shared.canvas import packed
from attnviz.types import STACKS
from tests.support.hostile import SCRIPT

MOVED = np.full((3, 3, 3), np.nan, np.float32)
MOVED[0, 2] = [0.25, 0.5, 0.125]
MOVED[1, 2] = [0.0, 0.0625, 1.0]
BY_CHANCE = np.where(np.arange(3) < 2, MOVED / 2, np.nan).astype(np.float32)
COMPOSED = np.full((3, 3, 3), np.nan, np.float32)
COMPOSED[0, 2] = [4.5, 21.0, -1.25]
VIEW = CircuitView(
    columns=(
        CircuitColumn("L0", "", (CircuitHead("L0.H0", 0, 0), CircuitHead("L0.H1", 0, 1))),
        CircuitColumn("L1", "", (CircuitHead("L1.H0", 1, 0),)),
    ),
    moved=MOVED,
    by_chance=BY_CHANCE,
    chance_reach=2 * BY_CHANCE,
    composed=COMPOSED,
    summary="The strongest paths …",
    chosen=str(Chosen("L0.H0", "L1.H0", "k")),
    detail=PathDetail(
        "L0.H0 → L1.H0, keys",
        ("With keys …", SCRIPT),
        ("query → key", "weight"),
        (CutCell(1, 0, f"1 {SCRIPT} → 0", ("0.900",)),),
    ),
)


def test_pack_circuit_keeps_every_path_and_hostile_tokens() -> None:
    header, arrays = unpack(packed(circuit.CANVAS, VIEW, "en"))
    np.testing.assert_array_equal(arrays["moved"], MOVED)
    np.testing.assert_array_equal(arrays["by_chance"], BY_CHANCE)
    np.testing.assert_array_equal(arrays["chance_reach"], 2 * BY_CHANCE)
    np.testing.assert_array_equal(arrays["composed"], COMPOSED)
    assert "composed" not in unpack(packed(circuit.CANVAS, replace(VIEW, composed=None), "en"))[1]
    assert header["detail"]["cells"][0]["label"] == f"1 {SCRIPT} → 0"
    assert header["chosen"] == "L0.H0-L1.H0.k"


@pytest.mark.parametrize(
    "text",
    ["L0.H1", "decoder.cross.L1.H2", "L0.H1-L2.H1.k", "encoder.L1.H0-decoder.cross.L0.H3.v"]
    + [f"{stack}.L0.H1-{stack}.L1000.H0.q" for stack in STACKS],
)
def test_parse_chosen_reads_what_it_prints(text: str) -> None:
    assert str(parse_chosen(text)) == text
    assert checked("arrow", text) == (text, True)


@pytest.mark.parametrize(
    "text",
    [
        SCRIPT,
        "L0.H1-L2.H1",
        "L0.H1-L2.H1.x",
        "L0.H1-L2.k",
        "L0",
        "L0.H1-",
        "L0.H1.k",
        "L٠.H1",
        3,
        None,
        ["L0.H1"],
    ],
)
def test_parse_chosen_refuses_other_text(text: object) -> None:
    assert parse_chosen(text) is None
    assert checked("arrow", text) == (None, False)


def test_parse_sides_puts_them_in_order() -> None:
    assert parse_sides("vq") == "qv"
    assert [parse_sides(text) for text in ("", "x", "qx", 3, None)] == [None] * 5
    assert checked("sides", "kq") == ("qk", False)


@pytest.mark.parametrize("text", ["0", "0.25", "1"])
def test_checked_takes_a_share_as_least(text: str) -> None:
    assert checked("least", text) == (text, True)


@pytest.mark.parametrize("text", ["2", "-1", "0.12345", "1e-3", "nan", SCRIPT, 0.5])
def test_checked_refuses_what_is_no_share(text: object) -> None:
    assert checked("least", text) == (None, False)
