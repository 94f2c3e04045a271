"""Matrices and charts on paper, and hostile text in everything that is printed."""

import math
import re

import numpy as np
import pytest

from attnviz.i18n.numbers import number
from attnviz.pictures.board import Board, Panel
from attnviz.teach.lessons.cards.card import Chart, Series
from attnviz.teach.lessons.cards.texts import fill
from attnviz.teach.lessons.paper.markdown import formula, html, inline, plain
from attnviz.teach.lessons.paper.pictures import HEIGHT, board_html, chart_html, matrix_html

HOSTILE = (
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "&lt;b>",
    "a\u202eb",
)


def say(key: str) -> str:
    return f"the {key}"


@pytest.mark.parametrize("hostile", HOSTILE)
def test_nothing_that_was_typed_becomes_markup(hostile: str) -> None:
    panel = Panel("p", np.zeros((1, 1)), rows=(hostile,), columns=(hostile,), before=hostile)
    line = Series("s", np.arange(3.0), np.arange(3.0))
    pages = (
        html(hostile),
        inline(hostile),
        html(fill("you typed [[text]]", {"text": f"**{hostile}**"})),
        html(f"```\n{hostile}\n```"),
        html(f"$\\text{{{hostile}}}$ and $$ {hostile} $$"),
        html(f"| {hostile} |\n|-|\n| {hostile} |"),
        formula(hostile),
        formula(rf"\text{{{hostile}}}", display=True),
        board_html(Board((panel,)), lambda _: hostile),
        chart_html(Chart("x", "y", (line,)), lambda _: hostile),
    )
    for page in pages:
        assert not re.search(r"<(?:script|img)|on\w+=[^&]*\"[^>]*>(?=<img)", page), page
    assert plain(fill("[[text]]", {"text": hostile})) == hostile


def test_a_matrix_is_a_table_with_its_names_and_sums() -> None:
    blocked = np.array([[False, True], [False, False]])
    values = np.array([[0.25, -math.inf], [-0.5, 1.0]])
    panel = Panel("p", values, rows=("a", "b"), blocked=blocked, marked=((1, 0),), sums="rows")
    made = matrix_html(panel, say)
    assert "<caption>the panel.p</caption>" in made
    assert re.findall(r"<th>(.*?)</th>", made) == ["", "0", "1", "Σ", "a", "b"]
    cells = ["<td>0.25</td>", '<td class="blocked">−∞</td>', '<td class="sum">−∞</td>']
    cells += ['<td class="marked">−0.50</td>', "<td>1.00</td>", '<td class="sum">0.50</td>']
    assert re.findall(r"<td.*?</td>", made) == cells


def test_a_hidden_matrix_keeps_its_size_and_nothing_else() -> None:
    panel = Panel("p", np.full((2, 3), 4.25), sums="both", hidden=True)
    empty, filled = (board_html(Board((panel,)), say, answers) for answers in (False, True))
    assert "4.25" not in empty and "12.75" not in empty
    assert filled.count("4.25") == 6 and filled.count("12.75") == 2
    assert empty.count("<td") == filled.count("<td")


@pytest.mark.parametrize(("hidden", "blank"), [(True, ()), (False, ("p",))])
def test_a_blank_matrix_does_not_say_where_its_answer_is(
    hidden: bool, blank: tuple[str, ...]
) -> None:
    values, blocked = np.full((2, 2), 4.25), np.array([[False, True], [False, False]])
    panel = Panel("p", values, blocked=blocked, marked=((1, 0),), hidden=hidden)
    board = Board((panel,), blank)
    empty, filled = (board_html(board, say, answers) for answers in (False, True))
    assert re.findall(r"<td.*?</td>", empty) == ["<td></td>"] * 4
    assert 'class="blocked"' in filled and 'class="marked"' in filled


@pytest.mark.parametrize(
    ("value", "said"), [(-0.004, "0.00"), (-1.5, "−1.50"), (math.nan, "NaN"), (math.inf, "∞")]
)
def test_numbers_are_written_for_people(value: float, said: str) -> None:
    assert number("en", value, ".2f") == said


def test_a_line_goes_through_its_points() -> None:
    series = (
        Series("a", np.array([1.0, 10.0, 100.0]), np.array([0.0, math.nan, 2.0])),
        Series("b", np.array([1.0, 10.0, 100.0]), np.array([0.0, 1.0, 2.0])),
    )
    made = chart_html(Chart("x", "y", series, log_x=True, marked_x=10.0), say)
    paths = re.findall(r'class="line"[^>]* d="([^"]+)"', made)
    with_hole, whole = paths[0], paths[2]  # each is followed by its sign in the legend
    assert with_hole.count("M") == 2 and "L" not in with_hole  # nothing is drawn over a hole
    places = [float(x) for x in re.findall(r"[ML]([\d.]+) ", whole)]
    assert places[1] - places[0] == pytest.approx(places[2] - places[1], abs=0.2)
    assert re.findall(r">(10*)<", made) == ["1", "10", "100", "1"]  # of x, then of y
    assert "the series.a" in made and "the axis.x" in made


def test_bars_stand_on_zero() -> None:
    series = (Series("a", np.array([0.0, 1.0]), np.array([2.0, 4.0])),)
    made = chart_html(Chart("x", "y", series, bars=True), say)
    bars = re.findall(r'<rect x="[\d.]+" y="([\d.]+)" width="[\d.]+" height="([\d.]+)"', made)[:2]
    (low, small), (high, tall) = [(float(y), float(height)) for y, height in bars]
    assert tall == pytest.approx(2 * small, abs=0.2)
    assert low + small == pytest.approx(high + tall, abs=0.2) and low + small < HEIGHT
