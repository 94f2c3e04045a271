"""Sums over texts for every head, all of them integers: the order of adding does not change a bit.

In: measured batches. Out: a `SurveyTally`, which can be added to another of the same model,
written as arrays and read again. Fractions are kept in steps of 2⁻²⁰. Its size is bounded: pairs of
tokens are pruned to the heaviest, examples are the texts with the smallest tickets (a hash) of each
bin of a histogram, so that who is drawn does not depend on who computes it.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from jaxtyping import Float, Float64, Int64, Shaped, UInt64

from attnviz.metrics.measures import SHARES
from attnviz.metrics.over_texts import CONTENT
from attnviz.types import MEASURES, Measure

BITS = 20
BINS = 100
EXAMPLES = 3  # texts kept for each bin
FURTHEST = 32  # tokens, in the profile of distances
CORNER = 24  # tokens, of the mean map
MAX_PAIRS = 4096  # of a head
MAX_ENTRIES = 1024  # of the vocabulary, of a head
UPPER: dict[Measure, float] = {"entropy": 10.0, "distance": 64.0}  # ends of histograms, else 1
NO_TICKET = np.iinfo(np.uint64).max

Sums = Int64[np.ndarray, "..."]


def fixed(values: Float[np.ndarray, "..."]) -> Sums:
    """The numbers in steps of 2⁻²⁰."""
    return np.rint(np.asarray(values, dtype=np.float64) * (1 << BITS)).astype(np.int64)


def ticket(text: str) -> int:
    """The ticket of a text: 64 bits of its hash, never the largest number."""
    digest = hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest()
    return min(int.from_bytes(digest, "little"), int(NO_TICKET) - 1)


def upper_ends() -> Float[np.ndarray, " measure"]:
    """The upper end of each measure's histogram; larger values are in the last bin."""
    return np.array([UPPER.get(measure, 1.0) for measure in MEASURES])


def shapes(n_layer: int, n_head: int) -> dict[str, tuple[int, ...]]:
    """The shape of each array of a tally, for `n_head` heads of all layers together."""
    by_bin = (n_head, len(MEASURES), BINS)
    return {
        "values": (3, n_head, len(MEASURES)),
        "histogram": by_bin,
        "even": (3, n_layer, len(SHARES)),
        "other_words": (3, n_head, len(CONTENT)),
        "ticket": (*by_bin, EXAMPLES),
        "example": (*by_bin, EXAMPLES),
        "profile": (n_head, 2 * FURTHEST + 1),
        "profile_seen": (n_layer, 2 * FURTHEST + 1),
        "corner": (n_head, CORNER, CORNER),
        "corner_seen": (CORNER, CORNER),
    }


@dataclass(frozen=True, eq=False)
class WeightSums:
    """The sum of weights under each code, and how many there were, in the order of `code`."""

    code: Int64[np.ndarray, " code"]
    weight: Int64[np.ndarray, " code"]
    count: Int64[np.ndarray, " code"]

    @classmethod
    def summed(cls, code: Sums, weight: Sums, count: Sums) -> "WeightSums":
        """Each code once, with the sums of its weights and counts."""
        if not len(code):
            return cls(code, weight, count)
        order = np.argsort(code)
        ordered = code[order]
        starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
        sums = (np.add.reduceat(values[order], starts) for values in (weight, count))
        return cls(ordered[starts], *sums)

    def __add__(self, other: "WeightSums") -> "WeightSums":
        return WeightSums.summed(
            *(
                np.concatenate([getattr(self, name), getattr(other, name)])
                for name in ("code", "weight", "count")
            )
        )

    def pruned(self, heads: Int64[np.ndarray, " code"], most: int) -> "WeightSums":
        """The `most` heaviest of each head; of equal ones those with the smaller code."""
        order = np.lexsort((self.code, -self.weight, heads))
        start = np.searchsorted(heads[order], heads[order])  # where each head begins
        keep = np.sort(order[np.arange(len(order)) - start < most])
        return WeightSums(self.code[keep], self.weight[keep], self.count[keep])


NOTHING = WeightSums(*(np.zeros(0, dtype=np.int64) for _ in range(3)))


