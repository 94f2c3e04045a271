"""The glossary: each link leads to a card that teaches the term, and no card presupposes one."""

import re

import pytest

from attnviz.i18n import COMPLETE, Language
from attnviz.teach.course import SLUGS, lesson
from attnviz.teach.lessons.cards import glossary
from attnviz.teach.lessons.cards.glossary import CardPath, entries, terms_on
from attnviz.teach.lessons.cards.texts import lesson_texts

ORDER: list[CardPath] = [(slug, recipe.name) for slug in SLUGS for recipe in lesson(slug).recipes]
BOLD = re.compile(r"\*\*(.+?)\*\*")


def _plain(text: str) -> str:
    return re.sub(r"[\s*]", "", text).lower()


def _sentences(lang: Language, card: CardPath) -> str:
    return "\n".join(lesson_texts(card[0], lang).cards[card[1]].values())


def _announced(name: str, before: int) -> bool:
    """True if a card before the teaching one sets the term in bold, and so explains it shortly."""
    term = entries("en")[name].term
    return any(term in BOLD.findall(_sentences("en", card)) for card in ORDER[:before])


def presupposed(terms: dict[CardPath, tuple[str, ...]]) -> list[str]:
    """Terms that a card uses before the card that teaches them."""
    return [
        f"{slug}/{card} uses {name}"
        for (slug, card), names in terms.items()
        for name in names
        if (taught := ORDER.index(entries("en")[name].card)) > ORDER.index((slug, card))
        and not _announced(name, taught)
    ]


def test_no_card_presupposes_a_term_that_no_card_taught() -> None:
    assert presupposed({card: terms_on(*card) for card in ORDER}) == []
    assert presupposed({ORDER[0]: ("softmax",)}) == ["where/next uses softmax"]


def test_entries_stand_in_the_order_of_teaching() -> None:
    places = [ORDER.index(entry.card) for entry in entries("en").values()]
    assert places == sorted(places)


@pytest.mark.parametrize("lang", COMPLETE)
def test_the_card_of_an_entry_has_its_term(lang: Language) -> None:
    assert list(entries(lang)) == list(entries("en"))
    lost = [
        f"{entry.name}: {term} is not on {entry.card}"
        for entry in entries(lang).values()
        for term in re.split(r"[、,]\s*", entry.term)
        if _plain(term) not in _plain(_sentences(lang, entry.card))
    ]
    assert lost == []
    assert all(entry.meaning and len(entry.meaning) < 260 for entry in entries(lang).values())


def test_the_terms_of_a_card_are_found_as_whole_words() -> None:
    assert {"softmax", "logit", "dot_product"} <= set(terms_on("where", "logits"))
    assert "key" not in terms_on("where", "logits")
    assert "kv_cache" in terms_on("cost", "cache")
    assert "kv_cache" not in terms_on("cost", "cache", answered=False)
    assert not glossary._words(["key"]).search("a keyboard, monkeys")
    assert glossary._words(["mask"]).search("A Mask.")
