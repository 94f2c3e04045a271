"""The time of lessons and plans, computed from their texts, in the app and in docs/lessons.md."""

import re
from pathlib import Path

import pytest

from attnviz.teach.course import SLUGS
from attnviz.teach.lessons.cards.texts import LessonTexts
from attnviz.teach.lessons.cards.times import PLANS, SCENE_S, card_minutes, minutes, taken

DOC = Path(__file__).parents[4] / "docs" / "lessons.md"


def _texts(**keys: str) -> LessonTexts:
    return LessonTexts("t", "s", "g", "k", "d", {"card": keys})


def test_a_card_takes_the_time_of_its_words_its_question_and_its_experiment() -> None:
    words = {"title": "one two three", "text": " ".join(["[[n]] word"] * 36)}
    plain = _texts(**words, question="Who? Me.", reveal="You, it is.")
    assert card_minutes(plain, "card", in_class=True) == pytest.approx(80 / 150 + 1)
    assert card_minutes(plain, "card") == pytest.approx(80 / 150 + 1.5)
    assert card_minutes(_texts(text="x", question="x"), "card") > card_minutes(
        _texts(text="x", question="x", **{"option.a": "x"}), "card"
    )
    no_question = _texts(text="x")
    assert card_minutes(no_question, "card") == pytest.approx(1 / 150 + 1)
    mistakes = _texts(text="x", **{"feedback.a": "x y", "feedback.b": "x y z w"})
    assert card_minutes(mistakes, "card", in_class=True) == card_minutes(no_question, "card")
    assert card_minutes(mistakes, "card") == pytest.approx(
        card_minutes(no_question, "card") + 3 / 150
    )
    film = _texts(text="x", **{"scene.a": "x", "scene.b": "x"})
    assert card_minutes(film, "card") == pytest.approx(1 / 150 + 1 + 2 * SCENE_S / 60)


@pytest.mark.parametrize("plan", PLANS)
def test_a_plan_leaves_a_sixth_of_its_time_for_talking(plan: int) -> None:
    assert plan / 2 < taken(plan) <= plan * 5 / 6
    slugs = [SLUGS.index(step.slug) for step in PLANS[plan]]
    assert slugs == sorted(slugs)


def test_the_guide_has_the_computed_minutes() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \|", DOC.read_text(encoding="utf-8"), re.MULTILINE)
    assert [(slug, int(count)) for slug, count in rows] == [(slug, minutes(slug)) for slug in SLUGS]
    for plan in PLANS:
        assert f"{plan} minutes ({taken(plan)} of them for cards)" in DOC.read_text(
            encoding="utf-8"
        )
