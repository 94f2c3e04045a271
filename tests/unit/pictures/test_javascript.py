"""`javascript.tokens`: strings, templates, regular expressions and divisions are told apart."""

from pathlib import Path

import pytest

from attnviz.pictures.shared.bundle import FOLDER
from attnviz.pictures.shared.javascript import JavaScriptError, line_of, tokens

SOURCES = sorted(FOLDER.glob("*/*.js"))


def pieces(source: str) -> list[tuple[str, str]]:
    return [(token.kind, token.text) for token in tokens(source)]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_tokens_of_a_module_are_its_text_without_white_space_and_comments(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    read = tokens(source)
    assert all(source.startswith(token.text, token.at) for token in read)
    ends = [0, *(token.at + len(token.text) for token in read)]
    starts = [*(token.at for token in read), len(source)]
    for end, start in zip(ends, starts, strict=True):
        between = source[end:start].strip()
        assert not between or between.startswith(("//", "/*"))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a / b / c", ["name", "punctuator", "name", "punctuator", "name"]),
        ("return /a/g", ["name", "regex"]),
        ("x.return / 2", ["name", "punctuator", "name", "punctuator", "number"]),
        ("if (a) /b/.test(c)", "name punctuator name punctuator regex".split()),
        ("(a) / b", "punctuator name punctuator punctuator name".split()),
        ("f(a) / b", "name punctuator name punctuator punctuator name".split()),
        ("a[0] / 2", "name punctuator number punctuator punctuator number".split()),
        ("= /[/]\\//u", ["punctuator", "regex"]),
        ("/a\\/b/", ["regex"]),
        ("\"//\" /* \" */ + '\\''", ["string", "punctuator", "string"]),
        ("`//`", ["template"]),
        ("`a${`b${{}}c`}d` + 1", ["template", "punctuator", "number"]),
        ("`${a /* } */}`", ["template"]),
        ("`\\`${'}'}\\${`", ["template"]),
        ("0xff_ff 1.5e-3 .5 1_000n 0b11", ["number"] * 5),
        ("a?.b ?? c?.5:1", "name punctuator name punctuator name punctuator number".split()),
    ],
)
def test_tokens_have_their_kinds(source: str, expected: list[str]) -> None:
    assert [kind for kind, _ in pieces(source)][: len(expected)] == expected


def test_a_gap_says_whether_a_line_ended() -> None:
    read = tokens("a // one\nb /* two */ c/**/d\n/* e\n */f")
    assert [(token.text, token.gap) for token in read] == [
        *(("a", ""), ("b", "\n"), ("c", " "), ("d", " "), ("f", "\n"))
    ]


def test_depth_counts_the_open_brackets() -> None:
    assert [token.depth for token in tokens("a({b: [c]})d")] == [0, 0, 1, 2, 2, 2, 3, 2, 1, 0, 0]


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("a\n(b", "line 2: a bracket is never closed"),
        ("a]", "line 1: ] closes nothing"),
        ("(a]", r"\] closes nothing"),
        ('"a\n"', "no token begins"),
        ("`a", "a template literal without an end"),
        ("`${a", "a bracket is never closed"),
        ("= /a", "a regular expression without an end"),
        ("{} / 2", "a slash after } may divide or not"),
        ("a++ / 2", r"a slash after \+\+ may divide or not"),
        ("a = é", "no token begins 'é'"),
        ("/* a", "a regular expression without an end"),
    ],
)
def test_what_is_not_understood_is_refused(source: str, problem: str) -> None:
    with pytest.raises(JavaScriptError, match=problem):
        tokens(source)


def test_line_of_counts_from_one() -> None:
    assert [line_of("a\nb\n", at) for at in (0, 1, 2)] == [1, 1, 2]
