"""What one forward pass left behind: `AttentionCall` per attention, `Capture` for the whole pass.

A call holds its `AttentionInputs` and, to compare with, what the model itself made of them:
O(n·d) memory. Nothing n×n is stored; `weights` and `stages` derive it on demand, head by head
where memory matters.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import index as as_index

import numpy as np
import torch
from jaxtyping import Bool, Float, Float32
from torch import Tensor

from attnviz.attention.inputs import ALL_ROWS, AttentionInputs, of_row
from attnviz.attention.projection import Projection, apply_linear
from attnviz.attention.stored_weights import StoredWeights
from attnviz.errors import BadInput, CaptureMismatch
from attnviz.types import Kind, MaskKind, ModelKey, Stack, Tokens
from attnviz.vision.token_boxes import Places
from attnviz.vision.windows import Windows

# max |derived − model's own| that float32 rounding explains, measured over 60 model families
# at 1e-5; half-precision models are compared with float32 results and differ by their own step.
TOLERANCES = {torch.float32: 1e-4, torch.float16: 4e-3, torch.bfloat16: 3e-2}
# up to which size of the model's numbers that is so; beyond it rounding grows with them, measured
# at 4e-7, 4e-4 and 3e-3 of the largest for sizes from 2 to 10,000
SIZES = {torch.float32: 100.0, torch.float16: 4.0, torch.bfloat16: 4.0}


@dataclass(frozen=True, eq=False)
class AttentionCall:
    """One call of one attention module: everything its stages are derived from.

    `module` is the dotted name, `index` counts that module's calls within the capture. `output`
    is what the model's own kernel returned for weights·V, [batch, query, head, d_value].
    `projections` has the linear layers beside the call, "q", "k", "v", "out", as far as they were
    found, and `absent` says why a stage is missing. `output` and the projections have only every
    `row_step`-th token of a long text. `windows` says how the batch is made of windows, where a
    layer attends inside windows of a picture; `query_places` and `key_places` where in a picture
    the tokens of either axis are, where that is not simply patch by patch.
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
    def n_batch(self) -> int:
        return self.inputs.n_batch

    @property
    def n_heads(self) -> int:
        return self.inputs.n_heads

    @property
    def n_kv_heads(self) -> int:
        return self.inputs.n_kv_heads

    @property
    def n_query(self) -> int:
        return self.inputs.n_query

    @property
    def n_key(self) -> int:
        return self.inputs.n_key

    @property
    def d_head(self) -> int | None:
        """The width of a query; None where the model's own code does not show it."""
        return self.inputs.d_head

    @property
    def scaling(self) -> float | None:
        """What the scores are multiplied by, 1/√d_head in most models; None where not known."""
        return self.inputs.scaling

    @property
    def causal(self) -> bool:
        """True when a causal mask applies that is not stored in `mask`."""
        return self.inputs.causal

    @property
    def mask(self) -> Tensor | None:
        """The stored mask, True = may attend, broadcastable to [batch, head, query, key]."""
        return self.inputs.mask

    @property
    def mask_kind(self) -> MaskKind:
        """ "none"; "causal" without a stored mask; "keys" when every query of a text is kept from
        the same keys, as padding does; "cells" for any other stored mask."""
        if self.mask is None:
            return "causal" if self.causal else "none"
        same_for_all = self.mask.shape[-2] == 1 or bool((self.mask == self.mask[..., :1, :]).all())
        return "keys" if same_for_all else "cells"

    @cached_property
    def tolerance(self) -> float:
        """The largest max |derived − model's own| that rounding explains."""
        made = [self.output, *(of.output for of in self.projections.values())]
        size = max(_largest(of) for of in made)
        grown = size / SIZES.get(self.inputs.dtype, SIZES[torch.float32])
        return type_tolerance(self.inputs.dtype) * (max(1.0, grown) if math.isfinite(size) else 1.0)

    def check(self, head: int | None, batch: int) -> None:
        """Raise `BadInput` unless the head (None = all) and the batch row exist."""
        require_index("head", 0 if head is None else head, self.n_heads)
        require_index("batch", batch, self.n_batch)

    def stages(self, head: int, batch: int = 0) -> dict[str, Tensor]:
        """q, k, v, scores, scaled, [capped], [biased], masked, weights, mixed of one head."""
        self.check(head, batch)
        return self.inputs.stages(head, batch)

    def weights(self, head: int | None = None, batch: int = 0) -> Float[Tensor, "... query key"]:
        """Attention weights, float32: [query, key] of one head, [head, query, key] of all."""
        self.check(head, batch)
        if head is not None:
            return self.inputs.weights(head, batch)
        out = torch.empty(self.n_heads, self.n_query, self.n_key, device=self.output.device)
        for each in range(self.n_heads):
            out[each] = self.inputs.weights(each, batch)
        return out

    def mixed(
        self,
        batch: int = 0,
        mask: Bool[Tensor, "query key"] | None = None,
        rows: slice = ALL_ROWS,
    ) -> Float[Tensor, "query head d_value"]:
        """weights·V of every head, in the layout of `output`; a `mask` is a "what if"."""
        heads = range(self.n_heads)
        return torch.stack(
            [self.inputs.stages(head, batch, mask, rows)["mixed"] for head in heads], dim=1
        )

    @property
    def rows(self) -> slice:
        """The tokens whose part of what the model made is kept."""
        return slice(None, None, self.row_step)

    def thinned(self, row_step: int) -> "AttentionCall":
        """The call with every n-th row of what the model made, copied so that the rest is freed."""
        assert self.row_step == 1, "a call is thinned once"
        projections = {name: of.thinned(row_step) for name, of in self.projections.items()}
        output = self.output[:, ::row_step].clone()
        return replace(self, output=output, projections=projections, row_step=row_step)

    def verify(self) -> float:
        """max |derived − model's own| over weights·V, and over ·W_O where it was found."""
        return max((self._error_of(batch) for batch in range(self.n_batch)), key=_nan_first)

    def blind(self, batch: int = 0) -> Bool[Tensor, "row head"] | None:
        """Which of the kept rows may attend to no key, head by head; None where none may not."""
        if isinstance(self.inputs, StoredWeights) or self.inputs.mask is None:
            return None
        one_for_all = self.inputs.mask.dim() < 4 or self.inputs.mask.shape[1] == 1
        heads = range(1 if one_for_all else self.n_heads)
        found = [self.inputs.blind(head, batch, self.rows) for head in heads]
        if all(of is None for of in found):
            return None
        seeing = torch.zeros_like(next(of for of in found if of is not None))
        rows = torch.stack([seeing if of is None else of for of in found], dim=1)
        return rows.expand(-1, self.n_heads)

    def _error_of(self, batch: int) -> float:
        mixed, blind = self.mixed(batch, rows=self.rows), self.blind(batch)
        if blind is not None:  # W_O is still compared: on what the model itself mixed there
            mixed = torch.where(blind[..., None], of_row(self.output, batch).float(), mixed)
        error = max_difference(mixed, of_row(self.output, batch))
        out = self.projections.get("out")
        if out is None:
            return error
        projected = apply_linear(mixed.flatten(1), out)
        return max(error, max_difference(projected, out.output[batch]), key=_nan_first)

    def tensors(self) -> Iterator[Tensor]:
        """Every tensor the call keeps alive, the model's own parameters aside."""
        yield from self.inputs.tensors()
        yield self.output
        for projection in self.projections.values():
            yield from (projection.input, projection.output)


