"""class_card: an answer from a browser is taken only in its own form; what the canvas mounts."""

import pytest

from attnviz.app.host.script import stub
from attnviz.pictures import class_card
from attnviz.pictures.class_card import MAX_ANSWER_CHARS, parse_answer


def test_parse_answer_gives_the_lesson_the_card_and_the_text() -> None:
    sent = {"lesson": "block", "card": "order", "text": "sums", "at": 5}
    assert parse_answer(sent) == ("block", "order", "sums")


@pytest.mark.parametrize(
    "change",
    [{"lesson": 7}, {"card": None}, {"text": ""}, {"text": "1" * (MAX_ANSWER_CHARS + 1)}],
)
def test_parse_answer_refuses_another_form(change: dict[str, object]) -> None:
    assert parse_answer({"lesson": "block", "card": "order", "text": "sums", **change}) is None
    assert parse_answer([change]) is None


def test_the_stub_of_a_canvas_brings_the_style_sheets_of_those_it_mounts() -> None:
    assert class_card.CANVAS.mounts == ("board", "motion")
    sheets = '["shared", "board", "motion", "class_card"]'
    assert stub("class_card", class_card.CANVAS.mounts).count(sheets) == 1
    assert '["shared", "board"]' in stub("board")
