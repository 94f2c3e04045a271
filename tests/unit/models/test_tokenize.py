"""A tokenizer that cannot read a text is named, whatever its library raises."""

from pathlib import Path

import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

import attnviz
from attnviz.errors import BadInput
from tests.support import folders


def test_a_word_without_a_token_for_unknown_words_is_refused_by_name(tmp_path: Path) -> None:
    folder = folders.save(tmp_path / "bert", "bert")
    tokenizer = Tokenizer(WordLevel({"the": 0, "cat": 1}))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    loaded = attnviz.load(folder)
    with pytest.raises(BadInput, match=r"broke off: .*UNK") as caught:
        attnviz.capture(loaded, "the sphinx")
    assert caught.value.code == "tokenizer_broke_off"


def test_a_token_that_the_model_does_not_have_is_refused_by_name(tmp_path: Path) -> None:
    folder = folders.save(tmp_path / "bert", "bert")
    tokenizer = Tokenizer(WordLevel({"[UNK]": 0, "cat": 9999}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    loaded = attnviz.load(folder)
    with pytest.raises(BadInput, match="do not belong together") as caught:
        attnviz.capture(loaded, "the cat")
    assert caught.value.code == "tokenizer_mismatch"
