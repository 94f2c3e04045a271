"""Heads ranked by a share of their attention minus a control, the clearest first.

In: a group of attentions, and a query with a key, or painted cells, or the name of a pattern. Out:
a `RankedHead` for each head. The difference never leaves its parts, so that both can be shown.

    links     the head's weight from the query to the key; control: the mean weight that its other
              rows give the key. A head in which every row attends to the key (a stripe) has a large
              weight and a difference near 0.
    opening   the link with the largest difference of all: what to show first of a text.
    shares    its share of attention on the cells, in rows with a painted cell; control: the share
              that uniform attention to all visible keys would put there.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool

from attnviz.errors import require_index
from attnviz.metrics.patterns import PATTERNS, mean_mass, pattern_keys
from attnviz.pictures.group import groups
from attnviz.pictures.group.groups import Group, size_of
from attnviz.types import HeadId, Tokens

NEAR = 2  # tokens on either side that belong to a block
# words that stand for another one: their rows show best what a head is about
PRONOUNS = frozenset(
    "he she it they him her them his hers its their theirs himself herself itself themselves"
    " il elle ils elles lui 彼 彼女 それ 그 그녀 他 她 它 他们 她们 它们".split()
)
Cells = Bool[np.ndarray, "query key"]


@dataclass(frozen=True)
class RankedHead:
    """A head, a share of its attention in 0..1, and the control that stands beside it (0..1)."""

    head: HeadId
    share: float
    control: float

    @property
    def difference(self) -> float:
        """The share minus the control, in −1..1."""
        return self.share - self.control


def by_difference(heads: Iterable[RankedHead]) -> tuple[RankedHead, ...]:
    """The heads by falling difference; equal ones keep their order."""
    return tuple(sorted(heads, key=lambda ranked: -ranked.difference))


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
    for layer, weights in enumerate(groups.each_layer(group)):
        others = groups.mask(group, layer)[:, key].copy()
        if not others[query] or others.sum() < 2:
            continue
        others[query] = False
        controls = weights[:, others, key].mean(axis=1, dtype=np.float64)
        for row, head in enumerate(group.calls[layer].kept_heads):
            weight, control = float(weights[row, query, key]), float(controls[row])
            yield RankedHead(HeadId(layer, head), weight, control)


def opening(group: Group, head: HeadId | None = None) -> tuple[RankedHead, int, int] | None:
    """The head, query and key to show first of a text: the link with the largest difference.

    It starts in the row of a pronoun and goes back, if there is such a link, else in the row of any
    word; with `head`, it is in that head. Only words count as keys, and of the same text none
    beside the query: heads that attend to the next or previous token would come first in every
    text. None if no link is above its control.
    """
    queries, keys = groups.queries(group), groups.keys(group)
    asked, answered = _words(queries), _words(keys)
    pronouns = asked & np.array([label.strip().lower() in PRONOUNS for label in queries.labels])
    best: dict[str, tuple[RankedHead, int, int]] = {}
    for layer, weights in enumerate(groups.each_layer(group)):
        if head is not None and layer != head.layer:
            continue
        heads = list(group.calls[layer].kept_heads)
        first = 0 if head is None else heads.index(head.head)
        chosen = weights[first:] if head is None else weights[first : first + 1]
        visible = groups.mask(group, layer)
        # a weight leaves its control less: the largest one of a key is the clearest
        sums, n_others = chosen.sum(axis=1), np.maximum(visible.sum(axis=0) - 1, 1)
        possible = visible & answered & (visible.sum(axis=0) > 1)
        back = np.ones_like(possible)
        if not group.apart(layer):
            distance = np.subtract.outer(*map(np.arange, possible.shape))
            possible, back = possible & (np.abs(distance) > 1), distance > 0
        for name, allowed in (
            ("pronoun", possible & back & pronouns[:, None]),
            ("word", possible & asked[:, None]),
        ):
            rows = np.flatnonzero(allowed.any(axis=1))
            if not len(rows) or not len(chosen):
                continue
            largest = np.where(allowed[rows], chosen[:, rows], -1).max(axis=1)
            controls = (sums - largest) / n_others
            difference = np.where(largest < 0, -1, largest - controls)
            number, key = map(int, np.unravel_index(difference.argmax(), difference.shape))
            weight, control = float(largest[number, key]), float(controls[number, key])
            found = RankedHead(HeadId(layer, heads[first + number]), weight, control)
            before = best[name][0].difference if name in best else 0.0
            if difference[number, key] > 0 and found.difference > before:
                of_key = np.where(allowed[rows, key], chosen[number, rows, key], -1)
                best[name] = found, int(rows[of_key.argmax()]), key
    return best.get("pronoun", best.get("word"))


def _words(tokens: Tokens) -> Bool[np.ndarray, " token"]:
    """The tokens that are words or parts of words."""
    spoken = np.array([any(map(str.isalnum, label)) for label in tokens.labels])
    words: Bool[np.ndarray, " token"] = spoken & ~tokens.special
    return words


def palette(group: Group) -> dict[str, Cells]:
    """The cells of each named pattern that this text has; words alone have patterns."""
    queries, keys = groups.queries(group), groups.keys(group)
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
    special = groups.queries(group).special
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
    for layer, weights in enumerate(groups.each_layer(group)):
        visible = groups.mask(group, layer)
        seen = cells & visible
        rows = seen.any(axis=1)
        if not rows.any():
            continue
        chance = (seen.sum(axis=1)[rows] / visible.sum(axis=1)[rows]).mean()
        masses = mean_mass(weights, seen, rows)
        ranked += [
            RankedHead(HeadId(layer, head), float(mass), float(chance))
            for head, mass in zip(group.calls[layer].kept_heads, masses, strict=True)
        ]
    return by_difference(ranked)
