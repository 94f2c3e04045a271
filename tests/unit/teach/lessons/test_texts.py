"""A lesson in a language that lands in parts: its own cards, and English ones in their places."""

from attnviz.teach.lessons.cards.texts import filled_up, lesson_texts, parse

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
