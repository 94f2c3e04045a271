"""A text from a file: for what is too long for a text box and for an address.

In: the bytes of an upload, which is input from outside. Out: a `TextFile` that stays in its
session, and which text the model is to read. The file must be UTF-8; what else there may be in it
is text, shown and run as such.
"""

from dataclasses import dataclass

from attnviz.errors import BadInput, TooLarge
from attnviz.tokens.labels import without_surrogates
from attnviz.ui.session import state

MIB = 2**20
MOST_BYTES = MIB
MAX_NAME_CHARS = 80
KEPT = "text_file"


@dataclass(frozen=True)
class TextFile:
    """What a visitor uploaded."""

    name: str
    text: str


def uploaded(name: str, data: bytes) -> TextFile:
    """The text of a file; `BadInput` or `TooLarge` says why it is none."""
    if len(data) > MOST_BYTES:
        raise TooLarge(
            f"the file has {len(data)} bytes and the limit is {MOST_BYTES}; choose a smaller one",
            code="text_file_too_large",
            found=-(-len(data) // 1024),
            limit=MOST_BYTES // 1024,
            unit="KiB",
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(
            f"byte {error.start} of the file is not UTF-8; save it as UTF-8 text",
            code="bad_text_file",
            place=error.start,
        ) from error
    if "\0" in text:
        raise BadInput(
            f"character {text.index(chr(0))} of the file is NUL; choose a file of plain text",
            code="bad_text_file",
            place=text.index("\0"),
        )
    lines = without_surrogates(text).replace("\r\n", "\n").replace("\r", "\n")
    return TextFile(name[:MAX_NAME_CHARS], lines)


def read(file: TextFile) -> None:
    """Keep the file for this session, and have the model read it."""
    state.keep(KEPT, file)
    state.update(file=True, target="", cut=False, query=None, key=None)


def kept() -> TextFile | None:
    """The file of this session; None where none was uploaded."""
    found: TextFile | None = state.kept(KEPT)
    return found


def reading() -> str | None:
    """The text to read; None when it is a file that this session does not have."""
    view, file = state.current(), kept()
    if not view.file:
        return view.text
    return None if file is None else file.text
