"""The pages of the guide: every block of Python runs, from top to bottom of its page."""

import contextlib
from pathlib import Path

import pytest

from tests.contracts import doc_rules, project

GUIDE = {
    Path(name).stem: text for name, text in project.docs().items() if name.startswith("docs/guide/")
}
MAX_LINES = 70


LONG = {"weights-alone"}  # three models' weights, 15 s
RUN = [
    pytest.param(name, marks=pytest.mark.slow if name in LONG else ())
    for name, text in GUIDE.items()
    if "```python" in text
]


@pytest.mark.some(4)
@pytest.mark.parametrize("name", RUN)
def test_the_python_of_a_page_runs(name: str, tmp_path: Path) -> None:
    names: dict[str, object] = {}
    with contextlib.chdir(tmp_path):
        for block in doc_rules.blocks(GUIDE[name], "python"):
            exec(compile(block, f"{name}.md", "exec"), names)
        if name == "other-tools":
            lines = doc_rules.last_cells(GUIDE[name])
            assert len(lines) > 20
            for line in lines:
                assert eval(line, names) is not None, line


def test_the_last_column_of_a_table_is_read() -> None:
    table = "| BertViz | attnviz |\n|---|---|\n| `a(b)`, c | `f(x)` |\n| d | none |\n"
    assert doc_rules.last_cells(table) == ["f(x)"]


def test_the_first_page_leads_to_every_other() -> None:
    assert len(GUIDE) > 10
    assert not [
        name for name in GUIDE if name != "README" and f"({name}.md)" not in GUIDE["README"]
    ]


@pytest.mark.parametrize("name", GUIDE)
def test_a_page_is_short(name: str) -> None:
    assert len(GUIDE[name].splitlines()) <= MAX_LINES
