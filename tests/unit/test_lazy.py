"""`lazy.names`: looked up on first use, kept in the package, nothing else offered.

`FilledLater`: fields that are worked out at the first question, once.
"""

import pickle
import sys
from copy import copy, deepcopy
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from attnviz.lazy import FilledLater

PACKAGE = """
from attnviz.lazy import names
__getattr__, __dir__, __all__ = names(
    __name__, {"tried_lazily.inner": ("b", "a"), "tried_lazily": ("inner",)}
)
"""


def test_names_are_looked_up_on_first_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "tried_lazily"
    folder.mkdir()
    (folder / "__init__.py").write_text(PACKAGE)
    (folder / "inner.py").write_text("a, b = 3, 5")
    monkeypatch.syspath_prepend(tmp_path)
    import tried_lazily as package

    assert package.__all__ == dir(package) == ["a", "b", "inner"]
    assert "tried_lazily.inner" not in sys.modules
    assert package.b == 5 and vars(package)["b"] == 5 and "a" not in vars(package)
    assert package.inner is sys.modules["tried_lazily.inner"]
    with pytest.raises(AttributeError, match="'tried_lazily' has no attribute 'c'"):
        package.c  # noqa: B018


@dataclass(frozen=True, eq=False)
class Pair(FilledLater):
    known: int
    left: int
    right: int


def pair(asked: list[int]) -> Pair:
    def work() -> dict[str, object]:
        asked.append(1)
        return {"left": 2, "right": 3}

    return Pair.later(work, known=1)


def test_fields_are_filled_at_the_first_question() -> None:
    asked: list[int] = []
    made = pair(asked)
    assert made.known == 1 and not hasattr(made, "other") and not asked
    assert (made.left, made.right, made.left) == (2, 3, 2) and asked == [1]
    assert replace(pair(asked), known=5).left == 2 and Pair(1, 2, 3).left == 2


def test_what_is_filled_later_is_stored_filled() -> None:
    for stored in (pickle.loads(pickle.dumps(pair([]))), deepcopy(pair([])), copy(pair([]))):
        assert (stored.known, stored.left, stored.right) == (1, 2, 3)


def test_an_error_is_raised_at_each_question() -> None:
    def fails() -> dict[str, object]:
        raise ZeroDivisionError

    made = Pair.later(fails, known=1)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            made.left  # noqa: B018
