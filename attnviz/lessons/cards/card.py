"""The vocabulary of a lesson: a card, what it shows, what it asks.

In: numbers that `attnviz.course` computed. Out: frozen data that a page draws, a worksheet prints
and `grade` judges. Names here are keys of the card's texts (see `content`), never texts themselves,
but for tokens, which are the same in every language.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float64

Cell = tuple[int, int]
Numbers = Mapping[str, float | int | str]
Sums = Literal["none", "rows", "columns", "both"]
# how a real head is shown: as on the page of that name, or by the part of Output that fits
RealView = Literal["head", "overview", "output"]


@dataclass(frozen=True, eq=False)
class Panel:
    """One matrix of a board; `before` stands between it and the one before it: "·", "=", "→".

    Its caption is the text "panel.<name>" of the card. Rows and columns are named by `rows` and
    `columns`, by numbers where these are empty. `blocked` cells are hatched, `marked` cells are
    outlined; `sums` asks for the sums of rows or columns beside it. `hidden` panels keep their
    numbers back until the card's question is answered; `blank_on_paper` ones are kept back on a
    worksheet, where they would answer the question of another card. Panels of a card that have the
    same `scale` hold the same kind of number: their colours share one range.
    """

    name: str
    values: Float64[np.ndarray, "row column"]
    before: str = ""
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    decimals: int = 2
    signed: bool = True
    scale: str = ""
    blocked: Bool[np.ndarray, "row column"] | None = None
    marked: tuple[Cell, ...] = ()
    sums: Sums = "none"
    hidden: bool = False
    blank_on_paper: bool = False


@dataclass(frozen=True)
class Board:
    """Matrices from left to right, wrapped where the page is narrow."""

    panels: tuple[Panel, ...]


@dataclass(frozen=True, eq=False)
class Series:
    """One line of a chart; its label is the text "series.<name>"."""

    name: str
    x: Float64[np.ndarray, "point"]
    y: Float64[np.ndarray, "point"]


@dataclass(frozen=True)
class Chart:
    """Lines over one axis. The axes' titles are the texts "axis.<x>" and "axis.<y>"."""

    x: str
    y: str
    series: tuple[Series, ...]
    log_x: bool = False
    bars: bool = False
    marked_x: float | None = None


@dataclass(frozen=True)
class Real:
    """A real model's head on a text, with everything that the page of that name can do.

    `view` holds further fields of the app's address: target, generate, kind, stack, image, query.
    """

    model: str
    text: str
    layer: int = 0
    head: int = 0
    shown: RealView = "head"
    view: Mapping[str, str | int] = field(default_factory=dict)


@dataclass(frozen=True)
class Live:
    """Something that runs in the page and has a view of its own, by name."""

    name: Literal["birth"]
    seed: int = 0


@dataclass(frozen=True)
class Code:
    """A program to copy, the same in every language."""

    source: str


Picture = Board | Chart | Real | Live | Code


@dataclass(frozen=True)
class NumberQuestion:
    """Enter a number. `mistakes` maps the name of a mistake to the number that it leads to."""

    answer: float | int
    tolerance: float
    mistakes: Mapping[str, float | int] = field(default_factory=dict)


@dataclass(frozen=True)
class CellQuestion:
    """Click a cell of the board's panel of that name; a row question takes any cell of the row.

    `also` names panels of the same board whose cells mean the same: they take the answer too.
    """

    panel: str
    right: frozenset[Cell]
    mistakes: Mapping[str, frozenset[Cell]] = field(default_factory=dict)
    also: tuple[str, ...] = ()

    @property
    def panels(self) -> tuple[str, ...]:
        """The panels that take the answer."""
        return (self.panel, *self.also)


@dataclass(frozen=True)
class ChoiceQuestion:
    """Choose one option: the text "option.<name>", with a picture where `pictures` has one.

    Every wrong option is a mistake of its own, under its name.
    """

    options: tuple[str, ...]
    right: str
    pictures: Mapping[str, Board] = field(default_factory=dict)


Question = NumberQuestion | CellQuestion | ChoiceQuestion


@dataclass(frozen=True)
class Slider:
    """A number to set, at one of its stops; its label is the text "control.<name>"."""

    name: str
    stops: tuple[float, ...]
    start: float


@dataclass(frozen=True)
class Pick:
    """One of a few options, each with the text "control.<name>.<option>"."""

    name: str
    options: tuple[str, ...]
    start: str


@dataclass(frozen=True)
class Typed:
    """A text of the learner's own."""

    name: str
    start: str
    most_chars: int = 120


Control = Slider | Pick | Typed
Value = float | str


@dataclass(frozen=True)
class Link:
    """A page of the app in the state that continues the card: `view` has fields of its address."""

    page: Literal["overview", "head", "steps", "masks", "output", "calculator"]
    view: Mapping[str, str | int | float] = field(default_factory=dict)


@dataclass(frozen=True)
class Card:
    """A card as it stands, with its numbers.

    `numbers` fill the placeholders of its texts. `pictures` are shown at once, `reveal` after the
    question was answered.
    """

    name: str
    numbers: Numbers = field(default_factory=dict)
    pictures: tuple[Picture, ...] = ()
    question: Question | None = None
    reveal: tuple[Picture, ...] = ()
    link: Link | None = None
