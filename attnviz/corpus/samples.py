"""The texts, pictures or pairs of the app's pages on many texts, unless a visitor gives others.

In: a loaded model. Out: held-out texts of the world that an embedded model learned from, generated
pictures for a model of pictures; for any other text model 512 sentences of the Grimms' tales in
Margaret Hunt's translation of 1884, in the public domain (`python -m scripts.write_tales`).
"""

from itertools import permutations, product
from pathlib import Path

import numpy as np

from attnviz.corpus.texts import reads_texts
from attnviz.experiment.outputs.classes import class_names
from attnviz.experiment.pair_lines import AnsweredPair
from attnviz.models.loaded_model import LoadedModel
from attnviz.worlds import cases, shapes

MAX_TOKENS = 1000  # of the texts on a map: 2,000 points a head
N_PICTURES = 12
PIXELS = 64
SEED = 970_000  # training, checks and references draw from other seeds
STORIES = ("stories", "stories-llama")
# of the pairs: who gives something decides who gets it; one word decides what a review says
PEOPLE, PLACES = ("Mary", "John", "Lily", "Tom", "Sara", "Ben"), ("store", "park")
GIVING = "When {} and {} went to the {}, {} gave a ball to"
NOUNS = ("film", "room", "camera", "game", "store")
GOOD = ("masterful", "brilliant", "lovely", "wonderful", "great", "fine")
BAD = ("awful", "shoddy", "tiresome", "terrible", "dull", "bad")
REVIEWS = ("The {} was {}.", "I would not call the {} {}.", "It was not the {} that was {}.")
TALES = Path(__file__).with_name("tales.txt")


def sample_texts(lm: LoadedModel) -> tuple[str, ...]:
    """Some hundred texts; none for a model that does not read plain texts."""
    if not reads_texts(lm):
        return ()
    if lm.name in STORIES:
        return cases.texts("stories/documents")
    if lm.name == "sentiment":
        return tuple(review.text for review in cases.reviews("sentiment/reviews"))
    return tales()


def sample_pairs(lm: LoadedModel) -> tuple[AnsweredPair, ...]:
    """Pairs of English sentences that differ in one word and should get two answers.

    No pairs for a model that answers neither with a token nor with these classes.
    """
    if lm.kind == "decoder" and reads_texts(lm):
        return tuple(
            AnsweredPair(
                GIVING.format(one, two, place, two), one, GIVING.format(one, two, place, one), two
            )
            for (one, two), place in product(permutations(PEOPLE, 2), PLACES)
        )
    if lm.name != "sentiment":
        return ()
    negative, positive = class_names(lm)
    pairs = []
    for noun, (good, bad), says in product(NOUNS, zip(GOOD, BAD, strict=True), REVIEWS):
        answers = (negative, positive) if " not " in says else (positive, negative)
        own, other = says.format(noun, good), says.format(noun, bad)
        pairs.append(AnsweredPair(own, answers[0], other, answers[1]))
    return tuple(pairs)


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


def tales() -> tuple[str, ...]:
    """The sentences, in their order in the book."""
    return tuple(TALES.read_text(encoding="utf-8").splitlines())
