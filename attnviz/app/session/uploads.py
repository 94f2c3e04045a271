"""A visitor's picture or text file in the session, and the reason for a refused upload.

In: a checked picture, the bytes of a text file, or the error of an upload. Out: the picture by its
name; the text that the model reads, which may be too long for the text box and for an address; the
problem, for the widget that it came from. A text file must be UTF-8; whatever characters it holds
are shown and run as text. What a visitor uploads stays in the session.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from PIL.Image import Image

from attnviz.app.server.unexpected import logged
from attnviz.app.session import current, model_images, store
from attnviz.errors import AttnVizError, BadInput, TooLarge
from attnviz.tokens.labels import without_surrogates
from attnviz.types import MIB

PICTURE, PROBLEMS = "picture", "upload_problems"
MAX_TEXT_BYTES = MIB
MAX_NAME_CHARS = 80
TEXT = "text_file"


def keep_picture(image: Image) -> None:
    """Keep what the visitor uploaded, for this session only, and look at it."""
    store.put(PICTURE, image)
    current.open_image(model_images.OWN)


def picture_name() -> str:
    """The name of the chosen picture, or of the model's first one."""
    view = current.view()
    return view.input.image or model_images.default(view.model)


def picture(name: str = "") -> Image | None:
    """A picture by its name, or the chosen one; None for an upload that this session lacks."""
    name = name or picture_name()
    if name != model_images.OWN:
        return model_images.made(name)
    own: Image | None = store.get(PICTURE)
    return own


def forget_problem() -> None:
    """Forget the error of the last upload."""
    store.put(PROBLEMS, {})


@contextmanager
def taking(widget: str) -> Iterator[None]:
    """Take an upload in the block; what refuses it is kept for the widget that it came from.

    No error leaves the block: it runs in a callback, where an error would take the whole page.
    """
    forget_problem()
    try:
        yield
    except AttnVizError as error:
        store.put(PROBLEMS, {widget: error.again()})
    except Exception:
        store.put(PROBLEMS, {widget: logged("upload")})


def problem(widget: str) -> AttnVizError | None:
    """The error of the last upload; None if it was accepted, or came from another widget."""
    problems: dict[str, AttnVizError] = store.get(PROBLEMS) or {}
    return problems.get(widget)


@dataclass(frozen=True)
class TextFile:
    """A text file that a visitor uploaded."""

    name: str
    text: str


def text_file(name: str, data: bytes) -> TextFile:
    """The text of a file; `BadInput` or `TooLarge` if it cannot be used."""
    if len(data) > MAX_TEXT_BYTES:
        raise TooLarge(
            f"the file has {len(data)} bytes and the limit is {MAX_TEXT_BYTES}; choose a smaller"
            " one",
            code="text_file_too_large",
            found=-(-len(data) // 1024),
            limit=MAX_TEXT_BYTES // 1024,
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


def keep_text(file: TextFile) -> None:
    """Keep the file for this session, and have the model read it."""
    store.put(TEXT, file)
    view = current.view()
    read = replace(view.input, file=True, target="", cut=False)
    current.update(replace(view, input=read, place=view.place.without_cell))


def kept_text() -> TextFile | None:
    """The file of this session; None if none was uploaded."""
    file: TextFile | None = store.get(TEXT)
    return file


def input_text() -> str | None:
    """The text that the model reads; None if it is a file that this session lacks."""
    view, file = current.view(), kept_text()
    if not view.input.file:
        return view.input.text
    return None if file is None else file.text
