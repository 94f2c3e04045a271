"""Every lesson: the same cards in four languages, numbers computed, questions judged right."""

import pytest

from attnviz.course import SLUGS, lesson
from attnviz.course.recipe import CaptureText, Lesson
from attnviz.errors import BadInput
from attnviz.i18n import LANGUAGES, Language
from attnviz.lessons.content import lesson_texts, placeholders
from tests.support.lessons import SEEDS, card_problems, cards, text_problems


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("slug", SLUGS)
def test_cards_ask_what_can_be_answered(slug: str, seed: int, capture_text: CaptureText) -> None:
    asked = lesson(slug)
    assert not card_problems(asked, cards(asked, capture_text, seed))


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("slug", SLUGS)
def test_texts_fit_the_cards(slug: str, lang: Language, capture_text: CaptureText) -> None:
    asked = lesson(slug)
    assert not text_problems(asked, cards(asked, capture_text), lang)


@pytest.mark.parametrize("slug", SLUGS)
def test_all_languages_insert_the_same_numbers(slug: str) -> None:
    reference = _holes(slug, "en")
    for lang in LANGUAGES:
        assert _holes(slug, lang) == reference, lang


def _holes(slug: str, lang: Language) -> dict[tuple[str, str], set[str]]:
    texts = lesson_texts(slug, lang).cards
    return {
        (card, key): placeholders(template)
        for card, of_card in texts.items()
        for key, template in of_card.items()
    }


def test_the_checks_find_what_is_wrong(capture_text: CaptureText) -> None:
    empty = Lesson(SLUGS[0], minutes=5, recipes=())
    assert card_problems(empty, []) == [
        "0 cards",
        "0 questions",
        "no experiment",
        "no link to a real head",
    ]
    first = lesson(SLUGS[0])
    built = cards(first, capture_text)
    assert f"{built[0][1].name}: no title" not in text_problems(first, built, "en")
    assert any("cards" in line for line in text_problems(empty, [], "en"))


def test_an_unknown_lesson_names_those_there_are() -> None:
    with pytest.raises(BadInput, match=SLUGS[0]):
        lesson("nothing")
