"""Which errors the code raises: their codes, and the details that each place gives with them."""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tests.contracts.rules import Function, functions


@dataclass(frozen=True)
class Raised:
    """One place that makes an error; `code` may have stood in a caller of that place."""

    code: str
    details: frozenset[str]
    place: str


def raised(sources: Iterable[tuple[str, str]]) -> list[Raised]:
    """Every `code=` in a call, with the names of the other keywords there.

    A code that is a parameter of the function around it, or an f-string of one, takes each literal
    that some call hands over for that parameter.
    """
    trees = [(name, ast.parse(source)) for name, source in sources]
    return [found for name, tree in trees for found in _of_file(name, tree, trees)]


def _of_file(name: str, tree: ast.AST, trees: list[tuple[str, ast.Module]]) -> Iterator[Raised]:
    around = {id(node): f for f in functions(tree) for node in ast.walk(f)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        given = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
        code = given.pop("code", None)
        if code is None:
            continue
        for value in _values(code, around.get(id(node)), trees):
            yield Raised(value, frozenset(given), f"{name}:{node.lineno}")


def _values(
    code: ast.expr, inside: Function | None, trees: list[tuple[str, ast.Module]]
) -> Iterator[str]:
    if isinstance(code, ast.Constant):
        yield str(code.value)
        return
    parts = code.values if isinstance(code, ast.JoinedStr) else [code]
    inner = [part.value if isinstance(part, ast.FormattedValue) else part for part in parts]
    names = [part.id for part in inner if isinstance(part, ast.Name)]
    parameters = [] if inside is None else [each.arg for each in inside.args.args]
    if inside is None or len(names) != 1 or names[0] not in parameters:
        return
    for literal in _handed_over(inside.name, parameters.index(names[0]), trees):
        yield "".join(
            str(part.value) if isinstance(part, ast.Constant) else literal for part in inner
        )


def _handed_over(
    function: str, position: int, trees: list[tuple[str, ast.Module]]
) -> Iterator[str]:
    for _, tree in trees:
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id == function
                and len(node.args) > position
            ):
                argument = node.args[position]
                if isinstance(argument, ast.Constant):
                    yield str(argument.value)
