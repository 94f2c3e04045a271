"""`in_language`: words of made-up examples in each language; what models read stays English."""

from dataclasses import replace

import numpy as np
import pytest

from attnviz.i18n import Language
from attnviz.pictures.board import Board, Panel
from attnviz.pictures.motion import Motion
from attnviz.teach.course import lesson
from attnviz.teach.course.recipe import CardInputs
from attnviz.teach.lessons.cards.card import Card, ChoiceQuestion
from attnviz.teach.lessons.cards.texts import fill, lesson_texts, parse
from attnviz.teach.lessons.cards.versions import ExampleWord, Gloss, in_language

SENTENCE = "I like red cars."
CAT = ExampleWord("cat")
PANEL = Panel("weights", np.ones((1, 2)), rows=(CAT,), columns=(CAT, "cat"))
CARD = Card(
    "mix",
    {"token": CAT, "read": "cat", "gloss": Gloss(SENTENCE)},
    (Board((PANEL,)),),
    ChoiceQuestion(("a", "b"), "a", {"a": Board((PANEL,))}),
    (Motion("blend", {}, {"keys": (CAT,)}),),
)
ABOUT = "title: t\nsummary: s\ngoal: g\nkeep: k\ndiscuss: d\n"
TEXTS = parse(f"---\n{ABOUT}words: cat=猫 | {SENTENCE}=（赤い車）\n---\n\n# mix\n## title\nx\n")


def test_in_language_replaces_example_words_everywhere_and_nothing_else() -> None:
    card = in_language(CARD, TEXTS)
    assert card.numbers == {"token": "猫", "read": "cat", "gloss": "（赤い車）"}
    (board,), (film,) = card.pictures, card.reveal
    assert isinstance(board, Board) and isinstance(film, Motion)
    assert (board.panels[0].rows, board.panels[0].columns) == (("猫",), ("猫", "cat"))
    assert film.labels == {"keys": ("猫",)}
    assert isinstance(card.question, ChoiceQuestion)
    assert card.question.pictures["a"].panels[0].rows == ("猫",)


def test_without_words_an_example_stays_english_and_a_gloss_is_empty() -> None:
    card = in_language(CARD, replace(TEXTS, words={}))
    assert card.numbers == {"token": "cat", "read": "cat", "gloss": ""}


@pytest.mark.parametrize(
    ("lang", "word"), [("en", "tired"), ("ja", "疲れた"), ("ko", "지쳤다"), ("zh", "累了")]
)
def test_the_running_example_of_block_is_in_the_mother_tongue(lang: Language, word: str) -> None:
    recipe = lesson("block").recipe("mix")

    def no_model(*_: object, **__: object) -> object:
        raise AssertionError("the example needs no model")

    built = recipe.build(CardInputs({}, 0, no_model))  # type: ignore[arg-type]
    texts = lesson_texts("block", lang)
    card = in_language(built, texts)
    assert word in fill(texts.of("mix", "question"), card.numbers)
    assert isinstance(card.pictures[0], Board) and card.pictures[0].panels[0].rows == (word,)
