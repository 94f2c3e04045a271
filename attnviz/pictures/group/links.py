"""The link of each head from a query to a key, beside a control: its other rows' weight there.

In: a group of attentions, a query and a key. Out: a `RankedHead` for each head, the clearest first:
its weight from the query to the key, and as its control the mean weight that its other rows give
the key (rows that may not attend to it are left out). A head in which every row attends to the key
(a stripe) has a large weight and a difference near 0.
"""

from collections.abc import Iterator

import numpy as np

from attnviz.errors import require_index
from attnviz.pictures.group import group_weights
from attnviz.pictures.group.group_size import size_of
from attnviz.pictures.group.groups import Group
from attnviz.pictures.group.ranking import RankedHead, by_difference
from attnviz.types import HeadId


def links(group: Group, query: int, key: int) -> tuple[RankedHead, ...]:
    """Every head's link from a query to a key, by falling difference.

    Layers in which the query may not attend to the key, or no other query may, are left out.
    `BadInput` for a position that does not exist, `TooLarge` for more weights than a page shows.
    """
    size = size_of(group)
    size.require_even()
    size.require_cells()
    require_index("query", query, size.extent.n_query)
    require_index("key", key, size.extent.n_key)
    return by_difference(_links(group, query, key))


def _links(group: Group, query: int, key: int) -> Iterator[RankedHead]:
    for layer, weights in enumerate(group_weights.each_layer(group)):
        others = group_weights.mask(group, layer)[:, key].copy()
        if not others[query] or others.sum() < 2:
            continue
        others[query] = False
        controls = weights[:, others, key].mean(axis=1, dtype=np.float64)
        for head, (weight, control) in enumerate(
            zip(weights[:, query, key], controls, strict=True)
        ):
            yield RankedHead(HeadId(layer, head), float(weight), float(control))
