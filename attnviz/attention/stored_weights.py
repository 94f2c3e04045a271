"""Attention weights that are stored because the model computes attention in its own code.

If a model does not use transformers' attention interface, its softmax is watched while it runs: the
weights are stored as they came out, O(n²), with q, k, v if the matrix products around the softmax
show them. `StoredWeights` has the same methods as `AttentionInputs`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.attention import formula
from attnviz.attention.inputs import ALL_KEYS, ALL_ROWS, HeadsOf, batch_row
from attnviz.attention.kept_heads import KeptHeads
from attnviz.attention.stage_changes import StageChange
from attnviz.summary import described


@dataclass(frozen=True, eq=False)
class StoredWeights:
    """Weights [batch, head, query, key] as the model computed them; q, k, v if they were found.

    `query` is the factor of the model's own product with `key`: some models scale it beforehand.
    `only` has the heads that are kept, if not all are, as in `AttentionInputs`.
    """

    kept: Float[Tensor, "batch head query key"]
    query: Float[Tensor, "batch head query d_head"] | None = None
    key: Float[Tensor, "batch head key d_head"] | None = None
    value: Float[Tensor, "batch head key d_value"] | None = None

    # unknown: the model's own code scales and masks its scores before the softmax
    scaling: float | None = None
    causal: bool = False
    mask: Tensor | None = None
    # of the heads' outputs; nothing before them can be changed
    changes: tuple[StageChange, ...] = ()
    only: KeptHeads | None = None

    @property
    def n_batch(self) -> int:
        """The number of rows in the batch."""
        return self.kept.shape[0]

    @property
    def n_heads(self) -> int:
        """The number of heads."""
        return self.kept.shape[1] if self.only is None else self.only.n_heads

    @property
    def n_kv_heads(self) -> int:
        """The number of heads: none share keys, as far as is known."""
        return self.n_heads

    @property
    def kept_heads(self) -> Sequence[int]:
        """The numbers of the heads that are kept: all, unless `only` has some."""
        return range(self.n_heads) if self.only is None else self.only.numbers

    def row(self, head: int) -> int:
        """The row of a head in the tensors; `BadInput` for a head that was not kept."""
        return head if self.only is None else self.only.row(head)

    @property
    def n_query(self) -> int:
        """The number of queries, padding included."""
        return self.kept.shape[2]

    @property
    def n_key(self) -> int:
        """The number of keys, padding included."""
        return self.kept.shape[3]

    @property
    def d_head(self) -> int | None:
        """The width of a query; None if q was not found."""
        return None if self.query is None else self.query.shape[3]

    @property
    def dtype(self) -> torch.dtype:
        """The type in which the weights are kept."""
        return self.kept.dtype

    def weights(self, head: int, batch: int = 0) -> Float[Tensor, "query key"]:
        """The attention weights of one head, float32."""
        return batch_row(self.kept, batch)[self.row(head)].float()

    def masked(
        self, head: int = 0, batch: int = 0, rows: slice = ALL_ROWS, keys: slice = ALL_KEYS
    ) -> Float[Tensor, "row column"]:
        """The logarithms of the weights: their softmax is the weights themselves."""
        return batch_row(self.kept, batch)[self.row(head), rows, keys].float().log()

    def visible_keys(self, _rows: slice) -> slice:
        """All keys: the mask is not known."""
        return slice(0, self.n_key)

    def normalisers(
        self, masked: Float[Tensor, "row column"], _rows: slice
    ) -> tuple[Float[Tensor, "row one"], Float[Tensor, "row one"]]:
        """0 and 1 for each row: the stored numbers are normalised already."""
        zero = masked.new_zeros(masked.shape[0], 1)
        return zero, torch.ones_like(zero)

    def one_head(self, head: int, batch: int = 0) -> "StoredWeights":
        """The weights of one head alone."""
        row = self.row(head)
        return StoredWeights(batch_row(self.kept, batch)[None, row : row + 1].clone())

    def with_heads(self, only: KeptHeads, _by_head: HeadsOf) -> "StoredWeights":
        """Some heads alone, copied so that the others can be freed."""
        rows = list(only.numbers)
        query, key, value = (
            None if tensor is None else tensor[:, rows]
            for tensor in (self.query, self.key, self.value)
        )
        return replace(self, kept=self.kept[:, rows], query=query, key=key, value=value, only=only)

    def stages(
        self, head: int, batch: int = 0, mask: Tensor | None = None, rows: slice = ALL_ROWS
    ) -> dict[str, Tensor]:
        """The known stages of one head: always `weights`, the others if they were found."""
        assert mask is None, "stored weights cannot be computed again under another mask"
        named = {"q": self.query, "k": self.key, "v": self.value}
        out = {
            name: batch_row(tensor, batch)[self.row(head)].float()
            for name, tensor in named.items()
            if tensor is not None
        }
        if "q" in out:
            out["q"] = out["q"][rows]
        if "q" in out and "k" in out:
            out["scores"] = formula.scores(out["q"], out["k"])
        out["weights"] = self.weights(head, batch)[rows]
        if "v" in out:
            mixed = formula.mixed(self.weights(head, batch), out["v"]) if self.changes else None
            for change in self.changes:
                if mixed is not None and change.touches(batch, head):
                    shape = self.n_query, self.n_key
                    mixed = change.applied(mixed[None], [(batch, head)], shape)[0]
            out["mixed"] = formula.mixed(out["weights"], out["v"]) if mixed is None else mixed[rows]
        return out

    def __repr__(self) -> str:
        return described(self, "kept", "query", "key", "value")

    def tensors(self) -> Iterator[Tensor]:
        """Every tensor that is kept alive."""
        for tensor in (self.kept, self.query, self.key, self.value):
            if tensor is not None:
                yield tensor
