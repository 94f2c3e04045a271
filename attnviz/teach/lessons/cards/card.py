"""The vocabulary of a lesson: cards with their pictures, questions and controls.

In: numbers that `teach.course` computed. Out: frozen data that a page draws, a worksheet prints
and `grade` judges. Names here are keys of the card's texts (see `texts`), never texts themselves;
tokens are the exception, since they are the same in every language. `ranges` gives all panels of a
card that share a `Panel.scale` one range of colours, before and after the reveal: colours keep
their meaning after a step, and when an answer is shown.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from jaxtyping import Float64

from attnviz.pictures.board import Board, BoardCell, Panel, largest
from attnviz.pictures.motion import Motion
from attnviz.pictures.shared.pages import Door

Numbers = Mapping[str, float | int | str]


class Terms(str):
    """Numbers and signs that Python wrote; a learner's words stay as they are."""


class NotEnglish(str):
    """Words that no one is to read as English: in the page's language, or a model's French."""


TrainingView = Literal["moments", "control", "ablation"]
# the page that draws a real head; "output": the part of Output that fits the model
RealView = Literal["head", "overview", "output"]


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
class RealHead:
    """A head of a real model on a text, drawn and used as on its own page.

    `view` holds further fields of the app's address: target, generate, kind, stack, image, query.
    """

    model: str
    text: str
    layer: int = 0
    head: int = 0
    shown: RealView = "head"
    view: Mapping[str, str | int] = field(default_factory=dict)


@dataclass(frozen=True)
class LiveTraining:
    """A training that runs in the page: the transformer of the lesson `birth`, from a seed.

    `shown` says what of it: two scores and heads moment by moment, the scores with their control,
    or those without each head.
    """

    name: Literal["birth"]
    seed: int = 0
    shown: TrainingView = "moments"


@dataclass(frozen=True)
class Program:
    """A program to copy, the same in every language."""

    source: str


Picture = Board | Chart | RealHead | LiveTraining | Program | Motion


@dataclass(frozen=True)
class NumberQuestion:
    """Enter a number. `mistakes` maps the name of a mistake to the number that it leads to."""

    answer: float | int
    tolerance: float
    mistakes: Mapping[str, float | int] = field(default_factory=dict)


@dataclass(frozen=True)
class CellQuestion:
    """Click a cell of the panel named `panel`; a question about a row takes any cell of it.

    `also` names panels of the same board whose cells mean the same: they take the answer too.
    """

    panel: str
    right: frozenset[BoardCell]
    mistakes: Mapping[str, frozenset[BoardCell]] = field(default_factory=dict)
    also: tuple[str, ...] = ()

    @property
    def panels(self) -> tuple[str, ...]:
        """The panels that take the answer."""
        return (self.panel, *self.also)


@dataclass(frozen=True)
class ChoiceQuestion:
    """Choose one option: the text "option.<name>", with a picture where `pictures` has one.

    Each wrong option is the mistake of its name. Options are shown in an order of `shuffle`, unless
    they are a scale.
    """

    options: tuple[str, ...]
    right: str
    pictures: Mapping[str, Board] = field(default_factory=dict)
    is_scale: bool = False


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
    """A text that the learner types, at most `max_chars` characters long."""

    name: str
    start: str
    max_chars: int = 120


Control = Slider | Pick | Typed
Value = float | str


@dataclass(frozen=True)
class Link:
    """A page, or a head, that continues the card: `view` has fields of its address.

    With a `task` the card says what to do there, in its text "task".
    """

    page: Door
    view: Mapping[str, str | int | float] = field(default_factory=dict)
    task: bool = False


@dataclass(frozen=True)
class Card:
    """A built card. `numbers` fill the placeholders of its texts.

    `pictures` are shown at once, `reveal` after the question was answered, `situation` until then
    (see `situation`).
    """

    name: str
    numbers: Numbers = field(default_factory=dict)
    pictures: tuple[Picture, ...] = ()
    question: Question | None = None
    reveal: tuple[Picture, ...] = ()
    link: Link | None = None
    situation: tuple[Picture, ...] = ()


def ranges(card: Card) -> dict[str, float]:
    """The largest absolute value of each scale; infinite and undefined values do not count."""
    largest_of: dict[str, float] = {}
    for panel in _panels(card):
        if panel.scale:
            largest_of[panel.scale] = max(largest_of.get(panel.scale, 0.0), largest(panel))
    return largest_of


def _panels(card: Card) -> Iterator[Panel]:
    options = card.question.pictures if isinstance(card.question, ChoiceQuestion) else {}
    drawn = (*card.situation, *card.pictures, *card.reveal)
    pictures: Iterable[Picture] = (*drawn, *options.values())
    for picture in pictures:
        if isinstance(picture, Board):
            yield from picture.panels
