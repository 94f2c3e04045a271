"""Which errors the code raises: their codes, and the details that each place gives with them."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tests.contracts.rules import Function, functions, nodes

WORD = re.compile(r"[^\W\d]{3,}")


@dataclass(frozen=True)
class Raised:
    """One place that makes an error; `code` may have stood in a caller of that place.

    `words` are the details that hold words of the source code: (name of the detail, words).
    """

    code: str
    details: frozenset[str]
    place: str
    words: frozenset[tuple[str, str]] = frozenset()


class File:
    """A file, walked once: its calls, those of a plain name by that name, and its imports."""

    def __init__(self, name: str, source: str) -> None:
        self.name, self.tree = name, ast.parse(source)
        self.calls = [node for node in nodes(self.tree) if isinstance(node, ast.Call)]
        self.calls_of: defaultdict[str, list[ast.Call]] = defaultdict(list)
        for call in self.calls:
            if isinstance(call.func, ast.Name):
                self.calls_of[call.func.id].append(call)
        self.imported = {
            (node.module, alias.name)
            for node in nodes(self.tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }


def raised(sources: Iterable[tuple[str, str]]) -> list[Raised]:
    """Every `code=` in a call, with the names of the other keywords there.

    A code that is a parameter of the function around it, or an f-string of one, takes each literal
    that some call hands over for that parameter; what the call hands over by name counts too where
    the function passes its `**details` on.
    """
    files = [File(name, source) for name, source in sources]
    return [error for file in files for error in _of_file(file, files)]


def _of_file(file: File, files: list[File]) -> Iterator[Raised]:
    coded = [node for node in file.calls if any(each.arg == "code" for each in node.keywords)]
    if not coded:
        return
    around = {id(node): f for f in functions(file.tree) for node in ast.walk(f)}
    for node in coded:
        details = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
        code = details.pop("code", None)
        if code is None:
            continue
        inside = around.get(id(node))
        callers = [] if inside is None else _callers(inside, file, files)
        words = {
            (detail, text)
            for detail, value in details.items()
            for text in _words(value, inside, callers)
        }
        for literal, call in _codes(code, inside, callers):
            passed = _passed_on(node, inside, call)
            words |= {(k, text) for k, v in passed.items() for text in _words(v, None, callers)}
            yield Raised(
                literal,
                frozenset(details) | frozenset(passed),
                f"{file.name}:{node.lineno}",
                frozenset(words),
            )


def _callers(function: Function, file: File, files: list[File]) -> list[File]:
    """The file of a function, and those that import it by name, from there or from its package."""
    module = file.name.removesuffix(".py").replace("/", ".")
    homes = (module, module.rpartition(".")[0])
    return [
        other
        for other in files
        if other is file or any((home, function.name) in other.imported for home in homes)
    ]


def _passed_on(
    error: ast.Call, inside: Function | None, call: ast.Call | None
) -> dict[str, ast.expr]:
    """What a call of the function around an error hands over in that function's `**details`."""
    spread = [keyword.value for keyword in error.keywords if keyword.arg is None]
    names = {value.id for value in spread if isinstance(value, ast.Name)}
    kwarg = None if inside is None else inside.args.kwarg
    if call is None or kwarg is None or kwarg.arg not in names:
        return {}
    return {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}


def _codes(
    code: ast.expr, inside: Function | None, callers: list[File]
) -> Iterator[tuple[str, ast.Call | None]]:
    """The codes that an expression stands for, each with the call that handed it over."""
    if isinstance(code, ast.Constant):
        yield str(code.value), None
        return
    if isinstance(code, ast.IfExp):
        yield from _codes(code.body, inside, callers)
        yield from _codes(code.orelse, inside, callers)
        return
    parts = code.values if isinstance(code, ast.JoinedStr) else [code]
    inner = [part.value if isinstance(part, ast.FormattedValue) else part for part in parts]
    names = [part.id for part in inner if isinstance(part, ast.Name)]
    if inside is None or len(names) != 1:
        return
    for argument, call in _handed_over(inside, names[0], callers):
        if isinstance(argument, ast.Constant):
            yield (
                "".join(
                    str(part.value if isinstance(part, ast.Constant) else argument.value)
                    for part in inner
                ),
                call,
            )


def _words(value: ast.expr, inside: Function | None, callers: list[File]) -> Iterator[str]:
    """The literal words of a value, of a local variable, or of what callers hand over for it."""
    if isinstance(value, ast.Name) and inside is not None:
        for argument, _ in _handed_over(inside, value.id, callers):
            yield from _words(argument, None, callers)
        for node in ast.walk(inside):
            if isinstance(node, ast.Assign) and any(
                isinstance(target, ast.Name) and target.id == value.id for target in node.targets
            ):
                yield from _words(node.value, None, callers)
        return
    parts = value.values if isinstance(value, ast.JoinedStr) else [value]
    for part in parts:
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield from WORD.findall(part.value)


def _handed_over(
    function: Function, parameter: str, callers: list[File]
) -> Iterator[tuple[ast.expr, ast.Call]]:
    """What calls hand over for a parameter, by its position."""
    parameters = [argument.arg for argument in function.args.args]
    if parameter not in parameters:
        return
    position = parameters.index(parameter)
    for file in callers:
        for call in file.calls_of[function.name]:
            if len(call.args) > position:
                yield call.args[position], call
