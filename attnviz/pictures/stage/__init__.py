"""The stage of the start page: a sentence, the looks of its last word, and each one forbidden.

In: a frozen `StageView` with the answer without each of the looks of all heads at one word: a click
needs no server. Out: a sentence that a visitor types (event `text`), a scene that was chosen
(`scene`), and a wish to see the film (`film`). Of a language model the answer is its next word. Of
a sentence encoder it is how far the meaning moves, beside what other changes of the text do.

`STAGED` has the sentences that it opens with; what is true of all looks of the first, `BOOK_TRIED`,
is measured, and a test runs all of them again. The whole first scene is stored in measured.json,
which `python -m scripts.write_gallery` writes: a server that has just begun shows it until it has
computed its own.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, get_args

import numpy as np
from jaxtyping import Bool, Float32

from attnviz.pictures.group.answers import LEAST_GUESS
from attnviz.pictures.shared import stored
from attnviz.pictures.shared.canvas import INLINE, LISTED, Canvas, derived, roots
from attnviz.types import HeadId

Scene = Literal["book", "ball", "animal", "own"]
SCENES: tuple[Scene, ...] = get_args(Scene)
MEASURED = Path(__file__).with_name("measured.json")


@dataclass(frozen=True)
class Tried:
    """All looks of a sentence, each of them forbidden: what is true of them together.

    `strong` looks are above 0.5; `moving` of these move the answer by more than 1 %; `flips` change
    the word. `others` is what the first word keeps where the decisive look goes in other ways: its
    weight at 0 while its row stays, its head at zero, at the mean, at outputs drawn elsewhere, with
    uniform attention.
    """

    looks: int
    strong: int
    moving: int
    flips: int
    others: tuple[float, float, float, float, float]


@dataclass(frozen=True, eq=False)
class Looks:
    """A query's looks at a key in every head, layer by layer, and how far each moves the answer.

    `rows` are the query's weights in full: where a look goes instead is computed from them.
    `pieces` are words of several tokens, from the first to before the last: a look is at one token.
    """

    tokens: tuple[str, ...]
    special: Annotated[Bool[np.ndarray, "token"], LISTED]
    query: int
    key: int
    weights: Annotated[Float32[np.ndarray, "layer head query key"], roots(8)]
    rows: Float32[np.ndarray, "number key"]
    moved: Float32[np.ndarray, "number"]
    pieces: tuple[tuple[int, int], ...] = ()

    @derived
    def n_layers(self) -> int:
        """The number of layers."""
        return len(self.weights)

    @derived
    def n_heads(self) -> int:
        """The number of heads of a layer."""
        n_heads: int = self.weights.shape[1]
        return n_heads


@dataclass(frozen=True, eq=False)
class Answers:
    """The answer as it is, and without each of the looks.

    `choices` are names of answers with what they have `before` and `after`; a piece that begins a
    longer word of the text ends in "…", as its numbers are those of the piece. As many of them as
    `leading` says, in `leading_after` without each look, are the likeliest words with none left
    out; words that are not listed may stand before the others. `winners` are the largest answers
    after, of all `n_words`. Of an encoder the choices are other changes of the text, and `before`
    says how far these move the meaning.
    """

    choices: tuple[str, ...]
    before: Float32[np.ndarray, "choice"]
    after: Float32[np.ndarray, "number bar"]
    winner: str = ""
    share: float = 0.0
    winners: tuple[str, ...] = ()
    shares: tuple[float, ...] = ()
    leading: int = 0
    leading_after: tuple[int, ...] = ()
    n_words: int = 0


@dataclass(frozen=True, eq=False)
class StageView:
    """One sentence on the stage.

    The key was chosen from `n_tried` cuts; there are none where the scene fixes it. A page whose
    own field the text is typed into needs no box for it; while it is typed, nothing moves but what
    has changed. `elsewhere_moved` is how far the answer moves without the look of another cell that
    the address forbids.
    """

    kind: Literal["next", "meaning"]
    scene: Scene
    text: str
    looks: Annotated[Looks, INLINE]
    answers: Annotated[Answers, INLINE]
    examples: tuple[tuple[Scene, str], ...] = ()
    n_tried: int = 0
    tried: Tried | None = None
    has_box: bool = True
    is_typed: bool = False
    elsewhere_moved: float | None = None

    @derived
    def guesses(self) -> bool:
        """True if the model has an idea of what comes next."""
        return self.kind == "meaning" or self.answers.share >= LEAST_GUESS


CANVAS = Canvas("stage", (StageView,))


def parse_scene(value: object) -> Scene | None:
    """The scene that a browser names, None for anything else."""
    return next((scene for scene in SCENES if scene == value and scene != "own"), None)


@dataclass(frozen=True)
class Staged:
    """A sentence for a model, the tokens that ask and answer, and the head whose look it is about.

    A sentence encoder's has other texts beside it, by what differs; "" is another sentence.
    """

    model: str
    text: str
    query: int
    key: int
    head: HeadId
    tried: Tried | None = None
    yardsticks: tuple[tuple[str, str], ...] = ()


BOOK_TRIED = Tried(looks=1904, strong=132, moving=4, flips=1, others=(0.41, 0.44, 0.44, 0.50, 0.16))
STAGED: dict[Scene, Staged] = {
    "book": Staged(
        "stories",
        "When Mary and John went to the store, John gave a book to",
        query=14,
        key=2,
        head=HeadId(2, 1),
        tried=BOOK_TRIED,
    ),
    "ball": Staged(
        "stories",
        "Lily had a red ball. Tom had a blue ball. Lily's ball was",
        query=16,
        key=10,
        head=HeadId(2, 2),
    ),
    "animal": Staged(
        "minilm",
        "The animal didn't cross the street because it was too tired.",
        query=10,
        key=2,
        head=HeadId(3, 1),
        yardsticks=(
            (
                "didn't → did not",
                "The animal did not cross the street because it was too tired.",
            ),
            (
                "tired → wide",
                "The animal didn't cross the street because it was too wide.",
            ),
            ("", "She sat on the bank of the river."),
        ),
    ),
}


def stored_opening() -> StageView:
    """The first scene as it was measured beforehand."""
    return stored.read(StageView, MEASURED.read_text(encoding="utf-8"))
