"""The four languages say the same things, nothing is said that no code asks for, and vice versa."""

import re
from functools import cache
from importlib import import_module
from types import ModuleType

import pytest

from attnviz import i18n
from attnviz.models.registry import models
from tests.contracts import project, text_rules

OTHERS = [lang for lang in i18n.LANGUAGES if lang != i18n.DEFAULT]
NOT_TRANSLATED = ("language.name", "example.")  # sentences to run, and the languages' own names


def wanted(lang: i18n.Language) -> dict[str, str]:
    return {
        key: text
        for key, text in i18n.catalogue(lang).items()
        if not key.startswith(NOT_TRANSLATED)
    }


@pytest.mark.parametrize("lang", OTHERS)
def test_each_language_says_what_english_says(lang: i18n.Language) -> None:
    assert not text_rules.differences(wanted(i18n.DEFAULT), wanted(lang), lang)
    assert i18n.catalogue(lang).keys() == i18n.catalogue(i18n.DEFAULT).keys()


@pytest.mark.parametrize(
    ("other", "what"),
    [
        ({}, "a is in one file only"),
        ({"a": "{n} 個のトークン", "b": "x"}, "b is in one file only"),
        ({"a": "{m} 個のトークン"}, "a: placeholders ['m'], not ['n']"),
        ({"a": "トークン"}, "a: placeholders [], not ['n']"),
        ({"a": "{n} tokens stand in here"}, "a: no ja in '{n} tokens stand in here'"),
        ({"a": " "}, "a: empty"),
    ],
)
def test_a_difference_is_found(other: dict[str, str], what: str) -> None:
    assert what in text_rules.differences({"a": "{n} tokens stand in here"}, other, "ja")


# --- plurals -----------------------------------------------------------------------------------

# the number cannot be 1: a limit, what is over one, or a size that is at least 2
ALWAYS_MANY = (
    *("long.", "tiles.note", "place.", "window.help", "component.writing.left"),
    *("component.grid.pooled_note", "component.tiles.pooled"),
    *("error.too_many_tokens", "error.too_many_weights", "error.no_room_to_write"),
    "error.sound_shape",
)


def ones(template: str) -> str:
    """A text with 1 for every value."""
    return i18n.fill(template, dict.fromkeys(i18n.placeholders(template), 1))


def test_no_text_counts_one_thing_in_the_plural() -> None:
    counted = {
        key: text
        for key, text in i18n.catalogue(i18n.DEFAULT).items()
        if not key.startswith(ALWAYS_MANY)
    }
    assert not text_rules.wrong_plurals(counted, ones)


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_a_plural_stands_beside_its_number(lang: i18n.Language) -> None:
    texts = i18n.catalogue(lang)
    assert not {key: lone for key in texts if (lone := text_rules.lone_plurals(texts[key]))}


def test_a_wrong_and_a_lone_plural_are_found() -> None:
    texts = {"a": "{n} tokens", "b": "{n} {n:token|tokens}", "c": "{n} other keys", "d": "{n:a|b}"}
    assert text_rules.wrong_plurals(texts, ones) == ["a", "c"]
    assert [text_rules.lone_plurals(text) for text in texts.values()] == [[], [], [], ["n"]]


@cache
def used_in_project() -> text_rules.Used:
    used = text_rules.Used()
    demo = project.ROOT / "scripts" / "demo.py"  # the site's pages say where they come from
    for _, source in project.each_file([*project.shipped_files(), demo]):
        used.add(source)
    return used


def test_every_text_is_used() -> None:
    assert not text_rules.unused(i18n.catalogue(i18n.DEFAULT), used_in_project())


def test_every_text_that_is_asked_for_exists() -> None:
    sources = list(project.each_file(project.interface_files()))
    assert not text_rules.unknown(i18n.catalogue(i18n.DEFAULT), sources)


def test_an_unused_and_an_unknown_text_are_found() -> None:
    used = text_rules.Used()
    used.add('text(lang, f"page.{name}.title")\ntext(lang, "a.b")\nname = "head"\n')
    keys = ["a.b", "page.head.title", "page.gone.title", "a.c"]
    assert text_rules.unused(keys, used) == ["a.c", "page.gone.title"]
    assert text_rules.unknown(keys, [("x.py", 'text(lang, "a.d")')]) == ["x.py:1: a.d"]


def test_every_model_and_page_has_its_texts() -> None:
    for card in models():
        assert i18n.has(f"model.{card.name}.label"), card.name
        assert i18n.has(f"model.{card.name}.description"), card.name
    for page in project.python_files(project.PAGES):
        for part in ("title", "intro", "explain"):
            assert i18n.has(f"page.{page.stem}.{part}"), page.stem


# --- the strings that components show ----------------------------------------------------------

STRING = re.compile(r"\bstrings(?:\.(\w+)|\[\"(\w+)\"\])")
COMPONENTS = (
    *("alignment", "bars", "grid", "head", "pad", "patches", "similarity", "steps", "masks"),
    *("tiles", "writing", "board", "listener"),
)


def asked_for(source: str) -> set[str]:
    """Names that JavaScript reads from its strings literally."""
    return {dotted or quoted for dotted, quoted in STRING.findall(source)}


def component(name: str) -> tuple[ModuleType, str, str]:
    """The wrapper of a component, its own JavaScript, and that together with the shared one."""
    own, shared = (
        "\n".join(project.read(path) for path in sorted((project.COMPONENTS / folder).glob("*.js")))
        for folder in (name, "shared")
    )
    return import_module(f"attnviz.components.{name}"), own, f"{own}\n{shared}"


def string_problems(
    keys: tuple[str, ...], own: str, everything: str, python: text_rules.Used
) -> list[str]:
    """Strings that are asked for and not sent, or sent and not asked for.

    Asking may be indirect: `strings[`next_${name}`]`, `strings[name]` with a name that Python
    sends, or the wrapper itself putting the string into its data.
    """
    sent = {key.rpartition(".")[2] for key in keys}
    found = [f"{name} is not sent" for name in sorted(asked_for(own) - sent)]
    templates = "|".join(re.findall(r"strings\[`(\w*)\$\{[\w.]+\}(?:\w*)`\]", everything)) or "$^"
    by_name = re.search(r"strings\[\w+\]", everything) is not None
    for name in sorted(sent - asked_for(everything)):
        quoted = re.search(rf"[\"'`]{name}[\"'`]", everything)
        if not (quoted or re.match(templates, name) or (by_name and python.has(name))):
            found.append(f"{name} is not used")
    return found


@pytest.mark.parametrize("name", COMPONENTS)
def test_a_component_gets_the_strings_it_shows(name: str) -> None:
    module, own, everything = component(name)
    python = used_in_project()
    assert not string_problems(module.STRING_KEYS, own, everything, python)
    for key in module.STRING_KEYS:
        assert i18n.has(f"component.{key}"), key


def test_a_missing_and_a_spare_string_are_found() -> None:
    source = 'a(strings.canvas, strings["hint"], strings[`next_${name}`])'
    python = text_rules.Used()
    python.add('sent = "causal"')
    keys = ("x.canvas", "x.hint", "x.next_head")
    assert string_problems(keys, source, source, python) == []
    assert string_problems(("x.canvas",), source, source, python) == ["hint is not sent"]
    spare = (*keys, "x.spare", "x.causal")
    problems = ["causal is not used", "spare is not used"]
    assert string_problems(spare, source, source, python) == problems
    by_name = source + "; b(strings[name])"
    assert string_problems(spare, source, by_name, python) == problems[1:]
