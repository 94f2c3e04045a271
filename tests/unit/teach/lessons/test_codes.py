"""`new_code` and `normal`: the codes of classes."""

import math

import pytest

from attnviz.teach.classroom.rooms import ALPHABET, GROUP, GROUPS, new_code, normal


def test_new_code_has_six_signs_that_can_be_read_aloud() -> None:
    assert GROUPS * GROUP == 6 and math.log2(len(set(ALPHABET))) == 5
    assert not set("0O1l") & set(ALPHABET)
    codes = {new_code() for _ in range(500)}
    assert len(codes) == 500
    assert all(set(code) <= set(ALPHABET) | {"-"} for code in codes)
    assert set("".join(codes)) == set(ALPHABET) | {"-"}


@pytest.mark.parametrize("typed", ["k7q-m2x", "K7QM2X", " k7q m2x", "Ｋ７qm2x"])
def test_a_code_may_be_typed_in_any_way(typed: str) -> None:
    assert normal(typed) == "K7Q-M2X"
