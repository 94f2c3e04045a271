"""The answers of an encoder-decoder, and how well its cross-attention points at source words.

In: source and target texts with gold links between their characters. Out: greedy answers (sources
are batched by length, since padding costs time); for every head, and for the mean of a layer's
heads, the fraction of links whose strongest source token is a right one. The row of a target word
is the one that *predicts* its first token: row t of the decoder has read the tokens before t and is
about to write token t. Weights come from `attnviz.capture`. `translator` and `dates` use it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float32, Float64
from torch import Tensor

from attnviz.capture.run import capture
from attnviz.checks.cards import Figure, HeadNote
from attnviz.models.loaded_model import LoadedModel
from attnviz.types import HeadId
from attnviz.worlds.cases import AlignedPair, CharSpan

BATCH = 50
ANSWER_BATCH = 125


def greedy_answers(
    lm: LoadedModel, sources: Sequence[str], max_tokens: int = 96
) -> tuple[str, ...]:
    """The model's answer to each source, at most `max_tokens` tokens long."""
    order = sorted(range(len(sources)), key=lambda n: len(sources[n]))
    answers = [""] * len(sources)
    for start in range(0, len(order), ANSWER_BATCH):
        batch = order[start : start + ANSWER_BATCH]
        generated = _generate(lm, [sources[n] for n in batch], max_tokens)
        for n, answer in zip(batch, generated, strict=True):
            answers[n] = answer
    return tuple(answers)


@torch.no_grad()
def _generate(lm: LoadedModel, sources: list[str], max_tokens: int) -> list[str]:
    tokenizer, model = lm.text_tokenizer(), lm.model
    generate: Callable[..., Tensor] = model.generate  # type: ignore[assignment]
    encoded = tokenizer(sources, padding=True, return_tensors="pt").to(lm.key.device)
    with lm.lock:
        ids = generate(**encoded, max_new_tokens=max_tokens, do_sample=False)
    decoded: list[str] = tokenizer.batch_decode(ids, skip_special_tokens=True)
    return decoded


def exact_fraction(answers: Sequence[str], targets: Sequence[str]) -> float:
    """The fraction of answers that equal their target, letter for letter."""
    pairs = zip(answers, targets, strict=True)
    return sum(answer == target for answer, target in pairs) / len(targets)


@dataclass(frozen=True, eq=False)
class AlignmentAccuracy:
    """The fraction of links that each head, and each layer's mean head, gets right.

    `chance` is the fraction that a head with equal weights everywhere would get right.
    """

    heads: Float64[np.ndarray, "layer head"]
    means: Float64[np.ndarray, "layer"]
    n_links: int
    chance: float

    @property
    def best_head(self) -> HeadId:
        """The head that is right most often."""
        layer, head = np.unravel_index(int(self.heads.argmax()), self.heads.shape)
        return HeadId(int(layer), int(head))

    @property
    def best(self) -> float:
        """The fraction of links that the best head gets right."""
        return float(self.heads.max())

    def figure(self, claim: str, target: float) -> Figure:
        """The best head's accuracy as a figure; `claim` names the head where it has {head}."""
        return Figure(claim.format(head=self.best_head), self.best, target, cases=self.n_links)

    def note(self, does: str) -> HeadNote:
        """The best head as a note for the card."""
        return HeadNote(
            head=str(self.best_head),
            does=does,
            score=round(self.best, 3),
            chance=round(self.chance, 3),
            kind="cross",
            stack="decoder",
        )


def accuracy(lm: LoadedModel, pairs: Sequence[AlignedPair]) -> AlignmentAccuracy:
    """The alignment accuracy of every head over all links of the pairs."""
    hits: list[Float64[np.ndarray, "layer row"]] = []
    by_chance: list[float] = []
    for pair, weights in _cross_weights(lm, pairs):
        mean = weights.mean(axis=1, keepdims=True)
        strongest = np.concatenate([weights, mean], axis=1).argmax(axis=-1)
        n_source, rows = _rows(lm, pair)
        for row, keys in rows:
            hits.append(np.isin(strongest[:, :, row], keys).astype(np.float64))
            by_chance.append(len(keys) / n_source)
    fractions = np.mean(hits, axis=0)
    return AlignmentAccuracy(
        fractions[:, :-1], fractions[:, -1], len(hits), float(np.mean(by_chance))
    )


def _cross_weights(
    lm: LoadedModel, pairs: Sequence[AlignedPair]
) -> Iterator[tuple[AlignedPair, Float32[np.ndarray, "layer head query key"]]]:
    for start in range(0, len(pairs), BATCH):
        batch = pairs[start : start + BATCH]
        captured = capture(
            lm, [pair.source for pair in batch], target=[pair.target for pair in batch]
        )
        for row, pair in enumerate(batch):
            yield pair, captured.all_weights(row, kind="cross", stack="decoder")


def _rows(lm: LoadedModel, pair: AlignedPair) -> tuple[int, list[tuple[int, list[int]]]]:
    """The number of source tokens; for each link the row to read and its right keys."""
    source, target = token_spans(lm, pair.source), token_spans(lm, pair.target)
    return len(source), [
        (_overlapping(target, target_span)[0], _overlapping(source, source_span))
        for source_span, target_span in pair.links
    ]


def token_spans(lm: LoadedModel, text: str) -> list[CharSpan]:
    """The character span of each token of a text."""
    encoded = lm.text_tokenizer()(text, return_offsets_mapping=True)
    return [(int(start), int(end)) for start, end in encoded["offset_mapping"]]


def _overlapping(spans: list[CharSpan], span: CharSpan) -> list[int]:
    """The numbers of the tokens that share a character with a span."""
    return [n for n, (start, end) in enumerate(spans) if start < span[1] and span[0] < end]
