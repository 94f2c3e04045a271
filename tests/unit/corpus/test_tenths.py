"""`tenths`: the edges of a histogram, and each text in one tenth only."""

import numpy as np

from attnviz.corpus.result import tenths
from attnviz.corpus.tally import BINS, EXAMPLES, NO_TICKET


def tickets(histogram: np.ndarray) -> np.ndarray:
    """Tickets for as many examples as each bin can have."""
    drawn = np.full((BINS, EXAMPLES), NO_TICKET, dtype=np.uint64)
    for place in np.flatnonzero(histogram):
        for example in range(min(EXAMPLES, histogram[place])):
            drawn[place, example] = 100 * place + example
    return drawn


def histogram_of(**counts: int) -> np.ndarray:
    histogram = np.zeros(BINS, dtype=np.int64)
    for name, count in counts.items():
        histogram[int(name[1:])] = count
    return histogram


def test_tenths_of_even_texts_have_their_own_bins_and_texts() -> None:
    histogram = np.ones(BINS, dtype=np.int64)
    groups = tenths(histogram, tickets(histogram))
    assert [(group.first, group.last) for group in groups][:3] == [(0, 9), (9, 19), (19, 29)]
    drawn = [place for group in groups for place in group.drawn]
    assert len(drawn) == len(set(drawn)) == 30
    for group in groups:
        assert all(group.first <= place // EXAMPLES <= group.last for place in group.drawn)


def test_where_most_texts_have_one_value_no_text_is_in_two_tenths() -> None:
    histogram = histogram_of(b0=64, b5=26, b90=10)
    groups = tenths(histogram, tickets(histogram))
    assert [(group.first, group.last) for group in groups] == [
        *[(0, 0)] * 6, (0, 5), *[(5, 5)] * 2, (5, 90)
    ]  # fmt: skip
    drawn = [place for group in groups for place in group.drawn]
    assert len(drawn) == len(set(drawn))
    assert [len(group.drawn) for group in groups] == [1, 1, 1, 0, 0, 0, 1, 1, 1, 3]
    assert {place // EXAMPLES for place in groups[-1].drawn} == {90}


def test_no_text_has_no_tenths() -> None:
    histogram = np.zeros(BINS, dtype=np.int64)
    assert tenths(histogram, tickets(histogram)) == ()
