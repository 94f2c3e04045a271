"""The languages of the tests of pages: one always, two on every page, all with the slow tests."""

import pytest

from attnviz import i18n
from tests.pages.conftest import HERE, IN_FULL, IN_JAPANESE_TOO, is_repeated


def test_is_repeated_holds_for_other_languages_than_english() -> None:
    assert [lang for lang in i18n.LANGUAGES if not is_repeated(lang, "x.py")] == list(IN_FULL)
    assert not is_repeated(None, "x.py")


def test_every_page_speaks_japanese_in_every_run() -> None:
    for file in IN_JAPANESE_TOO:
        assert not is_repeated("ja", file)
        assert "test_a_page_speaks_the_language" in (HERE / file).read_text(encoding="utf-8")


def test_pytest_collection_modifyitems_marks_repeated_languages_slow(
    request: pytest.FixtureRequest,
) -> None:
    items = [item for item in request.session.items if HERE in item.path.parents]
    for item in items:
        parameters = getattr(item, "callspec", None)
        if parameters and is_repeated(parameters.params.get("lang"), item.path.name):
            assert item.get_closest_marker("slow"), item.nodeid
