"""A survey made small enough to come with a model: a few hundred kilobytes instead of megabytes.

In: a `Survey`. Out: the same without what pages and tables never show: the texts that are in no
tenth, all but the heaviest pairs and keys of each head, the last bits of sums that are plotted.
Measures, histograms, roles and intervals stay exact.
"""

from dataclasses import replace

import numpy as np
from jaxtyping import Int64

from attnviz.corpus.result import Survey
from attnviz.corpus.tally import BITS, EXAMPLES, NO_TICKET, SurveyTally, WeightSums
from attnviz.corpus.tenths import tenths

MAX_PAIRS = MAX_KEYS = 40  # of a head
MIN_KEY = 5  # times that a token occurs, as in `Survey.keys`
DRAWN_BITS = 7  # behind the point, of the sums that are drawn


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
