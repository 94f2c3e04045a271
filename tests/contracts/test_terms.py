"""docs/terms.md: each language uses its word for a thing, and none of those that are forbidden."""

import re

import pytest

from attnviz import i18n
from attnviz.course import SLUGS
from attnviz.lessons.cards.texts import lesson_texts
from tests.contracts import project

COLUMNS = ("en", "ja", "ko", "zh", "meaning", "never")
FORBIDDEN = re.compile(r"(en|ja|ko|zh): ([^;]+)")
# a word of these languages stands in some text of the app; some English rows name two things
IN_USE = ("ja", "ko", "zh")
PARTS = re.compile(r"[、,]\s*")


def rows() -> list[dict[str, str]]:
    """The rows of the table."""
    lines = project.read(project.ROOT / "docs" / "terms.md").splitlines()
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line[:1] == "|"]
    return [dict(zip(COLUMNS, row, strict=True)) for row in cells[2:]]


def forbidden(lang: str) -> list[str]:
    """The words that a language does not use."""
    return [
        word.strip()
        for row in rows()
        for name, words in FORBIDDEN.findall(row["never"])
        if name == lang
        for word in words.split(",")
    ]


def all_texts(lang: i18n.Language) -> dict[str, str]:
    """Every text of a language, of the interface and of the lessons."""
    texts = dict(i18n.catalogue(lang))
    for slug in SLUGS:
        lesson = lesson_texts(slug, lang)
        front = (lesson.title, lesson.summary, lesson.goal, lesson.keep)
        texts |= {f"{slug} {number}": text for number, text in enumerate(front)}
        for card, keys in lesson.cards.items():
            texts |= {f"{slug}/{card}.{key}": text for key, text in keys.items()}
    return texts


def uses(texts: dict[str, str], words: list[str]) -> list[str]:
    """Each text that has one of the words."""
    return [f"{key}: {word}" for key, text in texts.items() for word in words if word in text]


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_a_language_has_one_word_for_a_thing(lang: i18n.Language) -> None:
    assert forbidden(lang)
    assert uses(all_texts(lang), forbidden(lang)) == []


@pytest.mark.parametrize("lang", IN_USE)
def test_the_listed_words_are_used(lang: i18n.Language) -> None:
    everything = "\n".join(all_texts(lang).values()).replace(" ", "")
    words = [word.replace(" ", "") for row in rows() for word in PARTS.split(row[lang])]
    assert [word for word in words if word not in everything] == []


def test_a_forbidden_word_is_found() -> None:
    assert uses({"a": "印刷された写し取り"}, ["写し取"]) == ["a: 写し取"]
    assert "창발" in forbidden("ko")
