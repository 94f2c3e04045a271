"""Numbers of many texts: each text's own, their mean or share with an interval, how they print.

In: one number for each cell (a head, a component or a state, at a slot) and text. Out: a
`SetResult`. A share of a set is a ratio of means, Σ changes ÷ Σ gaps: the mean of ratios has no
use, for one text whose gap is near 0 carries it away. Intervals are those of 1,000 bootstraps, the
middle 95 %; where texts share the words that they are about, the wider of those over texts and over
whole blocks of such texts. Two heads are compared text by text (`difference`): their spread over
texts is larger than what separates them.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float64, Int64

from attnviz.changes.site import site
from attnviz.errors import BadInput, bad_argument
from attnviz.experiment.answer_measures import AnswerMeasure, Class, NextToken
from attnviz.summary import counted, shortened, text_table
from attnviz.types import Where

Question = Literal["effects", "direct", "lens", "patching"]
DRAWS = 1000
MIDDLE = (2.5, 97.5)  # percentiles
SEED = 0
WORD = re.compile(r"\w+")
LEAST_BLOCKS = 5  # of fewer a bootstrap says nothing
LEAST_GAP = 0.1  # of the mean gap: a text with a smaller one has no share of its own


@dataclass(frozen=True, eq=False)
class SetResult:
    """One question asked of every text of a set: `values` [row, text], or [row, slot, text].

    `rows` are heads, layers, components or states of the stream, `slots` named places of the texts.
    `values` are changes of the measure's number, in `unit`; of "direct" parts of it, of "lens" the
    number itself. `before` has each text's own number, `source` that of its partner; the shares of
    "patching" are of the gap between the two, and `control` has the same patches from the partner
    of another text. `n_solved` texts are answered right by the model; None where that is not asked.
    `blocks` has the number of each text's block: standard errors and intervals are the larger ones
    of those over texts and over whole blocks. None where every text stands for itself.
    """

    question: Question
    how: str
    rows: tuple[str, ...]
    slots: tuple[str, ...]
    values: Float64[np.ndarray, "*cell text"]
    before: Float64[np.ndarray, " text"]
    unit: str
    n_solved: int | None = None
    source: Float64[np.ndarray, " text"] | None = None
    control: Float64[np.ndarray, "*cell text"] | None = None
    blocks: Int64[np.ndarray, " text"] | None = None

    @property
    def n_text(self) -> int:
        """The number of texts."""
        return len(self.before)

    @property
    def n_block(self) -> int:
        """The number of blocks that are drawn from; that of the texts where each is its own."""
        return len(self._own_blocks)

    @property
    def mean(self) -> Float64[np.ndarray, "*cell"]:
        """The mean over texts."""
        mean: np.ndarray = self.values.mean(-1)
        return mean

    @property
    def sd(self) -> Float64[np.ndarray, "*cell"]:
        """The standard deviation from text to text; NaN for a single text."""
        if self.n_text < 2:
            return np.full(self.values.shape[:-1], np.nan)
        sd: np.ndarray = self.values.std(-1, ddof=1)
        return sd

    @property
    def se(self) -> Float64[np.ndarray, "*cell"]:
        """The standard error of the mean; over blocks where that is larger."""
        error: np.ndarray = self.sd / np.sqrt(self.n_text)
        if self.blocks is None:
            return error
        n, sums = self.n_block, (self.values - self.mean[..., None]) @ self._own_blocks.T
        by_block: np.ndarray = np.sqrt(n / (n - 1) * (sums**2).sum(-1)) / self.n_text
        larger: np.ndarray = np.maximum(error, by_block)
        return larger

    @cached_property
    def interval(self) -> Float64[np.ndarray, "*cell bound"]:
        """The 95 % interval of the mean: (lower bound, upper bound)."""
        return self._of_mean(self.values)

    @property
    def share(self) -> Float64[np.ndarray, "*cell"]:
        """The share of the gap to the partner, Σ changes ÷ Σ gaps: 1 is the partner's answer."""
        share: np.ndarray = self.values.sum(-1) / self._gap.sum()
        return share

    @property
    def own_shares(self) -> Float64[np.ndarray, "*cell text"]:
        """Each text's share of its own gap; NaN where that is below a tenth of the mean gap."""
        gap = self._gap
        known = np.abs(gap) >= LEAST_GAP * abs(gap.mean())
        shares: np.ndarray = self.values / np.where(known & (gap != 0), gap, np.nan)
        return shares

    @cached_property
    def share_interval(self) -> Float64[np.ndarray, "*cell bound"]:
        """The 95 % interval of the share."""
        return _widest([self.values @ drawn.T / (drawn @ self._gap) for drawn in self._drawn])

    @property
    def control_share(self) -> Float64[np.ndarray, "*cell"] | None:
        """The share that the partner of another text carries; None without a control."""
        if self.control is None:
            return None
        share: np.ndarray = self.control.sum(-1) / self._gap.sum()
        return share

    def of(self, row: Where, slot: str | None = None) -> Float64[np.ndarray, " text"]:
        """Every text's own number of one row, at one slot; `BadInput` for what was not asked."""
        numbers: np.ndarray = self.values[self._cell(row, slot)]
        return numbers

    def difference(
        self, row: Where, other: Where, slot: str | None = None
    ) -> tuple[float, float, float]:
        """(the mean difference of two rows, and its 95 % interval), text by text."""
        differences = self.of(row, slot) - self.of(other, slot)
        low, high = self._of_mean(differences)
        return float(differences.mean()), float(low), float(high)

    def order(self, slot: str | None = None) -> tuple[str, ...]:
        """The rows from the largest |mean| to the smallest; of several slots by their largest."""
        sizes = np.abs(self.mean)
        if self.slots:
            sizes = sizes.max(-1) if slot is None else sizes[:, self._slot(slot)]
        return tuple(self.rows[at] for at in np.argsort(-sizes, kind="stable"))

    def to_dict(self) -> dict[str, list[str] | list[int] | list[float]]:
        """A line for each row, slot and text, as lists: `pandas.DataFrame(result.to_dict())`."""
        n_text, slots = self.n_text, self.slots or ("",)
        n_cell = len(self.rows) * len(slots)
        table: dict[str, list[str] | list[int] | list[float]] = {
            "row": [row for row in self.rows for _ in range(len(slots) * n_text)],
            "slot": [slot for _ in self.rows for slot in slots for _ in range(n_text)],
            "text": list(range(n_text)) * n_cell,
            "value": self.values.ravel().tolist(),
            "before": self.before.tolist() * n_cell,
        }
        if self.blocks is not None:
            table["block"] = self.blocks.tolist() * n_cell
        if self.source is not None:
            table["source"] = self.source.tolist() * n_cell
        if self.control is not None:
            table["control"] = self.control.ravel().tolist()
        return table

    def __repr__(self) -> str:
        first = ", ".join(self.order()[:3])
        return f"SetResult of {self._title}: {counted(len(self.rows), 'row')}, most {first}"

    def __str__(self) -> str:
        """The rows: mean ± standard error and the spread, or shares by slot.

        The largest stand first; states of the stream in the order of the pass.
        """
        rows = self.rows if self.question == "lens" else self.order()
        order = [self.rows.index(row) for row in rows]
        columns = {"": [self.rows[at] for at in order]}
        if self.slots:
            for place, slot in enumerate(self.slots):
                columns[slot] = [self._share_text(at, place) for at in order]
        else:
            columns["mean ± se"] = [f"{self.mean[at]:+.2f} ± {self.se[at]:.2f}" for at in order]
            columns["sd"] = [f"{self.sd[at]:.2f}" for at in order]
            least, most = self.values.min(-1), self.values.max(-1)
            columns["range"] = [f"{least[at]:+.2f} … {most[at]:+.2f}" for at in order]
        return f"{self._title}\n{text_table(columns)}"

    def _share_text(self, row: int, slot: int) -> str:
        share = _percent(self.share[row, slot])
        low, high = map(_percent, self.share_interval[row, slot])
        others = self.control_share
        return f"{share} [{low}, {high}]" + (
            "" if others is None else f" | {_percent(others[row, slot])}"
        )

    @property
    def _title(self) -> str:
        texts = counted(self.n_text, "text" if self.source is None else "pair")
        solved = "" if self.n_solved is None else f" ({self.n_solved} solved)"
        number = f"{self.before.mean():+.2f} {self.unit}"
        if self.source is not None:
            number += f", partners {self.source.mean():+.2f}"
        shares = "; share of the gap [95 %]" if self.slots else ""
        if self.control is not None:
            shares += " | from another pair's partner"
        how = f" ({shortened(self.how)})" if self.how else ""
        blocks = "" if self.blocks is None else f"; errors over {self.n_block} blocks"
        return f"{self.question}{how} over {texts}{solved}, on {number}{shares}{blocks}"

    @property
    def _gap(self) -> Float64[np.ndarray, " text"]:
        if self.source is None:
            raise BadInput(
                "these texts have no partners, so there is no gap to take a share of: give pairs",
                code="no_partners",
            )
        gap: np.ndarray = self.source - self.before
        return gap

    @cached_property
    def _own_blocks(self) -> Bool[np.ndarray, "block text"]:
        """True for the texts of each block."""
        of_text = np.arange(self.n_text) if self.blocks is None else self.blocks
        same: np.ndarray = np.unique(of_text)[:, None] == of_text
        return same

    @cached_property
    def _drawn(self) -> list[Float64[np.ndarray, "draw text"]]:
        """The times that each text is in each bootstrap: over texts, and over blocks, if any."""
        whole = [] if self.blocks is None else [self._own_blocks]
        return [_times(members) for members in (np.eye(self.n_text, dtype=bool), *whole)]

    def _of_mean(
        self, values: Float64[np.ndarray, "*cell text"]
    ) -> Float64[np.ndarray, "*cell bound"]:
        """The 95 % interval of a mean over texts; blocks may differ in size."""
        return _widest([values @ drawn.T / drawn.sum(-1) for drawn in self._drawn])

    def _cell(self, row: Where, slot: str | None) -> tuple[int, ...]:
        name = row if isinstance(row, str) and row in self.rows else str(site(row))
        if name not in self.rows:
            raise _not_asked("row", name, self.rows)
        if not self.slots:
            return (self.rows.index(name),)
        return self.rows.index(name), self._slot(slot)

    def _slot(self, slot: str | None) -> int:
        if slot is None and len(self.slots) == 1:
            return 0
        if slot not in self.slots:
            raise _not_asked("slot", str(slot), self.slots)
        return self.slots.index(slot)


