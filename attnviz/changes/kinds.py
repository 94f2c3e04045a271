"""The changes that can be made to a head, as frozen data, and the corpus an ablation refers to.

In: sites, numbers, for patching another capture, for ablating a `Corpus`. Out: dataclasses that
print as their text form (`attnviz.changes.text`). A change is made wherever its layer attends: in
every row of a batch, and at every new token where the model writes. Positions are those of the
whole sequence, counted from its first real token. A `Corpus` has one mean of each head's outputs
over many texts, and some of the vectors, to draw from (`attnviz.capture.changed.corpus` records
it): with a mean over the positions of the very text that is looked at, later tokens would enter,
and an answer that is a mean over positions would not see the change.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from jaxtyping import Bool, Float32
from torch import Tensor

from attnviz.attention.capture import Capture
from attnviz.attention.edits import Edit
from attnviz.errors import BadInput
from attnviz.masks.spec import MaskSet
from attnviz.types import Site

AblationKind = Literal["mean", "resample", "zero"]
PatchedStage = Literal["q", "k", "v", "weights", "mixed"]
ABLATION_KINDS: tuple[AblationKind, ...] = get_args(AblationKind)
PATCHED: tuple[PatchedStage, ...] = get_args(PatchedStage)


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


@dataclass(frozen=True)
class Ablate:
    """The head's output weights·V replaced by what says nothing about this text.

    "mean" is its mean over a corpus, "resample" its outputs at random places of the corpus, drawn
    from `seed`, "zero" nothing at all, which no head ever says (Hase et al. 2021). Every position
    of the text is replaced, and every token of the corpus counts, special tokens included. The
    `corpus` is recorded, or texts to record; without one, 50 examples that come with attnviz.
    """

    site: Site
    to: AblationKind = "mean"
    seed: int = 0
    corpus: Corpus | tuple[str, ...] | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        seed = f":{self.seed}" if self.to == "resample" and self.seed else ""
        return f"{self.site}.mixed={self.to}{seed}"


@dataclass(frozen=True)
class Patch:
    """One stage of the head kept from another run: activation patching (Meng et al. 2022).

    `source` is that run, `batch` its row, `name` what the text form calls it. `position` limits
    the patch to one query (of q, weights and mixed) or one key (of k and v).
    """

    site: Site
    stage: PatchedStage
    source: Capture = field(compare=False, repr=False)
    batch: int = 0
    position: int | None = None
    name: str = "source"

    def __str__(self) -> str:
        position = "" if self.position is None else f".{self.position}"
        row = f"/{self.batch}" if self.batch else ""
        return f"{self.site}.{self.stage}{position}=@{self.name}{row}"


@dataclass(frozen=True)
class Pattern:
    """The head's attention weights replaced: even over what the mask allows, or a matrix.

    With "temperature" the scores that enter the softmax are divided by it; a sink is not. `name` is
    what the text form calls a matrix.
    """

    site: Site
    to: Literal["even", "temperature", "matrix"]
    temperature: float = 1.0
    weights: Float32[Tensor, "query key"] | None = field(default=None, compare=False, repr=False)
    name: str = "own"

    def __str__(self) -> str:
        if self.to == "temperature":
            return f"{self.site}.weights=temperature:{self.temperature:.9g}"
        return f"{self.site}.weights={'even' if self.to == 'even' else f'@{self.name}'}"


@dataclass(frozen=True)
class Cut:
    """An edge from `query` to `key` taken away; None stands for all queries, or all keys.

    With `renormalise` the row's other weights take its share, as if a mask had hidden the key
    (attention knockout, Geva et al. 2023); without, the row sums to less.
    """

    site: Site
    query: int | None = None
    key: int | None = None
    renormalise: bool = True

    def __str__(self) -> str:
        query, key = ("*" if at is None else str(at) for at in (self.query, self.key))
        return f"{self.site}.weights.{query}.{key}=0{'!' if self.renormalise else ''}"


@dataclass(frozen=True)
class Mask:
    """The head's mask replaced: by a set of named masks, or by a matrix, True = may attend.

    `named` is None for a matrix, which the text form calls `name`.
    """

    site: Site
    named: MaskSet | None = None
    may_attend: Bool[Tensor, "query key"] | None = field(default=None, compare=False, repr=False)
    name: str = "own"

    def __str__(self) -> str:
        return f"{self.site}.mask={f'@{self.name}' if self.named is None else self.named.joined}"


@dataclass(frozen=True)
class Edited:
    """One entry of the head's q, k, v, scores, or of what enters its softmax, set to a number."""

    site: Site
    entry: Edit

    def __str__(self) -> str:
        return f"{self.site}.{self.entry}"


Change = Ablate | Patch | Pattern | Cut | Mask | Edited
