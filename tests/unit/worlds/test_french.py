"""The words that `translator` never learned, named by `attnviz.worlds.french.unknown_words`."""

import random

from attnviz.worlds import french
from scripts.train.worlds.french import sentences

N_SENTENCES = 800


def test_unknown_words_are_named_once_in_their_order() -> None:
    text = "The flurby cat doesn't see Quentin's 12 apples or flurby 12."
    assert french.unknown_words(text) == ("flurby", "12", "or")
    assert french.unknown_words("It’s a dog.") == ()
    assert french.unknown_words("猫が好き") == ("猫が好き",)
    assert french.unknown_words("") == ()
    for example in french.EXAMPLES:
        assert french.unknown_words(example) == ()


def test_no_word_of_the_training_sentences_is_unknown() -> None:
    rng, counts = random.Random(8), dict[str, int]()
    for _ in range(N_SENTENCES):
        for word in french.unknown_words(sentences.draw(rng).english):
            counts[word] = counts.get(word, 0) + 1
    # the rest are invented words, and hardly one of them comes twice
    assert max(counts.values()) <= 12
