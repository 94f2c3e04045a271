"""The English that `translator` knows: its examples and its words.

In: a text. Out: its words that the model never learned. The forms of nouns, adjectives,
verbs, adverbs, numbers and names stand in french_words.txt, one a line and in lower case; they come
from the grammar that the model was trained on, which is part of training
(scripts/train/worlds/french). A test compares both.
"""

from functools import cache

from attnviz.worlds import vocabulary

WORDS_FILE = "french_words.txt"
FUNCTION_WORDS = frozenset(
    (
        "a an the my your his her our their this that these those some any every each many several"
        " what i you he she it we they me him us them who where there and but because when not very"
        " do does did is are am was were be will can cannot must to of s m re don't doesn't didn't"
        " isn't aren't wasn't weren't won't can't in on under behind front next with for against"
        " after before toward without near beside from no"
    ).split()
)
EXAMPLES = (
    "The little white cat sees a green apple.",
    "She does not like the old red car.",
    "My sister's dogs are sleeping under the big table.",
    "We gave the beautiful queen a golden crown.",
    "The happy children never forget this magnificent castle.",
    "I saw her yesterday.",
    "The man who lives in London reads many interesting books.",
    "Is your new house near the river?",
    "There are three black horses behind the school.",
    "Anna wants to buy some honey because her bread is dry.",
)


@cache
def content_words() -> frozenset[str]:
    """Every English form of the nouns, adjectives, verbs, adverbs, numbers and names."""
    return vocabulary.stored_words(WORDS_FILE)


def unknown_words(text: str) -> tuple[str, ...]:
    """The English words of a text that the translator never learned, in their order.

    Names are not among them: a capital inside a sentence means a name, which is copied.
    """

    def is_name(n: int, word: str) -> bool:
        return n > 0 and word[0].isupper() and word[0].isascii()

    return vocabulary.unknown_words(text, content_words() | FUNCTION_WORDS, is_name)
