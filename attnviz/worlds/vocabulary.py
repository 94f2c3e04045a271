"""The words of a text that a world does not have; the words of the generated stories.

In: a text and the words of a world, in lower case. Out: the other words of the text. Word lists
are stored one word a line; they come from the grammars that the models were trained on, which are
part of training (scripts/train/worlds). A test compares both. `stories` and `stories-llama` know
the words of story_words.txt.
"""

import re
from collections.abc import Callable, Iterator, Set
from functools import cache
from importlib import resources

LETTER = r"[^\W\d_]"
WORD = re.compile(rf"{LETTER}+(?:['’\-]{LETTER}+)*|\d+")
ENDING = re.compile(r"'(s|m|re)$")
STORY_WORDS_FILE = "story_words.txt"


def stored_words(file: str) -> frozenset[str]:
    """The words of a list in this folder."""
    path = resources.files("attnviz.worlds") / file
    return frozenset(path.read_text(encoding="utf-8").split())


def words_of(text: str) -> Iterator[str]:
    """The words of a text in lower case, with the plain apostrophe."""
    for word in WORD.findall(text):
        yield word.replace("’", "'").lower()


def unknown_words(
    text: str, known: Set[str], is_copied: Callable[[int, str], bool] = lambda _, __: False
) -> tuple[str, ...]:
    """The words of a text that are not known, each once and in their order.

    A known word with the ending 's, 'm or 're is known too. `is_copied` takes a word's number and
    the word; it is True for a word that the model copies, which need not be known.
    """
    unknown = [
        word
        for n, (word, small) in enumerate(zip(WORD.findall(text), words_of(text), strict=True))
        if not {small, ENDING.sub("", small)} & known and not is_copied(n, word)
    ]
    return tuple(dict.fromkeys(unknown))


@cache
def story_words() -> frozenset[str]:
    """Every word of the training texts, in lower case."""
    return stored_words(STORY_WORDS_FILE)


def unknown_story_words(text: str) -> tuple[str, ...]:
    """The words of a text that no training text had, in their order."""
    return unknown_words(text, story_words())
