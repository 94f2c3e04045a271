"""`lazy.names`: looked up on first use, kept in the package, nothing else offered."""

import sys
from pathlib import Path

import pytest

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
