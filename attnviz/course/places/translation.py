"""What the embedded translator attends to while it writes, in a form that cards can show.

In: an English sentence and a way to capture. Out: `Writing`: the tokens of both texts and the
cross-attention, one row for each French token, the row that predicts it (Koehn and Knowles 2017:
the row of the decoder that has read the tokens before it). `PAIRS` are sentences with the
translation that the model gives them and the words that belong together.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from attnviz.attention.call import Capture
from attnviz.course.recipe import CardInputs

MODEL = "translator"
MOST_WRITTEN = 32
PIECE = "▁"  # how the vocabulary writes the space before a piece
# the head that the model's card names for alignment
LAYER, HEAD = 1, 1


@dataclass(frozen=True)
class Pair:
    """A sentence, what the model makes of it, and (English word, French word) that translate."""

    english: str
    french: str
    links: tuple[tuple[str, str], ...]
    moved: str  # a French word that does not stand where its English word stands


PAIRS = (
    Pair(
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
    Pair(
        "The queen has a black horse.",
        "La reine a un cheval noir.",
        (("queen", "reine"), ("has", "a"), ("black", "noir"), ("horse", "cheval")),
        "noir",
    ),
    Pair(
        "I like red cars.",
        "J'aime les voitures rouges.",
        (("like", "aime"), ("red", "rouges"), ("cars", "voitures")),
        "rouges",
    ),
)


@dataclass(frozen=True, eq=False)
class Writing:
    """A sentence that the model translated, token by token."""

    cap: Capture

    @property
    def source(self) -> tuple[str, ...]:
        """The English tokens, the end mark among them."""
        return tuple(_shown(each) for each in self.cap.tokens_of(0, "encoder").labels)

    @property
    def read(self) -> tuple[str, ...]:
        """What the decoder has read: its start mark and what it wrote."""
        return tuple(_shown(each) for each in self.cap.tokens_of(0, "decoder").labels)

    @property
    def written(self) -> tuple[str, ...]:
        """The French tokens that rows 0, 1, 2 … of the decoder predict."""
        return self.read[1:]

    def cross(self, layer: int = LAYER, head: int = HEAD) -> Float64[np.ndarray, "query key"]:
        """Cross-attention: a row for each token written, the row that predicts it."""
        return self.rows(layer, head)[: len(self.written)]

    def rows(self, layer: int, head: int) -> Float64[np.ndarray, "query key"]:
        """Cross-attention: all rows of the decoder, named by `read`."""
        weights = self.cap.weights(layer, head, kind="cross", stack="decoder")
        return np.asarray(weights.astype(np.float64))


def wrote(inputs: CardInputs, english: str) -> Writing:
    """The model's own translation of a sentence, as it writes it."""
    return Writing(inputs.capture(MODEL, english, generate=MOST_WRITTEN))


def in_one_pass(inputs: CardInputs, pair: Pair) -> Capture:
    """The model reads the whole translation at once, as in training."""
    return inputs.capture(MODEL, pair.english, target=pair.french)


def right_links(of: Writing, pair: Pair, layer: int, head: int, later: int = 0) -> list[bool]:
    """For each link: is the strongest English token the right one?

    `later` 0 reads the row that predicts the French word, 1 the row that has just read it.
    """
    weights = of.rows(layer, head)
    return [
        of.source[int(weights[of.written.index(french) + later].argmax())] == english
        for english, french in pair.links
    ]


def _shown(label: str) -> str:
    return label.removeprefix(PIECE) or label
