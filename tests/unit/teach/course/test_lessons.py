"""Every lesson: the same cards in four languages, numbers computed, questions judged right.

No place among the options and no length gives the right one away.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from importlib.resources import files

import numpy as np
import pytest

from attnviz.errors import BadInput
from attnviz.i18n import LANGUAGES, Language, is_beta
from attnviz.pictures.board import Board
from attnviz.pictures.model_map import PARTS
from attnviz.pictures.motion import Motion
from attnviz.teach.course import MOVED_CARDS, SLUGS, lesson
from attnviz.teach.course.recipe import Lesson, Recipe
from attnviz.teach.course.story import START, START_MARK
from attnviz.teach.lessons.cards import glossary
from attnviz.teach.lessons.cards.card import Card, CellQuestion, Chart, ChoiceQuestion
from attnviz.teach.lessons.cards.texts import PLACEHOLDER, lesson_texts, placeholders, say
from attnviz.teach.lessons.cards.versions import before_the_question, places, shuffled
from tests.support.cases import mostly_slow
from tests.support.lessons import SEEDS, card_problems, panels, text_problems

OfLesson = Callable[[str, int], list[tuple[Recipe, Card]]]
# the seed of the screen, that of a worksheet, the codes of two classes
DRAWS = ("0", "1", "K7Q-M2X", "ABC-DEF")
LEAST, MOST, MOST_LONGEST = Fraction(25, 100), Fraction(42, 100), Fraction(40, 100)


@pytest.mark.some(5)
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


@pytest.mark.parametrize("slug", SLUGS)
def test_every_number_has_a_form_in_which_it_can_be_written(slug: str) -> None:
    for lang in LANGUAGES:
        texts = lesson_texts(slug, lang).cards
        templates = [template for of_card in texts.values() for template in of_card.values()]
        holes = [hole for template in templates for hole in PLACEHOLDER.finditer(template)]
        assert all(format(0.5, hole["form"] or "") for hole in holes), lang


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
    for (before, card), (now, its_name) in MOVED_CARDS.items():
        assert its_name in {recipe.name for recipe in lesson(now).recipes}
        assert card not in {recipe.name for recipe in lesson(before).recipes}


def _choices(built: OfLesson) -> Iterable[tuple[str, Card, ChoiceQuestion]]:
    """The choices of three options or more."""
    for slug in SLUGS:
        for _, card in built(slug, 0):
            if isinstance(card.question, ChoiceQuestion) and len(card.question.options) > 2:
                yield slug, card, card.question


def _shares(places_of_right: list[int]) -> dict[int, Fraction]:
    counts = Counter(places_of_right)
    return {place: Fraction(counts[place], counts.total()) for place in range(3)}


def _right_place(card: Card) -> int:
    assert isinstance(card.question, ChoiceQuestion)
    return card.question.options.index(card.question.right)


def _asks_unseen(card: Card) -> bool:
    """True if a card asks and nothing is drawn before its question."""
    options = card.question.pictures if isinstance(card.question, ChoiceQuestion) else {}
    return card.question is not None and not (card.pictures or options or before_the_question(card))


@pytest.mark.parametrize("slug", SLUGS)
def test_before_the_question_something_is_drawn(slug: str, built: OfLesson) -> None:
    assert [card.name for _, card in built(slug, 0) if _asks_unseen(card)] == []
    assert _asks_unseen(Card("words", question=ChoiceQuestion(("a", "b"), "a")))


@pytest.mark.parametrize("slug", SLUGS)
def test_every_lesson_moves_and_is_handled(slug: str, built: OfLesson) -> None:
    """But not before the question: a hand would find the answer."""
    cards = [card for _, card in built(slug, 0)]
    moving = [one for card in cards for one in card.reveal if isinstance(one, Motion)]
    assert any(film.handles for film in moving)
    still = [one for card in cards for one in before_the_question(card) if isinstance(one, Motion)]
    assert all(not film.handles and len(film.played) == 1 for film in still)


def test_before_the_question_an_answer_is_emptied(built: OfLesson) -> None:
    """Matrices without numbers but a control's, charts without lines: no answer is given away."""
    emptied, controls = 0, 0
    for slug in SLUGS:
        for _, card in built(slug, 0):
            for picture in () if card.situation else before_the_question(card):
                emptied += 1
                if isinstance(picture, Board):
                    shown = {panel.name for panel in picture.panels if not panel.hidden}
                    assert shown <= {"control"}, card.name
                    controls += bool(shown)
                elif isinstance(picture, Chart):
                    assert all(np.isnan(line.y).all() for line in picture.series), card.name
                    assert picture.marked_x is None
    assert emptied > 20 and controls > 5


