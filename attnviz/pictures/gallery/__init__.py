"""The gallery of the start page: four miniatures, of numbers that were measured beforehand.

In: a `GalleryView`; `gallery` reads the one of measured.json, which `python -m
scripts.write_gallery` writes, weights with four decimals. `lines`, `picture` and `story` take
captures of the embedded models: none of the numbers is changed but the story's mean over the heads
of a layer. Out: the event `miniature` with the name of one that was clicked. Each plays once when
it comes into sight, and again under the pointer or the focus; visitors who asked for less motion
get its last moment.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, get_args

import numpy as np
from jaxtyping import Float32, UInt8

from attnviz.pictures.group import groups, picture_places
from attnviz.pictures.group.app_capture import AppCapture
from attnviz.pictures.shared import stored
from attnviz.pictures.shared.canvas import Canvas, roots
from attnviz.types import HeadId

Miniature = Literal["translator", "picture", "story", "birth"]
MINIATURES: tuple[Miniature, ...] = get_args(Miniature)
PLACE = Path(__file__).with_name("measured.json")
DECIMALS = 4
BEGINS = "▸"


@dataclass(frozen=True, eq=False)
class Lines:
    """The words of a sentence and of its translation, and the weights of one head between them."""

    head: str
    source: tuple[str, ...]
    target: tuple[str, ...]
    weights: Float32[np.ndarray, "target source"]


@dataclass(frozen=True, eq=False)
class PictureRead:
    """A picture, the weights of one head's [CLS] on its patches, and the likeliest class."""

    head: str
    pixels: UInt8[np.ndarray, "row column rgb"]
    weights: Float32[np.ndarray, "patch_row patch_column"]
    answer: str
    probability: float


@dataclass(frozen=True, eq=False)
class Story:
    """The tokens of a text, of which the model generated those from `n_given` on.

    A row holds the mean weights of the last layer's heads in the token's own row, as page Write
    shows them: what it read once it was written.
    """

    tokens: tuple[str, ...]
    n_given: int
    weights: Float32[np.ndarray, "token token"]


@dataclass(frozen=True, eq=False)
class Birth:
    """A training: one head at each measured step, and its copying score.

    `chance` is the score of even attention.
    """

    head: str
    letters: tuple[str, ...]
    steps: tuple[int, ...]
    scores: Float32[np.ndarray, "step"]
    weights: Annotated[Float32[np.ndarray, "step query key"], roots(8)]
    chance: float


@dataclass(frozen=True, eq=False)
class GalleryView:
    """The miniatures."""

    translator: Lines
    picture: PictureRead
    story: Story
    birth: Birth


CANVAS = Canvas("gallery", (GalleryView,))


def parse_opened(value: object) -> Miniature | None:
    """The miniature that was clicked; None for nonsense."""
    return next((name for name in MINIATURES if name == value), None)


def gallery() -> GalleryView:
    """The stored miniatures."""
    return stored.read(GalleryView, PLACE.read_text(encoding="utf-8"))


def as_text(view: GalleryView) -> str:
    """The miniatures as JSON."""
    return stored.as_text(view, DECIMALS)


def lines(captured: AppCapture, target: str, head: HeadId) -> Lines:
    """The words of a translation and the weights of one head of the cross-attention."""
    from attnviz.experiment.outputs.alignment import align

    alignment = align(captured.model, captured.capture, target)
    targets = [place for place, word in enumerate(alignment.target) if not word.special]
    sources = [place for place, word in enumerate(alignment.source) if not word.special]
    return Lines(
        str(head),
        tuple(alignment.source[place].text for place in sources),
        tuple(alignment.target[place].text for place in targets),
        np.ascontiguousarray(alignment.weights[head.layer, head.head][np.ix_(targets, sources)]),
    )


def picture(captured: AppCapture, head: HeadId, query: int) -> PictureRead:
    """A picture that a vision model reads, with one row of one head over its patches."""
    from attnviz.experiment.outputs.classes import classes

    group = captured.groups[0]
    patches = picture_places.picture(captured, group)
    assert patches is not None, "the tokens of a vision model are patches"
    row = groups.stacked(group)[head.layer, head.head, query]
    n_patches = patches.rows * patches.columns
    predicted = classes(captured.model, captured.capture)
    return PictureRead(
        str(head),
        patches.picture,
        row[patches.first : patches.first + n_patches].reshape(patches.rows, patches.columns),
        predicted.best,
        float(predicted.probabilities.max()),
    )


def story(captured: AppCapture) -> Story:
    """A text that a decoder went on with; row t is token t's own.

    A special token is shown as the sign that stands for it on the stage.
    """
    group = captured.groups[0]
    tokens = groups.keys(group)
    weights = groups.stacked(group)[-1].mean(axis=0)
    labels = np.where(tokens.special, BEGINS, tokens.labels).tolist()
    return Story(tuple(labels), len(tokens) - captured.capture.n_generated, weights)
