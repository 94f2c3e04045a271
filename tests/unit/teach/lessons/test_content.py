"""Texts of lessons: how a file is read, and how numbers come into it."""

import pytest

from attnviz.i18n import MissingText
from attnviz.teach.lessons.cards.texts import fill, parse
from attnviz.teach.lessons.paper.markdown import html

FILE = """---
title: Masks
summary: What may attend to what
goal: draw a mask
keep: Masks act before the softmax.
discuss: Who may not look?
---

# first
## title
One
## text
Row [[row]] sums to [[total:.2f]].

It has two paragraphs.

# second
## title
Two
"""


def test_a_file_is_read_into_cards() -> None:
    texts = parse(FILE)
    assert (texts.title, texts.summary) == ("Masks", "What may attend to what")
    assert (texts.goal, texts.n_questions) == ("draw a mask", 0)
    assert texts.discuss == "Who may not look?"
    assert list(texts.cards) == ["first", "second"]
    assert texts.of("first", "text").endswith("\n\nIt has two paragraphs.")
    assert texts.has("second", "title") and not texts.has("second", "text")
    with pytest.raises(MissingText, match="second"):
        texts.of("second", "text")


@pytest.mark.parametrize(
    "broken",
    [
        "",
        "# first\n## title\nOne\n",
        FILE.replace("summary: What may attend to what\n", ""),
        FILE.replace("# second", "# first"),
    ],
)
def test_a_file_built_otherwise_is_refused(broken: str) -> None:
    with pytest.raises(ValueError):
        parse(broken)


def test_numbers_are_written_with_a_real_minus() -> None:
    assert fill("[[a:.2f]] and [[n]]", {"a": -0.5, "n": 3}) == "−0.50 and 3"


def test_a_number_that_begins_a_line_begins_no_list() -> None:
    filled = fill("[[n]]. The diagonal stays.", {"n": 10})
    assert filled == r"10\. The diagonal stays."
    assert html(filled) == "<p>10. The diagonal stays.</p>"
    assert fill("[[n]]. Plain.", {"n": 10}, markup=False) == "10. Plain."


def test_what_a_learner_typed_is_never_markup() -> None:
    assert fill("[[a]]", {"a": "<b>*x*</b>"}) == r"\<b\>\*x\*\</b\>"
    assert fill("[[a]]", {"a": "L1.H8"}, markup=False) == "L1.H8"
    assert html(fill("[[a]]", {"a": "title\n===\n\n    code"})) == "<p>title ===      code</p>"


def test_a_number_that_is_missing_is_never_a_hole() -> None:
    with pytest.raises(MissingText, match="total"):
        fill("[[total]]", {})
