"""Labels of vocabulary entries: without the space before a word, except where two look alike."""

from dataclasses import replace

from tokenizers import Tokenizer, models
from torch import nn
from transformers import PreTrainedTokenizerFast

from attnviz.models.from_folder import wrap
from attnviz.models.loaded_model import LoadedModel

WORDS = ("[UNK]", "Ġcat", "cat", "Ġdog", "s", "▁the", "<b>", "Ġ")


def model() -> LoadedModel:
    base = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, "[UNK]"))
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=base, unk_token="[UNK]")
    return replace(wrap(nn.Identity()), tokenizer=tokenizer)


def test_a_word_is_shown_without_its_space() -> None:
    assert model().labels_of([1, 3, 4, 5, 6]) == ("cat", "dog", "s", "the", "<b>")


def test_two_that_look_alike_are_told_apart() -> None:
    assert model().labels_of([1, 2, 3]) == ("␣cat", "cat", "dog")


def test_a_row_of_the_model_without_a_word_has_its_number() -> None:
    assert model().labels_of([1, 99]) == ("cat", "[99]")


def test_a_text_and_what_was_written_have_the_same_labels() -> None:
    """Some tokenizers count the space before a word into it, so that it stands in the text."""
    given = model().tokens("a cat", [1], [(1, 5)], [0], [1])
    written = model().tokens("", [1], [(0, 0)], [0], [1])
    assert given.labels == written.labels == ("cat",)
    assert model().tokens("a  b", [7], [(1, 2)], [0], [1]).labels == ("␣",)
