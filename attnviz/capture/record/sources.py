"""The products that ran last, found by the tensors that were computed from them.

In: products with their numbers, and the origins of tensors. Out: the products that entered a tensor
by elementwise operations, and what the layers behind queries and keys read, whatever was done to
both since: a norm, a rotation, a scale. What they read tells "self" from "cross".
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from math import prod

import torch
from torch import Tensor

from attnviz.capture.locate.layers import storage_of
from attnviz.capture.locate.structure import is_same_source
from attnviz.capture.record.operations import ScoreSource
from attnviz.capture.record.origins import ONLY_PARAMETER, Origins
from attnviz.types import Kind

OPEN_SOURCES = 12


class Sources(dict[int, ScoreSource]):
    """Products by number."""

    def __init__(self, origins: Origins) -> None:
        super().__init__()
        self._origins = origins

    def entering(self, tensor: Tensor) -> tuple[ScoreSource, ...]:
        """The products that entered a tensor, oldest first."""
        return tuple(self[number] for number in sorted(self._origins.of(tensor)) if number in self)

    def keep(self, number: int, product: ScoreSource) -> None:
        """Keep a product; the oldest of those that are learned, or that are not, is forgotten."""
        alike = [n for n, kept in self.items() if kept.is_learned == product.is_learned]
        for oldest in alike[: max(0, len(alike) - OPEN_SOURCES + 1)]:
            del self[oldest]
        self[number] = product

    def is_learned(self, number: int) -> bool:
        """True for a product with a parameter."""
        return number in self and self[number].is_learned

    def show_columns_only(self, tensor: Tensor) -> bool:
        """True if nothing but columns of layers entered a tensor."""
        return all(source.has_learned_columns for source in self.entering(tensor))

    def are_single_columns(self, parts: Sequence[Tensor]) -> bool:
        """True if each part is what a layer of its own made of one input that all of them read.

        Side by side, they are what one layer with as many columns would have written.
        """
        entered = [self.entering(part) for part in parts]
        if not all(len(sources) == 1 and sources[0].has_learned_columns for sources in entered):
            return False
        layers = [source for (source,) in entered]
        first, *others = layers
        if len({storage_of(layer.right) for layer in layers}) < len(layers) or not others:
            return False
        return all(torch.equal(first.left, layer.left) for layer in others)

    def splits_rows(self, read: Tensor) -> bool:
        """True if what a layer wrote was cut into more rows of fewer columns, as heads are.

        A product of such rows with a matrix shows no texts: its rows may be heads.
        """
        n_row = read.shape[:-1].numel()
        return any(
            source.has_learned_columns
            and source.shape[-1] > read.shape[-1] > 0 == source.shape[-1] % read.shape[-1]
            and n_row > prod(source.shape[:-1])
            and read.numel() <= prod(source.shape)
            for source in self.entering(read)
        )

    def reads(self, query: Tensor, key: Tensor) -> tuple[Tensor, Tensor] | None:
        """The rows that the layers behind q and k read; None unless each comes from one."""
        reads = []
        for tensor in (query, key):
            layers = [source for source in self.entering(tensor) if source.is_learned]
            if len(layers) != 1 or not layers[0].has_learned_columns:
                return None
            reads.append(layers[0].left.flatten(0, -2))
        return reads[0], reads[1]

    def whole_rows(self, read: Tensor, n_row: int) -> Tensor | None:
        """The rows that a layer read, or that the layer before it read, if they are so many.

        A product of q with a matrix reads rows of heads, which a layer wrote side by side.
        """
        reads = [read, *(before.flatten(0, -2) for before in self._reads_behind(read))]
        return next((rows for rows in reads if len(rows) == n_row), None)

    def kind_of_reads(self, query: Tensor, key: Tensor) -> Kind:
        """ "self" if the layers of q and k read the same tensor, [row, column], "cross" if not.

        The same is what a layer made of it that ran before: q = (x·W)·M beside k = x·W_K.
        """
        is_same = (
            is_same_source(query, key)
            or self._is_made_of(query, key)
            or self._is_made_of(key, query)
        )
        return "self" if is_same else "cross"

    def _is_made_of(self, tensor: Tensor, other: Tensor, most_layers: int = 2) -> bool:
        """True if layers, one upon the other, made a tensor of another with as many rows."""
        reads = [read.flatten(0, -2) for read in self._reads_behind(tensor)]
        return any(
            (read.shape == other.shape and torch.equal(read, other))
            or (most_layers > 1 and self._is_made_of(read, other, most_layers - 1))
            for read in reads
        )

    def kind_by_reads(self, scores: Iterable[ScoreSource]) -> Kind | None:
        """ "cross" if nothing common was read for the two sides of any product of the scores.

        The sides of additive attention are the layers behind the one that computes its scores. What
        no layer made stands for itself: memory that was given, states of a recurrent layer. None if
        the scores show no sides. Asked for only where there are more keys than queries, or fewer.
        """
        pairs: list[tuple[Tensor, Tensor]] = []
        for score in scores:
            if score.is_learned:
                first, *others = [*self._reads_behind(score.left)] or [score.left]
                pairs += [(first, other) for other in others]
            else:
                sides = score.left, score.right.mT
                asked, answering = ([*self._reads_behind(side)] or [side] for side in sides)
                pairs += product(asked, answering)
        if not pairs:
            return None
        return "self" if any(self._are_one_source(*pair) for pair in pairs) else "cross"

    def _reads_behind(self, tensor: Tensor) -> Iterator[Tensor]:
        """The inputs of the layers that entered a tensor."""
        return (source.left for source in self.entering(tensor) if source.has_learned_columns)

    def _are_one_source(self, left: Tensor, right: Tensor) -> bool:
        """True for the same numbers, and for what was pooled or cut out of the same products."""
        behind = self._origins.of(left) - ONLY_PARAMETER
        if behind and behind == self._origins.of(right) - ONLY_PARAMETER:
            return True
        return is_same_source(left.flatten(0, -2), right.flatten(0, -2))
