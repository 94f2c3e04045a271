"""The cross-attention of the embedded translator while it generates, for the cards of lesson 7.

In: an English sentence and a function that captures a model. Out: `Translation`: the tokens of both
texts and the cross-attention, one row for each French token, the row that predicts it (Koehn and
Knowles 2017: the row of the decoder that has read the tokens before it). `PAIRS` are sentences with
the model's translations and the links of their words.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from attnviz.attention.capture import Capture
from attnviz.teach.course.recipe import CardInputs

MODEL = "translator"
MAX_GENERATED = 32
PIECE = "▁"  # the space before a piece, as the vocabulary writes it
LAYER, HEAD = 1, 1  # the head that the model's card names for alignment


@dataclass(frozen=True)
class SentencePair:
    """A sentence, the model's translation, and links (English word, French word).

    `moved` is a French word at another position than its English word.
    """

    english: str
    french: str
    links: tuple[tuple[str, str], ...]
    moved: str


PAIRS = (
    SentencePair(
        "The little white cat sees a green apple.",
        "Le petit chat blanc voit une pomme verte.",
        (
            ("little", "petit"),
            ("white", "blanc"),
            ("cat", "chat"),
            ("sees", "voit"),
            ("green", "verte"),
            ("apple", "pomme"),
        ),
        "blanc",
    ),
    SentencePair(
        "The queen has a black horse.",
        "La reine a un cheval noir.",
        (("queen", "reine"), ("has", "a"), ("black", "noir"), ("horse", "cheval")),
        "noir",
    ),
    SentencePair(
        "I like red cars.",
        "J'aime les voitures rouges.",
        (("like", "aime"), ("red", "rouges"), ("cars", "voitures")),
        "rouges",
    ),
)


@dataclass(frozen=True, eq=False)
class Translation:
    """A sentence that the model translated token by token."""

    captured: Capture

    @property
    def source(self) -> tuple[str, ...]:
        """The English tokens with the end mark."""
        return tuple(_word(label) for label in self.captured.tokens_of(0, "encoder").labels)

    @property
    def read(self) -> tuple[str, ...]:
        """The tokens that the decoder has read: its start mark and the generated ones."""
        return tuple(_word(label) for label in self.captured.tokens_of(0, "decoder").labels)

    @property
    def written(self) -> tuple[str, ...]:
        """The French tokens that rows 0, 1, 2 … of the decoder predict."""
        return self.read[1:]

    def cross(self, layer: int = LAYER, head: int = HEAD) -> Float64[np.ndarray, "query key"]:
        """Cross-attention: for each generated token the row that predicts it."""
        return self.rows(layer, head)[: len(self.written)]

    def rows(self, layer: int, head: int) -> Float64[np.ndarray, "query key"]:
        """Cross-attention: all rows of the decoder, one for each token of `read`."""
        weights = self.captured.weights(layer, head, kind="cross", stack="decoder")
        return np.asarray(weights.astype(np.float64))


def translate(inputs: CardInputs, english: str) -> Translation:
    """The model's own translation of a sentence."""
    return Translation(inputs.capture(MODEL, english, generate=MAX_GENERATED))


def in_one_pass(inputs: CardInputs, pair: SentencePair) -> Capture:
    """The capture of one pass over the whole translation, as in training (teacher forcing)."""
    return inputs.capture(MODEL, pair.english, target=pair.french)


def right_links(
    translation: Translation, pair: SentencePair, layer: int, head: int, later: int = 0
) -> list[bool]:
    """True for each link whose strongest English token is the right one.

    `later` 0 reads the row that predicts the French word, 1 the row that has just read it.
    """
    weights, source = translation.rows(layer, head), translation.source
    return [
        source[int(weights[translation.written.index(french) + later].argmax())] == english
        for english, french in pair.links
    ]


def _word(label: str) -> str:
    return label.removeprefix(PIECE) or label
