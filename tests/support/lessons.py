"""What holds for every lesson: its texts fit its cards, and its questions can be answered.

`text_problems` and `card_problems` list what is wrong, one line each; none means that all is well.
"""

import re
from collections.abc import Iterator
from typing import TypeGuard

from attnviz.i18n import Language
from attnviz.pictures.board import Board, BoardCell, Panel
from attnviz.pictures.motion import Motion
from attnviz.teach.course.recipe import CardInputs, Lesson, Recipe
from attnviz.teach.lessons.cards.card import (
    Card,
    CellQuestion,
    Chart,
    ChoiceQuestion,
    NumberQuestion,
    Pick,
    Picture,
    Question,
)
from attnviz.teach.lessons.cards.grade import OTHER, Answer, grade, mistakes
from attnviz.teach.lessons.cards.texts import lesson_texts, placeholders

SEEDS = (0, 1, 2)
MIN_CARDS, MAX_CARDS = 5, 12
MIN_QUESTIONS = 3
TYPED_NUMBER = re.compile(r"\d[.,]\d")
AS_PLACEHOLDER = re.compile(r"\[\[[^\]]*\]\]")


def cards(lesson: Lesson, capture: object, seed: int = 0) -> list[tuple[Recipe, Card]]:
    """Every card, built with its start values."""
    return [
        (recipe, recipe.build(CardInputs(recipe.start_values(), seed, capture)))  # type: ignore[arg-type]
        for recipe in lesson.recipes
    ]


def wanted_keys(recipe: Recipe, card: Card) -> set[str]:
    """The texts that a card must have."""
    keys = {"title", "text", "takeaway"}
    if card.question is not None:
        keys |= {"question", "reveal", f"feedback.{OTHER}"}
        keys |= {f"feedback.{name}" for name in mistakes(card.question)}
    if isinstance(card.question, ChoiceQuestion):
        keys |= {f"option.{name}" for name in card.question.options}
        keys -= {f"feedback.{OTHER}"}
    for control in recipe.controls:
        keys.add(f"control.{control.name}")
        if isinstance(control, Pick):
            keys |= {f"control.{control.name}.{option}" for option in control.options}
    if card.link is not None and card.link.task:
        keys.add("task")
    for picture in all_pictures(card):
        keys |= _names(picture)
    return keys


def all_pictures(card: Card) -> list[Picture]:
    """The pictures of a card, those of its options included."""
    options = card.question.pictures if isinstance(card.question, ChoiceQuestion) else {}
    return [*card.situation, *card.pictures, *card.reveal, *options.values()]


def panels(card: Card) -> Iterator[Panel]:
    """All matrices of a card."""
    for picture in all_pictures(card):
        if isinstance(picture, Board):
            yield from picture.panels


def _names(picture: Picture) -> set[str]:
    if isinstance(picture, Board):
        return {f"panel.{panel.name}" for panel in picture.panels}
    if isinstance(picture, Chart):
        lines = {f"series.{series.name}" for series in picture.series}
        return {f"axis.{picture.x}", f"axis.{picture.y}"} | lines
    if isinstance(picture, Motion):
        return set(picture.texts)
    return set()


def text_problems(lesson: Lesson, built: list[tuple[Recipe, Card]], lang: Language) -> list[str]:
    """Texts that are missing or of no use, numbers that are typed, holes without a number."""
    texts = lesson_texts(lesson.slug, lang)
    names = [recipe.name for recipe in lesson.recipes]
    found = [] if list(texts.cards) == names else [f"cards {list(texts.cards)}, not {names}"]
    for recipe, card in built:
        has = set(texts.cards.get(card.name, {}))
        wanted = wanted_keys(recipe, card)
        found += [f"{card.name}: no {key}" for key in sorted(wanted - has)]
        found += [f"{card.name}: {key} is not used" for key in sorted(has - wanted)]
        for key, template in texts.cards.get(card.name, {}).items():
            lost = placeholders(template) - card.numbers.keys()
            found += [f"{card.name}.{key}: no number {name}" for name in sorted(lost)]
            if not template:
                found.append(f"{card.name}.{key} is empty")
            if typed := TYPED_NUMBER.search(AS_PLACEHOLDER.sub("", template)):
                found.append(f"{card.name}.{key}: {typed[0]!r} is typed, not computed")
    return found


def card_problems(lesson: Lesson, built: list[tuple[Recipe, Card]]) -> list[str]:
    """What a lesson lacks, and questions that are judged wrongly."""
    found = []
    questions = [card.question for _, card in built if card.question is not None]
    if not MIN_CARDS <= len(built) <= MAX_CARDS:
        found.append(f"{len(built)} cards")
    if len(questions) < MIN_QUESTIONS:
        found.append(f"{len(questions)} questions")
    if not any(recipe.role == "experiment" and recipe.controls for recipe, _ in built):
        found.append("no experiment")
    if not any(card.link for _, card in built):
        found.append("no link to a real head")
    for recipe, card in built:
        if recipe.name != card.name:
            found.append(f"{recipe.name} builds {card.name}")
        if card.question is not None:
            found += [f"{card.name}: {line}" for line in _misjudged(card, card.question)]
    return found


def _misjudged(card: Card, question: Question) -> list[str]:
    if isinstance(question, CellQuestion) and question.panel not in {p.name for p in panels(card)}:
        return [f"there is no panel {question.panel}"]
    if isinstance(question, CellQuestion) and (unlike := _unlike(card, question)):
        return unlike
    found = [
        f"right answer {answer} is judged wrong"
        for answer in right_answers(question)
        if not grade(question, answer).right
    ]
    for name, answer in wrong_answers(question):
        verdict = grade(question, answer)
        if verdict.right or verdict.mistake != name:
            found.append(f"{answer} is judged {verdict}, not {name}")
    return found


def _unlike(card: Card, question: CellQuestion) -> list[str]:
    """Panels that take the answer too, though their cells cannot mean the same."""
    boards = [{of.name: of for of in each.panels} for each in card.pictures if _is_board(each)]
    by_name = next(board for board in boards if question.panel in board)
    asked = by_name[question.panel]
    return [
        f"{name} does not have the cells of {question.panel}"
        for name in question.also
        if name not in by_name
        or by_name[name].values.shape != asked.values.shape
        or (by_name[name].rows, by_name[name].columns) != (asked.rows, asked.columns)
    ]


def _is_board(picture: Picture) -> TypeGuard[Board]:
    return isinstance(picture, Board)


def right_answers(question: Question) -> list[Answer]:
    """Every answer that is right."""
    match question:
        case NumberQuestion():
            return [question.answer]
        case CellQuestion():
            return list(question.right)
        case ChoiceQuestion():
            return [question.right]


def wrong_answers(question: Question) -> list[tuple[str, Answer]]:
    """(mistake, an answer that shows it)."""
    match question:
        case NumberQuestion():
            return list(question.mistakes.items())
        case CellQuestion():
            return [
                (name, cell) for name, cells in question.mistakes.items() for cell in _some(cells)
            ]
        case ChoiceQuestion():
            return [(option, option) for option in question.options if option != question.right]


def _some(cells: frozenset[BoardCell]) -> list[BoardCell]:
    return sorted(cells)[:5]
