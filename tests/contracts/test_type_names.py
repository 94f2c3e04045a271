"""No two public classes of the package share a name: a name in a message or a signature is one."""

import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

CLASS = re.compile(r"^class ([A-Za-z]\w*)[:(]", re.MULTILINE)


def shared_names(files: Iterable[Path]) -> dict[str, list[str]]:
    """The public class names that several modules define, with these modules."""
    homes: dict[str, list[str]] = defaultdict(list)
    for file in files:
        for name in CLASS.findall(file.read_text(encoding="utf-8")):
            homes[name].append(file.name)
    return {name: modules for name, modules in homes.items() if len(modules) > 1}


def test_no_two_public_classes_have_one_name(root: Path) -> None:
    assert shared_names(sorted((root / "attnviz").rglob("*.py"))) == {}


def test_shared_names_finds_a_second_class_of_a_name(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("class Request: ...\nclass _Own: ...\n")
    (tmp_path / "b.py").write_text("class Request: ...\nclass _Own: ...\n")
    assert shared_names(sorted(tmp_path.glob("*.py"))) == {"Request": ["a.py", "b.py"]}
