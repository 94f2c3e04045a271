"""One recorded call of one attention module, and what is derived from it on demand.

An `AttentionCall` holds its `AttentionInputs` and, to compare with, the tensors that the model
itself made of them: O(n·d) memory. Nothing n×n is stored; `weights`, `stages` and `mixed` derive
it, head by head where memory matters, and `verify` compares the result with the model's own.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attnviz.attention import formula
from attnviz.attention.batch_weights import all_weights, new_memory
from attnviz.attention.inputs import ALL_ROWS, AttentionInputs, batch_row, blocks
from attnviz.attention.projection import Projection, apply_linear
from attnviz.attention.projection_comparison import compare_all_projections
from attnviz.attention.stored_weights import StoredWeights
from attnviz.attention.tolerance import (
    FLOAT32_STEP,
    largest_by_head,
    max_difference,
    max_differences,
    rounding,
)
from attnviz.attention.verification import Comparison, Verification, worst
from attnviz.errors import heads_left_out, require_index
from attnviz.summary import shortened
from attnviz.types import Kind, MaskKind, Stack, Stage
from attnviz.vision.token_boxes import Places
from attnviz.vision.windows import Windows

WHOLE_WEIGHTS = 1 << 24  # of one head that are computed at once: those of 4,096 tokens, 64 MiB
SMALL = 512 * 512  # weights of a head; of larger ones each is derived alone, in less memory


@dataclass(frozen=True, eq=False)
class AttentionCall:
    """One call of one attention module: everything its stages are derived from.

    `module` is the dotted name, `index` counts that module's calls within the capture. `output` is
    weights·V as the model's own kernel returned it, [batch, query, head, d_value]. `projections`
    has the linear layers beside the call that were found, "q", "k", "v", "out", and `absent` the
    reason for each missing stage. Of a long text, `output` and the projections keep every
    `row_step`-th token; with `keep="L2.H1"` tensors have the `kept_heads` alone. `windows`
    describes the windows in the batch if a layer attends inside windows of a picture;
    `query_places` and `key_places` have the places of tokens in a picture, unless they are patches
    row by row.
    """

    module: str
    index: int
    layer: int
    stack: Stack | None
    kind: Kind
    inputs: AttentionInputs | StoredWeights
    output: Float[Tensor, "batch query head d_value"]
    projections: dict[str, Projection] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    row_step: int = 1
    windows: Windows | None = None
    query_places: Places | None = None
    key_places: Places | None = None

    @property
    def name(self) -> str:
        """The name that tells the calls of a capture apart, "module#index"."""
        return f"{self.module}#{self.index}"

    @property
    def n_batch(self) -> int:
        """The number of rows in the batch: texts, or windows of pictures."""
        return self.inputs.n_batch

    @property
    def n_heads(self) -> int:
        """The number of heads that the layer has."""
        return self.inputs.n_heads

    @property
    def kept_heads(self) -> Sequence[int]:
        """The numbers of the heads that are kept, in order: all, unless `keep=` named some."""
        return self.inputs.kept_heads

    @property
    def n_query(self) -> int:
        """The number of queries, padding included."""
        return self.inputs.n_query

    @property
    def n_key(self) -> int:
        """The number of keys, padding included."""
        return self.inputs.n_key

    @property
    def changes(self) -> tuple[str, ...]:
        """The changes made to the call while the model ran, as text; stages are derived with them.

        `attnviz.changes` reads and writes the text form.
        """
        return tuple(dict.fromkeys(map(str, self.inputs.changes)))

    @property
    def mask_kind(self) -> MaskKind:
        """The shape of the mask.

        "none"; "causal" for a causal mask that is not stored; "keys" for a stored mask that is the
        same for every query, as padding is; "cells" for any other stored mask.
        """
        mask = self.inputs.mask
        if mask is None:
            return "causal" if self.inputs.causal else "none"
        same_for_all = mask.shape[-2] == 1 or bool((mask == mask[..., :1, :]).all())
        return "keys" if same_for_all else "cells"

    def placed(self, stack: Stack | None, layer: int, kind: Kind) -> "AttentionCall":
        """The same call at another place; in a tenth of the time that `replace` takes."""
        call = object.__new__(AttentionCall)
        vars(call).update(vars(self), stack=stack, layer=layer, kind=kind)
        return call

    def check(self, head: int | None, batch: int) -> None:
        """Raise `BadInput` unless the head (None = all) and the batch row exist and are kept."""
        if head is None:
            self.require_all_heads()
        else:
            self.inputs.row(require_index("head", head, self.n_heads))
        require_index("batch", batch, self.n_batch)

    def require_all_heads(self) -> None:
        """Raise `BadInput` for a call of which some heads alone are kept (`keep=`)."""
        if self.inputs.only is not None:
            raise heads_left_out(self.layer, self.kept_heads)

    def stages(self, head: int, batch: int = 0) -> dict[str, Tensor]:
        """q, k, v, scores, scaled, [capped], [biased], masked, weights, mixed of one head."""
        self.check(head, batch)
        return self.inputs.stages(head, batch)

    def weights(self, head: int | None = None, batch: int = 0) -> Float[Tensor, "... query key"]:
        """Attention weights, float32: [query, key] of one head, [head, query, key] of all.

        Heads that are computed together may differ from one alone in the last bit (6e-8). Raises
        `BadInput` for a head that was not kept, and for all where not all were.
        """
        self.check(head, batch)
        return self.kept_weights(batch) if head is None else self.inputs.weights(head, batch)

    def kept_weights(self, batch: int = 0) -> Float[Tensor, "kept_head query key"]:
        """Attention weights of the `kept_heads` as float32."""
        if self._is_short and isinstance(self.inputs, AttentionInputs):
            own = self.inputs if self.n_batch == 1 else self.inputs.one_text(batch)
            return all_weights(own)[0]
        heads, device = self.kept_heads, self.output.device
        weights = new_memory((len(heads), self.n_query, self.n_key), device)
        for row, head in enumerate(heads):
            weights[row] = self.inputs.weights(head, batch)
        return weights

    @property
    def _is_short(self) -> bool:
        """True if the weights of a head are so few that all heads are derived together."""
        return self.n_query * self.n_key <= SMALL

    def one_head(self, head: int, batch: int = 0) -> AttentionInputs | StoredWeights:
        """The inputs of one head alone, enough for its weights, so that the others can be freed."""
        if self.changes and isinstance(self.inputs, AttentionInputs):
            return StoredWeights(self.weights(head, batch)[None, None])
        return self.inputs.one_head(head, batch)

    def mixed(
        self,
        batch: int = 0,
        mask: Bool[Tensor, "query key"] | None = None,
        rows: slice = ALL_ROWS,
    ) -> Float[Tensor, "query head d_value"]:
        """weights·V of every kept head, in the layout of `output`; a `mask` is a "what if"."""
        inputs, heads = self.inputs, self.kept_heads
        if (
            mask is None
            and self._is_short
            and isinstance(inputs, AttentionInputs)
            and not (inputs.changes or inputs.sinks_gate)
        ):
            value = batch_row(inputs.value, batch).float()
            value = torch.stack([value[inputs.kv_row(head)] for head in heads])
            return formula.mixed(self.kept_weights(batch)[:, rows], value).transpose(0, 1)
        return torch.stack([self._mixed_of(head, batch, mask, rows) for head in heads], dim=1)

    def _mixed_of(
        self, head: int, batch: int, mask: Bool[Tensor, "query key"] | None, rows: slice
    ) -> Float[Tensor, "query d_value"]:
        """weights·V of a head; of a long text block by block, without a matrix of all weights."""
        inputs, chosen = self.inputs, range(self.n_query)[rows]
        is_long = len(chosen) * self.n_key > WHOLE_WEIGHTS and mask is None
        if not is_long or isinstance(inputs, StoredWeights) or inputs.changed_stages(head, batch):
            return inputs.stages(head, batch, mask, rows)["mixed"]
        parts = (chosen[block] for block in blocks(len(chosen)))
        slices = (slice(part.start, part.stop, part.step) for part in parts)
        return torch.cat([inputs.stages(head, batch, rows=each)["mixed"] for each in slices])

    @property
    def kept_rows(self) -> slice:
        """The queries whose part of `output` and of the projections is kept."""
        return slice(None, None, self.row_step)

    def fully_masked(self, batch: int = 0) -> Bool[Tensor, "row head"] | None:
        """True for each kept query that may attend to no key, by kept head; None if none is."""
        if isinstance(self.inputs, StoredWeights) or self.inputs.mask is None:
            return None
        one_for_all = self.inputs.mask.dim() < 4 or self.inputs.mask.shape[1] == 1
        heads = self.kept_heads[:1] if one_for_all else self.kept_heads
        by_head = [self.inputs.fully_masked(head, batch, self.kept_rows) for head in heads]
        masked = [rows for rows in by_head if rows is not None]
        if not masked:
            return None
        none = torch.zeros_like(masked[0])
        rows = torch.stack([none if rows is None else rows for rows in by_head], dim=1)
        return rows.expand(-1, len(self.kept_heads))

    def visible(self, batch: int = 0) -> Bool[Tensor, "query key"]:
        """True where some head may attend; taken from the weights if the mask is not known."""
        if isinstance(self.inputs, StoredWeights):
            return (batch_row(self.inputs.kept, batch) > 0).any(dim=0)
        mask = self.inputs.mask
        n_mask = 1 if mask is None or mask.dim() < 4 else mask.shape[1]  # one for all, or each
        visible = torch.zeros(self.n_query, self.n_key, dtype=torch.bool, device=self.output.device)
        for head in self.kept_heads[:n_mask]:
            may_attend = self.inputs.may_attend(head, batch)
            visible |= True if may_attend is None else may_attend
        return visible

    def compare_mixed(
        self, ours: Float[Tensor, "row head d_value"], batch: int, rows: slice | Tensor = ALL_ROWS
    ) -> list[Comparison]:
        """weights·V of each head beside the model's own, in some of the kept rows."""
        theirs = batch_row(self.output, batch)[rows]
        errors = max_differences(ours.transpose(0, 1), theirs.transpose(0, 1))
        tolerances = self._mixed_tolerances(batch)
        return [
            Comparison(self.name, "mixed", *both) for both in zip(errors, tolerances, strict=True)
        ]

    def _mixed_tolerances(self, batch: int) -> list[float]:
        """The largest error of weights·V that rounding explains, at the size of each head's v."""
        inputs = self.inputs
        if isinstance(inputs, StoredWeights):
            sizes = largest_by_head(batch_row(self.output, batch).transpose(0, 1))
            return [rounding(inputs.dtype, size) for size in sizes]
        sizes = largest_by_head(batch_row(inputs.value, batch))
        # stored more coarsely than the model computed, or computed so under autocast: either moves
        # the scores as well
        coarser = max(inputs.dtype, self.output.dtype, key=lambda dtype: torch.finfo(dtype).eps)
        is_mixed = inputs.dtype != self.output.dtype
        step = torch.finfo(coarser).eps if is_mixed else FLOAT32_STEP
        return [
            rounding(coarser, size, size * score, step)
            for head, score in zip(self.kept_heads, inputs.largest_scores(batch), strict=True)
            for size in (sizes[inputs.kv_row(head)],)
        ]

    def __repr__(self) -> str:
        stack = "" if self.stack is None else f"{self.stack} "
        some = "" if self.inputs.only is None else f"{len(self.kept_heads)} of "
        sizes = f"{some}{self.n_heads} heads, {self.n_query} queries × {self.n_key} keys"
        batch = f", batch of {self.n_batch}" if self.n_batch > 1 else ""
        name = f"AttentionCall {shortened(self.name)}"
        changed = f", changed: {shortened(', '.join(self.changes))}" if self.changes else ""
        return f"{name}: {stack}{self.kind}, layer {self.layer}, {sizes}{batch}{changed}"

    def verify(self) -> Verification:
        """Compare q, k, v, weights·V and the output of W_O with the model's own, all heads of each.

        q, k, v and W_O where their linear layers were found; `uncovered` of the result names the
        stages that are shown and were not compared. Where only weights are known, as of another
        tool's tensors, there is nothing to compare.
        """
        out = self.projections.get("out")
        comparisons = []
        for batch in range(self.n_batch):
            comparisons += _worst_of_each_stage(compare_all_projections(self, batch))
        if not isinstance(self.inputs, StoredWeights) or self.inputs.value is not None:
            comparisons.append(worst(self._compare_mixed(row) for row in range(self.n_batch)))
        if out is not None and self.inputs.only is None:
            comparisons.append(self._compare_projected(out))
        compared = {comparison.stage for comparison in comparisons}
        uncovered = tuple(stage for stage in self._shown_stages() if stage not in compared)
        return Verification(
            tuple(comparisons), uncovered={self.name: uncovered} if uncovered else {}
        )

    def _shown_stages(self) -> Iterator[Stage]:
        """The stages that are the model's own tensors, and so to be compared."""
        inputs = self.inputs
        own: dict[Stage, Tensor | None] = {"q": inputs.query, "k": inputs.key, "v": inputs.value}
        yield from (stage for stage, tensor in own.items() if tensor is not None)
        yield "mixed"

    def _compare_mixed(self, batch: int) -> Comparison:
        """The worst head of one batch row; queries without a key are not compared."""
        ours = self.mixed(batch, rows=self.kept_rows)
        masked = self.fully_masked(batch)
        if masked is not None:
            theirs = batch_row(self.output, batch).float()
            ours = torch.where(masked[..., None], theirs, ours)
        return worst(self.compare_mixed(ours, batch))

    def _compare_projected(self, out: Projection) -> Comparison:
        """W_O applied to the model's own weights·V, beside the model's own result."""
        mixed = self.output.flatten(2).float()
        error = max_difference(apply_linear(mixed, out), out.output)
        return Comparison(self.name, "projected", error, out.tolerance())


def _worst_of_each_stage(comparisons: Iterable[Comparison]) -> list[Comparison]:
    by_stage: dict[Stage, list[Comparison]] = {}
    for comparison in comparisons:
        by_stage.setdefault(comparison.stage, []).append(comparison)
    return [worst(heads) for heads in by_stage.values()]
