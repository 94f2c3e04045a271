"""Every lesson: the same cards in four languages, numbers computed, questions judged right."""

import re
from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files

import pytest

from attnviz.errors import BadInput
from attnviz.i18n import LANGUAGES, Language, is_beta
from attnviz.teach.course import MOVED_CARDS, SLUGS, lesson
from attnviz.teach.course.recipe import Lesson, Recipe
from attnviz.teach.lessons.cards.card import Card, CellQuestion
from attnviz.teach.lessons.cards.texts import lesson_texts, placeholders
from tests.support.cases import mostly_slow
from tests.support.lessons import SEEDS, card_problems, text_problems

OfLesson = Callable[[str, int], list[tuple[Recipe, Card]]]


@pytest.mark.parametrize("seed", mostly_slow(SEEDS, 1))
@pytest.mark.parametrize("slug", SLUGS)
def test_cards_ask_what_can_be_answered(slug: str, seed: int, built: OfLesson) -> None:
    assert not card_problems(lesson(slug), built(slug, seed))


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("slug", SLUGS)
def test_texts_fit_the_cards(slug: str, lang: Language, built: OfLesson) -> None:
    assert not text_problems(lesson(slug), built(slug, 0), lang)


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


def test_the_checks_find_what_is_wrong(built: OfLesson) -> None:
    empty = Lesson(SLUGS[0], recipes=())
    assert card_problems(empty, []) == [
        "0 cards",
        "0 questions",
        "no experiment",
        "no link to a real head",
    ]
    first = lesson(SLUGS[0])
    found = built(SLUGS[0], 0)
    assert f"{found[0][1].name}: no title" not in text_problems(first, found, "en")
    assert any("cards" in line for line in text_problems(empty, [], "en"))


def test_panels_that_take_an_answer_too_have_the_same_cells(built: OfLesson) -> None:
    recipe, card = next(of for of in built("block", 0) if of[1].name == "products")
    assert isinstance(card.question, CellQuestion)
    wrong = replace(card, question=replace(card.question, also=("q",)))
    said = "products: q does not have the cells of scores"
    assert said in card_problems(lesson("block"), [(recipe, wrong)])


def test_an_unknown_lesson_names_those_there_are() -> None:
    with pytest.raises(BadInput, match=SLUGS[0]):
        lesson("nothing")


def _unread(line: str) -> list[int]:
    """Where Markdown takes two stars for two stars: beside punctuation that touches a letter."""
    wrong = []
    for count, found in enumerate(re.finditer(r"(?<!\*)\*\*(?!\*)", line)):
        sides = (line[found.end() :][:1] or " ", line[: found.start()][-1:] or " ")
        inside, outside = sides if count % 2 == 0 else sides[::-1]
        letter_outside = outside.isalnum()
        if inside.isspace() or (letter_outside and not inside.isalnum() and inside not in "[]"):
            wrong.append(found.start())
    return wrong


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("slug", SLUGS)
def test_what_is_bold_is_read_as_bold(slug: str, lang: Language) -> None:
    source = files("attnviz.teach.lessons").joinpath("content", slug, f"{lang}.md")
    text = source.read_text("utf-8") if source.is_file() or not is_beta(lang) else ""
    assert [line for line in text.splitlines() if _unread(line)] == []


def test_stars_that_stay_stars_are_found() -> None:
    assert _unread("**두 번째 “dog”**의") and _unread("最**「x」**")
    assert not _unread("a **b** c, **두 번째** “dog”의, **[[x]]**이다")


def test_moved_cards_are_in_the_lesson_they_moved_to_and_not_where_they_were() -> None:
    for (before, card), now in MOVED_CARDS.items():
        assert card in {recipe.name for recipe in lesson(now).recipes}
        assert card not in {recipe.name for recipe in lesson(before).recipes}
