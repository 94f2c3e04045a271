"""Reads the imports and exports of an ES module, and refuses every form that it does not know.

In: a file. Out: a `Module`: what it imports from where, what it exports under which name, and its
code without these statements and without comments. Allowed are, with their semicolons,

    import { a, b as c } from "./x.js";      import a from "./x.js";
    export const a = 1, b = 2;               export function f() {}   export class C {}
    export { a, b as c };                    export default f;        export default function f() {}

A binding that may change after it was exported (`export let`), a module as an object, dynamic
imports, re-exports and what is awaited by a whole module are refused.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from attnviz.pictures.shared.javascript import JavaScriptError, Token, line_of, tokens

DEFAULT = "$default"  # the name of a default export that is an expression
WATCHED = ("import", "export", "await")
DECLARING = ("function", "async", "class")


@dataclass(frozen=True)
class Import:
    """Names taken from a module: each name inside, with the one that it is exported as."""

    path: Path
    names: dict[str, str]


@dataclass(frozen=True)
class Module:
    """An ES module; `exports` has each name outside with the one inside."""

    path: Path
    imports: tuple[Import, ...]
    exports: dict[str, str]
    code: str


def read_module(path: Path) -> Module:
    """The module in a file; `JavaScriptError` names file and line where it is refused."""
    source = path.read_text(encoding="utf-8")
    try:
        reader = _Reader(path, source, tokens(source))
        reader.read()
    except JavaScriptError as problem:
        raise JavaScriptError(f"{path.parent.name}/{path.name}, {problem}") from None
    code = "".join(reader.code).strip() + "\n"
    return Module(path, tuple(reader.imports), reader.exports, code)


@dataclass
class _Reader:
    """A module that is being read, and the parts that are known of it."""

    path: Path
    source: str
    tokens: list[Token]
    at: int = 0
    imports: list[Import] = field(default_factory=list)
    exports: dict[str, str] = field(default_factory=dict)
    code: list[str] = field(default_factory=list)

    def read(self) -> None:
        """Goes through the whole module."""
        for place, token in enumerate(self.tokens):
            if token.text not in WATCHED and token.text[0] != "$" or place < self.at:
                continue
            self._copy_until(place)
            if token.kind == "name" and not self._names_a_member():
                self._watched(token)
        self._copy_until(len(self.tokens))

    def _watched(self, token: Token) -> None:
        if token.text == "await" and token.depth:
            return
        if token.text == "await":
            raise self._error(token, "await outside of a function")
        if token.text[0] == "$":
            raise self._error(token, f"{token.text}: names with $ are the bundle's own")
        before = self.tokens[self.at - 1].text if self.at else ";"
        if token.depth or before not in (";", "}"):
            raise self._error(token, f"{token.text} inside of a statement")
        if token.text == "import":
            self._import(token)
        else:
            self._export(token)

    def _names_a_member(self) -> bool:
        """True if the word here is a property or a key: `x.import`, `{ import: 1 }`."""
        before = self.tokens[self.at - 1].text if self.at else ""
        after = self.tokens[self.at + 1].text if self.at + 1 < len(self.tokens) else ""
        return before in (".", "?.") or after == ":"

    # --- import -------------------------------------------------------------------------------

    def _import(self, start: Token) -> None:
        self._take("import")
        names: dict[str, str] = {}
        if self._next().kind == "name":
            names[self._take().text] = "default"
            if self._next().text == ",":
                self._take(",")
        if self._next().text == "{":
            for outside, inside in self._named():
                if inside in names:
                    raise self._error(start, f"{inside} is imported twice")
                names[inside] = outside
        if not names:
            raise self._error(start, "an import without names")
        self._take("from")
        target = self._take()
        if target.kind != "string" or not target.text[1:].startswith(("./", "../")):
            raise self._error(target, f"an import from {target.text}, which is no file beside it")
        self._take(";")
        path = (self.path.parent / target.text[1:-1]).resolve()
        if not path.is_file():
            raise self._error(target, f"there is no {target.text}")
        self.imports.append(Import(path, names))

    def _named(self) -> Iterable[tuple[str, str]]:
        """The pairs of `{ a, b as c }`: (a, a) and (b, c)."""
        self._take("{")
        while self._next().text != "}":
            first = second = self._name()
            if self._next().text == "as":
                self._take("as")
                second = self._name()
            yield first, second
            if self._next().text != "}":
                self._take(",")
        self._take("}")

    # --- export -------------------------------------------------------------------------------

    def _export(self, start: Token) -> None:
        self._take("export")
        word = self._next().text
        if word == "{":
            for inside, outside in self._named():
                self._add(start, outside, inside)
            self._take(";")
        elif word == "default":
            self._default(start)
        elif word == "const":
            self._constants(start)
        elif word in DECLARING:
            name = self._declared(start)
            self._add(start, name, name)
        else:
            raise self._error(start, f"export {word}")

    def _default(self, start: Token) -> None:
        self._take("default")
        if self._next().text in DECLARING:
            self._add(start, "default", self._declared(start))
            return
        self._add(start, "default", DEFAULT)
        self.code.append(f"{start.gap}const {DEFAULT} =")
        if self._expression(start) != ";":
            raise self._error(start, "a default export of several values")

    def _declared(self, start: Token) -> str:
        """The name of the function or class that begins here; the code keeps all of it."""
        for token in self.tokens[self.at : self.at + 4]:
            if token.kind == "name" and token.text not in DECLARING:
                self._move_up(start)
                return token.text
            if token.text not in (*DECLARING, "*"):
                break
        raise self._error(start, "an export without a name")

    def _constants(self, start: Token) -> None:
        self._move_up(start)
        self._copy()  # const
        ended = ","
        while ended == ",":
            name = self._next()
            if name.kind != "name":
                raise self._error(start, "an export that takes a value apart")
            self._add(start, name.text, name.text)
            self._copy()
            if self._next().text != "=":
                raise self._error(start, f"{name.text} is exported without a value")
            ended = self._expression(start)

    def _expression(self, start: Token) -> str:
        """Copies an expression with the comma or semicolon after it, and returns that."""
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            outside = token.depth == start.depth and not self._names_a_member()
            if outside and token.text in ("const", "let", "export", "import", "return"):
                break
            self._copy()
            if outside and token.text in (",", ";"):
                return token.text
        raise self._error(start, "an export without a semicolon after it")

    def _add(self, start: Token, outside: str, inside: str) -> None:
        if outside in self.exports:
            raise self._error(start, f"{outside} is exported twice")
        self.exports[outside] = inside

    def _move_up(self, start: Token) -> None:
        """The next token comes in the place of `export`, with the white space before that."""
        self.tokens[self.at] = self._next()._replace(gap=start.gap)

    # --- tokens -------------------------------------------------------------------------------

    def _next(self) -> Token:
        if self.at >= len(self.tokens):
            raise JavaScriptError("the module ends inside of a statement")
        return self.tokens[self.at]

    def _take(self, text: str | None = None) -> Token:
        """The next token, which does not become part of the code."""
        token = self._next()
        if text is not None and token.text != text:
            raise self._error(token, f"{token.text} where {text} belongs")
        self.at += 1
        return token

    def _name(self) -> str:
        token = self._take()
        if token.kind != "name":
            raise self._error(token, f"{token.text} where a name belongs")
        return token.text

    def _copy(self) -> None:
        self._next()
        self._copy_until(self.at + 1)

    def _copy_until(self, place: int) -> None:
        self.code.extend(token.gap + token.text for token in self.tokens[self.at : place])
        self.at = place

    def _error(self, token: Token, problem: str) -> JavaScriptError:
        return JavaScriptError(f"line {line_of(self.source, token.at)}: {problem}")
