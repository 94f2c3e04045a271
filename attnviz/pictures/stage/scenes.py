"""The sentences that the stage opens with, and what is true of all looks of the first.

`BOOK_TRIED` is measured: a test runs all of them again. The whole first scene is stored besides, in
measured.json, which `python -m scripts.write_gallery` writes: a server that has just begun shows it
until it has computed its own.
"""

from dataclasses import dataclass
from pathlib import Path

from attnviz.pictures.shared import stored
from attnviz.pictures.stage import Scene, StageView, Tried
from attnviz.types import HeadId

MEASURED = Path(__file__).with_name("measured.json")

BOOK_TRIED = Tried(looks=1904, strong=132, moving=4, flips=1, others=(0.41, 0.44, 0.44, 0.50))


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
