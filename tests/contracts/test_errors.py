"""Every error that the package raises can be said in every language, with the values it carries."""

from functools import cache

import pytest

from attnviz import i18n
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
    said_by_the_frame = {"other", "unexpected"}
    codes = {each.code for each in all_raised()}
    assert i18n.section("en", "error").keys() - codes == said_by_the_frame


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
