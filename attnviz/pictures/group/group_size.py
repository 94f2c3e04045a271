"""The size of a group, and the limits that decide how it is shown.

In: a group. Out: a frozen `GroupSize`: how many layers, heads, queries, keys and weights there are,
and whether these fit into a browser one by one, all at once, or as maxima of neighbours.
"""

from dataclasses import dataclass
from math import prod

from attnviz.errors import TooLarge, UnsupportedAttention
from attnviz.pictures.group.groups import Group
from attnviz.pictures.shared.selection import Extent

# weights of all heads together that a browser gets at once, one byte each
MAX_CELLS = 48 * 2**20
# points of the pooled overview, one byte each
MAX_POINTS = 12 * 2**20
# weights that are computed for the pooled overview
MAX_POOLED_CELLS = 384 * 2**20
# queries or keys of a matrix that is shown whole; longer ones are shown by tiles
MAX_WHOLE = 2048

Shape = tuple[int, int, int]


@dataclass(frozen=True)
class GroupSize:
    """The shapes [head, query, key] of a group's layers, and what follows from them."""

    shapes: tuple[Shape, ...]
    uneven: bool

    @property
    def extent(self) -> Extent:
        """The numbers of layers, heads, queries and keys to choose from."""
        heads, queries, keys = zip(*self.shapes, strict=True)
        by_layer = heads if len(set(heads)) > 1 else ()
        return Extent(len(self.shapes), max(heads), max(queries), max(keys), by_layer)

    @property
    def n_heads(self) -> int:
        """The number of heads of all layers together."""
        return sum(shape[0] for shape in self.shapes)

    @property
    def n_cells(self) -> int:
        """The number of weights of all heads together."""
        return sum(prod(shape) for shape in self.shapes)

    @property
    def n_longest(self) -> int:
        """The longer side of the largest matrix."""
        return max(max(shape[1:]) for shape in self.shapes)

    @property
    def whole(self) -> bool:
        """True if one matrix can be shown at once."""
        return self.n_longest <= MAX_WHOLE

    @property
    def all_at_once(self) -> bool:
        """True if all heads can be shown at once."""
        return self.whole and self.n_cells <= MAX_CELLS

    @property
    def pooled(self) -> bool:
        """True if all heads can be shown at once, but only as maxima of neighbouring weights."""
        computed = self.n_cells <= MAX_POOLED_CELLS and not self.uneven
        return self.whole and computed and not self.all_at_once

    def nearest_head(self, layer: int, head: int) -> tuple[int, int]:
        """The layer and the head; the layer's last head where it has fewer heads than others."""
        has_fewer = layer < len(self.shapes) and len({shape[0] for shape in self.shapes}) > 1
        return layer, min(head, self.shapes[layer][0] - 1) if has_fewer else head

    def require_cells(self) -> None:
        """`TooLarge` if all heads together have too many weights for a browser."""
        if self.n_cells > MAX_CELLS:
            raise TooLarge(
                f"all heads together have {self.n_cells} weights and the limit is {MAX_CELLS};"
                " shorten the text",
                code="too_many_weights",
                found=self.n_cells,
                limit=MAX_CELLS,
                unit="weights",
            )

    def require_even(self) -> None:
        """`UnsupportedAttention` if the layers cannot be stacked."""
        if self.uneven:
            raise UnsupportedAttention(
                "the layers differ in shape (heads, queries, keys):"
                f" {sorted(set(self.shapes))}; look at them one by one",
                code="uneven_layers",
            )


def size_of(group: Group) -> GroupSize:
    """The size of a group."""
    shapes = tuple((call.n_heads, call.n_query, call.n_key) for call in group.calls)
    return GroupSize(shapes, group.uneven)
