"""`views.inside`: the rows of a head in words, above all edges that are heavy but idle."""

import numpy as np
import pytest

from attnviz.changes import Site
from attnviz.experiment.edges import Edges
from attnviz.i18n import text
from attnviz.pictures.table.inside import cut_sentence, idle_keys, numbers, real, row_table

TOKENS = ("the", "cat", "sat")


def edges(exact: list[list[float]]) -> Edges:
    weights = np.array([[1, 0, 0], [0.9, 0.1, 0], [0.7, 0.25, 0.05]], np.float32)
    return Edges(
        measure=None,
        unit="logit",
        head=Site(0, 1),
        before=2.0,
        renormalised=False,
        weights=weights,
        norms=2 * weights,
        estimate=np.full((3, 3), np.nan),
        exact=np.array(exact),
        estimated="the measure",
        spread=0.0,
        seconds=0.0,
    )


NAN = float("nan")
FOUND = edges([[NAN, NAN, NAN], [0.0, 0.0, NAN], [0.001, -3.0, 0.02]])


def test_a_heavy_edge_without_effect_is_idle() -> None:
    assert idle_keys(FOUND, 2) == [0]


def test_a_row_with_one_computed_edge_has_no_idle_one() -> None:
    assert idle_keys(edges([[0.0, NAN, NAN], [NAN] * 3, [NAN, -3.0, NAN]]), 0) == []


def test_row_table_shows_weight_length_and_effect_side_by_side() -> None:
    view = row_table("en", FOUND, 2, TOKENS)
    assert [row.label for row in view.rows] == ["the", "cat", "sat"]
    assert [cell.text for cell in view.rows[1].cells] == ["0.2500", "0.500", "−3.000"]
    assert view.rows[0].mark == "heavy but idle"
    assert view.rows[1].mark == "largest effect"
    assert view.rows[1].cells[2].share == -1.0
    assert "−3.000 (2 → 1)" in view.note


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0.000"),
        (2e-5, "<0.001"),
        (-2e-5, ">−0.001"),
        (-1.25, "−1.250"),
        (0.0012, "0.001"),
    ],
)
def test_real_never_prints_a_number_as_nothing(value: float, shown: str) -> None:
    assert real("en", value, 3) == shown


def test_a_column_has_one_format() -> None:
    assert [cell.text for cell in numbers("en", [0.275, -4e-4, 0.0], 0.275)] == [
        "0.275",
        ">−0.001",
        "0.000",
    ]
    assert [cell.text for cell in numbers("en", [0.0004, 2e-5], 0.0004)] == ["0.000400", "0.000020"]


HEADS = [Site(0, head) for head in range(6)]


@pytest.mark.parametrize(
    ("weights", "verdict"),
    [
        ((0.2, 0.79, 0.8, 0.81, 0.8, 0.78), "only_effect"),
        ((0.2, 0.1, 0.8, 0.81, 0.8, 0.78), "clear_effect"),
        ((0.7, 0.1, 0.2, 0.81, 0.8, 0.78), "no_clear_effect"),
        ((0.795, 0.8, 0.8, 0.8, 0.8, 0.8), "hardly_changes"),
    ],
)
def test_a_cut_is_judged_by_the_cuts_of_other_heads(
    weights: tuple[float, ...], verdict: str
) -> None:
    after = dict(zip(HEADS, weights, strict=True))
    as_much = sum(abs(weight - 0.8) >= abs(weights[0] - 0.8) for weight in weights[1:])
    sentence = cut_sentence("en", "k", 0.8, after, HEADS[0])
    assert sentence.endswith(text("en", f"inside.{verdict}", as_much=as_much, n=5))
    assert f"{np.median(weights[1:]):.3f}" in sentence


def test_a_head_without_others_before_it_has_no_verdict() -> None:
    sentence = cut_sentence("en", "q", 0.8, {HEADS[0]: 0.1}, HEADS[0])
    assert sentence.endswith("There is no other head before it to compare with.")
