"""The items that a survey counts one by one: texts, or pictures by their names.

In: a model, and what the caller gave. Out: an iterator of items. A picture's name takes the place
of a text wherever texts are named. Files are read when their turn comes; none is kept.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from attnviz.attention.capture import Capture
from attnviz.capture.arguments import Picture, as_picture
from attnviz.capture.request import Request
from attnviz.capture.run import capture_request
from attnviz.corpus.texts import Texts, pieces, read_texts, require_reader
from attnviz.errors import BadInput, bad_argument
from attnviz.models.loaded_model import LoadedModel

Pictures = Sequence[Picture] | Mapping[str, Picture] | str | Path
READS = "a survey reads plain texts, with an encoder or a decoder, or pictures"
PICTURE_FILES = (".png", ".jpg", ".jpeg")
BLANK_PX = 64


@dataclass(frozen=True, eq=False)
class NamedPicture:
    """A picture, an array or a file, with its name in the survey."""

    name: str
    source: object

    def image(self) -> Image.Image:
        """The picture in RGB; raises `BadInput`, which names it, if it cannot be read."""
        try:
            return as_picture(self.source)
        except BadInput as error:
            raise BadInput(f"{self.name}: {error}", code="bad_picture") from error

    def digest(self) -> str:
        """A hash of the file, or of the pixels."""
        if isinstance(self.source, str | Path):
            try:
                content = Path(self.source).expanduser().read_bytes()
            except OSError as error:
                raise _unreadable(self.source, error.strerror or str(error)) from error
        else:
            image = self.image()
            content = f"{image.size}".encode() + image.tobytes()
        return hashlib.sha256(content).hexdigest()


Item = str | NamedPicture


def items(lm: LoadedModel, given: Texts | Pictures) -> Iterator[Item]:
    """The pieces of texts that the model reads at once, or its pictures, in their order.

    Raises `BadInput` for what cannot be read, and for a model that reads neither texts nor
    pictures alone.
    """
    if lm.kind == "vision":
        yield from named_pictures(given)
        return
    require_reader(lm, READS)
    if isinstance(given, Mapping):
        raise _no_pictures(lm, "a mapping of names to pictures")
    yield from pieces(lm, read_texts(given))


def named_pictures(given: object) -> Iterator[NamedPicture]:
    """The pictures of a folder, a mapping or a list, named by file, key or number."""
    if isinstance(given, str | Path):
        yield from _folder(Path(given).expanduser())
    elif isinstance(given, Mapping):
        for name, picture in given.items():
            yield NamedPicture(str(name), picture)
    elif isinstance(given, Iterable):
        for number, picture in enumerate(given, 1):
            name = Path(picture).name if isinstance(picture, str | Path) else f"picture {number}"
            yield NamedPicture(name, picture)
    else:
        raise bad_argument(
            f"a survey reads a folder of pictures, or a list of them; {type(given).__name__} was"
            " given",
            name="texts",
            found=type(given).__name__,
            allowed="list",
        )


def name_of(item: Item) -> str:
    """The text, or the picture's name."""
    return item if isinstance(item, str) else item.name


def content_of(item: Item) -> str:
    """A string that differs between different texts or pictures."""
    return item if isinstance(item, str) else f"{item.name} {item.digest()}"


def lengths(lm: LoadedModel, counted: Sequence[Item]) -> list[int]:
    """The number of tokens of each item."""
    texts = [item for item in counted if isinstance(item, str)]
    if len(texts) < len(counted):
        return [n_entry(lm)] * len(counted)
    ids = lm.tokenize(texts, truncation=True, max_length=lm.max_tokens)["input_ids"]
    return [len(row) for row in ids]


def captured(lm: LoadedModel, counted: Sequence[Item]) -> Capture:
    """One pass over several items of one kind."""
    texts = [item for item in counted if isinstance(item, str)]
    if len(texts) == len(counted):
        return capture_request(lm, Request.of(texts, cut=True), scores=False)
    images = [item.image() for item in counted if not isinstance(item, str)]
    return capture_request(lm, Request.of(image=images), scores=False)


def n_entry(lm: LoadedModel) -> int:
    """The number of different tokens: the vocabulary with what was added, or the places of patches.

    Raises `BadInput` for a model whose layers see other patches, or windows of them.
    """
    return len(lm.text_tokenizer()) if lm.kind != "vision" else len(blank(lm).tokens)


def blank(lm: LoadedModel) -> Capture:
    """The capture of an empty picture, for the places of its patches."""
    cap = captured(lm, [NamedPicture("", Image.new("RGB", (BLANK_PX, BLANK_PX)))])
    n = len(cap.tokens)
    if any(call.windows or (call.n_query, call.n_key) != (n, n) for call in cap.calls):
        raise BadInput(
            f"the layers of {lm.name} attend to different patches, or within windows: a survey"
            " reads pictures with a model whose layers all attend to the same patches",
            code="no_survey",
            name=lm.name,
            kind=lm.kind,
        )
    return cap


def _folder(path: Path) -> Iterator[NamedPicture]:
    """The pictures of a folder, by name."""
    if not path.is_dir():
        raise _unreadable(path, "it is no folder of pictures")
    files = sorted(file for file in path.iterdir() if file.suffix.lower() in PICTURE_FILES)
    if not files:
        raise _unreadable(path, f"there is no picture in it ({', '.join(PICTURE_FILES)})")
    return (NamedPicture(file.name, file) for file in files)


def _unreadable(path: str | Path, reason: str) -> BadInput:
    return BadInput(
        f"cannot read pictures from {path}: {reason}",
        code="no_file",
        path=str(path),
        reason=reason,
    )


def _no_pictures(lm: LoadedModel, found: str) -> BadInput:
    return bad_argument(
        f"{lm.name} reads texts, not {found}",
        name="texts",
        found=found,
        allowed="texts",
    )
