"""Every skip carries a reason that tests/README.md lists, and no listed reason is gone."""

import ast
import re

from tests.contracts import project
from tests.contracts.rules import dotted

WORDS = re.compile("skip|xfail")


def reasons(source: str) -> set[str]:
    """The reasons of the skips in a source; a skip without a literal reason counts as ''."""
    if not WORDS.search(source):  # nothing to parse
        return set()
    nodes = list(ast.walk(ast.parse(source)))
    calls = [node for node in nodes if isinstance(node, ast.Call) and _skips(node.func)]
    called = [call.func for call in calls]
    bare = [node for node in nodes if _skips(node) and node not in called]
    return {_reason(call) for call in calls} | ({""} if bare else set())


def _skips(node: ast.AST) -> bool:
    return bool(re.fullmatch(r"pytest\.(mark\.)?(skip|skipif|xfail|importorskip)", dotted(node)))


def _reason(call: ast.Call) -> str:
    named = [keyword.value for keyword in call.keywords if keyword.arg == "reason"]
    positional = call.args[:1] if dotted(call.func) == "pytest.skip" else []
    values = [value.value for value in named + positional if isinstance(value, ast.Constant)]
    return str(values[0]) if values else ""


def listed(document: str) -> set[str]:
    table = document.split("## Skips")[1]
    return set(re.findall(r"^\| `([^`]+)` \|", table, flags=re.MULTILINE))


def used() -> set[str]:
    files = project.each_file(project.python_files(project.ROOT / "tests"))
    return {
        reason
        for name, text in files
        if "contracts/test_skips" not in name
        for reason in reasons(text)
    }


def test_skips_and_their_list_agree() -> None:
    assert used() == listed(project.read(project.ROOT / "tests" / "README.md"))


def test_a_skip_without_a_listed_reason_is_found() -> None:
    assert reasons('@pytest.mark.skipif(x, reason="no mood")\ndef test(): ...') == {"no mood"}
    assert reasons('def test():\n    pytest.skip("later")') == {"later"}
    assert reasons("@pytest.mark.skip\ndef test(): ...") == {""}
    assert reasons("@pytest.mark.xfail()\ndef test(): ...") == {""}
