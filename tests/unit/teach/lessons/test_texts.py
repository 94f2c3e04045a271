"""A lesson in a language that lands in parts: its own cards, and English ones in their places."""

import re
from dataclasses import replace

import pytest

from attnviz.i18n import OTHER_SCRIPTS, Language, with_terms
from attnviz.teach.course import SLUGS
from attnviz.teach.lessons.cards.card import Card, NotEnglish, Terms
from attnviz.teach.lessons.cards.texts import fill, filled_up, lesson_texts, parse, say
from attnviz.teach.lessons.paper.markdown import passages

FRONT = "---\ntitle: {0}\nsummary: {0}\ngoal: {0}\nkeep: {0}\ndiscuss: {0}\n---\n"
ENGLISH = parse(
    FRONT.format("en")
    + "# first\n## title\nOne\n## text\n[[n]] words\n"
    + "# second\n## title\nTwo\n# third\n## title\nThree\n"
)


def test_cards_without_a_text_are_english_in_their_places() -> None:
    own = parse(FRONT.format("es") + "# third\n## title\nTres\n")
    texts = filled_up(own, ENGLISH)
    assert list(texts.cards) == ["first", "second", "third"]
    assert texts.in_english == {"first", "second"} and texts.title == "es"
    assert texts.of("third", "title") == "Tres" and texts.of("second", "title") == "Two"


def test_a_card_that_has_other_texts_or_numbers_than_the_english_one_is_not_taken() -> None:
    older = "# first\n## title\nUno\n## text\n[[m]] palabras\n# second\n## text\nDos\n"
    texts = filled_up(parse(FRONT.format("es") + older), ENGLISH)
    assert texts.in_english == {"first", "second", "third"}


def test_a_lesson_that_no_file_translates_is_english_and_says_so() -> None:
    texts, english = lesson_texts("birth", "es"), lesson_texts("birth", "en")
    assert texts.cards == english.cards and texts.in_english == set(english.cards)
    assert not lesson_texts("birth", "ja").in_english and not english.in_english


@pytest.mark.parametrize(
    ("lang", "value", "said"),
    [
        ("ja", "the cat", ":color[the cat]"),
        ("ja", "it's [a]", ":color[it's \\[a\\]]"),
        ("en", "the cat", "the cat"),
        ("ja", NotEnglish("le chat"), "le chat"),
        ("ja", "猫", "猫"),
        ("ja", "été", "été"),
        ("ja", "L3.H1", "L3\\.H1"),
        ("es", Terms("2 × 0.5"), "2 × 0,5"),
    ],
)
def test_english_words_in_another_language_are_marked(
    lang: Language, value: str, said: str
) -> None:
    assert fill("“[[x]]”", {"x": value}, lang=lang) == f"“{said}”"
    assert fill("[[x]]", {"x": "the cat"}, markup=False, lang=lang) == "the cat"


def test_a_card_in_english_is_marked_line_by_line() -> None:
    english = parse(FRONT.format("en") + "# a\n## text\nOne [[x]]\n\n- two\n1. three\n")
    own = replace(parse(FRONT.format("es") + "# b\n## text\nx\n"), lang="es")
    found = say(filled_up(own, english), Card("a", {"x": "cat"}), "text")
    assert found == ":color[One cat]\n\n- :color[two]\n1. :color[three]"
    assert "color" not in say(english, Card("a", {"x": "cat"}), "text")


@pytest.mark.parametrize("word", ["dog", "the [x]", "so."])
def test_a_bold_word_is_marked_around_the_bold_part(word: str) -> None:
    """A Korean letter follows it, and Markdown ends no bold text between a sign and a letter."""
    said = fill("두 번째 **[[x]]**의 행", {"x": word}, lang="ko")
    (passage,) = passages(said)
    assert [(span.text, span.style, span.lang) for span in passage.spans] == [
        ("두 번째 ", "", ""),
        (word, "strong", "en"),
        ("의 행", "", ""),
    ]


def test_a_quoted_english_word_of_a_template_is_marked_in_another_script() -> None:
    assert fill("「it」の行と W_Q", {}, lang="ja") == "「:color[it]」の行と $W_Q$"
    assert fill("la fila de “gato”", {}, lang="es") == "la fila de “gato”"
    assert fill("“it” 행", {}, markup=False, lang="ko") == "“it” 행"


@pytest.mark.parametrize(
    ("said", "marked"),
    [
        ("（attention sink）", "（:color[attention sink]）"),
        ("싱크(sink)라고", "싱크(:color[sink])라고"),
        ("（Elhage et al. 2021。最初", "（:color[Elhage et al. 2021]。最初"),
        ("(Kim et al. 2021, 처음", "(:color[Kim et al. 2021], 처음"),
        *((said, said) for said in ("[x](learn)", "(pos, 2i)", "（GQA）", "`f(min)`")),
    ],
)
def test_the_english_name_of_a_term_in_brackets_is_marked(said: str, marked: str) -> None:
    assert with_terms("ja", said) == marked and with_terms("es", said) == said


RUN = re.compile(r"(?<!\w)[A-Za-z]{2,}[,.]? [A-Za-z]{2,}(?!\w)", re.ASCII)
KNOWN = re.compile(r":color\[[^\]]*\]|`[^`]*`|\[\[[^\]]*\]\]")


@pytest.mark.parametrize("lang", OTHER_SCRIPTS)
@pytest.mark.parametrize("slug", SLUGS)
def test_no_english_words_in_the_texts_of_a_lesson_are_unmarked(slug: str, lang: Language) -> None:
    cards = lesson_texts(slug, lang).cards
    unmarked = {
        (card, key): found
        for card, said in cards.items()
        for key, template in said.items()
        if (found := RUN.findall(KNOWN.sub("·", with_terms(lang, template))))
    }
    assert unmarked == {}
