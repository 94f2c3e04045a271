"""The products that ran last, found by the tensors that were computed from them.

In: products with their numbers, and the origins of tensors. Out: the products that entered a tensor
by elementwise operations, and "self" or "cross" for queries and keys, whatever was done to both
since their layers: a norm, a rotation, a scale.
"""

from collections.abc import Iterable

from torch import Tensor

from attnviz.capture.locate.structure import is_same_source
from attnviz.capture.record.operations import ScoreSource
from attnviz.capture.record.origins import Origins
from attnviz.types import Kind


class Sources(dict[int, ScoreSource]):
    """Products by number."""

    def __init__(self, origins: Origins) -> None:
        super().__init__()
        self._origins = origins

    def entering(self, tensor: Tensor) -> tuple[ScoreSource, ...]:
        """The products that entered a tensor, oldest first."""
        return tuple(self[number] for number in sorted(self._origins.of(tensor)) if number in self)

    def is_learned(self, number: int) -> bool:
        """True for a product with a parameter."""
        return number in self and self[number].is_learned

    def kind(self, query: Tensor, key: Tensor) -> Kind | None:
        """ "self" if the layers of q and k read the same tensor, "cross" if not.

        None unless each of them comes from one layer.
        """
        reads = []
        for tensor in (query, key):
            layers = [source for source in self.entering(tensor) if source.is_learned]
            if len(layers) != 1 or not layers[0].has_learned_columns:
                return None
            reads.append(layers[0].left.flatten(0, -2))
        return "self" if is_same_source(*reads) else "cross"

    def kind_of_scores(self, scores: Iterable[ScoreSource]) -> Kind | None:
        """The kind by what layers read behind scores that a layer computed (additive attention).

        None unless two layers or more entered what that layer read.
        """
        reads = [
            source.left.flatten(0, -2)
            for score in scores
            if score.is_learned
            for source in self.entering(score.left)
            if source.has_learned_columns
        ]
        if len(reads) < 2:
            return None
        return "self" if all(is_same_source(reads[0], other) for other in reads[1:]) else "cross"
