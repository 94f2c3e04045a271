"""The texts or pictures of the app's maps and surveys, unless a visitor gives others.

In: a loaded model. Out: held-out texts of the world that an embedded model learned from, generated
pictures for a model of pictures, sentences of the Grimms' tales for any other text model.
"""

import numpy as np

from attnviz.corpus.texts import reads_texts
from attnviz.models.loaded_model import LoadedModel
from attnviz.worlds import cases, shapes, tales

MAX_TOKENS = 1000  # of the texts on a map: 2,000 points a head
N_PICTURES = 12
PIXELS = 64
SEED = 970_000  # training, checks and references draw from other seeds
STORIES = ("stories", "stories-llama")


def sample_texts(lm: LoadedModel) -> tuple[str, ...]:
    """Some hundred texts; none for a model that does not read plain texts."""
    if not reads_texts(lm):
        return ()
    if lm.name in STORIES:
        return cases.texts("stories/documents")
    if lm.name == "sentiment":
        return tuple(review.text for review in cases.reviews("sentiment/reviews"))
    return tales.sentences()


def sample_pictures(lm: LoadedModel) -> tuple[np.ndarray, ...]:
    """A few generated pictures; none for a model that does not read pictures alone."""
    if lm.kind != "vision":
        return ()
    return tuple(shapes.sample(SEED + number).picture(PIXELS) for number in range(N_PICTURES))


def map_texts(lm: LoadedModel) -> tuple[str, ...]:
    """The first sample texts, with at most `MAX_TOKENS` tokens together."""
    texts = sample_texts(lm)[:MAX_TOKENS]
    if not texts:
        return ()
    lengths = map(len, lm.tokenize(list(texts), truncation=True)["input_ids"])
    ends = np.cumsum(list(lengths))
    return texts[: int(np.searchsorted(ends, MAX_TOKENS, side="right"))]
