"""The card of an embedded model: what it is, how it was trained, its figures, heads to look at.

In: `card.json` in the model's folder, written when its training ended. Out: a `TrainingCard`. A
`Figure` stands beside its target, and is printed as one line; those on the card are measured by
`attnviz.checks`, which can do so again at any time, and a test compares both. Reads nothing but
that file and imports nothing heavy, so that a page can show a card before torch is in memory.
"""

import json
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from attnviz.models.registry import embedded_folder
from attnviz.types import Kind, Stack

FILE = "card.json"


@dataclass(frozen=True)
class Figure:
    """One measured claim: `name` states what was measured, `cases` on how many examples."""

    name: str
    value: float
    target: float
    at_least: bool = True
    cases: int = 0

    @property
    def reached(self) -> bool:
        """True if the value reaches its target; NaN never does."""
        return self.value >= self.target if self.at_least else self.value <= self.target

    def __str__(self) -> str:
        sign = "≥" if self.at_least else "≤"
        verdict = "ok" if self.reached else "MISSED"
        on = f" on {self.cases}" if self.cases else ""
        return f"{verdict:6} {self.name}: {self.value:.4g} (target {sign} {self.target:g}){on}"


@dataclass(frozen=True)
class HeadNote:
    """A head worth a visit: what it does, in one sentence, and how strongly, as `score`.

    `head` is written L1.H0. `kind` and `stack` name the attention where a model has several.
    `chance` is the score by chance.
    """

    head: str
    does: str
    score: float
    chance: float | None = None
    kind: Kind = "self"
    stack: Stack | None = None


@dataclass(frozen=True)
class TrainingRecord:
    """The training of a model: minutes on that many threads of a machine that does nothing else."""

    seed: int
    steps: int
    minutes: float
    threads: int


@dataclass(frozen=True)
class Description:
    """The part of a card that is no figure."""

    what: str
    data: str
    languages: tuple[str, ...]
    heads: tuple[HeadNote, ...]
    limits: str
    samples: tuple[str, ...] = ()


@dataclass(frozen=True)
class TrainingCard:
    """The whole card."""

    name: str
    licence: str
    description: Description
    training: TrainingRecord
    figures: tuple[Figure, ...]


def card(name: str) -> TrainingCard | None:
    """The card of an embedded model; None for a model that was not trained here."""
    folder = embedded_folder(name)
    return None if folder is None else read(folder)


@cache
def read(folder: Path) -> TrainingCard:
    """The card in a folder."""
    stored = json.loads((folder / FILE).read_text(encoding="utf-8"))
    description = stored["description"]
    return TrainingCard(
        name=stored["name"],
        licence=stored["licence"],
        description=Description(
            what=description["what"],
            data=description["data"],
            languages=tuple(description["languages"]),
            heads=tuple(HeadNote(**note) for note in description["heads"]),
            limits=description["limits"],
            samples=tuple(description["samples"]),
        ),
        training=TrainingRecord(**stored["training"]),
        figures=tuple(Figure(**figure) for figure in stored["figures"]),
    )


def write(folder: Path, model_card: TrainingCard) -> None:
    """Write a card into a folder."""
    text = json.dumps(asdict(model_card), indent=1, ensure_ascii=False)
    (folder / FILE).write_text(text + "\n", encoding="utf-8")
