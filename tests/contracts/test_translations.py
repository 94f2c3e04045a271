"""No translation stays behind unseen: each was confirmed against the English text that there is."""

import pytest

from attnviz import i18n
from scripts import confirm_translations as translations


@pytest.mark.parametrize("lang", translations.LANGUAGES)
def test_each_translation_was_confirmed_against_the_english_text(lang: i18n.Language) -> None:
    confirmed = translations.read(translations.FILE.read_text(encoding="utf-8"))
    english, own = translations.texts(i18n.DEFAULT), translations.texts(lang)
    stale = translations.stale(confirmed, english, own, lang)
    assert stale == [], f"read them, then: python -m scripts.confirm_translations {lang} KEY …"


def test_the_list_names_no_text_that_is_gone() -> None:
    confirmed = translations.read(translations.FILE.read_text(encoding="utf-8"))
    assert confirmed.keys() == translations.texts(i18n.DEFAULT).keys()


def test_a_translation_is_stale_until_it_is_made_anew_or_confirmed_as_it_is() -> None:
    confirmed: translations.Confirmed = {}
    own = {"i18n a": "一"}
    translations.confirm(confirmed, {"i18n a": "one"}, own, "ja")
    assert translations.stale(confirmed, {"i18n a": "one"}, own, "ja") == []
    changed = {"i18n a": "two"}
    translations.confirm(confirmed, changed, own, "ja")
    assert translations.stale(confirmed, changed, own, "ja") == ["i18n a"]
    own = {"i18n a": "二"}
    translations.confirm(confirmed, changed, own, "ja")
    assert translations.stale(confirmed, changed, own, "ja") == []
    changed = {"i18n a": "Two"}
    translations.confirm(confirmed, changed, own, "ja", ["i18n a"])
    assert translations.stale(confirmed, changed, own, "ja") == []


def test_a_text_that_a_language_does_not_have_yet_is_not_asked_for() -> None:
    confirmed: translations.Confirmed = {}
    english = {"i18n a": "one", "i18n b": "two"}
    translations.confirm(confirmed, english, {"i18n a": "uno"}, "es")
    assert translations.stale(confirmed, english, {"i18n a": "uno"}, "es") == []
    changed = {"i18n a": "One", "i18n b": "Two"}
    assert translations.stale(confirmed, changed, {"i18n a": "uno"}, "es") == ["i18n a"]
    translations.confirm(confirmed, changed, {}, "es")
    assert confirmed == {"i18n a": {}, "i18n b": {}}


def test_spanish_is_asked_for_what_it_has() -> None:
    own = translations.texts("es")
    assert {"i18n page.head.title", "lesson where/next", "glossary token"} <= own.keys()
    assert "lesson birth/removed" not in own


def test_the_list_is_read_as_it_was_written() -> None:
    confirmed: translations.Confirmed = {}
    english, own = {"i18n a": "one", "lesson b/c": "x y"}, {"i18n a": "一", "lesson b/c": "二"}
    translations.confirm(confirmed, english, own, "ja")
    assert translations.stale(confirmed, english, own, "ko") == list(english)
    again = translations.read(translations.written(confirmed))
    assert translations.stale(again, english, own, "ja") == []
    assert translations.stale(again, english, own, "ko") == list(english)
