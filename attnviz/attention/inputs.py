"""The tensors that go into one attention call, and every stage that follows from them.

`AttentionInputs` refers to the model's own q, k, v, as they enter the dot product (after a rotary
embedding, for instance), and to everything else that enters the softmax: O(n·d) memory. Each stage
is derived from these on demand, in float32, for one head of one batch row:

    q·kᵀ → × scaling → [softcap·tanh(·/softcap)] → [+ bias] → mask → softmax, [sink in its sum] → ·v

Shapes follow transformers: q [batch, head, query, d_head], k and v [batch, kv_head, key, …]; with
fewer kv_heads than heads, neighbouring heads share one (grouped-query attention).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attnviz import masks
from attnviz.attention import formula
from attnviz.attention.kept_heads import KeptHeads
from attnviz.attention.stage_changes import ChangeableStage, StageChange
from attnviz.attention.tolerance import largest, longest_by_head
from attnviz.errors import UnsupportedAttention
from attnviz.summary import described

ALL_ROWS = ALL_KEYS = slice(None)
ROW_BLOCK = 256
HeadsOf = Callable[[Tensor, tuple[int, ...]], Tensor]


@dataclass(frozen=True, eq=False)
class AttentionInputs:
    """The tensors of one call, as the model computed them.

    `mask` is True where a query may attend; `causal` is True for a causal mask that is not stored.
    `scaling` multiplies the scores, 1/√d_head in most models. `bias` is added to the scaled scores
    (a relative position bias, ALiBi). `softcap` squeezes them into ±softcap (Gemma 2). `sinks` is
    one more score per head, or per query, that takes part in the softmax's sum and has no value
    (gpt-oss); with `sinks_gate` it scales the row of weights·V instead, to the same effect, and the
    weights sum to 1 (Granite). `versions` detects what was overwritten in place since, as a later
    step does with a static key cache. `changes` are what stood at some stages instead of the
    model's own numbers. `only` has the heads that are kept, if not all are: then tensors have rows
    for these alone, and heads are named by their own numbers.
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
    versions: tuple[tuple[int, ...], tuple[int, ...]] | None = None
    changes: tuple[StageChange, ...] = ()
    only: KeptHeads | None = None

    @property
    def n_batch(self) -> int:
        """The number of rows in the batch."""
        return max(self.query.shape[0], self.key.shape[0])

    @property
    def n_heads(self) -> int:
        """The number of heads."""
        return self.query.shape[1] if self.only is None else self.only.n_heads

    @property
    def n_kv_heads(self) -> int:
        """The number of key/value heads, which groups of heads share."""
        return self.key.shape[1] if self.only is None else self.only.n_kv_heads

    @property
    def kept_heads(self) -> Sequence[int]:
        """The numbers of the heads that are kept: all, unless `only` has some."""
        return range(self.n_heads) if self.only is None else self.only.numbers

    @property
    def kept_kv_heads(self) -> Sequence[int]:
        """The numbers of the key/value heads that are kept."""
        return range(self.n_kv_heads) if self.only is None else self.only.kv_numbers

    @property
    def n_query(self) -> int:
        """The number of queries, padding included."""
        return self.query.shape[2]

    @property
    def n_key(self) -> int:
        """The number of keys, padding included."""
        return self.key.shape[2]

    @property
    def d_head(self) -> int:
        """The width of a query."""
        return self.query.shape[3]

    @property
    def dtype(self) -> torch.dtype:
        """The type in which q is kept."""
        return self.query.dtype

    def kv_head(self, head: int) -> int:
        """The key/value head that a query head shares."""
        return head // (self.n_heads // self.n_kv_heads)

    def row(self, head: int) -> int:
        """The row of a head in q; `BadInput` for a head that was not kept."""
        return head if self.only is None else self.only.row(head)

    def kv_row(self, head: int) -> int:
        """The row of k and v that a query head shares."""
        return self.kv_head(head) if self.only is None else self.only.kv_rows[self.row(head)]

    def qkv(self, head: int, batch: int = 0) -> tuple[Tensor, Tensor, Tensor]:
        """q, k, v of one head as float32: [query, d_head], [key, d_head], [key, d_value].

        Raises `UnsupportedAttention` when the tensors are not the ones that the call saw.
        """
        self.require_untouched()
        kv = self.kv_row(head)
        return (
            batch_row(self.query, batch)[self.row(head)].float(),
            batch_row(self.key, batch)[kv].float(),
            batch_row(self.value, batch)[kv].float(),
        )

    def may_attend(
        self, head: int, batch: int = 0, rows: slice = ALL_ROWS, keys: slice = ALL_KEYS
    ) -> Bool[Tensor, "row column"] | None:
        """The mask of one head, the causal one included; None if there is no mask."""
        if "mask" in self.changed_stages(head, batch):
            own = replace(self, changes=()).may_attend(head, batch)
            whole = torch.ones(self.n_query, self.n_key, dtype=torch.bool) if own is None else own
            return self._changed("mask", whole.to(self.query.device), head, batch)[rows, keys]
        stored = None
        if self.mask is not None:
            whole = head_slice(self.mask, self.row(head), batch)[..., : self.n_key]
            stored = whole.expand(self.n_query, self.n_key)[rows, keys]
        if not self.causal:
            return stored
        triangle = masks.causal(self.n_query, self.n_key, rows, keys).to(self.query.device)
        return triangle if stored is None else masks.combine(triangle, stored)

    def fully_masked(
        self, head: int, batch: int = 0, rows: slice = ALL_ROWS
    ) -> Bool[Tensor, " row"] | None:
        """True for each query that may attend to no key; None if every query has a key.

        The weights of such a query are 0 here. Each kernel returns something else for it
        (`capture.blocked_rows`), so it is not compared with the model.
        """
        if self.mask is None:
            return None
        masked = torch.zeros(self.n_query, dtype=torch.bool, device=self.mask.device)
        for block in blocks(self.n_query):
            may_attend = self.may_attend(head, batch, block)
            assert may_attend is not None
            masked[block] = ~may_attend.any(dim=-1)
        return masked[rows] if bool(masked.any()) else None

    def largest_scores(self, batch: int = 0) -> list[float]:
        """A bound on |score| of each kept head, bias included: |q|·|k|·scaling + max |bias|.

        It takes O(n·d).
        """
        queries = longest_by_head(batch_row(self.query, batch))
        keys = longest_by_head(batch_row(self.key, batch))
        both = zip(queries, self.kept_heads, strict=True)
        scores = [q * keys[self.kv_row(head)] * abs(self.scaling) for q, head in both]
        if self.bias is None:
            return scores
        rows = enumerate(scores)
        return [score + largest(head_slice(self.bias, row, batch)) for row, score in rows]

    def stages(
        self,
        head: int,
        batch: int = 0,
        mask: Bool[Tensor, "query key"] | None = None,
        rows: slice = ALL_ROWS,
    ) -> dict[str, Tensor]:
        """Every stage of one head, in order; `capped` and `biased` only if the model has them.

        `mask` replaces the call's own, a "what if"; `rows` limits the work to some queries. Where
        the call was changed while it ran, its stages are the changed ones.
        """
        if self.changed_stages(head, batch) and rows != ALL_ROWS:
            whole = self.stages(head, batch, mask)
            return {stage: x if stage in ("k", "v") else x[rows] for stage, x in whole.items()}
        stages: tuple[ChangeableStage, ...] = ("q", "k", "v")
        q, k, v = (
            self._changed(stage, values, head, batch)
            for stage, values in zip(stages, self.qkv(head, batch), strict=True)
        )
        q = q[rows]
        out = {
            "q": q,
            "k": k,
            "v": v,
            "scores": self._changed("scores", formula.scores(q, k), head, batch),
        }
        last = out["scaled"] = formula.scaled(out["scores"], self.scaling)
        if self.softcap is not None:
            last = out["capped"] = formula.capped(last, self.softcap)
        if self.bias is not None:
            last = out["biased"] = last + self._block_of(self.bias, head, batch, rows)
        may_attend = self.may_attend(head, batch, rows) if mask is None else mask[rows].to(q.device)
        masked = formula.masked(last, may_attend)
        out["masked"] = self._changed("masked", masked, head, batch, last)
        weights = formula.weights(out["masked"], self.softmax_sink(head, batch, rows))
        out["weights"] = self._changed("weights", weights, head, batch)
        mixed = formula.mixed(out["weights"], v)
        sink = self._sink(head, batch, rows)
        if self.sinks_gate and sink is not None:
            mixed = mixed * formula.sink_gate(out["masked"], sink)
        out["mixed"] = self._changed("mixed", mixed, head, batch)
        return out

    def changed_stages(self, head: int, batch: int = 0) -> frozenset[ChangeableStage]:
        """The stages at which something else than the model's own numbers stood."""
        changes = (change for change in self.changes if change.touches(batch, head))
        return frozenset(change.stage for change in changes)

    def _changed(
        self,
        stage: ChangeableStage,
        values: Tensor,
        head: int,
        batch: int,
        unmasked: Tensor | None = None,
    ) -> Float[Tensor, "row column"] | Bool[Tensor, "row column"]:
        """The numbers that stood at a stage of one head while the model ran."""
        for change in self.changes:
            if change.stage == stage and change.touches(batch, head):
                own = replace(self, changes=()).may_attend(head, batch)
                values = change.applied(
                    values[None],
                    [(batch, head)],
                    (self.n_query, self.n_key),
                    None if own is None else own[None],
                    None if unmasked is None else unmasked[None],
                )[0]
        return values

    def weights(self, head: int, batch: int = 0) -> Float[Tensor, "query key"]:
        """The attention weights of one head, without a second n×n matrix beside them."""
        if self.changed_stages(head, batch):
            return self.stages(head, batch)["weights"]
        size, device = (self.n_query, self.n_key), self.query.device
        out = torch.zeros(size, dtype=torch.float32, device=device)
        for rows in blocks(self.n_query):
            keys = self.visible_keys(rows)
            sink = self.softmax_sink(head, batch, rows)
            out[rows, keys] = formula.weights(self.masked(head, batch, rows, keys), sink)
        return out

    def masked(
        self, head: int = 0, batch: int = 0, rows: slice = ALL_ROWS, keys: slice = ALL_KEYS
    ) -> Float[Tensor, "row column"]:
        """The scores that enter the softmax of one head, for some queries and keys.

        The same steps as in `stages`, in place: a block of few rows stays in the processor's cache.
        """
        self.require_untouched()
        q = batch_row(self.query, batch)[self.row(head), rows].float()
        k = batch_row(self.key, batch)[self.kv_row(head), keys].float()
        scores = formula.scores(q, k).mul_(self.scaling)
        if self.softcap is not None:
            scores = formula.capped(scores, self.softcap)
        if self.bias is not None:
            scores = scores.add_(self._block_of(self.bias, head, batch, rows, keys))
        may_attend = self.may_attend(head, batch, rows, keys)
        return scores if may_attend is None else scores.masked_fill_(~may_attend, -torch.inf)

    def visible_keys(self, rows: slice) -> slice:
        """The keys that queries before `rows.stop` can see: under a causal mask none beyond it."""
        return slice(0, min(rows.stop, self.n_key) if self.causal else self.n_key)

    def normalisers(
        self, masked: Float[Tensor, "row column"], rows: slice, head: int = 0, batch: int = 0
    ) -> tuple[Float[Tensor, "row one"], Float[Tensor, "row one"]]:
        """The largest score of each row and Σ exp(score − largest), a sink included.

        `masked` has the scores of these rows with all keys that they can see.
        """
        return formula.normalisers(masked, self.softmax_sink(head, batch, rows))

    def one_text(self, batch: int) -> "AttentionInputs":
        """The inputs of one row of the batch, as views."""

        def row(tensor: Tensor | None) -> Tensor | None:
            return tensor if tensor is None or tensor.dim() < 4 else batch_row(tensor, batch)[None]

        return replace(
            self,
            query=batch_row(self.query, batch)[None],
            key=batch_row(self.key, batch)[None],
            value=batch_row(self.value, batch)[None],
            mask=row(self.mask),
            bias=row(self.bias),
            sinks=row(self.sinks),
        )

    def one_head(self, head: int, batch: int = 0) -> "AttentionInputs":
        """The inputs of one head's weights, q and k copied so that the other heads can be freed.

        The values are left out; the mask and the bias are still views of the call's own.
        """
        self.require_untouched()
        row, kv = self.row(head), self.kv_row(head)
        mask, bias = (
            None if tensor is None else head_slice(tensor, row, batch)[None, None]
            for tensor in (self.mask, self.bias)
        )
        sinks = self.sinks
        if sinks is not None:
            sinks = sinks[row : row + 1] if sinks.dim() == 1 else head_slice(sinks, row, batch)
        return replace(
            self,
            query=batch_row(self.query, batch)[None, row : row + 1].clone(),
            key=batch_row(self.key, batch)[None, kv : kv + 1].clone(),
            value=batch_row(self.value, batch)[None, kv : kv + 1, :, :0].clone(),
            mask=mask,
            bias=bias,
            sinks=sinks,
            versions=None,
            only=None,
        )

    def with_heads(self, only: KeptHeads, by_head: HeadsOf) -> "AttentionInputs":
        """Some heads alone, copied so that the others can be freed.

        `by_head` takes heads from a mask or bias.
        """
        rows, kv_rows = list(only.numbers), list(only.kv_numbers)
        sinks = self.sinks
        return replace(
            self,
            query=self.query[:, rows],
            key=self.key[:, kv_rows],
            value=self.value[:, kv_rows],
            mask=None if self.mask is None else by_head(self.mask, only.numbers),
            bias=None if self.bias is None else by_head(self.bias, only.numbers),
            sinks=sinks if sinks is None else _sinks_of(sinks, only.numbers),
            versions=None,
            only=only,
        )

    def __repr__(self) -> str:
        return described(self)

    def __getstate__(self) -> dict[str, object]:
        self.require_untouched()
        return dict(vars(self))

    def __setstate__(self, state: dict[str, object]) -> None:
        """Take the parts of a copy, whose keys count their own changes in place."""
        vars(self).update(state)
        if self.versions is not None:
            self.watched(self.mask)

    def tensors(self) -> Iterator[Tensor]:
        """Every tensor that is kept alive."""
        for tensor in (self.query, self.key, self.value, self.mask, self.bias, self.sinks):
            if tensor is not None:
                yield tensor

    def softmax_sink(
        self, head: int, batch: int, rows: slice = ALL_ROWS
    ) -> Float[Tensor, "#row one"] | None:
        """The sink's score in each row's sum; None without a sink, or where it gates the row."""
        return None if self.sinks_gate else self._sink(head, batch, rows)

    def _sink(self, head: int, batch: int, rows: slice) -> Float[Tensor, "#row one"] | None:
        """The sink's score for one head, one for all queries or one for each of `rows`."""
        if self.sinks is None:
            return None
        if self.sinks.dim() == 1:
            return self.sinks[self.row(head)].float().reshape(1, 1)
        whole = head_slice(self.sinks, self.row(head), batch).float()
        return whole[rows] if whole.shape[0] > 1 else whole

    def _block_of(
        self, tensor: Tensor, head: int, batch: int, rows: slice, keys: slice = ALL_KEYS
    ) -> Tensor:
        """Some rows and keys of a tensor that broadcasts to the scores, as float32."""
        block = head_slice(tensor, self.row(head), batch)[..., : self.n_key]
        block = block[rows] if block.shape[0] > 1 else block
        return (block[:, keys] if block.shape[1] > 1 else block).float()

    def watched(self, mask: Bool[Tensor, "#batch #head #query #key"] | None) -> "AttentionInputs":
        """The same with this mask, which is nobody else's, and a watch on the other tensors."""
        counts = self._counts()
        versions = None if counts is None else (counts, self._memories())
        vars(self)["mask"], vars(self)["versions"] = mask, versions
        return self

    def _counts(self) -> tuple[int, ...] | None:
        """The changes in place of q, k, v and bias so far; None where torch counts none."""
        try:
            counts = self.query._version, self.key._version, self.value._version
            return counts if self.bias is None else (*counts, self.bias._version)
        except RuntimeError:  # in inference mode
            return None

    def _memories(self) -> tuple[int, ...]:
        """The addresses of q, k, v and bias; none of tensors without memory of their own."""
        tensors = self.query, self.key, self.value, self.bias
        try:
            return tuple(t.untyped_storage().data_ptr() for t in tensors if t is not None)
        except RuntimeError:  # in `torch.vmap`
            return ()

    def require_untouched(self) -> None:
        """Raise `UnsupportedAttention` when the tensors are not the ones that the call saw."""
        if self.versions is None:
            return
        counts, (before, memories) = self._counts(), self.versions
        if counts is None or counts == before:
            return
        names, now = ("q", "k", "v", "the bias"), self._memories()
        watched = zip(names, before, counts, memories, now, strict=False)
        changed = [  # another memory is another tensor, which was put in its place
            name
            for name, count, count_now, memory, memory_now in watched
            if count != count_now and memory == memory_now
        ]
        if not changed:
            return
        if "k" in changed:
            raise UnsupportedAttention(
                "the keys were overwritten in place after this call, as a static key cache does;"
                " generate with the default dynamic cache",
                code="static_cache",
            )
        raise UnsupportedAttention(
            f"tensors of this call were overwritten in place after it ({' and '.join(changed)});"
            " look at the call before you change them, or give the model a copy",
            code="overwritten",
        )


