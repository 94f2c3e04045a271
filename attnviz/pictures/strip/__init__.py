"""Strip: one line with all that the model reads, as its tokens, and what the model says to it.

In: a frozen `StripView` of a few pieces (a text, a target, a second sentence). Out: a committed
`Selection` whose query is the token that was clicked; `typed`, a piece's name and its new text,
which `parse_typed` validates; `close`, to leave the file that is read; `write`, to have the model
write the target. The tokens are the text: a click beside them, or the pencil, edits it in place.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal, cast, get_args

import numpy as np
from jaxtyping import Bool, UInt8

from attnviz.pictures.shared.canvas import LISTED, Canvas

TypedName = Literal["text", "target", "text2", "text_b", "target_b"]
PieceName = Literal[TypedName, "picture", "sound", "tokens"]


@dataclass(frozen=True)
class StripExample:
    """A text to choose, and what there is to see in it."""

    text: str
    hint: str


@dataclass(frozen=True)
class StripAnswer:
    """The model's likeliest answer; `title` says what it is an answer to."""

    word: str
    probability: float
    title: str


@dataclass(frozen=True)
class StripPatches:
    """The tokens of a piece that are patches of the picture: row by row from the `first` on."""

    rows: int
    columns: int
    first: int


@dataclass(frozen=True, eq=False)
class StripTokens:
    """The tokens of a piece; `asks` and `answers` say that they are queries, keys of the picture.

    Special ones are muted, those that the model wrote are marked. `differs` is the first that is
    not as on the other side of a comparison: a line that opens shows it.
    """

    labels: tuple[str, ...]
    special: Annotated[Bool[np.ndarray, "token"], LISTED]
    written: Annotated[Bool[np.ndarray, "token"], LISTED]
    asks: bool
    answers: bool
    patches: StripPatches | None = None
    differs: int | None = None


@dataclass(frozen=True)
class StripField:
    """The field of a piece; `limit` is the most characters that it takes, 0 for any number."""

    placeholder: str
    help: str = ""
    limit: int = 0


@dataclass(frozen=True, eq=False)
class StripPiece:
    """Something that the model reads: a text, and its tokens where they are known and not too many.

    One without a `field` is not typed.
    """

    name: PieceName
    label: str
    text: str = ""
    field: StripField | None = None
    tokens: StripTokens | None = None


@dataclass(frozen=True, eq=False)
class StripView:
    """All that stands in the line, from its start to its end.

    `source` names the file that is read in place of what was typed. `action` is the text of a
    button that has the model write the target. The picture is the one that the model saw, or the
    spectrogram of the `sound`, a WAV file.
    """

    pieces: tuple[StripPiece, ...]
    source: str = ""
    action: str = ""
    examples: tuple[StripExample, ...] = ()
    answer: StripAnswer | None = None
    picture: UInt8[np.ndarray, "row column rgb"] | None = None
    sound: UInt8[np.ndarray, "byte"] | None = None


CANVAS = Canvas("strip", (StripView,))


@dataclass(frozen=True)
class TypedText:
    """A piece's new text."""

    name: TypedName
    text: str


def parse_typed(sent: object) -> TypedText | None:
    """The text that a visitor typed, as the browser says; None for nonsense."""
    if not isinstance(sent, Mapping) or sent.get("name") not in get_args(TypedName):
        return None
    text = sent.get("text")
    return TypedText(cast(TypedName, sent["name"]), text) if isinstance(text, str) else None
