"""record: what a learner's record and a class's handout print, in every language."""

import pytest

from attnviz.i18n import LANGUAGES, Language, text
from attnviz.teach.course import COMES_BACK, lesson, paper
from attnviz.teach.course.recipe import CardInputs
from attnviz.teach.lessons.cards.card import CellQuestion, NumberQuestion
from attnviz.teach.lessons.cards.texts import lesson_texts
from attnviz.teach.lessons.paper.markdown import plain
from attnviz.teach.lessons.paper.record import KnownLesson, record_html
from tests.support import course

KNOWN = KnownLesson("One <b>block</b>", "compute", "Keep √d_k.", 11, 9, 7, 2, 3, 2)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_record_html_counts_first_tries_and_is_signed_by_nobody(lang: Language) -> None:
    page = record_html(lang, [KNOWN], "2026-11-24")
    assert "<b>block</b>" not in page and "2026-11-24" in page
    for cell in ("7 / 11", "9 / 11", "2 / 3"):
        assert f"<td>{cell}</td>" in page
    assert text(lang, "learn.first_tries", right=7, questions=11) in page
    assert text(lang, "record.note").split(".")[0] in page.replace("&#x27;", "'")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_handout_has_the_sentence_of_each_card_with_its_numbers(lang: Language) -> None:
    cards = [("block", "mask"), ("block", "softmax"), ("masks", "added")]
    page = paper.handout(cards, lang, course.captured)
    texts = lesson_texts("block", lang)
    assert page.count("<section>") == 3 and "[[" not in page  # two lessons and their words
    for name in ("mask", "softmax"):
        assert plain(texts.of(name, "takeaway"))[:12] in plain(page)
    assert plain(lesson_texts("masks", lang).keep)[:10] in plain(page)


@pytest.mark.slow
def test_comes_back_has_questions_whose_answer_changes_with_the_numbers() -> None:
    """A learner who remembers the first answer has not answered the second."""
    for slug, name in COMES_BACK:
        answers = set()
        for seed in range(5):
            recipe = lesson(slug).recipe(name)
            card = recipe.build(CardInputs(recipe.start_values(), seed, course.captured))
            question = card.question
            assert isinstance(question, NumberQuestion | CellQuestion), (slug, name)
            is_number = isinstance(question, NumberQuestion)
            answers.add(question.answer if is_number else tuple(sorted(question.right)))
        assert len(answers) >= 3, (slug, name)
