"""Which languages the tests of pages run in: two always, all four with the slow tests."""

import pytest

from attnviz import i18n
from tests.pages.conftest import HERE, IN_FULL, is_repeated


def test_is_repeated_holds_for_the_languages_beyond_two_scripts() -> None:
    assert [lang for lang in i18n.LANGUAGES if not is_repeated(lang)] == list(IN_FULL)
    assert not is_repeated(None)


def test_pytest_collection_modifyitems_marks_repeated_languages_slow(
    request: pytest.FixtureRequest,
) -> None:
    items = [item for item in request.session.items if HERE in item.path.parents]
    for item in items:
        parameters = getattr(item, "callspec", None)
        if parameters and is_repeated(parameters.params.get("lang")):
            assert item.get_closest_marker("slow"), item.nodeid
