"""Every error that the package raises can be said in every language, with the values it carries."""

from functools import cache
from typing import get_args

import pytest

from attnviz import i18n
from attnviz.app.session import messages
from attnviz.types import ModelKind
from tests.contracts import error_rules, project


@cache
def all_raised() -> list[error_rules.Raised]:
    return error_rules.raised(project.each_file(project.shipped_files()))


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_every_error_has_a_text(lang: i18n.Language) -> None:
    texts = i18n.section(lang, "error")
    missing = {each.code for each in all_raised()} - texts.keys()
    assert not missing


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_a_text_asks_only_for_what_the_error_brings(lang: i18n.Language) -> None:
    texts = i18n.section(lang, "error")
    wrong = [
        (each.place, each.code, asked)
        for each in all_raised()
        if (asked := i18n.placeholders(texts[each.code]) - each.details)
    ]
    assert not wrong


def test_every_text_has_an_error() -> None:
    codes = {each.code for each in all_raised()}
    assert i18n.section("en", "error").keys() - codes == {"other"}, "said where a code has no text"


# names of arguments, packages and codings: the same in every language
CODE_WORDS = {
    "target",
    "text_pair",
    "temperature",
    "top_k",
    "top_p",
    "attnviz",
    "paper",
    "notebook",
    "jobs",
    "maps",
    "spread",
    "app",
    "redis",
    "float",
}
# of arguments of Python calls, which no page makes: what was given is named as the call names it
ARGUMENT_CODES = {"bad_argument", "bad_inputs", "not_a_part", "not_an_image"}
# another library's words, which the text quotes
QUOTED = {("cannot_load", "reason"), ("bad_chat_template", "reason")}


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_no_english_word_is_put_into_a_text(lang: i18n.Language) -> None:
    texts = i18n.section(lang, "error")
    wrong = [
        (error.place, error.code, name, word)
        for error in all_raised()
        for name, word in error.words
        if name in i18n.placeholders(texts[error.code])
        and word not in CODE_WORDS
        and name not in messages.TRANSLATED
        and name != "folder"
        and error.code not in ARGUMENT_CODES
        and (error.code, name) not in QUOTED
    ]
    assert not wrong
    for code, name in QUOTED:
        assert any(f"{a}{{{name}}}{b}" in texts[code] for a, b in ("“”", "「」", "«»")), code


def test_every_kind_of_model_is_said_in_every_language() -> None:
    for lang in i18n.LANGUAGES:
        assert i18n.section(lang, "model_kind").keys() == set(get_args(ModelKind))


def test_english_words_are_found_wherever_they_stand() -> None:
    source = """
def bad(code, name, reason, **details):
    return Wrong("x", code=code, name=name, reason=reason, **details)

def f():
    bad("a_code", name, "it is empty", lengths=counts, unit="weights")
    said = f"revision {x} is missing"
    raise Wrong("x", code="plain", found=f"{n} bits", reason=said, shape="2 × n")
"""
    found = error_rules.raised([("x.py", source)])
    assert {(error.code, error.details) for error in found} == {
        ("a_code", frozenset(("name", "reason", "lengths", "unit"))),
        ("plain", frozenset(("found", "reason", "shape"))),
    }
    assert {word for error in found for word in error.words} == {
        ("reason", "empty"),
        ("unit", "weights"),
        ("found", "bits"),
        ("reason", "revision"),
        ("reason", "missing"),
    }


def test_codes_are_found_wherever_they_stand() -> None:
    source = """
def refuse(folder, code):
    return Wrong("x", code=code, folder=folder)

def index(name):
    raise Wrong("x", code=f"bad_{name}", last=1)

def f():
    refuse("a", "no_config")
    index("layer")
    raise Wrong("x", code="plain")
"""
    found = error_rules.raised([("x.py", source)])
    assert {(each.code, tuple(sorted(each.details))) for each in found} == {
        ("no_config", ("folder",)),
        ("bad_layer", ("last",)),
        ("plain", ()),
    }
