"""Token labels show the user's own characters, and never one that hides or misleads."""

import pytest
from tokenizers import pre_tokenizers

from attnviz.tokens.labels import from_bytes, label, visible, without_surrogates


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("</script><img src=x onerror=alert(1)>", "</script><img␣src=x␣onerror=alert(1)>"),
        ("%{x}", "%{x}"),
        ("a\u202eb", "a⟨U+202E⟩b"),  # right-to-left override
        ("\u200f", "⟨U+200F⟩"),
        ("\x00", "⟨U+0000⟩"),
        ("\n", "↵"),
        ("👩\u200d👩\u200d👧", "👩\u200d👩\u200d👧"),
        ("שלום", "שלום"),
        ("東京", "東京"),
    ],
)
def test_visible(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_lone_surrogates_become_the_replacement_character() -> None:
    assert without_surrogates("a\ud800b") == "a\ufffdb"
    assert without_surrogates("🙂") == "🙂"


def test_label_prefers_the_surface_and_marks_what_the_model_did_not_know() -> None:
    assert label("the", "The", unknown=False) == "The"
    assert label("##ing", "ING", unknown=False) == "##ING"
    assert label("[UNK]", "🙂", unknown=True) == "[UNK: 🙂]"
    assert label("[SEP]", "", unknown=False) == "[SEP]"


@pytest.mark.parametrize("word", ["日本", "café", "한국어", "🙂", "é", " naïve"])
def test_bytes_say_their_text(word: str) -> None:
    letters = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    ((piece, _),) = letters.pre_tokenize_str(word)
    assert from_bytes(piece) == word
    if word in ("日本", "🙂", "한국어"):
        assert from_bytes(piece[:-1]) == ""  # half a character


@pytest.mark.parametrize("piece", ["the", "Ġthe", "été", "über", "日本", "▁é", "", "##ß"])
def test_what_are_no_bytes_stay_as_they_are(piece: str) -> None:
    assert from_bytes(piece) == ""