def test_cards_name_the_start_mark_by_one_sign(built: OfLesson) -> None:
    """As the first lesson explains it, not as the tokenizer writes it."""
    cards = [card for slug in SLUGS for _, card in built(slug, 0)]
    names = [
        name for card in cards for panel in panels(card) for name in panel.rows + panel.columns
    ]
    names += [str(value) for card in cards for value in card.numbers.values()]
    assert START_MARK not in names and names.count(START) > 10


def test_shuffled_has_the_right_option_in_each_place(built: OfLesson) -> None:
    """On the screen's own order, and over the codes of classes."""
    cards = [(slug, card) for slug, card, _ in _choices(built)]
    on_screen = _shares([_right_place(shuffled(card, slug, "0")) for slug, card in cards])
    assert all(LEAST <= share <= MOST for share in on_screen.values()), on_screen
    of_classes = _shares(
        [_right_place(shuffled(card, slug, f"{n}")) for slug, card in cards for n in range(100)]
    )
    assert all(LEAST <= share <= MOST for share in of_classes.values()), of_classes


def test_without_shuffled_the_shares_would_fail(built: OfLesson) -> None:
    shares = _shares([_right_place(card) for _, card, _ in _choices(built)])
    assert not all(LEAST <= share <= MOST for share in shares.values())


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_right_option_is_not_mostly_the_longest(lang: Language, built: OfLesson) -> None:
    longest = []
    for slug, card, question in _choices(built):
        texts = lesson_texts(slug, lang)
        lengths = {o: len(say(texts, card, f"option.{o}", False)) for o in question.options}
        others = max(length for name, length in lengths.items() if name != question.right)
        longest.append(lengths[question.right] > others)
    assert Fraction(sum(longest), len(longest)) <= MOST_LONGEST


@pytest.mark.parametrize("draw", DRAWS)
def test_shuffled_keeps_scales_and_all_options(draw: str, built: OfLesson) -> None:
    for slug, card, question in _choices(built):
        found = shuffled(card, slug, draw)
        assert isinstance(found.question, ChoiceQuestion)
        assert sorted(found.question.options) == sorted(question.options)
        if question.is_scale:
            assert found.question.options == question.options


def test_shuffled_numbers_pictures_as_they_stand(built: OfLesson) -> None:
    """The text of a picture's option is its place, whatever the order."""
    card = dict((card.name, card) for _, card in built("places", 0))["three"]
    texts = lesson_texts("places", "en")
    orders = set()
    for draw in DRAWS:
        found = shuffled(card, "places", draw)
        assert isinstance(found.question, ChoiceQuestion)
        orders.add(found.question.options)
        said = [say(texts, found, f"option.{name}", False) for name in found.question.options]
        assert said == ["Picture 1", "Picture 2", "Picture 3"]
        place = places(found.question.options)["place_cross"]
        assert say(texts, found, "reveal", False).startswith(f"Picture {place}.")
    assert len(orders) > 1


def test_shuffled_leaves_other_questions_alone(built: OfLesson) -> None:
    numbers = [card for slug in ("ask",) for _, card in built(slug, 0)]
    others = [card for card in numbers if not isinstance(card.question, ChoiceQuestion)]
    assert others and all(shuffled(card, lesson("ask").slug, "1") is card for card in others)


def test_parts_of_the_map_lead_to_cards_and_are_lit_on_cards(built: OfLesson) -> None:
    known = {(slug, card.name) for slug in SLUGS for _, card in built(slug, 0)}
    assert glossary.CARDS_OF_PARTS.keys() == set(PARTS)
    assert (
        set(glossary.CARDS_OF_PARTS.values()) <= known and glossary.PARTS_OF_CARDS.keys() <= known
    )
    lit = {part for path in known for part in glossary.parts_of(*path)}
    assert lit == set(PARTS), "each part is what some card is about"
    assert all(
        part in glossary.parts_of(*path) or part == "attention"
        for part, path in glossary.CARDS_OF_PARTS.items()
    )
