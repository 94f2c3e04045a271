"""Cases of a sweep: some in every run, all of them with the slow tests."""

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def mostly_slow(cases: Iterable[Any], quick: int | Collection[Any]) -> list[Any]:
    """The cases for `pytest.mark.parametrize`; those that are not quick carry the mark `slow`.

    `quick` is how many of the first are quick, or a collection of those that are. Where it does not
    matter which, `pytest.mark.some(n)` counts them over all parameters of a test.
    """
    cases = list(cases)
    chosen = cases[:quick] if isinstance(quick, int) else list(quick)
    assert chosen and all(case in cases for case in chosen), "a quick case is none of the cases"
    return [case if case in chosen else _slow(case) for case in cases]


def _slow(case: Any) -> Any:
    values = case if isinstance(case, tuple) else (case,)
    return pytest.param(*values, marks=pytest.mark.slow)
