"""What goes into one attention call, and everything that follows from it.

`AttentionInputs` holds references to the model's own q, k, v (after all that the model does to
them, a rotary embedding for instance) and to what else enters the softmax: O(n·d) memory. Every
stage is derived from these on demand, in float32, for one head of one batch row:

    q·kᵀ → × scaling → [softcap·tanh(·/softcap)] → [+ bias] → mask → softmax, [sink in its sum] → ·v

Shapes follow transformers: q [batch, head, query, d_head], k and v [batch, kv_head, key, …]; with
fewer kv_heads than heads, neighbouring heads share one (grouped-query attention).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attnviz import masks
from attnviz.attention import formula
from attnviz.attention.edits import Edit
from attnviz.errors import UnsupportedAttention

ALL_ROWS = ALL_KEYS = slice(None)
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
        self, head: int, batch: int = 0, rows: slice = ALL_ROWS, keys: slice = ALL_KEYS
    ) -> Bool[Tensor, "row column"] | None:
        """The mask of one head, the causal one included; None where nothing is blocked."""
        stored = None
        if self.mask is not None:
            whole = of_head(self.mask, head, batch)[..., : self.n_key]
            stored = whole.expand(self.n_query, self.n_key)[rows, keys]
        if not self.causal:
            return stored
        triangle = masks.causal(self.n_query, self.n_key, rows, keys).to(self.query.device)
        return triangle if stored is None else masks.combine(triangle, stored)

    def blind(
        self, head: int, batch: int = 0, rows: slice = ALL_ROWS
    ) -> Bool[Tensor, " row"] | None:
        """The queries that may attend to no key; None where the mask leaves a key to each.

        Their weights are 0 here. What a model makes of such rows is its kernel's accident
        (`capture.fates`), so they are not compared with it.
        """
        if self.mask is None:
            return None
        found = torch.zeros(self.n_query, dtype=torch.bool, device=self.mask.device)
        for block in blocks(self.n_query):
            may_attend = self.may_attend(head, batch, block)
            assert may_attend is not None
            found[block] = ~may_attend.any(dim=-1)
        return found[rows] if bool(found.any()) else None

    def stages(
        self,
        head: int,
        batch: int = 0,
        mask: Bool[Tensor, "query key"] | None = None,
        rows: slice = ALL_ROWS,
        edits: Sequence[Edit] = (),
    ) -> dict[str, Tensor]:
        """Every stage of one head, in order; `capped` and `biased` only where the model has them.

        `mask` stands in for the call's own and `edits` for entries of q, k, v, scores or masked, a
        "what if"; `rows` limits the work to some queries.
        """
        q, k, v = (
            formula.edited(stage, of, edits)
            for stage, of in zip("qkv", self.qkv(head, batch), strict=True)
        )
        q = q[rows]
        out = {
            "q": q,
            "k": k,
            "v": v,
            "scores": formula.edited("scores", formula.scores(q, k), edits),
        }
        last = out["scaled"] = formula.scaled(out["scores"], self.scaling)
        if self.softcap is not None:
            last = out["capped"] = formula.capped(last, self.softcap)
        if self.bias is not None:
            last = out["biased"] = last + self._block_of(self.bias, head, batch, rows)
        may_attend = self.may_attend(head, batch, rows) if mask is None else mask[rows].to(q.device)
        out["masked"] = formula.edited("masked", formula.masked(last, may_attend), edits, last)
        out["weights"] = formula.weights(out["masked"], self.softmax_sink(head, batch, rows))
        out["mixed"] = formula.mixed(out["weights"], v)
        sink = self._sink(head, batch, rows)
        if self.sinks_gate and sink is not None:
            out["mixed"] = out["mixed"] * formula.sink_gate(out["masked"], sink)
        return out

    def weights(self, head: int, batch: int = 0) -> Float[Tensor, "query key"]:
        """The attention weights of one head, without a second n×n matrix beside them."""
        out = torch.zeros(self.n_query, self.n_key, device=self.query.device)
        for rows in blocks(self.n_query):
            keys = self.reach(rows)
            sink = self.softmax_sink(head, batch, rows)
            out[rows, keys] = formula.weights(self.masked(head, batch, rows, keys), sink)
        return out

    def masked(
        self, head: int = 0, batch: int = 0, rows: slice = ALL_ROWS, keys: slice = ALL_KEYS
    ) -> Float[Tensor, "row column"]:
        """What enters the softmax of one head, for some queries and keys.

        The same steps as `stages`, in place: a block of few rows stays in the processor's cache.
        """
        self._require_untouched()
        q = of_row(self.query, batch)[head, rows].float()
        k = of_row(self.key, batch)[self.kv_head(head), keys].float()
        scores = formula.scores(q, k).mul_(self.scaling)
        if self.softcap is not None:
            scores = formula.capped(scores, self.softcap)
        if self.bias is not None:
            scores = scores.add_(self._block_of(self.bias, head, batch, rows, keys))
        may_attend = self.may_attend(head, batch, rows, keys)
        return scores if may_attend is None else scores.masked_fill_(~may_attend, -torch.inf)

    def reach(self, rows: slice) -> slice:
        """The keys that the rows up to `rows.stop` can see: under a causal mask none beyond it."""
        return slice(0, min(rows.stop, self.n_key) if self.causal else self.n_key)

    def normalisers(
        self, masked: Float[Tensor, "row column"], rows: slice, head: int = 0, batch: int = 0
    ) -> tuple[Float[Tensor, "row one"], Float[Tensor, "row one"]]:
        """The largest score of each row and the sum of exponents against it, a sink included.

        `masked` has the rows with all keys that they can see.
        """
        sink = self.softmax_sink(head, batch, rows)
        return formula.normalisers(masked, sink)

    def one_head(self, head: int, batch: int = 0) -> "AttentionInputs":
        """What decides the weights of one head, q and k copied so that the rest can be freed.

        The values are left out; the mask and the bias are still those of the call.
        """
        self._require_untouched()
        kv = self.kv_head(head)
        mask, bias = (
            None if of is None else of_head(of, head, batch)[None, None]
            for of in (self.mask, self.bias)
        )
        sinks = self.sinks
        if sinks is not None:
            sinks = sinks[head : head + 1] if sinks.dim() == 1 else of_head(sinks, head, batch)
        return replace(
            self,
            query=of_row(self.query, batch)[None, head : head + 1].clone(),
            key=of_row(self.key, batch)[None, kv : kv + 1].clone(),
            value=of_row(self.value, batch)[None, kv : kv + 1, :, :0].clone(),
            mask=mask,
            bias=bias,
            sinks=sinks,
            key_version=None,
        )

    def tensors(self) -> Iterator[Tensor]:
        """Every tensor that is kept alive."""
        for tensor in (self.query, self.key, self.value, self.mask, self.bias, self.sinks):
            if tensor is not None:
                yield tensor

    def softmax_sink(
        self, head: int, batch: int, rows: slice = ALL_ROWS
    ) -> Float[Tensor, "#row one"] | None:
        """The score that each row's sum has besides those of its keys; None without one."""
        return None if self.sinks_gate else self._sink(head, batch, rows)

    def _sink(self, head: int, batch: int, rows: slice) -> Float[Tensor, "#row one"] | None:
        """The sink's score for one head, one for all queries or one for each of `rows`."""
        if self.sinks is None:
            return None
        if self.sinks.dim() == 1:
            return self.sinks[head].float().reshape(1, 1)
        whole = of_head(self.sinks, head, batch).float()
        return whole[rows] if whole.shape[0] > 1 else whole

    def _block_of(
        self, tensor: Tensor, head: int, batch: int, rows: slice, keys: slice = ALL_KEYS
    ) -> Tensor:
        """Some rows and keys of what broadcasts to the scores, as float32."""
        found = of_head(tensor, head, batch)[..., : self.n_key]
        found = found[rows] if found.shape[0] > 1 else found
        return (found[:, keys] if found.shape[1] > 1 else found).float()

    def _require_untouched(self) -> None:
        if self.key_version is not None and self.key._version != self.key_version:
            raise UnsupportedAttention(
                "the keys were overwritten in place after this call, as a static key cache does;"
                " generate with the default dynamic cache",
                code="static_cache",
            )


def blocks(n: int, size: int = ROW_BLOCK) -> Iterator[slice]:
    """The rows from 0 to n in slices of at most `size`."""
    return (slice(start, min(start + size, n)) for start in range(0, n, size))


def of_row(tensor: Tensor, batch: int) -> Tensor:
    """One batch row; a tensor made for one row serves all."""
    return tensor[min(batch, tensor.shape[0] - 1)]


def of_head(tensor: Tensor, head: int, batch: int) -> Tensor:
    """The [query, key] slice of a tensor that broadcasts to [batch, head, query, key]."""
    while tensor.dim() < 4:
        tensor = tensor.unsqueeze(0)
    row = of_row(tensor, batch)
    return row[min(head, row.shape[0] - 1)]
