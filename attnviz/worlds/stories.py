"""The English that `stories` and `stories-llama` know: the words of their generated stories.

In: a text. Out: its words that no training text had. The list is story_words.txt.
"""

from functools import cache

from attnviz.worlds import vocabulary

WORDS_FILE = "story_words.txt"


@cache
def known_words() -> frozenset[str]:
    """Every word of the training texts, in lower case."""
    return vocabulary.stored_words(WORDS_FILE)


def unknown_words(text: str) -> tuple[str, ...]:
    """The words of a text that no training text had, in their order."""
    return vocabulary.unknown_words(text, known_words())
