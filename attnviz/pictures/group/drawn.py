"""Heads that attend like a drawing: each head's share of attention on painted cells, beside chance.

In: a group of attentions and the painted cells, or the name of a pattern. Out: a `RankedHead` for
each head, the clearest first. Only rows with a painted cell count; chance is the share that uniform
attention to all visible keys would put there.
"""

import numpy as np
from jaxtyping import Bool

from attnviz.metrics.patterns import PATTERNS, mean_mass, pattern_keys
from attnviz.pictures.group import group_tokens, group_weights
from attnviz.pictures.group.group_size import size_of
from attnviz.pictures.group.groups import Group
from attnviz.pictures.group.ranking import RankedHead, by_difference
from attnviz.types import HeadId

NEAR = 2  # tokens on either side that belong to a block

Cells = Bool[np.ndarray, "query key"]


def palette(group: Group) -> dict[str, Cells]:
    """The cells of each named pattern that this text has; words alone have patterns."""
    queries, keys = group_tokens.queries(group), group_tokens.keys(group)
    n_query, n_key = len(queries), len(keys)
    patterns: dict[str, Cells] = {}
    for name in PATTERNS:
        patterns[name] = _of_words(
            pattern_keys(name, queries, keys if group.cross else None), group
        )
    if not group.cross:
        distance = np.abs(np.arange(n_query)[:, None] - np.arange(n_key))
        patterns["block"] = _of_words((distance > 0) & (distance <= NEAR), group)
    return {name: cells for name, cells in patterns.items() if cells.any()}


def _of_words(cells: Cells, group: Group) -> Cells:
    """The cells in the rows of words: special tokens attend where they have nothing to do."""
    special = group_tokens.queries(group).special
    rows: Cells = cells & ~special[:, None]
    return rows


def shares(group: Group, cells: Cells) -> tuple[RankedHead, ...]:
    """Every head's share on the cells, by falling difference from chance; none without a cell.

    Layers that may see none of the cells are left out. `TooLarge` for more weights than a page
    shows.
    """
    size = size_of(group)
    size.require_even()
    size.require_cells()
    ranked: list[RankedHead] = []
    for layer, weights in enumerate(group_weights.each_layer(group)):
        visible = group_weights.mask(group, layer)
        seen = cells & visible
        rows = seen.any(axis=1)
        if not rows.any():
            continue
        chance = (seen.sum(axis=1)[rows] / visible.sum(axis=1)[rows]).mean()
        masses = mean_mass(weights, seen, rows)
        ranked += [
            RankedHead(HeadId(layer, head), float(share), float(chance))
            for head, share in enumerate(masses)
        ]
    return by_difference(ranked)
