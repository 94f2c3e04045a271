"""A survey: the measures of every head over many texts, and their spread from text to text.

In: a tally. Out: tables, tenths of the texts by a measure of a head with a few texts of each, pairs
of tokens, profiles by distance. One text rarely shows what a head does; `quantiles` say where a
text lies among all. `matches` finds for each head the nearest head of another model's survey, with
the median distance of all as the control: the means of the measures and the weights by distance are
compared, not tokens, so the tokenizers may differ. `compact` leaves out what pages and tables never
show, so that a survey of a few hundred kilobytes can come with a model: the texts that are in no
tenth, all but the heaviest pairs and keys of each head, the last bits of sums that are plotted;
measures, histograms, roles and intervals stay exact.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Float32, Float64, Int64, UInt64

from attnviz.corpus.tally import (
    BINS,
    BITS,
    EXAMPLES,
    NO_TICKET,
    UPPER,
    SurveyTally,
    WeightSums,
    mean_of,
    upper_ends,
)
from attnviz.errors import bad_argument, require_one_of
from attnviz.metrics.measures import SHARES
from attnviz.metrics.over_texts import CONTENT, Interval, RoleTable, role_table
from attnviz.metrics.table import HeadTable, as_measures
from attnviz.summary import counted
from attnviz.types import MEASURES, Head, HeadId, Measure, ModelKey, head_row

TENTHS = 10
STANDARD_ERRORS = 1.96  # on either side of a mean: the middle 95 % of a normal distribution
MAX_PAIRS = MAX_KEYS = 40  # of a head
MIN_KEY = 5  # times that a token occurs, as in `Survey.keys`
DRAWN_BITS = 7  # behind the point, of the sums that are drawn


class Decile(NamedTuple):
    """A tenth of the texts: the values between which they lie, and a few of them."""

    low: float
    high: float
    texts: tuple[str, ...]


class TokenPair(NamedTuple):
    """A query's token with the key's token that got most of it: how often, and the mean weight."""

    query: str
    key: str
    n: int
    weight: float


class KeyToken(NamedTuple):
    """A token that is attended to: how often it occurs, and the weight that it receives.

    `weight` is the mean over its occurrences of the sum over all queries of the text: it is not a
    share and can exceed 1.
    """

    token: str
    n: int
    weight: float


class Tenth(NamedTuple):
    """The first and last bin of a tenth, and the texts drawn for it: places bin·`EXAMPLES` + i."""

    first: int
    last: int
    drawn: tuple[int, ...]


@dataclass(frozen=True)
class HeadMatch:
    """The head of the other model that is nearest to `head`.

    `distance` is between their numbers, in standard deviations over all heads of both models;
    `median` is the median distance from `head` to all heads of the other model. `mutual` is True if
    `head` is also the nearest to `other`.
    """

    head: HeadId
    other: HeadId
    distance: float
    median: float
    mutual: bool

    def to_dict(self) -> dict[str, str | float | bool]:
        """Both heads by their names, and the numbers."""
        return {**asdict(self), "head": str(self.head), "other": str(self.other)}


@dataclass(frozen=True)
class HeadNumbers:
    """The heads of a survey, the mean of each measure, and the mean weight by distance.

    A mean is NaN where no text has the pattern.
    """

    heads: tuple[HeadId, ...]
    measures: Float64[np.ndarray, "head measure"]
    profile: Float64[np.ndarray, "head distance"]

    def compared(self) -> Float64[np.ndarray, "head number"]:
        """All numbers, the weights as square roots, so that small ones count too."""
        numbers = np.concatenate([self.measures, np.sqrt(self.profile)], axis=1)
        return np.asarray(np.nan_to_num(numbers))


@dataclass(frozen=True, eq=False)
class Survey:
    """Every head of a model over many texts.

    `heads` are in the order of the tally's heads; `labels` are the tokens of its pairs. A text that
    the model cannot read at once counts as several.
    """

    model: ModelKey
    heads: tuple[HeadId, ...]
    tally: SurveyTally
    labels: dict[int, str]

    @property
    def n_text(self) -> int:
        """The number of texts."""
        return self.tally.n_text

    @property
    def n_token(self) -> int:
        """The number of tokens, special ones included."""
        return self.tally.n_token

    def __sub__(self, other: "Survey") -> HeadTable:
        """The difference of two surveys of the same heads, such as two checkpoints, head by head.

        A table as `table` gives it, each difference with its 95 % interval: 1.96 standard errors of
        the two means, taken as independent. Over the same texts that is too wide where a text moves
        both alike. Raises `BadInput` for models whose heads differ.
        """
        if not isinstance(other, Survey):
            return NotImplemented
        if other.heads != self.heads:
            raise bad_argument(
                f"the surveys have {counted(len(self.heads), 'head')} of {self.model.id} and"
                f" {len(other.heads)} of {other.model.id}; matches() compares models whose heads"
                " differ",
                name="other",
                found=repr(other),
                allowed="a survey of the same heads",
            )
        sides = [_moments(survey.tally.values) for survey in (self, other)]
        difference = sides[0][0] - sides[1][0]
        half = STANDARD_ERRORS * np.hypot(sides[0][1], sides[1][1])
        return self._by_head(MEASURES, Interval(difference, difference - half, difference + half))

    def table(self, measures: Sequence[Measure] | Measure = MEASURES) -> HeadTable:
        """One row for each head: the mean of each measure over texts, with its 95 % interval.

        The columns of a measure are its name, and the name with `_low` and `_high`. The interval is
        1.96 standard errors on either side, within the measure's range. Raises `BadInput` for a
        measure that does not exist.
        """
        ends = np.array([np.inf if measure in UPPER else 1.0 for measure in MEASURES])
        return self._by_head(as_measures(measures), _interval(self.tally.values, ends))

    def to_dict(self) -> dict[str, list[float | int | str]]:
        """The columns of `table()` as lists: `pandas.DataFrame(survey.to_dict())`."""
        return self.table().to_dict()

    def _by_head(self, measures: Sequence[Measure], over_texts: Interval) -> HeadTable:
        columns: dict[str, np.ndarray] = {
            "stack": np.full(len(self.heads), ""),
            "kind": np.full(len(self.heads), "self"),
            "layer": np.array([head.layer for head in self.heads]),
            "head": np.array([head.head for head in self.heads]),
        }
        for measure in measures:
            column = _measure(measure)
            columns[measure] = over_texts.mean[:, column].astype(np.float32)
            columns[f"{measure}_low"] = over_texts.low[:, column].astype(np.float32)
            columns[f"{measure}_high"] = over_texts.high[:, column].astype(np.float32)
        return HeadTable(columns)

    def roles(self) -> RoleTable:
        """The roles that hold over these texts, beside what chance and position alone give."""
        n_share = len(SHARES)
        values = self.tally.values[:, :, :n_share]
        layer = np.array([head.layer for head in self.heads])
        place = np.searchsorted(np.unique(layer), layer)
        other = _interval(self.tally.other_words)
        whole = np.full((3, len(self.heads), n_share), np.nan)
        whole[:, :, [SHARES.index(pattern) for pattern in CONTENT]] = (
            other.mean,
            other.low,
            other.high,
        )
        return role_table(
            self.heads,
            _interval(values),
            _mean(self.tally.even)[place],
            Interval(*whole),
            values[0] / max(self.n_text, 1),
        )

    def deciles(self, head: Head, measure: str) -> tuple[Decile, ...]:
        """The values of a head on these texts in ten groups, smallest first, with texts of each.

        Ends are exact to one bin of a histogram, a hundredth of the measure's range. A text stands
        in one group only; where most texts have one value, groups with the same ends share its few
        texts. Empty where no text has the measure. Raises `BadInput` for a head or
        measure that does not exist.
        """
        row, column = self._row(head), _measure(measure)
        tally = self.tally
        numbers = tally.example[row, column].ravel()
        width = upper_ends()[column] / BINS
        return tuple(
            Decile(
                float(tenth.first * width),
                float((tenth.last + 1) * width),
                tuple(tally.texts[int(numbers[place])] for place in tenth.drawn),
            )
            for tenth in tenths(tally.histogram[row, column], tally.ticket[row, column])
        )

    def above(self, head: Head, measure: str, value: float) -> tuple[int, int]:
        """The number of texts on which a head's measure exceeds a value, and of all that have it.

        Exact to one bin of a histogram: the value's own bin does not count.
        """
        row, column = self._row(head), _measure(measure)
        histogram = self.tally.histogram[row, column]
        place = int(np.clip(value / upper_ends()[column] * BINS, 0, BINS - 1))
        return int(histogram[place + 1 :].sum()), int(histogram.sum())

    def quantiles(self, table: HeadTable) -> HeadTable:
        """The share of the survey's texts with smaller values than one text, by head and measure.

        `table` is that of the one text, `cap.table()`. Half of the texts in its value's own bin
        count as smaller; NaN where it has no value. Raises `BadInput` for a table of other heads.
        """
        if table.heads != self.heads:
            raise bad_argument(
                f"the table has {counted(len(table), 'head')} and the survey"
                f" {len(self.heads)}; give the table of a capture by {self.model.id}",
                name="table",
                found=repr(table),
                allowed=self.model.id,
            )
        columns = {name: table[name] for name in table.columns if name not in table.measures}
        for name in table.measures:
            columns[name] = self._smaller(_measure(name), table[name])
        return HeadTable(columns)

    def _smaller(
        self, column: int, values: Float[np.ndarray, " head"]
    ) -> Float32[np.ndarray, " head"]:
        """The share of texts below one value of each head."""
        histogram = self.tally.histogram[:, column]
        scaled = np.nan_to_num(values) / upper_ends()[column] * BINS
        bins, rows = np.clip(scaled.astype(int), 0, BINS - 1), np.arange(len(self.heads))
        smaller = np.cumsum(histogram, axis=1)[rows, bins] - histogram[rows, bins] / 2
        share = smaller / np.maximum(histogram.sum(axis=1), 1)
        return np.where(np.isnan(values), np.nan, share).astype(np.float32)

    def matches(self, other: "Survey") -> tuple[HeadMatch, ...]:
        """For each head the nearest of another model's survey, by measures and weight by distance.

        A match means little unless `distance` is far below `median`, the distance of any head.
        """
        return matches(self._numbers(), other._numbers())

    def _numbers(self) -> HeadNumbers:
        table = self.table()
        measures = np.stack([table[name].astype(np.float64) for name in MEASURES], axis=1)
        return HeadNumbers(
            self.heads, measures, np.stack([self.profile(head) for head in self.heads])
        )

    def pairs(self, head: Head, n: int = 10) -> tuple[TokenPair, ...]:
        """The `n` pairs of a query and its strongest key that carry most of a head's weight."""
        row, n_entry, pairs = self._row(head), self.tally.n_entry, self.tally.pairs
        within = self._within(pairs.code, row, n_entry**2)
        code = pairs.code[within] - row * n_entry**2
        order = np.lexsort((code, -pairs.weight[within]))[:n]
        return tuple(
            TokenPair(
                self._label(code[place] // n_entry),
                self._label(code[place] % n_entry),
                int(pairs.count[within][place]),
                float(_real(pairs.weight[within])[place] / pairs.count[within][place]),
            )
            for place in order
        )

    def keys(self, head: Head, n: int = 10, least: int = 5) -> tuple[KeyToken, ...]:
        """The `n` tokens with the largest mean weight, of those seen at least `least` times."""
        row, n_entry, received = self._row(head), self.tally.n_entry, self.tally.received
        within = self._within(received.code, row, n_entry)
        count, code = received.count[within], received.code[within] - row * n_entry
        mean = received.weight[within] / (1 << BITS) / count
        order = np.lexsort((code, -np.where(count >= least, mean, -1.0)))[:n]
        return tuple(
            KeyToken(self._label(code[place]), int(count[place]), float(mean[place]))
            for place in order
            if count[place] >= least
        )

    def profile(self, head: Head) -> Float64[np.ndarray, " distance"]:
        """The mean weight at each distance, from 32 tokens before the query to 32 after it.

        NaN for distances that no query can see.
        """
        row = self._row(head)
        layers = sorted({head.layer for head in self.heads})
        seen = self.tally.profile_seen[layers.index(self.heads[row].layer)]
        total = _real(self.tally.profile[row])
        return mean_of(total, seen)

    def mean_map(self, head: Head) -> Float64[np.ndarray, "query key"]:
        """The mean weights between the first 24 tokens; NaN where no text is so long."""
        seen = self.tally.corner_seen
        total = _real(self.tally.corner[self._row(head)])
        return mean_of(total, seen)

    def __repr__(self) -> str:
        texts, tokens = counted(self.n_text, "text"), counted(self.n_token, "token")
        return f"Survey of {self.model.id}: {counted(len(self.heads), 'head')}, {texts}, {tokens}"

    def _row(self, head: Head) -> int:
        return head_row(head, self.heads, "survey")

    def _label(self, entry: np.int64) -> str:
        return self.labels.get(int(entry), f"#{entry}")

    def _within(self, code: Int64[np.ndarray, " code"], row: int, size: int) -> slice:
        start, stop = np.searchsorted(code, [row * size, (row + 1) * size])
        return slice(int(start), int(stop))


def _real(values: Int64[np.ndarray, "..."]) -> Float64[np.ndarray, "..."]:
    """Sums in steps of 2⁻²⁰ as numbers."""
    return np.asarray(values, dtype=np.float64) / (1 << BITS)


def _mean(sums: Int64[np.ndarray, "sum *of"]) -> Float64[np.ndarray, "*of"]:
    return mean_of(_real(sums[1]), sums[0])


def _interval(
    sums: Int64[np.ndarray, "sum *of"], most: Float[np.ndarray, " measure"] | float = 1.0
) -> Interval:
    """The mean of a count, a sum and a sum of squares, 1.96 standard errors on either side.

    It is cut at 0 and at `most`, the ends of the measure's range.
    """
    mean, error = _moments(sums)
    half = STANDARD_ERRORS * error
    return Interval(mean, np.maximum(mean - half, 0.0), np.minimum(mean + half, most))


def _moments(
    sums: Int64[np.ndarray, "sum *of"],
) -> tuple[Float64[np.ndarray, "*of"], Float64[np.ndarray, "*of"]]:
    """(the mean, its standard error) of a count, a sum and a sum of squares."""
    count, mean = sums[0], _mean(sums)
    variance = np.maximum(_real(sums[2]) / np.maximum(count, 1) - mean**2, 0.0)
    unbiased = variance * count / np.maximum(count - 1, 1)
    error = np.sqrt(unbiased / np.maximum(count, 1))
    return mean, np.where(count > 1, error, np.nan)  # one text says nothing of others


def _measure(measure: str) -> int:
    """The column of a measure; raises `BadInput` if there is none of this name."""
    require_one_of("measure", measure, MEASURES)
    return list[str](MEASURES).index(measure)


def tenths(
    histogram: Int64[np.ndarray, " bin"], ticket: UInt64[np.ndarray, "bin example"]
) -> tuple[Tenth, ...]:
    """The tenths of a head's histogram, smallest values first; () for an empty one.

    The tenths take turns to draw up to `EXAMPLES` texts each, the narrowest first, since a wide one
    has more bins to draw from. A tenth draws the free text with the smallest ticket in its bins.
    """
    if not histogram.any():
        return ()
    below = np.cumsum(histogram) / histogram.sum()
    inner = np.searchsorted(below, np.arange(1, TENTHS) / TENTHS - 1e-12)
    full = np.flatnonzero(histogram)
    edges = [int(full[0]), *map(int, inner), int(full[-1])]
    spans = list(zip(edges[:-1], edges[1:], strict=True))
    free = ticket.ravel() != NO_TICKET
    drawn: list[list[int]] = [[] for _ in spans]
    turns = sorted(range(TENTHS), key=lambda place: spans[place][1] - spans[place][0])
    for place in turns * EXAMPLES:
        first, last = spans[place]
        inside = np.arange(first * EXAMPLES, (last + 1) * EXAMPLES)
        inside = inside[free[inside]]
        if len(inside):
            chosen = int(inside[ticket.ravel()[inside].argmin()])
            free[chosen] = False
            drawn[place].append(chosen)
    return tuple(Tenth(*span, tuple(texts)) for span, texts in zip(spans, drawn, strict=True))


def matches(one: HeadNumbers, other: HeadNumbers) -> tuple[HeadMatch, ...]:
    """The match of each head of a survey among the heads of another, in the order of its heads."""
    apart = _apart(one, other)
    nearest, back = apart.argmin(axis=1), apart.argmin(axis=0)
    return tuple(
        HeadMatch(
            head=head,
            other=other.heads[place],
            distance=float(apart[row, place]),
            median=float(np.median(apart[row])),
            mutual=bool(back[place] == row),
        )
        for row, (head, place) in enumerate(zip(one.heads, nearest.tolist(), strict=True))
    )


def _apart(one: HeadNumbers, other: HeadNumbers) -> Float64[np.ndarray, "head other_head"]:
    """The root mean square difference between each pair of heads, in standard deviations.

    Of the weight, one half is for all measures together, one half for all distances.
    """
    sides = [side.compared() for side in (one, other)]
    spread = np.concatenate(sides).std(axis=0)
    used = spread > 0
    left, right = (side[:, used] / spread[used] for side in sides)
    is_measure = np.arange(len(used)) < len(MEASURES)
    parts = np.where(is_measure, 0.5 / max(1, used[is_measure].sum()), 0.0)
    parts += np.where(is_measure, 0.0, 0.5 / max(1, used[~is_measure].sum()))
    weight = parts[used]
    return np.asarray(np.sqrt(((left[:, None] - right[None]) ** 2 * weight).sum(axis=-1)))


def compact(survey: Survey) -> Survey:
    """The same survey with less in it; its tables, roles and tenths are equal."""
    tally = survey.tally
    n_entry = tally.n_entry
    pairs = tally.pairs.pruned(tally.pairs.code // n_entry**2, MAX_PAIRS)
    received = _best(tally.received, tally.received.code // n_entry)
    drawn = replace(tally, profile=_rounded(tally.profile), corner=_rounded(tally.corner))
    small = _drawn(replace(drawn, pairs=_coarse(pairs), received=_coarse(received)))
    query, key = np.divmod(pairs.code % n_entry**2, n_entry)
    entries = np.unique(np.concatenate([query, key, received.code % n_entry])).tolist()
    return replace(survey, tally=small, labels={entry: survey.labels[entry] for entry in entries})


def _drawn(tally: SurveyTally) -> SurveyTally:
    """The tally with only the examples of its tenths, and their texts."""
    kept = np.zeros(tally.ticket.shape, dtype=bool)
    for head, by_measure in enumerate(tally.histogram):
        for measure, histogram in enumerate(by_measure):
            for tenth in tenths(histogram, tally.ticket[head, measure]):
                for place in tenth.drawn:
                    kept[head, measure, place // EXAMPLES, place % EXAMPLES] = True
    example = np.where(kept, tally.example, -1)
    numbers = set(np.unique(example).tolist())
    return replace(
        tally,
        ticket=np.where(kept, tally.ticket, NO_TICKET),
        example=example,
        texts={number: text for number, text in tally.texts.items() if number in numbers},
    )


def _best(received: WeightSums, heads: Int64[np.ndarray, " code"]) -> WeightSums:
    """The `MAX_KEYS` entries of each head with the largest mean weight, the rare ones left out."""
    often = received.count >= MIN_KEY
    mean = np.rint(received.weight / received.count).astype(np.int64)
    ranked = WeightSums(received.code[often], mean[often], received.count[often])
    best = np.isin(received.code, ranked.pruned(heads[often], MAX_KEYS).code)
    return WeightSums(received.code[best], received.weight[best], received.count[best])


def _coarse(weighed: WeightSums) -> WeightSums:
    return replace(weighed, weight=_rounded(weighed.weight))


def _rounded(sums: Int64[np.ndarray, "..."]) -> Int64[np.ndarray, "..."]:
    """Sums to the nearest 2⁻⁷; most of their bits are 0 then, which a file does not hold."""
    step = 1 << (BITS - DRAWN_BITS)
    return np.asarray((sums + step // 2) // step * step)