@dataclass(frozen=True, eq=False)
class SurveyTally:
    """The counts and sums over texts; sums of shares are in steps of 2⁻²⁰.

    `values` has the count, the sum and the sum of squares of each measure, `even` and `other_words`
    the same of what chance gives. `ticket` and `example` are the smallest tickets of
    each bin with the number of the text. `profile` sums the weight at each distance from
    −`FURTHEST` to +`FURTHEST`, `profile_seen` counts the cells; `corner` is the sum of the first
    tokens' weights.
    `received` has the weight that each entry of the vocabulary got, under head·vocabulary + entry,
    and `pairs` that of the key that got most of a query, under (head·vocabulary + query)·vocabulary
    + key. `texts` are those of the examples.
    """

    n_entry: int
    n_text: int
    n_token: int
    values: Int64[np.ndarray, "sum head measure"]
    histogram: Int64[np.ndarray, "head measure bin"]
    even: Int64[np.ndarray, "sum layer share"]
    other_words: Int64[np.ndarray, "sum head content"]
    ticket: UInt64[np.ndarray, "head measure bin example"]
    example: Int64[np.ndarray, "head measure bin example"]
    profile: Int64[np.ndarray, "head distance"]
    profile_seen: Int64[np.ndarray, "layer distance"]
    corner: Int64[np.ndarray, "head query key"]
    corner_seen: Int64[np.ndarray, "query key"]
    received: WeightSums = NOTHING
    pairs: WeightSums = NOTHING
    texts: Mapping[int, str] = field(default_factory=dict)

    @classmethod
    def empty(cls, n_layer: int, n_head: int, n_entry: int) -> "SurveyTally":
        """A tally of no texts, for `n_head` heads in all and a vocabulary of `n_entry`."""
        wanted = shapes(n_layer, n_head)
        arrays: dict[str, Any] = {
            name: np.zeros(shape, dtype=np.int64) for name, shape in wanted.items()
        }
        arrays["ticket"] = np.full(wanted["ticket"], NO_TICKET, dtype=np.uint64)
        arrays["example"] -= 1
        return cls(n_entry=n_entry, n_text=0, n_token=0, **arrays)

    @property
    def n_head(self) -> int:
        """The number of heads, of all layers."""
        return int(self.values.shape[1])

    def __add__(self, other: "SurveyTally") -> "SurveyTally":
        """The sum of two tallies; the examples are those with the smallest tickets of both."""
        ticket, example = smallest(
            np.concatenate([self.ticket, other.ticket], axis=-1),
            np.concatenate([self.example, other.example], axis=-1),
        )
        sums = {name: getattr(self, name) + getattr(other, name) for name in _ADDED}
        texts = {**self.texts, **other.texts}
        kept = set(np.unique(example).tolist())
        return SurveyTally(
            **sums,
            ticket=ticket,
            example=example,
            n_entry=self.n_entry,
            received=self.received + other.received,
            pairs=self._bounded(self.pairs + other.pairs),
            texts={number: text for number, text in texts.items() if number in kept},
        )

    def closed(self) -> "SurveyTally":
        """The same with the heaviest pairs and entries of each head only."""
        received = self.received
        return replace(
            self,
            pairs=self.pairs.pruned(self._pair_heads(self.pairs), MAX_PAIRS),
            received=received.pruned(received.code // self.n_entry, MAX_ENTRIES),
        )

    def _bounded(self, pairs: WeightSums) -> WeightSums:
        """The pairs, pruned where they are many more than will be kept."""
        if len(pairs.code) <= 4 * MAX_PAIRS * self.n_head:
            return pairs
        return pairs.pruned(self._pair_heads(pairs), 4 * MAX_PAIRS)

    def _pair_heads(self, pairs: WeightSums) -> Sums:
        return pairs.code // self.n_entry**2


_ADDED = tuple(
    entry.name
    for entry in fields(SurveyTally)
    if entry.name not in ("n_entry", "ticket", "example", "received", "pairs", "texts")
)


def smallest(
    tickets: Shaped[np.ndarray, "... draw"], examples: Shaped[np.ndarray, "... draw"]
) -> tuple[np.ndarray, np.ndarray]:
    """The `EXAMPLES` draws with the smallest tickets; of equal ones, those of the earlier text."""
    order = np.lexsort((examples, tickets), axis=-1)[..., :EXAMPLES]
    return np.take_along_axis(tickets, order, -1), np.take_along_axis(examples, order, -1)


def mean_of(
    total: Float64[np.ndarray, "*of"], count: Int64[np.ndarray, "*#of"]
) -> Float64[np.ndarray, "*of"]:
    """The total ÷ the count; NaN where that is 0."""
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
