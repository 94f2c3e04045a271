"""Queries and keys of many texts in one plane, for every head: the joint map.

`run.embed` reads texts once and keeps nothing but sums (`moments`); `biplot` finds the plane in
which inner products come nearest to the scores; `Embedding.place` puts any capture on it at once.
`neighbours` draws one head by t-SNE instead, as AttentionViz does.
"""

from attnviz.embed.run import Embedding

__all__ = ["Embedding"]
