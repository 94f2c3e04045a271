"""The miniatures of the start page that show one capture each.

In: captures of the embedded models. Out: `Lines`, `PictureRead`, `Story`: numbers of the captures,
none of them changed but the story's mean over the heads of a layer.
"""

import numpy as np

from attnviz.pictures.gallery import Lines, PictureRead, Story
from attnviz.pictures.group import groups, picture_places
from attnviz.pictures.group.app_capture import AppCapture
from attnviz.types import HeadId

BEGINS = "▸"


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
    """A text that a decoder went on with; row t holds what the model read to generate token t.

    A special token is shown as the sign that stands for it on the stage.
    """
    group = captured.groups[0]
    tokens = groups.keys(group)
    weights = groups.stacked(group)[-1].mean(axis=0)
    read = np.zeros_like(weights)
    read[1:] = weights[:-1]  # the row before a token is the one that predicts it
    labels = np.where(tokens.special, BEGINS, tokens.labels).tolist()
    return Story(tuple(labels), len(tokens) - captured.capture.n_generated, read)
