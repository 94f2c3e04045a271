"""The languages say the same things, nothing is said that no code asks for, and vice versa."""

from functools import cache
from pathlib import Path

import pytest

from attnviz import i18n
from attnviz.models.registry import models
from tests.contracts import project, text_rules

OTHERS = [lang for lang in i18n.COMPLETE if lang != i18n.DEFAULT]
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


BETA = [lang for lang in i18n.LANGUAGES if i18n.is_beta(lang)]
MOST = 0.95  # a new English text may land before a language in beta has it


@pytest.mark.parametrize("lang", BETA)
def test_a_language_in_beta_says_most_of_the_interface_itself(lang: i18n.Language) -> None:
    english = wanted(i18n.DEFAULT)
    current = i18n.catalogue(lang).keys() & i18n.own(lang).keys() & english.keys()
    own = {key: i18n.catalogue(lang)[key] for key in current}
    left = text_rules.differences({key: english[key] for key in own}, own, lang)
    assert len(own) - len(left) > MOST * len(english), left or sorted(english.keys() - own.keys())


def test_a_sentence_in_the_letters_of_english_is_found_where_it_is_english() -> None:
    english = {"a": "{n} tokens stand in here"}
    assert text_rules.differences(english, english, "es") == [
        "a: no es in '{n} tokens stand in here'"
    ]
    assert not text_rules.differences(english, {"a": "Aquí hay {n} tokens"}, "es")


# --- plurals -----------------------------------------------------------------------------------

# the number cannot be 1: a limit, what is over one, or a size that is at least 2
ALWAYS_MANY = (
    *("long.", "tiles.note", "place.", "window.help", "component.writing.left"),
    *("component.grid.pooled_note", "component.grid.coming_note", "component.grid.squares_note"),
    "component.tiles.pooled",
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
    demo = (project.ROOT / "scripts").glob("demo*.py")  # the site's pages say what they are
    for _, source in project.each_file([*project.shipped_files(), *demo]):
        used.add(source)
    return used


def test_every_text_is_used() -> None:
    """Those of canvases are for JavaScript: tests/unit/pictures/test_types.py has them."""
    keys = [key for key in i18n.catalogue(i18n.DEFAULT) if not key.startswith("component.")]
    assert not text_rules.unused(keys, used_in_project())


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


# --- numbers -----------------------------------------------------------------------------------

# coordinates of a drawing, code, a log, an English refusal, a table for programs
NO_SENTENCES = (
    *("attnviz/teach/lessons/paper/pictures.py", "attnviz/teach/calculator/code.py"),
    *("attnviz/app/server/", "attnviz/teach/classroom/rooms.py", "attnviz/teach/course/"),
    "attnviz/pictures/steps/__init__.py",  # a formula: canvases put the signs in
    *("attnviz/app/page_parts/classroom/report.py:", "attnviz/teach/calculator/sheet.py:"),
)
FORMATTERS = ("shared/fmt.js", "views/numbers.js", "live/engine/")


def test_no_sentence_formats_a_number_by_hand(root: Path) -> None:
    """Each goes through `i18n.numbers`, which knows the signs of the language."""
    rooms = [root / "attnviz" / room for room in ("app", "pictures", "teach")]
    files = project.each_file(project.python_files(*rooms))
    found = [one for file in files for one in text_rules.numbers_by_hand(*file)]
    assert [one for one in found if not one.startswith(NO_SENTENCES)] == []


def test_no_canvas_formats_a_number_by_hand(root: Path) -> None:
    """Each goes through shared/fmt.js, which asks `Intl` for the signs of the language."""
    scripts = [
        path for room in ("pictures", "live") for path in (root / "attnviz" / room).rglob("*.js")
    ]
    found = [
        one
        for path in scripts
        if not any(part in path.as_posix() for part in FORMATTERS)
        for one in text_rules.numbers_by_hand_in_script(path.name, project.read(path))
    ]
    assert found == []


def test_a_number_formatted_by_hand_is_found() -> None:
    code = (
        'a = f"{x:.2f}"\nb = local(lang, f"{x:.2f}")\nc = f"{x:>3}"\nd = f"{x:.{n}f}"\ne = f"{x:,}"'
    )
    found = text_rules.numbers_by_hand("x.py", code)
    assert [one.partition(": ")[0] for one in found] == ["x.py:1", "x.py:4", "x.py:5"]
    script = (
        "a = `${fmtPercent(x)}%`;\nb = x.toFixed(2);\nwidth: `${x}%`,\nc = Number(x.toFixed(2));"
    )
    assert len(text_rules.numbers_by_hand_in_script("x.js", script)) == 2
