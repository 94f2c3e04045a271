"""A language on its first day: a few texts, no lesson, no word of the glossary.

What it does not have is English, is said to be English, and marked so for voices.
"""

from collections.abc import Iterator
from types import MappingProxyType

import pytest

from attnviz import i18n
from attnviz.app.bar import palette
from attnviz.i18n import Language
from attnviz.pictures.shared import canvas
from attnviz.teach.lessons.cards import glossary, texts
from tests.pages.conftest import Visit

NEW: Language = "es"
OWN = MappingProxyType(
    {
        "language.name": "español",
        "page.learn.title": "Aprender",
        "learn.in_english": "Esta tarjeta está en inglés.",
        "error.too_many_tokens": "un texto más viejo, con {otros} huecos",
    }
)
CACHED = (
    *(i18n.catalogue, texts.lesson_texts, glossary.entries, glossary._read),
    *(canvas.texts, palette._common),
)


@pytest.fixture
def first_day(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Spanish with these texts alone."""
    of_interface, of_lessons, of_glossary = i18n.own, texts.own_texts, glossary.own
    monkeypatch.setattr(i18n, "own", lambda lang: OWN if lang == NEW else of_interface(lang))
    monkeypatch.setattr(
        texts, "own_texts", lambda slug, lang: None if lang == NEW else of_lessons(slug, lang)
    )
    monkeypatch.setattr(glossary, "own", lambda lang: {} if lang == NEW else of_glossary(lang))
    for function in CACHED:
        function.cache_clear()
    yield
    monkeypatch.undo()
    for function in CACHED:
        function.cache_clear()


@pytest.mark.usefixtures("first_day")
@pytest.mark.parametrize(
    "page", ["start", "overview", "head", "masks", "output", "atlas", "calculator", "learn"]
)
def test_a_page_is_whole_in_english_where_the_language_has_no_text(visit: Visit, page: str) -> None:
    app = visit(page, lang=NEW)
    assert not app.exception and not app.error


@pytest.mark.usefixtures("first_day")
def test_what_a_language_has_is_said_in_it_and_the_rest_is_english(visit: Visit) -> None:
    assert i18n.text(NEW, "page.learn.title") == "Aprender"
    assert i18n.text(NEW, "page.head.title") == i18n.text("en", "page.head.title")
    limit = {"found": 9, "limit": 5}
    assert i18n.text(NEW, "error.too_many_tokens", **limit) == i18n.text(
        "en", "error.too_many_tokens", **limit
    )
    assert glossary.entries(NEW) == glossary.entries("en")
    assert i18n.is_beta(NEW) and "beta" in i18n.text(NEW, "language.beta", name="x")


@pytest.mark.usefixtures("first_day")
def test_a_card_without_a_translation_says_so_and_is_marked_as_english(visit: Visit) -> None:
    app = visit("learn", lesson="block", card="order", lang=NEW)
    assert not app.exception
    assert OWN["learn.in_english"] in [each.value for each in app.caption]
    english = texts.lesson_texts("block", "en").of("order", "takeaway")
    app.button(key="attnviz.widget.learn.order.shown").click().run()
    said = [each.value for each in app.markdown]
    assert any(f"{i18n.ENGLISH}{english}]" in line for line in said), said
    title = texts.lesson_texts("block", "en").of("order", "title")
    assert app.header[0].value == i18n.in_english(NEW, title)