@dataclass(frozen=True, eq=False)
class Capture:
    """All attention calls of one forward pass, with the tokens that went in.

    `tokens_by_stack` has, for each stack, the tokens of each batch row. `hidden` is the model's
    last hidden state [batch, token, d_model]; `logits` its scores, where it has a head for them: of
    a language model [batch, token, vocab], a row for what follows each token, or for the last
    tokens only where all rows would take more than 64 MiB. `n_generated` tokens at the end were
    written by the model, as far as they were fed back to it; `grid` is (rows, columns) of a
    picture's patches, `frame_s` how far apart the frames of a sound are.
    """

    model: ModelKey
    calls: tuple[AttentionCall, ...]
    tokens_by_stack: dict[Stack | None, tuple[Tokens, ...]]
    n_generated: int = 0
    grid: tuple[int, int] | None = None
    frame_s: float | None = None
    hidden: Tensor | None = None
    logits: Tensor | None = None

    @property
    def tokens(self) -> Tokens:
        """The tokens of the first text."""
        return self.tokens_of()

    def tokens_of(self, batch: int = 0, stack: Stack | None = None) -> Tokens:
        """The tokens of one batch row; padding included."""
        rows = self.tokens_by_stack.get(stack)
        if rows is None:
            rows = next(iter(self.tokens_by_stack.values()))
        require_index("batch", batch, len(rows))
        return rows[batch]

    def query_tokens(self, call: AttentionCall, batch: int = 0) -> Tokens:
        """The tokens along a call's queries; of a window where the batch is made of windows."""
        if call.query_places is not None:
            require_index("batch", batch, call.n_batch)
            return call.query_places.tokens(batch)
        if call.windows is not None:
            require_index("batch", batch, call.n_batch)
            return call.windows.tokens(batch % call.windows.count, call.n_query)
        return self.tokens_of(batch, call.stack)

    def key_tokens(self, call: AttentionCall, batch: int = 0) -> Tokens:
        """The tokens along a call's keys: another stack's where the attention is cross-attention.

        That is the encoder's; of a model without one, the stack with as many tokens as keys.
        """
        if call.key_places is not None:
            require_index("batch", batch, call.n_batch)
            return call.key_places.tokens(batch)
        if call.windows is not None:
            return call.windows.tokens(batch % call.windows.count, call.n_key)
        if call.kind != "cross" or "encoder" in self.tokens_by_stack:
            return self.tokens_of(batch, "encoder" if call.kind == "cross" else call.stack)
        own, others = call.stack, [of for of in self.tokens_by_stack if of != call.stack]
        fitting = (of for of in (*others, own) if len(self.tokens_of(batch, of)) == call.n_key)
        return self.tokens_of(batch, next(fitting, own))

    @property
    def n_batch(self) -> int:
        return self.calls[0].n_batch

    @cached_property
    def n_layers(self) -> int:
        return 1 + max(call.layer for call in self.calls)

    @property
    def n_heads(self) -> int:
        return self.calls[0].n_heads

    def call(self, layer: int, kind: Kind = "self", stack: Stack | None = None) -> AttentionCall:
        """The call of one layer; `BadInput` names the layers there are when it is none of them."""
        fitting = [
            call
            for call in self.calls
            if call.kind == kind and (stack is None or call.stack == stack)
        ]
        if not fitting:
            found = sorted({f"{call.kind}/{call.stack}" for call in self.calls})
            raise BadInput(
                f"no {kind!r} attention in stack {stack!r}; this capture has {', '.join(found)}",
                code="bad_kind",
                kind=kind,
                stack=str(stack),
                allowed=", ".join(found),
            )
        require_index("layer", layer, 1 + max(call.layer for call in fitting))
        return next(call for call in fitting if call.layer == layer)

    def weights(
        self,
        layer: int,
        head: int | None = None,
        kind: Kind = "self",
        stack: Stack | None = None,
        batch: int = 0,
    ) -> Float32[np.ndarray, "... query key"]:
        """Attention weights of one layer as numpy: [query, key], or [head, query, key]."""
        array: np.ndarray = self.call(layer, kind, stack).weights(head, batch).cpu().numpy()
        return array

    def all_weights(
        self, batch: int = 0, kind: Kind = "self", stack: Stack | None = None
    ) -> Float32[np.ndarray, "layer head query key"]:
        """Attention weights of every layer and head."""
        first = self.call(0, kind, stack)
        shape = (self.n_layers, first.n_heads, first.n_query, first.n_key)
        array = np.empty(shape, dtype=np.float32)
        for layer in range(self.n_layers):
            array[layer] = self.weights(layer, None, kind, stack, batch)
        return array

    def verify(self) -> dict[str, float]:
        """max |derived − model's own| for every call ("module#index"), and "tolerance"."""
        errors = {f"{call.module}#{call.index}": call.verify() for call in self.calls}
        return errors | {"tolerance": max(call.tolerance for call in self.calls)}

    def require_match(self) -> None:
        """Raise `CaptureMismatch` when a call differs from the model by more than the tolerance."""
        for call in self.calls:
            error = call.verify()
            if not error <= call.tolerance:  # NaN is a mismatch too
                raise CaptureMismatch(
                    f"{call.module}: derived and own output differ by {error:.3g}, tolerance"
                    f" {call.tolerance:.0e}; do not trust this capture",
                    code="mismatch",
                    module=call.module,
                    error=f"{error:.3g}",
                    tolerance=f"{call.tolerance:.0e}",
                )

    @cached_property
    def nbytes(self) -> int:
        """Bytes that the capture keeps in memory; storage shared by tensors is counted once."""
        kept = [tensor for call in self.calls for tensor in call.tensors()]
        kept += [tensor for tensor in (self.hidden, self.logits) if tensor is not None]
        storages = {tensor.untyped_storage().data_ptr(): tensor for tensor in kept}
        return sum(tensor.untyped_storage().nbytes() for tensor in storages.values())


def type_tolerance(dtype: torch.dtype) -> float:
    """The largest difference that rounding explains between numbers of ordinary size."""
    return TOLERANCES.get(dtype, TOLERANCES[torch.float32])


def _largest(tensor: Tensor) -> float:
    """max |x|; 0 of nothing."""
    return max(map(abs, torch.stack(torch.aminmax(tensor)).tolist())) if tensor.numel() else 0.0


def max_difference(ours: Tensor, theirs: Tensor) -> float:
    """max |ours − theirs|; NaN anywhere gives NaN, never a small number."""
    return float((ours - theirs.float()).abs().max())


def _nan_first(error: float) -> float:
    """Orders errors so that NaN counts as the largest."""
    return math.inf if math.isnan(error) else error


def require_index(name: str, value: int, count: int) -> None:
    """Raise `BadInput` unless `value` is a whole number from 0 to count − 1."""
    try:
        inside = 0 <= as_index(value) < count
    except TypeError:
        inside = False
    if not inside:
        raise BadInput(
            f"{name} {value!r} does not exist: give a whole number from 0 to {count - 1}",
            code=f"bad_{name}",
            asked=str(value),
            last=count - 1,
        )
