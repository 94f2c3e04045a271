"""The view: everything that defines what is on screen, in a few frozen parts.

In: nothing. Out: the dataclasses. Their form in the address, and how each value is checked, is the
table in `address`; the view of a session is kept by `current`.
"""

from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from attnviz import i18n
from attnviz.checks import examples
from attnviz.models.registry import DEFAULT_MODEL as DEFAULT_MODEL
from attnviz.pictures.circuit import DEFAULT_SIDES
from attnviz.pictures.geometry import GeometryChoice
from attnviz.pictures.pairs import Ask
from attnviz.pictures.shared.options import Order, Stop
from attnviz.pictures.shared.selection import Mean, Scale, Special
from attnviz.pictures.steps import Face
from attnviz.pictures.switches import Off
from attnviz.types import Kind, Measure, Stack

PatchStage = Literal["mixed", "weights", "v"]  # a head's output, pattern or values
PATCH_STAGES: tuple[PatchStage, ...] = get_args(PatchStage)


@dataclass(frozen=True)
class Input:
    """The input of the model.

    `cut` keeps only the tokens that the model has positions for, `file` reads an uploaded file in
    place of `text`, `chat` puts the text into the model's chat template. `target` is fed to a
    decoder as if it had generated it. `image` and `sound` name a picture and a sound. `capture` is
    the digest of a capture file, which is shown without its model and in place of all of these.
    """

    text: str = ""
    text2: str = ""
    cut: bool = False
    file: bool = False
    chat: bool = False
    target: str = ""
    image: str = ""
    sound: str = ""
    capture: str = ""


@dataclass(frozen=True)
class Generating:
    """The number of tokens to generate, and the settings of sampling; temperature 0 is greedy.

    `top_k` 0 and `top_p` 1 are off.
    """

    n_tokens: int = 0
    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0


@dataclass(frozen=True)
class AttentionPlace:
    """The attention and the cell that are looked at; None where nothing was chosen.

    `stack` and `kind` choose among a model's attentions, `window` among the windows of a picture;
    `mean` shows the mean of a layer's heads, or of all, instead of one. `query` and `key` are
    positions.
    """

    stack: Stack | None = None
    kind: Kind | None = None
    window: int = 0
    mean: Mean | None = None
    layer: int | None = None
    head: int | None = None
    query: int | None = None
    key: int | None = None

    @property
    def layer_and_head(self) -> tuple[int, int]:
        """The chosen layer and head, or the first ones."""
        return self.layer or 0, self.head or 0

    @property
    def without_cell(self) -> "AttentionPlace":
        """The same attention and head, with no cell chosen."""
        return replace(self, query=None, key=None)


@dataclass(frozen=True)
class DrawingOptions:
    """Options of drawing.

    `open` shows the chosen head alone on Look, grown from its square, `second` a second sentence
    with B − A in the squares; `face` is what stands in the
    place of the row on Compute, `stop` the stop of the row that is looked at. `masks` are those
    laid over the scores, "" for the model's own; `edits` are numbers of the chosen head that were
    changed by hand; `beside` names heads whose lines are drawn too.
    """

    scale: Scale = "sqrt"
    special: Special = "show"
    order: Order = "layer"
    cells: bool = False
    open: bool = False
    second: bool = False
    face: Face | Literal[""] = ""
    stop: Stop | Literal[""] = ""
    sums: bool = False
    masks: str = ""
    words: bool = False
    top: int = 2
    across: bool = False
    beside: str = ""
    edits: str = ""


@dataclass(frozen=True)
class LessonPlace:
    """A card of a lesson, the values set on it, and the answers so far, as text."""

    lesson: str = ""
    card: str = ""
    values: str = ""
    answers: str = ""


@dataclass(frozen=True)
class Seat:
    """A place in a class: the room's code, the presenter's key, a member's id.

    `wall` is True for the screen that the whole room looks at. Key and id never leave the session
    for an address; the browser's tab keeps them for a reload (component `class_messages`).
    """

    room: str = ""
    host: str = ""
    seat: str = ""
    wall: bool = False


@dataclass(frozen=True)
class RightSide:
    """The right side of Compare; what is empty is as on the left, or suggested.

    `query` and `key` are the cell's positions where the left side has no such token.
    """

    model: str = ""
    text: str = ""
    target: str = ""
    image: str = ""
    stack: Stack | None = None
    kind: Kind | None = None
    layer: int | None = None
    head: int | None = None
    query: int | None = None
    key: int | None = None


