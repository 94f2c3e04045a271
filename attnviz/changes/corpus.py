"""The outputs of each head over many texts: the reference that an ablated head is set to.

In: vectors that were recorded over a corpus (`attnviz.capture.changed.corpus`). Out: a `Corpus`,
one mean for each head, and some of the vectors themselves, to draw from. A mean over the positions
of the very text that is looked at would not do: later tokens would enter it, and an answer that is
a mean over positions would not see the change.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jaxtyping import Float32
from torch import Tensor

from attnviz.errors import BadInput
from attnviz.types import Site


@dataclass(frozen=True, eq=False)
class HeadVectors:
    """The outputs weights·V of one layer's heads over a corpus: their mean, and a sample."""

    mean: Float32[Tensor, "head d_value"]
    sample: Float32[Tensor, "head sample d_value"]


@dataclass(frozen=True, eq=False)
class Corpus:
    """The output of every head of a model over a corpus; `name` says of which texts."""

    name: str
    n_texts: int
    n_tokens: int
    by_layer: Mapping[Site, HeadVectors]

    def vectors(self, site: Site) -> HeadVectors:
        """The vectors of the layer that a site is in; `BadInput` where the corpus has none."""
        vectors = self.by_layer.get(site.whole_layer)
        if vectors is None:
            known = ", ".join(map(str, self.by_layer))
            raise BadInput(
                f"the corpus {self.name!r} has nothing of {site}: it was recorded of {known};"
                " give texts of this model as corpus=",
                code="corpus_lacks",
                site=str(site),
                allowed=known,
            )
        return vectors


CorpusTexts = Corpus | Sequence[str]
