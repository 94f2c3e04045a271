"""Readable labels of tokens, as they stand along an axis.

In: a tokenizer's pieces and character offsets. Out: short printable strings. A label shows the
user's own characters; "##" marks the continuation of a word; characters that are invisible, or that
would change the direction of the text around them, are spelled out as ⟨U+202E⟩.
"""

import unicodedata
from functools import cache, lru_cache

CONTINUATION = "##"
VISIBLE = {"\n": "↵", "\t": "⇥", " ": "␣"}
# invisible by design: joins the parts of an emoji, chooses its coloured form
HARMLESS_FORMAT = {"\u200d", "\ufe0f"}


def visible(text: str) -> str:
    """`text` with every character spelled out that is invisible or could mislead a reader.

    >>> visible("a\\u202eb")
    'a⟨U+202E⟩b'
    """
    if text.isalnum():  # letters and digits of any script: nothing to spell out
        return text
    return "".join(_visible(char) for char in text)


def _visible(char: str) -> str:
    if char in VISIBLE:
        return VISIBLE[char]
    hidden = unicodedata.category(char) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"}
    return f"⟨U+{ord(char):04X}⟩" if hidden and char not in HARMLESS_FORMAT else char


def without_surrogates(text: str) -> str:
    """`text` with each lone surrogate, which no encoding can carry, replaced by U+FFFD."""
    return "".join("\ufffd" if 0xD800 <= ord(char) <= 0xDFFF else char for char in text)


def from_bytes(piece: str) -> str:
    """The text of a piece in GPT-2's alphabet of bytes; "" if it has no whole characters.

    >>> from_bytes("æĹ¥æľ¬")
    '日本'
    """
    if piece.isascii():
        return ""
    letters = _bytes_by_letter()
    try:
        text = bytes(letters[letter] for letter in piece).decode("utf-8")
    except (KeyError, UnicodeDecodeError):
        return ""
    return "" if text.isascii() else text


@cache
def _bytes_by_letter() -> dict[str, int]:
    """The byte of each letter: printable bytes are themselves, the others follow from 256 on."""
    themselves = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in themselves]
    letters = {chr(byte): byte for byte in themselves}
    return letters | {chr(256 + place): byte for place, byte in enumerate(others)}


@lru_cache(maxsize=1 << 14)  # texts repeat their tokens
def label(piece: str, surface: str, unknown: bool) -> str:
    """The label of a token: `surface` is the text it stands for, `piece` its vocabulary entry.

    >>> label("##ing", "ing", unknown=False)
    '##ing'
    >>> label("[UNK]", "🙂", unknown=True)
    '[UNK: 🙂]'
    >>> label("[CLS]", "", unknown=False)
    '[CLS]'
    """
    if not surface:
        return visible(piece)
    if unknown:
        return f"{piece.removesuffix(']')}: {visible(surface)}]"
    return (CONTINUATION if piece.startswith(CONTINUATION) else "") + visible(surface)
