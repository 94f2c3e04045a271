"""Texts: complete in every language, loud when something is missing."""

import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from attnviz import i18n
from attnviz.metrics import Role


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_no_text_is_empty_or_padded(lang: i18n.Language) -> None:
    for key, template in i18n.catalogue(lang).items():
        assert template.strip(), key
        assert template == template.strip() or "\n" in template, key


BETA = [lang for lang in i18n.LANGUAGES if i18n.is_beta(lang)]


@pytest.mark.parametrize("lang", BETA)
def test_a_language_that_lands_in_parts_is_english_where_it_has_no_text(
    lang: i18n.Language, monkeypatch: pytest.MonkeyPatch
) -> None:
    english = i18n.own(i18n.DEFAULT)
    of = {
        "en": {"a": "a {n}", "b": "b", "c": "c"},
        lang: {"a": "a {m}", "b": "be", "gone": "adiós"},
    }
    assert set(i18n.catalogue(lang)) == set(english)
    monkeypatch.setattr(i18n, "own", of.__getitem__)
    assert i18n.catalogue.__wrapped__(lang) == {"a": "a {n}", "b": "be", "c": "c"}


def test_a_complete_language_has_no_text_of_another() -> None:
    assert all(i18n.own(lang) == i18n.catalogue(lang) for lang in i18n.COMPLETE)


def test_text_fills_placeholders() -> None:
    said = i18n.text("en", "error.bad_layer", asked=9, last=5)
    assert "9" in said
    assert "0 to 5" in said


def test_values_are_not_read_as_templates() -> None:
    assert "{0} {x!r}" in i18n.text("en", "error.other", message="{0} {x!r}")


def test_a_missing_key_raises() -> None:
    with pytest.raises(i18n.MissingText, match=r"page\.nowhere"):
        i18n.text("en", "page.nowhere")


def test_a_missing_value_raises() -> None:
    with pytest.raises(i18n.MissingText, match="last"):
        i18n.text("en", "error.bad_layer", asked=9)


def test_a_missing_section_raises() -> None:
    with pytest.raises(i18n.MissingText):
        i18n.section("en", "nowhere")


def test_a_section_holds_templates_by_the_rest_of_their_key() -> None:
    assert i18n.section("en", "page.head")["title"] == "Head"


@pytest.mark.parametrize(
    ("locale", "lang"),
    [
        ("ja", "ja"),
        ("ja-JP", "ja"),
        ("JA_jp", "ja"),
        ("ko-KR", "ko"),
        ("zh-TW", "zh"),
        ("zh-Hans-CN", "zh"),
        ("en-GB", "en"),
        ("es-MX", "es"),
        ("fr-FR", "en"),
        ("", "en"),
        ("-", "en"),
        (None, "en"),
        ("<script>", "en"),
    ],
)
def test_negotiate(locale: str | None, lang: i18n.Language) -> None:
    assert i18n.negotiate(locale) == lang


@pytest.mark.parametrize("role", get_args(Role))
@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_every_role_has_a_sentence(lang: i18n.Language, role: str) -> None:
    values = {"percent": "98", "chance": "9", "share": "…", "token": "it", "clear": 4, "rows": 5}
    assert "98" in i18n.text(lang, f"role.{role}", **values)


def test_every_error_code_of_the_library_is_translated_or_said_as_it_is(root: Path) -> None:
    """Each code that a visitor can cause has a text of its own."""
    caused = {"empty_text", "not_a_string", "too_many_tokens", "unknown_model", "damaged_weights"}
    caused |= {"unreadable_model", "bad_layer", "bad_head", "bad_batch"}
    assert {code for code in caused if not i18n.has(f"error.{code}")} == set()
    raised = {
        code
        for path in (root / "attnviz").rglob("*.py")
        for code in re.findall(r'\bcode="(\w+)"', path.read_text(encoding="utf-8"))
    }
    assert caused - {"bad_layer", "bad_head", "bad_batch"} <= raised


def test_i18n_is_a_leaf() -> None:
    code = (
        "import sys, attnviz.i18n as i18n; i18n.text('ja', 'app.name');"
        "sys.exit(bool({'torch', 'streamlit', 'numpy'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=300).returncode == 0


@pytest.mark.parametrize(
    ("lang", "words", "clauses"),
    [
        ("en", "a, b", "a; b"),
        ("ja", "a、b", "a；b"),
        ("ko", "a, b", "a; b"),
        ("zh", "a、b", "a；b"),
    ],
)
def test_parts_are_joined_as_the_language_joins_them(
    lang: i18n.Language, words: str, clauses: str
) -> None:
    assert i18n.joined(lang, ["a", "b"]) == words
    assert i18n.joined(lang, iter(["a", "b"]), "clauses") == clauses
    assert i18n.joined(lang, ["a"]) == "a" and i18n.joined(lang, []) == ""


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_a_label_is_bold_and_no_space_follows_a_full_width_sign(lang: i18n.Language) -> None:
    label = i18n.text(lang, "learn.goal")
    line = i18n.labelled(label, "x")
    assert line.startswith("**") and line.replace("**", "").replace(" x", "x") == f"{label}x"
    assert ("： x" in line) is False and not line.split("**")[1].endswith("：")


def test_the_tag_of_a_language_is_one_that_browsers_know() -> None:
    assert [i18n.tag(lang) for lang in ("en", "ja", "ko", "zh")] == ["en", "ja", "ko", "zh-CN"]
