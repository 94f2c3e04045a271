"""No translation stays behind unseen: each was confirmed against the English text that there is."""

import pytest

from attnviz import i18n
from scripts import confirm_translations as translations


@pytest.mark.parametrize("lang", translations.LANGUAGES)
def test_each_translation_was_confirmed_against_the_english_text(lang: str) -> None:
    confirmed = translations.read(translations.FILE.read_text(encoding="utf-8"))
    stale = translations.stale(confirmed, translations.texts(i18n.DEFAULT), lang)
    assert stale == [], f"read them, then: python -m scripts.confirm_translations {lang} KEY …"


def test_the_list_names_no_text_that_is_gone() -> None:
    confirmed = translations.read(translations.FILE.read_text(encoding="utf-8"))
    assert confirmed.keys() == translations.texts(i18n.DEFAULT).keys()


def test_a_translation_is_stale_until_it_is_made_anew_or_confirmed_as_it_is() -> None:
    confirmed: translations.Confirmed = {}
    translations.confirm(confirmed, {"i18n a": "one"}, {"i18n a": "一"}, "ja")
    assert translations.stale(confirmed, {"i18n a": "one"}, "ja") == []
    changed = {"i18n a": "two"}
    translations.confirm(confirmed, changed, {"i18n a": "一"}, "ja")
    assert translations.stale(confirmed, changed, "ja") == ["i18n a"]
    translations.confirm(confirmed, changed, {"i18n a": "二"}, "ja")
    assert translations.stale(confirmed, changed, "ja") == []
    changed = {"i18n a": "Two"}
    translations.confirm(confirmed, changed, {"i18n a": "二"}, "ja", ["i18n a"])
    assert translations.stale(confirmed, changed, "ja") == []


def test_the_list_is_read_as_it_was_written() -> None:
    confirmed: translations.Confirmed = {}
    english, own = {"i18n a": "one", "lesson b/c": "x y"}, {"i18n a": "一", "lesson b/c": "二"}
    translations.confirm(confirmed, english, own, "ja")
    assert translations.stale(confirmed, english, "ko") == list(english)
    again = translations.read(translations.written(confirmed))
    assert translations.stale(again, english, "ja") == []
    assert translations.stale(again, english, "ko") == list(english)
