"""The examples in docstrings of what people call: they run, and give what they say."""

import doctest
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import attnviz
from attnviz.experiment import Experiment

METHODS = "effects edges patched_from with_changes paths cut direct lens why tokens".split()
FUNCTIONS = (
    "load capture show save read record from_attentions derive changed survey embed experiment"
).split()
CALLED: dict[str, Callable[..., Any]] = {
    **{name: getattr(attnviz, name) for name in FUNCTIONS},
    **{name: getattr(Experiment, name) for name in METHODS},
}


def failures(example: doctest.DocTest) -> Iterator[str]:
    """What the lines of a docstring print where they say something else."""
    told: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(example, out=told.append)
    yield from told


def parsed(function: Callable[..., Any]) -> doctest.DocTest:
    parser, doc = doctest.DocTestParser(), inspect.getdoc(function) or ""
    return parser.get_doctest(doc, {"attnviz": attnviz}, function.__name__, None, None)


@pytest.mark.parametrize("name", CALLED)
def test_the_example_of_a_docstring_runs(name: str) -> None:
    example = parsed(CALLED[name])
    assert example.examples
    assert list(failures(example)) == []


def test_an_example_that_gives_something_else_is_found() -> None:
    def wrong() -> None:
        """
        >>> 1 + 1
        3
        """

    assert "Expected:" in "".join(failures(parsed(wrong)))


@pytest.mark.parametrize("name", CALLED)
def test_a_docstring_tells_what_goes_in_and_comes_out(name: str) -> None:
    function = CALLED[name]
    doc = inspect.getdoc(function) or ""
    assert "\nReturns " in doc and "\nRaises " in doc and "\nExample:\n" in doc
    parameters = [name for name in inspect.signature(function).parameters if name != "self"]
    untold = [parameter for parameter in parameters if f"`{parameter}`" not in doc]
    assert untold == []
