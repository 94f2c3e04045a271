"""Every family of the table: recorded under attnviz, equal to its own eager attention."""

import pytest
import torch

from attnviz.attention.inputs import AttentionInputs
from attnviz.attention.steps import derive
from attnviz.capture.record.recorder import record
from tests.oracle.families import FAMILIES, Family
from tests.support.tiny.check import tiny_case
from tests.support.tiny.compare import TOLERANCE, Comparison
from tests.support.tiny.models import set_seed

ROWS = [
    pytest.param(family, id=family.name, marks=[] if family.fast else [pytest.mark.slow])
    for family in FAMILIES
]


@pytest.mark.filterwarnings("ignore")  # transformers' own, of tiny configs
@pytest.mark.parametrize("family", ROWS)
def test_a_family_equals_its_own_eager_attention(family: Family) -> None:
    model, inputs, expected = tiny_case(family.type_name, family.overrides)
    assert expected.has_attention
    with torch.no_grad(), record(model) as calls:
        set_seed()
        model(**inputs)
    comparison = Comparison(calls)
    comparison.run(expected)
    assert not comparison.wrong, comparison.wrong
    assert not comparison.missing, comparison.missing
    assert comparison.max_difference <= TOLERANCE
    family.shows(calls)


HALF = [row for row in ROWS if "own code" not in row.values[0].mechanism]
NEEDS_FLOAT32 = {"inkling2_text", "jamba"}  # their own layers refuse half precision


@pytest.mark.some(4)
@pytest.mark.filterwarnings("ignore")  # transformers' own, of tiny configs
@pytest.mark.parametrize(
    "dtype",
    [torch.float16, pytest.param(torch.bfloat16, marks=pytest.mark.slow)],
    ids=["float16", "bfloat16"],
)
@pytest.mark.parametrize("family", HALF)
def test_verify_explains_the_rounding_of_half_precision(family: Family, dtype: torch.dtype) -> None:
    if family.name in NEEDS_FLOAT32:
        dtype = torch.float32
    model, inputs, _ = tiny_case(family.type_name, family.overrides)
    inputs = {
        name: value.to(dtype) if value.is_floating_point() else value
        for name, value in inputs.items()
    }
    with torch.no_grad(), record(model.to(dtype)) as calls:
        set_seed()
        model(**inputs)
    for call in calls:
        assert call.verify().ok, call.verify()
        if isinstance(call.inputs, AttentionInputs):
            compared = derive(call, call.n_heads - 1, call.n_batch - 1).comparisons
            assert all(comparison.ok for comparison in compared.values()), compared


def test_the_table_is_large_enough_and_has_each_name_once() -> None:
    names = [family.name for family in FAMILIES]
    assert len(set(names)) == len(names) >= 60
    assert 12 <= sum(family.fast for family in FAMILIES) <= 16
    assert len({family.mechanism for family in FAMILIES}) >= 20


def test_the_comparison_can_fail() -> None:
    model, inputs, expected = tiny_case("gpt2")
    with torch.no_grad(), record(model) as calls:
        model(**inputs)
    without_one = Comparison(calls[1:])
    without_one.run(expected)
    assert without_one.missing
    expected.calls[0].weights[0, 2, 5, 1] += 0.01
    changed = Comparison(calls)
    changed.run(expected)
    assert changed.wrong == ["h.0.attn#0 [2, 4, 11, 11]: max difference 0.01"]
