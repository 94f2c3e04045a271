"""`json_line`: null for what JSON cannot hold, wherever it stands."""

import json
import math

import pytest

from attnviz.cli.output import json_line
from attnviz.notation.json_fields import finite

BAD = (math.nan, math.inf, -math.inf)


@pytest.mark.parametrize("bad", BAD)
def test_json_line_writes_null_for_a_number_at_any_depth(bad: float) -> None:
    value = {"a": bad, "b": [bad, 1.5, [bad]], "c": {"d": [{"e": bad}]}}
    wanted = {"a": None, "b": [None, 1.5, [None]], "c": {"d": [{"e": None}]}}
    assert json.loads(json_line(value)) == wanted
    assert "\n" not in json_line(value)


def test_finite_leaves_everything_else_as_it_is() -> None:
    value = {"text": "NaN", "n": 3, "yes": True, "none": None, "list": [0.1, -0.0, "é"], "e": []}
    assert finite(value) == value
    assert json.loads(json_line(value)) == value
