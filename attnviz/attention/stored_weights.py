"""Attention weights that had to be kept, because the model computes attention with code of its own.

Where a model does not go through transformers' attention interface, its softmax is watched while
it runs: the weights are stored as they came out, O(n²), and q, k, v where the matrix products
around the softmax show them. `StoredWeights` answers the same questions as `AttentionInputs`.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.attention.inputs import ALL_KEYS, ALL_ROWS, of_row


@dataclass(frozen=True, eq=False)
class StoredWeights:
    """Weights [batch, head, query, key] as the model made them; q, k, v where they were found.

    `query` is what the model multiplied with `key`: some models scale it beforehand.
    """

    kept: Float[Tensor, "batch head query key"]
    query: Float[Tensor, "batch head query d_head"] | None = None
    key: Float[Tensor, "batch head key d_head"] | None = None
    value: Float[Tensor, "batch head key d_value"] | None = None

    # what the model's own code does to its scores is not known
    scaling: float | None = None
    causal: bool = False
    mask: Tensor | None = None

    @property
    def n_batch(self) -> int:
        return self.kept.shape[0]

    @property
    def n_heads(self) -> int:
        return self.kept.shape[1]

    @property
    def n_kv_heads(self) -> int:
        return self.kept.shape[1]

    @property
    def n_query(self) -> int:
        return self.kept.shape[2]

    @property
    def n_key(self) -> int:
        return self.kept.shape[3]

    @property
    def d_head(self) -> int | None:
        return None if self.query is None else self.query.shape[3]

    @property
    def dtype(self) -> torch.dtype:
        return self.kept.dtype

    def weights(self, head: int, batch: int = 0) -> Float[Tensor, "query key"]:
        """The attention weights of one head, float32."""
        return of_row(self.kept, batch)[head].float()

    def masked(
        self, head: int = 0, batch: int = 0, rows: slice = ALL_ROWS, keys: slice = ALL_KEYS
    ) -> Float[Tensor, "row column"]:
        """log weights: scores whose softmax the weights are, with nothing left to divide by."""
        return of_row(self.kept, batch)[head, rows, keys].float().log()

    def reach(self, _rows: slice) -> slice:
        """The keys that a row can see, as far as that is known: all."""
        return slice(0, self.n_key)

    def normalisers(
        self, masked: Float[Tensor, "row column"], _rows: slice
    ) -> tuple[Float[Tensor, "row one"], Float[Tensor, "row one"]]:
        """0 and 1 for each row: what was stored are weights already."""
        zero = masked.new_zeros(masked.shape[0], 1)
        return zero, torch.ones_like(zero)

    def one_head(self, head: int, batch: int = 0) -> "StoredWeights":
        """The weights of one head alone."""
        return StoredWeights(of_row(self.kept, batch)[None, head : head + 1].clone())

    def stages(
        self, head: int, batch: int = 0, mask: Tensor | None = None, rows: slice = ALL_ROWS
    ) -> dict[str, Tensor]:
        """The stages of one head that are known: always `weights`, the others where found."""
        assert mask is None, "stored weights cannot be computed again under another mask"
        named = {"q": self.query, "k": self.key, "v": self.value}
        out = {
            name: of_row(tensor, batch)[head].float()
            for name, tensor in named.items()
            if tensor is not None
        }
        if "q" in out:
            out["q"] = out["q"][rows]
        if "q" in out and "k" in out:
            out["scores"] = out["q"] @ out["k"].T
        out["weights"] = self.weights(head, batch)[rows]
        if "v" in out:
            out["mixed"] = out["weights"] @ out["v"]
        return out

    def tensors(self) -> Iterator[Tensor]:
        """Every tensor that is kept alive."""
        for tensor in (self.kept, self.query, self.key, self.value):
            if tensor is not None:
                yield tensor