@dataclass(frozen=True)
class Switches:
    """The heads that are off on the page Switches, in the text form of `attnviz.changes`.

    `changes` is "" while nobody has chosen and "none" where all are on; `to` is the output that a
    head gets when it is switched off next; `effects` True measures every head of a model that is
    slow. `word` is the look that is forbidden, a `ForbiddenLook`.
    """

    changes: str = ""
    to: Off = "mean"
    effects: bool = False
    word: str = ""


@dataclass(frozen=True)
class Inside:
    """The switches below Look and Steps.

    `forbid` is the cell whose look is forbidden in each head, "query.key", "" for none; `edges`
    shows what the edges of the chosen row do, `why` why the chosen cell is attended to;
    `links` the heads that link the chosen cell, `drawn` those that attend as a pattern does: its
    name or its cells (`mask_painter.write`), "" while none is asked for.
    """

    forbid: str = ""
    edges: bool = False
    why: bool = False
    links: bool = False
    drawn: str = ""

    def at(self, place: AttentionPlace) -> "Inside":
        """The same at a place: the look at another cell is not forbidden."""
        return self if self.forbid == f"{place.query}.{place.key}" else replace(self, forbid="")


@dataclass(frozen=True)
class OutputParts:
    """The whole answer below the switches of Change, if it is `shown`, and its tables.

    `parts` and `where` show what wrote the answer and from which tokens it comes, `guess` the cell
    of the lens whose parts are shown; `lens` True asks a model that is slow for its guesses.
    """

    shown: bool = False
    parts: bool = False
    where: bool = False
    lens: bool = False
    guess: str = ""


@dataclass(frozen=True)
class PatchingChoice:
    """The patching below Compare: if it is shown, and the part of a head that is carried over."""

    shown: bool = False
    stage: PatchStage = "mixed"


@dataclass(frozen=True)
class CircuitChoice:
    """The paths between heads, over the switches of Change.

    `path` is the chosen head or path, `least` the least that a drawn arrow moves, "" while nobody
    has chosen; `sides` names the inputs of later heads that are drawn. `paths` True measures and
    shows them. `cut_out` True shows the circuit that is cut out, with `kept` edges.
    """

    path: str = ""
    least: str = ""
    sides: str = DEFAULT_SIDES
    paths: bool = False
    cut_out: bool = False
    kept: int | None = None


@dataclass(frozen=True)
class AtlasChoice:
    """The two measures on which the page Atlas shows all heads."""

    across: Measure = "distance"
    up: Measure = "entropy"


@dataclass(frozen=True)
class PairsChoice:
    """The question that the page Pairs asks; `solved` True leaves out pairs answered wrong.

    `run` True asks a model that is slow.
    """

    ask: Ask = "effects"
    solved: bool = False
    run: bool = False


@dataclass(frozen=True)
class View:
    """Everything that defines what is on screen.

    `lang` is None while the browser's locale decides; `lab` is the sheet of the calculator.
    """

    model: str = DEFAULT_MODEL
    lang: i18n.Language | None = None
    lab: str = ""
    input: Input = field(default_factory=Input)
    generating: Generating = field(default_factory=Generating)
    place: AttentionPlace = field(default_factory=AttentionPlace)
    drawing: DrawingOptions = field(default_factory=DrawingOptions)
    learn: LessonPlace = field(default_factory=LessonPlace)
    classroom: Seat = field(default_factory=Seat)
    right: RightSide = field(default_factory=RightSide)
    switches: Switches = field(default_factory=Switches)
    inside: Inside = field(default_factory=Inside)
    output: OutputParts = field(default_factory=OutputParts)
    patching: PatchingChoice = field(default_factory=PatchingChoice)
    circuit: CircuitChoice = field(default_factory=CircuitChoice)
    geometry: GeometryChoice = field(default_factory=GeometryChoice)
    atlas: AtlasChoice = field(default_factory=AtlasChoice)
    pairs: PairsChoice = field(default_factory=PairsChoice)

    @property
    def without_cell(self) -> "View":
        """The same view with no cell chosen, on either side of Compare."""
        right = replace(self.right, query=None, key=None)
        return replace(self, place=self.place.without_cell, right=right)

    @property
    def of_another_model(self) -> "View":
        """The same view without what was chosen in its model, which means nothing in another."""
        return replace(
            self,
            input=replace(self.input, target="", chat=False, capture=""),
            place=AttentionPlace(),
            switches=replace(self.switches, changes="", effects=False, word=""),
            circuit=replace(self.circuit, path="", least="", paths=False, kept=None),
            output=replace(self.output, guess=""),
            pairs=replace(self.pairs, run=False),
            right=RightSide(),
        )


def default_view(model: str = DEFAULT_MODEL) -> View:
    """The view of an address that names a model alone: the model's first example."""
    second = i18n.text("en", "example.second")
    return View(model, input=Input(text=examples.texts(model)[0], text2=second))
