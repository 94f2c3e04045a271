"""How often an encoder-decoder's cross-attention points at the right source word.

In: source and target texts with links between their characters. Out: for every head, and for the
mean of a layer's heads, the share of links whose strongest source token is a right one. The row of
a target word is the one that *predicts* its first token: row t of the decoder has read the tokens
before t and is about to write token t. Weights come from `attnviz.capture`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32, Float64

from attnviz.capture.run import capture
from attnviz.checks.cards import HeadNote
from attnviz.checks.figure import Figure
from attnviz.models.loaded import LoadedModel
from attnviz.types import HeadId

Span = tuple[int, int]
BATCH = 50


@dataclass(frozen=True)
class Case:
    """A source, its target, and links from characters of the source to some of the target."""

    source: str
    target: str
    links: tuple[tuple[Span, Span], ...]


@dataclass(frozen=True, eq=False)
class Shares:
    """The share of links that each head, and each layer's mean head, gets right.

    `chance` is the share that a head would get right that looked anywhere.
    """

    heads: Float64[np.ndarray, "layer head"]
    means: Float64[np.ndarray, "layer"]
    n_links: int
    chance: float

    @property
    def best(self) -> tuple[int, int]:
        """Layer and number of the head that is right most often."""
        layer, head = np.unravel_index(int(self.heads.argmax()), self.heads.shape)
        return int(layer), int(head)

    @property
    def most(self) -> float:
        """How often that head is right."""
        return float(self.heads.max())

    def figure(self, claim: str, target: float) -> Figure:
        """The best head's share as a figure; `claim` names the head where it has {head}."""
        return Figure(claim.format(head=HeadId(*self.best)), self.most, target, cases=self.n_links)

    def note(self, does: str) -> HeadNote:
        """The best head as one worth a visit."""
        return HeadNote(
            head=str(HeadId(*self.best)),
            does=does,
            score=round(self.most, 3),
            chance=round(self.chance, 3),
            kind="cross",
            stack="decoder",
        )


def shares(lm: LoadedModel, cases: Sequence[Case]) -> Shares:
    """Measured over all links of the cases."""
    right: list[Float64[np.ndarray, "layer row"]] = []
    by_chance: list[float] = []
    for case, weights in _weights(lm, cases):
        mean = weights.mean(axis=1, keepdims=True)
        strongest = np.concatenate([weights, mean], axis=1).argmax(axis=-1)
        n_source, rows = _rows(lm, case)
        for row, keys in rows:
            right.append(np.isin(strongest[:, :, row], keys).astype(np.float64))
            by_chance.append(len(keys) / n_source)
    found = np.mean(right, axis=0)
    return Shares(found[:, :-1], found[:, -1], len(right), float(np.mean(by_chance)))


def _weights(
    lm: LoadedModel, cases: Sequence[Case]
) -> Iterator[tuple[Case, Float32[np.ndarray, "layer head query key"]]]:
    for start in range(0, len(cases), BATCH):
        some = cases[start : start + BATCH]
        taken = capture(lm, [case.source for case in some], target=[case.target for case in some])
        for batch, case in enumerate(some):
            yield case, taken.all_weights(batch, kind="cross", stack="decoder")


def _rows(lm: LoadedModel, case: Case) -> tuple[int, list[tuple[int, list[int]]]]:
    """How many tokens the source has; for each link the row to read and the keys right there."""
    source, target = offsets(lm, case.source), offsets(lm, case.target)
    return len(source), [
        (_tokens(target, of_target)[0], _tokens(source, of_source))
        for of_source, of_target in case.links
    ]


def offsets(lm: LoadedModel, text: str) -> list[Span]:
    """The characters of each token."""
    encoded = lm.text_tokenizer()(text, return_offsets_mapping=True)
    return [(int(start), int(end)) for start, end in encoded["offset_mapping"]]


def _tokens(places: list[Span], span: Span) -> list[int]:
    """The tokens that share a character with a span."""
    return [n for n, (start, end) in enumerate(places) if start < span[1] and span[0] < end]