def blocks_of(
    texts: Sequence[str], others: Sequence[str] | None, measures: Sequence[AnswerMeasure]
) -> Int64[np.ndarray, " text"] | None:
    """The number of each text's block.

    A block has the pairs that differ in the same words, whichever text has which; of texts without
    partners those that ask about the same answers. None where every block has one text, and where
    there are fewer than `LEAST_BLOCKS`.
    """
    names: list[frozenset[object]] = []
    for at, (text, on) in enumerate(zip(texts, measures, strict=True)):
        words = differing_words(text, others[at]) if others is not None else None
        answers: tuple[object, ...] = (at, on)
        if isinstance(on, NextToken | Class):
            answers = (on.token if isinstance(on, NextToken) else on.name, on.against)
        names.append(words or frozenset(answers))
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    if not LEAST_BLOCKS <= len(numbers) < len(names):
        return None
    return np.array([numbers[name] for name in names])


def differing_words(text: str, other: str) -> frozenset[str]:
    """The words that one of two texts has more often than the other."""
    own, theirs = (Counter(WORD.findall(each)) for each in (text, other))
    return frozenset((own - theirs) + (theirs - own))


def _percent(share: float) -> str:
    """ "+107%"; no sign for 0."""
    percent = round(100 * share)
    return f"{percent:+d}%" if percent else "0%"


def _times(members: Bool[np.ndarray, "block text"]) -> Float64[np.ndarray, "draw text"]:
    """The times that each text is in each bootstrap over blocks."""
    n = len(members)
    counts = np.random.default_rng(SEED).multinomial(n, np.full(n, 1 / n), size=DRAWS)
    times: np.ndarray = counts.astype(np.float64) @ members
    return times


def _widest(
    drawn: Sequence[Float64[np.ndarray, "*cell draw"]],
) -> Float64[np.ndarray, "*cell bound"]:
    """The middle 95 % of several ways to draw, from the lowest bound to the highest."""
    bounds = [np.percentile(numbers, MIDDLE, axis=-1) for numbers in drawn]
    lows, highs = (np.stack(side) for side in zip(*bounds, strict=True))
    return np.stack([lows.min(0), highs.max(0)], axis=-1)


def _not_asked(name: str, found: str, allowed: tuple[str, ...]) -> BadInput:
    known = shortened(", ".join(allowed), 400)
    return bad_argument(
        f"{shortened(found)} is not a {name} of this result; it has {known}",
        name=name,
        found=shortened(found),
        allowed=known,
    )
