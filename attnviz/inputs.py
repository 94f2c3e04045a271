"""What goes into one attention call, and everything that follows from it.

`AttentionInputs` holds references to the model's own q, k, v (after all that the model does to
them, a rotary embedding for instance) and to what else enters the softmax: O(n·d) memory. Every
stage is derived from these on demand, in float32, for one head of one batch row:

    q·kᵀ → × scaling → [softcap·tanh(·/softcap)] → [+ bias] → mask → softmax, [sink in its sum] → ·v

Shapes follow transformers: q [batch, head, query, d_head], k and v [batch, kv_head, key, …]; with
fewer kv_heads than heads, neighbouring heads share one (grouped-query attention).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attnviz import formula, masks
from attnviz.errors import UnsupportedAttention

ALL_ROWS = slice(None)
ROW_BLOCK = 256


@dataclass(frozen=True, eq=False)
class AttentionInputs:
    """The tensors of one call. `mask` is True = may attend; `causal` one that is not stored.

    `bias` is added to the scaled scores (a relative position bias, ALiBi). `softcap` squeezes them
    into ±softcap (Gemma 2). `sinks` is one more score per head, or per query, that takes part in
    the softmax's sum and has no value (gpt-oss); with `sinks_gate` it scales the row of weights·V
    instead, to the same effect, and the weights sum to 1 (Granite). `key_version` notices a key
    cache that a later step overwrote in place.
    """

    query: Float[Tensor, "#batch head query d_head"]
    key: Float[Tensor, "#batch kv_head key d_head"]
    value: Float[Tensor, "#batch kv_head key d_value"]
    mask: Bool[Tensor, "#batch #head #query #key"] | None
    causal: bool
    scaling: float
    bias: Float[Tensor, "#batch #head #query #key"] | None = None
    softcap: float | None = None
    sinks: Tensor | None = None
    sinks_gate: bool = False
    key_version: int | None = None

    @property
    def n_batch(self) -> int:
        return max(self.query.shape[0], self.key.shape[0])

    @property
    def n_heads(self) -> int:
        return self.query.shape[1]

    @property
    def n_kv_heads(self) -> int:
        return self.key.shape[1]

    @property
    def n_query(self) -> int:
        return self.query.shape[2]

    @property
    def n_key(self) -> int:
        return self.key.shape[2]

    @property
    def d_head(self) -> int:
        return self.query.shape[3]

    @property
    def dtype(self) -> torch.dtype:
        return self.query.dtype

    def kv_head(self, head: int) -> int:
        """The key/value head that a query head shares."""
        return head // (self.n_heads // self.n_kv_heads)

    def qkv(self, head: int, batch: int = 0) -> tuple[Tensor, Tensor, Tensor]:
        """q, k, v of one head as float32: [query, d_head], [key, d_head], [key, d_value].

        Raises `UnsupportedAttention` when the keys are not the ones that the call saw.
        """
        self._require_untouched()
        kv = self.kv_head(head)
        return (
            of_row(self.query, batch)[head].float(),
            of_row(self.key, batch)[kv].float(),
            of_row(self.value, batch)[kv].float(),
        )

    def may_attend(
        self, head: int, batch: int = 0, rows: slice = ALL_ROWS
    ) -> Bool[Tensor, "row key"] | None:
        """The mask of one head, the causal one included; None where nothing is blocked."""
        stored = None
        if self.mask is not None:
            whole = of_head(self.mask, head, batch)[..., : self.n_key]
            stored = whole.expand(self.n_query, self.n_key)[rows]
        if not self.causal:
            return stored
        triangle = masks.causal(self.n_query, self.n_key, rows).to(self.query.device)
        return triangle if stored is None else masks.combine(triangle, stored)

    def stages(
        self,
        head: int,
        batch: int = 0,
        mask: Bool[Tensor, "query key"] | None = None,
        rows: slice = ALL_ROWS,
    ) -> dict[str, Tensor]:
        """Every stage of one head, in order; `capped` and `biased` only where the model has them.

        `mask` stands in for the call's own, a "what if"; `rows` limits the work to some queries.
        """
        q, k, v = self.qkv(head, batch)
        q = q[rows]
        out = {"q": q, "k": k, "v": v, "scores": formula.scores(q, k)}
        last = out["scaled"] = formula.scaled(out["scores"], self.scaling)
        if self.softcap is not None:
            last = out["capped"] = formula.capped(last, self.softcap)
        if self.bias is not None:
            last = out["biased"] = last + self._rows_of(self.bias, head, batch, rows)
        may_attend = self.may_attend(head, batch, rows) if mask is None else mask[rows]
        out["masked"] = formula.masked(last, may_attend)
        sink = self._sink(head, batch, rows)
        out["weights"] = formula.weights(out["masked"], None if self.sinks_gate else sink)
        out["mixed"] = formula.mixed(out["weights"], v)
        if self.sinks_gate and sink is not None:
            out["mixed"] = out["mixed"] * formula.sink_gate(out["masked"], sink)
        return out

    def weights(self, head: int, batch: int = 0) -> Float[Tensor, "query key"]:
        """The attention weights of one head, without a second n×n matrix beside them.

        The same steps as `stages`, in place and in blocks of rows that stay in the cache.
        """
        q, k, _ = self.qkv(head, batch)
        out = q.new_zeros(self.n_query, self.n_key)
        for start in range(0, self.n_query, ROW_BLOCK):
            rows = slice(start, start + ROW_BLOCK)
            # under a causal mask no row of the block sees a key beyond its last row
            keys = slice(rows.stop) if self.causal else ALL_ROWS
            scores = formula.scores(q[rows], k[keys]).mul_(self.scaling)
            if self.softcap is not None:
                scores = formula.capped(scores, self.softcap)
            if self.bias is not None:
                scores = scores.add_(self._rows_of(self.bias, head, batch, rows)[:, keys])
            may_attend = self.may_attend(head, batch, rows)
            if may_attend is not None:
                scores = scores.masked_fill_(~may_attend[:, keys], -torch.inf)
            sink = None if self.sinks_gate else self._sink(head, batch, rows)
            out[rows, keys] = formula.weights(scores, sink)
        return out

    def moved(self, dtype: torch.dtype | None, device: str | None) -> "AttentionInputs":
        """The same with q, k, v in another type or place; stages are float32 in any case."""
        q, k, v = (of.to(device=device, dtype=dtype) for of in (self.query, self.key, self.value))
        mask, bias, sinks = (
            None if of is None else of.to(device=device)
            for of in (self.mask, self.bias, self.sinks)
        )
        return replace(
            self, query=q, key=k, value=v, mask=mask, bias=bias, sinks=sinks, key_version=None
        )

    def tensors(self) -> Iterator[Tensor]:
        """Every tensor that is kept alive."""
        for tensor in (self.query, self.key, self.value, self.mask, self.bias, self.sinks):
            if tensor is not None:
                yield tensor

    def _sink(self, head: int, batch: int, rows: slice) -> Float[Tensor, "#row one"] | None:
        """The sink's score for one head, one for all queries or one for each of `rows`."""
        if self.sinks is None:
            return None
        if self.sinks.dim() == 1:
            return self.sinks[head].float().reshape(1, 1)
        whole = of_head(self.sinks, head, batch).float()
        return whole[rows] if whole.shape[0] > 1 else whole

    def _rows_of(self, tensor: Tensor, head: int, batch: int, rows: slice) -> Tensor:
        found = of_head(tensor, head, batch)[..., : self.key.shape[2]].float()
        return found[rows] if found.shape[0] > 1 else found

    def _require_untouched(self) -> None:
        if self.key_version is not None and self.key._version != self.key_version:
            raise UnsupportedAttention(
                "the keys were overwritten in place after this call, as a static key cache does;"
                " generate with the default dynamic cache",
                code="static_cache",
            )


def of_row(tensor: Tensor, batch: int) -> Tensor:
    """One batch row; a tensor made for one row serves all."""
    return tensor[min(batch, tensor.shape[0] - 1)]


def of_head(tensor: Tensor, head: int, batch: int) -> Tensor:
    """The [query, key] slice of a tensor that broadcasts to [batch, head, query, key]."""
    while tensor.dim() < 4:
        tensor = tensor.unsqueeze(0)
    row = of_row(tensor, batch)
    return row[min(head, row.shape[0] - 1)]
