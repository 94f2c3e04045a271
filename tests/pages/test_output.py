"""The page Output: what a model says, or plainly that it says nothing a person could read."""

from collections.abc import Callable

import pytest

from attnviz import i18n
from tests.pages.conftest import Visit

TEXT = "The cat sat."


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_a_model_that_gives_nothing_to_read_says_so(
    visit: Visit, tiny: Callable[[str], str], lang: i18n.Language
) -> None:
    app = visit("output", lang=lang, text=TEXT, model=tiny("bert"))
    assert [title.value for title in app.title] == [i18n.text(lang, "page.switches.title")]
    assert [info.value for info in app.info] == [i18n.text(lang, "output.nothing")]
    assert not app.error
