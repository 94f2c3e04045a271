"""Text files: texts that are too long for the text box and for an address.

In: the bytes of an upload, which is input from outside. Out: a `TextFile` that stays in the
session, and the text that the model reads. The file must be UTF-8; whatever characters it holds are
shown and run as text.
"""

from dataclasses import dataclass, replace

from attnviz.app.session import current, store
from attnviz.errors import BadInput, TooLarge
from attnviz.tokens.labels import without_surrogates
from attnviz.types import MIB

MAX_BYTES = MIB
MAX_NAME_CHARS = 80
KEPT = "text_file"


@dataclass(frozen=True)
class TextFile:
    """A text file that a visitor uploaded."""

    name: str
    text: str


def uploaded(name: str, data: bytes) -> TextFile:
    """The text of a file; `BadInput` or `TooLarge` if it cannot be used."""
    if len(data) > MAX_BYTES:
        raise TooLarge(
            f"the file has {len(data)} bytes and the limit is {MAX_BYTES}; choose a smaller one",
            code="text_file_too_large",
            found=-(-len(data) // 1024),
            limit=MAX_BYTES // 1024,
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


def keep(file: TextFile) -> None:
    """Keep the file for this session, and have the model read it."""
    store.put(KEPT, file)
    view = current.view()
    read = replace(view.input, file=True, target="", cut=False)
    current.update(replace(view, input=read, place=view.place.without_cell))


def kept() -> TextFile | None:
    """The file of this session; None if none was uploaded."""
    file: TextFile | None = store.get(KEPT)
    return file


def input_text() -> str | None:
    """The text that the model reads; None if it is a file that this session lacks."""
    view, file = current.view(), kept()
    if not view.input.file:
        return view.input.text
    return None if file is None else file.text
