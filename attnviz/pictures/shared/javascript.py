"""Splits JavaScript into tokens: as much of the grammar as joining modules safely needs.

In: the text of an ES module. Out: its tokens in order, each with the white space before it;
comments count as white space. Strings, template literals and regular expressions are one token
each, whatever they contain; a slash divides or begins a regular expression by what stands before
it (ECMA-262, section 12). A text that does not follow these rules is refused, not guessed.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

TOKEN = re.compile(
    r"""
    (?P<gap> \s* (?: (?: //[^\n]* | /\*.*?\*/ ) \s* )* )
    (?:
        (?P<name> \#?[A-Za-z_$][A-Za-z0-9_$]* )
      | (?P<number> 0[xX][0-9a-fA-F_]+n? | 0[bB][01_]+n? | 0[oO][0-7_]+n?
                  | (?: \d[\d_]*\.?[\d_]* | \.\d[\d_]* ) (?: [eE][+-]?\d+ )? n? )
      | (?P<string> "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*' )
      | (?P<template> ` )
      | (?P<punctuator> >>>= | \.\.\. | === | !== | \*\*= | <<= | >>= | >>> | &&= | \|\|= | \?\?=
                  | => | == | != | <= | >= | && | \|\| | \?\? | \?\.(?!\d) | \+\+ | -- | \+= | -=
                  | \*= | %= | &= | \|= | \^= | << | >> | \*\* | [{}()\[\];,<>+\-*/%&|^!~?:=.] )
      | (?P<end> \Z )
    )
    """,
    re.VERBOSE | re.DOTALL,
)
REGEX = re.compile(r"/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*")
# after these words a slash begins a regular expression; after other names it divides
OPERATORS = frozenset(
    "await case delete do else in instanceof new of return throw typeof void yield".split()
)
CONDITIONS = frozenset(("if", "while", "for"))
OPENS = {")": "(", "]": "[", "}": "{"}
BRACKETS = frozenset("()[]{}")


class JavaScriptError(ValueError):
    """A source that this reader does not understand: our bug, found by the tests."""


class Token(NamedTuple):
    """A piece of the source at an offset; `depth` counts the brackets that are open around it.

    `kind` is name, number, string, template, regex or punctuator; `gap` is the white space before:
    a line feed, a space, or nothing.
    """

    kind: str
    text: str
    gap: str
    at: int
    depth: int


def tokens(source: str) -> list[Token]:
    """All tokens of a module, in order."""
    return list(_Reader(source).read())


def line_of(source: str, at: int) -> int:
    """The line of an offset; the first one is 1."""
    return source.count("\n", 0, at) + 1


class _Reader:
    """A position in a source, with the brackets that are open there."""

    def __init__(self, source: str, at: int = 0) -> None:
        self.source = source
        self.at = at
        self.open: list[tuple[str, str]] = []  # each open bracket, and the word before it
        self.before_pair = ""  # the word before the bracket pair that closed last

    def read(self, in_template: bool = False) -> Iterator[Token]:
        """The tokens up to the end, or up to the brace that ends an expression in a template."""
        before, last = None, None
        while True:
            match = TOKEN.match(self.source, self.at)
            if match is None:
                raise self._error(f"no token begins {self.source[self.at :].lstrip()[:20]!r}")
            kind, self.at = str(match.lastgroup), match.end("gap")
            if kind == "end":
                break
            text = match[kind]
            if kind == "template":
                text = self._template()
            elif text == "/" and self._begins_regex(before, last):
                kind, text = "regex", self._regex()
            if in_template and text == "}" and not self.open:
                return
            gap = match["gap"]
            depth = self._depth(text, last) if text in BRACKETS else len(self.open)
            token = Token(kind, text, gap and ("\n" if "\n" in gap else " "), self.at, depth)
            before, last = last, token
            self.at += len(text)
            yield token
        if self.open or in_template:
            raise self._error("a bracket is never closed")

    def _depth(self, bracket: str, last: Token | None) -> int:
        """The number of open brackets around a bracket; updates the stack of open brackets."""
        if bracket not in OPENS:
            self.open.append((bracket, last.text if last else ""))
            return len(self.open) - 1
        if not self.open or self.open[-1][0] != OPENS[bracket]:
            raise self._error(f"{bracket} closes nothing")
        self.before_pair = self.open.pop()[1]
        return len(self.open)

    def _template(self) -> str:
        """The template literal that begins here, with all that its expressions contain."""
        at = self.at + 1
        while at < len(self.source):
            if self.source[at] == "`":
                return self.source[self.at : at + 1]
            if self.source.startswith("${", at):
                expression = _Reader(self.source, at + 2)
                for _ in expression.read(in_template=True):
                    pass
                at = expression.at
            at += 2 if self.source[at] == "\\" else 1
        raise self._error("a template literal without an end")

    def _regex(self) -> str:
        match = REGEX.match(self.source, self.at)
        if match is None:
            raise self._error("a regular expression without an end")
        return match[0]

    def _begins_regex(self, before: Token | None, last: Token | None) -> bool:
        """True if a slash after these two tokens begins a regular expression."""
        if last is None:
            return True
        if last.kind == "name":
            is_property = before is not None and before.text in (".", "?.")
            return last.text in OPERATORS and not is_property
        if last.kind != "punctuator" or last.text == "]":
            return False
        if last.text == ")":
            return self.before_pair in CONDITIONS
        if last.text in ("}", "++", "--"):
            raise self._error(f"a slash after {last.text} may divide or not: write it otherwise")
        return True

    def _error(self, problem: str) -> JavaScriptError:
        return JavaScriptError(f"line {line_of(self.source, self.at)}: {problem}")
