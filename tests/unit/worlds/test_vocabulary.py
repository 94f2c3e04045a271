"""The words that the story models never learned, named by `attnviz.worlds.vocabulary`."""

from attnviz.worlds import vocabulary
from scripts.train.worlds.stories import stories as grammar


def test_unknown_words_are_named_once_in_their_order() -> None:
    text = "Mary’s xylophone was found in the kitchen, a xylophone like Zara’s"
    assert vocabulary.unknown_story_words(text) == ("xylophone", "Zara’s")
    assert vocabulary.unknown_story_words("") == ()


def test_the_list_has_every_word_of_other_stories() -> None:
    for document in grammar.documents(47, 2_000):  # the seed of stories-llama
        assert set(vocabulary.words_of(document)) <= vocabulary.story_words()
