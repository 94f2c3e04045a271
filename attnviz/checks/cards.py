"""The card of an embedded model: what it is, how it was made, what it reached, where to look.

In: `card.json` in the model's folder, written when its training ended. Out: a frozen `Card`. The
figures are those of `attnviz.checks`, which measures them again at any time; a test holds the two
together. Nothing is loaded here but the file.
"""

import json
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from attnviz.checks.figure import Figure
from attnviz.models.registry import embedded_folder

FILE = "card.json"


@dataclass(frozen=True)
class HeadNote:
    """A head worth a visit: what it does, in one sentence, and how strongly, as `score`.

    `head` is written L1.H0. `kind` and `stack` say which attention where a model has several.
    `chance` is what the score would be without the habit.
    """

    head: str
    does: str
    score: float
    chance: float | None = None
    kind: str = "self"
    stack: str | None = None


@dataclass(frozen=True)
class Training:
    """How a model was made: minutes on so many threads, of a machine that does nothing else."""

    seed: int
    steps: int
    minutes: float
    threads: int


@dataclass(frozen=True)
class Description:
    """What a check module says of its model beside the figures."""

    what: str
    data: str
    languages: tuple[str, ...]
    heads: tuple[HeadNote, ...]
    limits: str
    samples: tuple[str, ...] = ()


@dataclass(frozen=True)
class Card:
    """All of it."""

    name: str
    licence: str
    description: Description
    training: Training
    figures: tuple[Figure, ...]


def card(name: str) -> Card | None:
    """The card of an embedded model; None for a model that was not trained here."""
    folder = embedded_folder(name)
    return None if folder is None else read(folder)


@cache
def read(folder: Path) -> Card:
    """The card in a folder."""
    stored = json.loads((folder / FILE).read_text(encoding="utf-8"))
    described = stored["description"]
    return Card(
        name=stored["name"],
        licence=stored["licence"],
        description=Description(
            what=described["what"],
            data=described["data"],
            languages=tuple(described["languages"]),
            heads=tuple(HeadNote(**note) for note in described["heads"]),
            limits=described["limits"],
            samples=tuple(described["samples"]),
        ),
        training=Training(**stored["training"]),
        figures=tuple(Figure(**figure) for figure in stored["figures"]),
    )


def write(folder: Path, written: Card) -> None:
    """Put a card into a folder."""
    text = json.dumps(asdict(written), indent=1, ensure_ascii=False)
    (folder / FILE).write_text(text + "\n", encoding="utf-8")
