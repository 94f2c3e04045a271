"""The rule that no assertion of a browser test reads the page once.

In: a file's name and its text. Out: one line for each assertion that compares what a page says at
one moment, though a browser and a server answer when they can. A function whose name is given to
`eventually` is made again until it holds, so its assertions may read. `page.url` may not be read
even there: it is the address that Playwright last heard of, and it hears nothing between two calls.
For the same reason only `wait_until` of a visit, which calls the page, waits for what was `seen`.
"""

import ast
from collections.abc import Iterator

from tests.contracts.rules import Function, dotted, functions, parse

# of a page or a locator: what it says now
READS = {
    "all_inner_texts",
    "all_text_contents",
    "evaluate_all",
    "get_attribute",
    "inner_html",
    "inner_text",
    "input_value",
    "is_checked",
    "is_enabled",
    "is_visible",
    "parameters",
    "text_content",
}
READERS = {"cell_colours", "data", "main_text", "pixels"}  # functions of tests/support
REPEATS = "eventually"
WITHOUT_THE_PAGE = {REPEATS, "expect_equal", "expect_true", "at_rest"}


def single_readings(name: str, source: str) -> list[str]:
    """Assertions on what was read from a page once."""
    tree = parse(source)
    readers = READERS | _readers(tree)
    repeated = _repeated(tree)
    found = [
        f"{name}:{assertion.lineno}: {function.name} asserts what it reads once; wait with "
        "tests.support.waiting"
        for function in functions(tree)
        if function.name not in repeated
        for assertion in _assertions(function, readers)
    ]
    for node in ast.walk(tree):
        if not isinstance(node, ast.Lambda | ast.Call):
            continue
        parts = list(ast.walk(node))
        if isinstance(node, ast.Lambda) and any(map(_is_address, parts)):
            found.append(
                f"{name}:{node.lineno}: a wait reads an old address; use expect(page).to_have_url"
            )
        if isinstance(node, ast.Call) and dotted(node.func) in WITHOUT_THE_PAGE:
            if any(isinstance(part, ast.Attribute) and part.attr == "seen" for part in parts):
                found.append(
                    f"{name}:{node.lineno}: a wait for messages calls no page; use wait_until"
                )
    return found


def _repeated(tree: ast.AST) -> set[str]:
    """The names that stand in a call of `eventually`."""
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    return {
        part.id
        for call in calls
        if dotted(call.func) == REPEATS
        for part in ast.walk(call)
        if isinstance(part, ast.Name)
    }


def _readers(tree: ast.AST) -> set[str]:
    """Functions of the file that return what they read, also through one another."""
    found: set[str] = set()
    while True:
        more = {
            function.name
            for function in functions(tree)
            if any(
                isinstance(node, ast.Return) and node.value and _reads(node.value, READERS | found)
                for node in ast.walk(function)
            )
        }
        if more <= found:
            return found
        found |= more


def _assertions(function: Function, readers: set[str]) -> Iterator[ast.Assert]:
    """The assertions of a function, functions in it left out, that read or use what was read."""
    nodes = list(_own(function))
    read = {
        target.id
        for node in nodes
        if isinstance(node, ast.Assign) and _reads(node.value, readers)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in nodes:
        if isinstance(node, ast.Assert):
            names = {part.id for part in ast.walk(node.test) if isinstance(part, ast.Name)}
            if names & read or _reads(node.test, readers):
                yield node


def _own(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, Function | ast.Lambda):
            yield child
            yield from _own(child)


def _reads(node: ast.AST, readers: set[str]) -> bool:
    """True if an expression itself asks the page; a lambda in it only says how to ask."""
    for part in (node, *_own(node)):
        if isinstance(part, ast.Call):
            if isinstance(part.func, ast.Attribute) and part.func.attr in READS:
                return True
            if isinstance(part.func, ast.Name) and part.func.id in readers:
                return True
        if _is_address(part):
            return True
    return False


def _is_address(part: ast.AST) -> bool:
    return isinstance(part, ast.Attribute) and dotted(part).endswith("page.url")
