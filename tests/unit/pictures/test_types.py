"""The types of what each canvas is sent: written from its dataclasses, and every text is used.

What the modules ask of their data and of their texts `tsc` checks in `make check`.
"""

import re
from functools import cache

import pytest

from attnviz import i18n
from attnviz.pictures.shared import bundle
from scripts import write_canvas_types

ROOT = bundle.FOLDER.parents[1]
NAMES = bundle.component_names()
LITERAL = re.compile(r'"(\w+)"')  # a value in the data may name a text


def test_the_types_are_current() -> None:
    stale = [
        path.relative_to(ROOT).as_posix()
        for path, text in write_canvas_types.documents().items()
        if path.read_text(encoding="utf-8") != text
    ]
    assert not stale, "run `python -m scripts.write_canvas_types`"


@cache
def reached(name: str) -> str:
    """The text of all modules that a component consists of."""
    modules = bundle.modules_of([bundle.component_entry(name)])
    return "".join(path.read_text(encoding="utf-8") for path in modules)


def values(name: str) -> str:
    """The names that can stand in a component's data."""
    types = (bundle.FOLDER / name / "types.d.ts").read_text(encoding="utf-8")
    return " ".join(LITERAL.findall(types))


def own_texts(name: str) -> set[str]:
    start = f"component.{name}."
    return {key.removeprefix(start) for key in i18n.catalogue("en") if key.startswith(start)}


def unused(keys: set[str], source: str) -> set[str]:
    """The texts that no module names: whole, or by a prefix as in `edit_${mode}`."""
    prefixes = tuple(re.findall(r"`(\w+_)\$\{", source))
    named = set(re.findall(r"\w+", source))
    return {key for key in keys - named if not (prefixes and key.startswith(prefixes))}


@pytest.mark.parametrize("name", NAMES)
def test_every_text_of_a_component_is_used(name: str) -> None:
    assert unused(own_texts(name), reached(name) + values(name)) == set()


def test_every_shared_text_is_used_and_every_section_has_its_canvas() -> None:
    assert unused(own_texts("shared"), "".join(map(reached, NAMES))) == set()
    keys = [key.split(".") for key in i18n.catalogue("en") if key.startswith("component.")]
    assert {name for _, name, *_ in keys} <= {*NAMES, "shared"}


def test_a_text_that_no_module_names_is_found() -> None:
    assert unused({"hint", "edit_old", "x"}, "strings.hint; strings[`edit_${mode}`]") == {"x"}


def test_no_module_gives_up_on_types() -> None:
    loose = re.compile(r"@ts-nocheck|@ts-ignore|\{any\}|\{\*\}|[<:|,(\[] ?any\b[ \[>,)}|;]")
    files = [*ROOT.glob("attnviz/**/*.js"), *ROOT.glob("attnviz/**/*.d.ts")]
    assert len(files) > 100
    assert [path.name for path in files if loose.search(path.read_text(encoding="utf-8"))] == []
    for line in ("/** @param {any} x */", "x: any;", "Record<string, any>", "any[]".join("[]")):
        assert loose.search(line)
