"""Surveys: the measures of every head over thousands of texts, in one pass with bounded memory.

`run.survey` reads texts (`texts`, `pieces`), counts them in shards (`shards`, `counts`) that an
engine computes, adds their tallies and returns a `result.Survey`. Sums are integers and drawn texts
are those with the smallest hashes, so that any order and any engine give the same bytes.
"""

from attnviz.corpus.result import Survey

__all__ = ["Survey"]