def blocks(n: int, size: int = ROW_BLOCK) -> Iterator[slice]:
    """The rows from 0 to n in slices of at most `size`."""
    return (slice(start, min(start + size, n)) for start in range(0, n, size))


def batch_row(tensor: Tensor, batch: int) -> Tensor:
    """One row of the batch; a tensor with a single row is shared by all of them."""
    return tensor[min(batch, tensor.shape[0] - 1)]


def of_heads(tensor: Tensor, heads: tuple[int, ...]) -> Tensor:
    """Some heads of what broadcasts to [batch, head, query, key]; itself if heads share it."""
    is_by_head = tensor.dim() > 2 and tensor.shape[-3] > 1
    return tensor[..., list(heads), :, :] if is_by_head else tensor


def _sinks_of(sinks: Tensor, heads: tuple[int, ...]) -> Tensor:
    return sinks[list(heads)] if sinks.dim() == 1 else of_heads(sinks, heads)


def head_slice(tensor: Tensor, head: int, batch: int) -> Tensor:
    """The [query, key] slice of a tensor that broadcasts to [batch, head, query, key]."""
    while tensor.dim() < 4:
        tensor = tensor.unsqueeze(0)
    row = batch_row(tensor, batch)
    return row[min(head, row.shape[0] - 1)]
