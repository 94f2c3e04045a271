"""Palette: all that can be opened or done, filtered by what is typed; ⌘K or Ctrl+K shows it.

In: a frozen `PaletteView` of translated entries. Out: `pick`, the kind and the value of the entry
that was taken, which `parse_pick` validates. Light, dark and the saving of a picture are done in
the browser. A view that is a `door` is a button that opens the palette of the page.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast, get_args

from attnviz.pictures.shared.canvas import Canvas

Sent = Literal["page", "head", "lesson", "model", "language"]
EntryKind = Literal[Sent, "scheme", "save"]
MAX_CHARS = 400


@dataclass(frozen=True)
class PaletteEntry:
    """Something to open or to do; `more` is a second line, `words` find it unseen."""

    kind: EntryKind
    value: str
    label: str
    more: str = ""
    words: str = ""


@dataclass(frozen=True)
class PaletteView:
    """The entries, and the numbers of layers and heads of which each can be named, 0 for none."""

    entries: tuple[PaletteEntry, ...] = ()
    n_layers: int = 0
    n_heads: int = 0
    door: bool = False


CANVAS = Canvas("palette", (PaletteView,))


@dataclass(frozen=True)
class PaletteChoice:
    """An entry that was taken."""

    kind: Sent
    value: str


def parse_pick(sent: object) -> PaletteChoice | None:
    """The entry that a visitor took, as the browser says; None for nonsense."""
    if not isinstance(sent, Mapping) or sent.get("kind") not in get_args(Sent):
        return None
    value = sent.get("value")
    if not isinstance(value, str) or len(value) > MAX_CHARS:
        return None
    return PaletteChoice(cast(Sent, sent["kind"]), value)
