"""`walk`: one state measured, or two in turns, with the ratio of each figure."""

import subprocess
from pathlib import Path

import pytest

from benchmarks import walk
from benchmarks.walk import Figure, in_turns, ratio_table

FAKE = """
import json
entry = {"name": "grid", "unit": "ms", "median": MEDIAN, "budget": 5.0, "ok": OK, "wrong": WRONG}
print(json.dumps({"machine": "here", "results": [entry]}))
"""


def git(folder: Path, *arguments: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


def write(folder: Path, median: float, wrong: str | None = None) -> None:
    values = {"MEDIAN": median, "OK": "WRONG" if wrong else "yes", "WRONG": wrong}
    source = FAKE
    for name, value in values.items():
        source = source.replace(f": {name}", f": {value!r}")
    (folder / "fake.py").write_text(source, encoding="utf-8")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose benchmark says 2 ms in its first commit, and 3 ms in its files."""
    git(tmp_path, "init", "-q")
    write(tmp_path, 2.0)
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "First")
    write(tmp_path, 3.0)
    monkeypatch.setattr(walk, "ROOT", tmp_path)
    monkeypatch.setattr(walk, "COMMANDS", (("fake",),))
    return tmp_path


def test_main_compares_the_files_here_with_those_of_a_commit(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert walk.main(["--against", "HEAD", "--turns", "2"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[2].split() == "grid 3 ms 2 ms 1.50 1.50 to 1.50 SLOWER".split()
    left = subprocess.run(
        ["git", "worktree", "list"], cwd=repository, capture_output=True, text=True
    )
    assert len(left.stdout.splitlines()) == 1, "the folder of the commit is left behind"


def test_main_ends_with_code_1_for_a_wrong_result_of_this_state_only(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(repository, 3.0, wrong="off by one")
    assert walk.main([]) == 1
    assert "WRONG here: grid: off by one" in capsys.readouterr().out
    assert walk.main(["--against", "HEAD", "--turns", "1"]) == 1
    git(repository, "commit", "-q", "-a", "-m", "Wrong")
    write(repository, 3.0)
    assert walk.main(["--against", "HEAD", "--turns", "1"]) == 0
    assert "WRONG HEAD: grid: off by one" in capsys.readouterr().out


def test_main_says_what_is_no_commit(repository: Path) -> None:
    with pytest.raises(SystemExit, match="AGAINST=nonsense: .*name a commit or a tag"):
        walk.main(["--against", "nonsense"])


def figure(name: str, median: float | None) -> Figure:
    return Figure(name, "ms", median, None, "-", None)


def figures(**medians: float | None) -> dict[str, Figure]:
    return {name: figure(name, median) for name, median in medians.items()}


def test_ratio_table_takes_the_median_of_the_turns_and_names_what_one_state_lacks() -> None:
    turns = [
        (figures(a=10.0, b=1.0, new=1.0), figures(a=10.0, b=4.0, old=2.0)),
        (figures(a=30.0, b=1.0, new=1.0), figures(a=10.0, b=2.0, old=2.0)),
        (figures(a=11.0, b=1.0, new=1.0), figures(a=10.0, b=1.0, old=2.0)),
    ]
    lines = ratio_table(turns, "v1").splitlines()
    assert lines[2].split() == "a 11 ms 10 ms 1.10 1.00 to 3.00".split(), "1.10 is not yet slower"
    assert lines[3].split() == "b 1 ms 2 ms 0.50 0.25 to 1.00".split()
    assert lines[4:6] == ["only here: new", "only in v1: old"]


def test_in_turns_has_each_state_first_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[Path] = []

    def measured(tree: Path, rounds: int | None) -> dict[str, Figure]:
        order.append(tree)
        assert rounds == 7
        return figures(a=1.0 if tree == walk.ROOT else 2.0)

    monkeypatch.setattr(walk, "measured", measured)
    other = Path("other")
    turns = in_turns(other, 3, 7)
    assert order == [walk.ROOT, other, other, walk.ROOT, walk.ROOT, other]
    assert [(here["a"].median, there["a"].median) for here, there in turns] == [(1.0, 2.0)] * 3
