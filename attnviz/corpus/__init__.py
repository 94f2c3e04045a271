"""Many texts in one pass with bounded memory: surveys of every head, and maps of queries and keys.

`survey.survey` reads texts (`texts`, `pieces`), counts them in shards (`shards`, `counts`) that an
engine computes, adds their tallies and returns a `result.Survey`. Sums are integers and drawn texts
are those with the smallest hashes, so that any order and any engine give the same bytes.

`embed.embed` keeps nothing but sums (`moments`); `biplot` finds the plane in which inner products
come nearest to the scores. `neighbours` draws one head by t-SNE instead, as AttentionViz does.
"""

from attnviz.lazy import names

_HOMES = {
    "attnviz.corpus.embed": ("Embedding",),
    "attnviz.corpus.result": ("Survey",),
}

__getattr__, __dir__, __all__ = names(__name__, _HOMES)
