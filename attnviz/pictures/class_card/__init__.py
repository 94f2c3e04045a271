"""Class card: the card on a class's stage, on a follower's page or on the wall.

In: a frozen `ClassCardView`. The class's socket sends each further `StagedCard`, prepared once for
all pages of a language, and the canvas draws it without a run of the page. It sends `answer` when
a follower answers, `heard` when the page has to run, and `kept` as `class_messages` does. Boards
and films are drawn by their own canvases, which it mounts.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from attnviz.pictures.class_messages import Chosen
from attnviz.pictures.shared.canvas import Canvas

SpanStyle = Literal["", "strong", "em", "code"]
Takes = Literal["", "choice", "number", "cell"]
PictureKind = Literal["board", "motion", "chart", "program"]
Place = Literal["card", "wall"]
MAX_ANSWER_CHARS = 60


@dataclass(frozen=True)
class CardSpan:
    """A piece of a sentence in one style; `lang` where it is not in the language of the page."""

    text: str
    style: SpanStyle = ""
    lang: str = ""


@dataclass(frozen=True)
class Passage:
    """A paragraph, or an item of a list with its `mark`: "•", "1."."""

    mark: str
    spans: tuple[CardSpan, ...]


@dataclass(frozen=True)
class ChartLine:
    """A line of a chart, or its bars; None breaks the line."""

    label: str
    x: tuple[float, ...]
    y: tuple[float | None, ...]


@dataclass(frozen=True)
class CardChart:
    """A chart over one axis; `marked_x` is a line across it."""

    lines: tuple[ChartLine, ...]
    x: str
    y: str
    log_x: bool
    bars: bool
    marked_x: float | None


@dataclass(frozen=True)
class CardPicture:
    """A picture: the bytes of a board or film in base64, a chart, or the text of a program."""

    kind: PictureKind
    data: str = ""
    chart: CardChart | None = None


@dataclass(frozen=True)
class CardOption:
    """An option of a choice, perhaps with a picture."""

    name: str
    spans: tuple[CardSpan, ...]
    picture: CardPicture | None = None


@dataclass(frozen=True)
class CardBar:
    """An answer of the class under the label of its verdict, and how many gave it.

    `first` is how many gave it before the class talked.
    """

    label: str
    words: str
    count: int
    first: int
    right: bool


@dataclass(frozen=True)
class CardWord:
    """A term that the card uses."""

    term: str
    meaning: tuple[Passage, ...]


@dataclass(frozen=True)
class StagedCard:
    """A card as all pages of a class in one language see it; `version` is that of the stage.

    What gives the answer away is empty until it is `revealed`: `right` is the name of the right
    option, or the right number in words, `feedback` the sentence for each verdict's label. `bars`
    are empty unless the class is shown how it answered. A card that `needs_page` has a picture
    that only a run of the page draws. Once the class has `begun` the wall keeps the code small;
    `vote` is 2 where it votes again after talking.
    """

    version: int
    lesson: str
    card: str
    lesson_title: str
    where: str
    title: tuple[CardSpan, ...]
    text: tuple[Passage, ...]
    question: tuple[Passage, ...]
    takes: Takes
    options: tuple[CardOption, ...]
    settings: tuple[str, ...]
    pictures: tuple[CardPicture, ...]
    words: tuple[CardWord, ...]
    begun: bool
    revealed: bool
    right: str
    reveal: tuple[Passage, ...]
    takeaway: tuple[Passage, ...]
    feedback: Mapping[str, tuple[Passage, ...]]
    bars: tuple[CardBar, ...]
    answered: int
    vote: int
    needs_page: bool


@dataclass(frozen=True)
class ClassCardView:
    """The card that is shown, where to listen for the next (below the app's address), and as whom.

    `own` is this page's answer as text, `judged` the label of its verdict once it is revealed. The
    wall has the `link` to the class, also as a QR code, a text of 0 and 1 for each row.
    """

    folder: str
    code: str
    seat: str
    place: Place
    lang: str
    card: StagedCard
    own: str = ""
    judged: str = ""
    chosen: Chosen | None = None
    present: int = 0
    answered: int = 0
    link: str = ""
    qr: tuple[str, ...] = ()


CANVAS = Canvas("class_card", (ClassCardView,), mounts=("board", "motion"))


def parse_answer(value: object) -> tuple[str, str, str] | None:
    """The lesson, the card and the answer as text that a page sent; None for nonsense.

    A browser's value is hostile: the caller checks it against the stage and the question.
    """
    if not isinstance(value, Mapping):
        return None
    lesson, card, text = (value.get(name) for name in ("lesson", "card", "text"))
    if not (isinstance(lesson, str) and isinstance(card, str) and isinstance(text, str)):
        return None
    return (lesson, card, text) if 0 < len(text) <= MAX_ANSWER_CHARS else None
