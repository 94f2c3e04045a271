"""Every step of one head, from X to ·W_O, derived from one `AttentionCall` and compared with it.

In: a call and a head. Out: `Steps`, the stages as float32 tensors, each with the largest difference
from the tensor that the model itself produced (q, k, v; weights·V; the output of W_O). It does not
matter who recorded the call. Formulas: Vaswani et al. 2017, equation 1 and section 3.2.2:

    head_i = Attention(X·W_Q,i, X·W_K,i, X·W_V,i),   output = Concat(head_1 … head_h)·W_O
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast

import numpy as np
import torch
from jaxtyping import Bool, Float32
from torch import Tensor

from attnviz.attention.call import AttentionCall
from attnviz.attention.edits import Edit
from attnviz.attention.formula import product
from attnviz.attention.inputs import AttentionInputs, batch_row
from attnviz.attention.projection import apply_linear
from attnviz.attention.projection_comparison import compare_projections
from attnviz.attention.rotary import CallRotation, layer_of, rotation_of
from attnviz.attention.stage_changes import of_edits
from attnviz.attention.stored_weights import StoredWeights
from attnviz.attention.tolerance import longest, max_difference
from attnviz.attention.verification import Comparison, worst
from attnviz.errors import BadMask, UnsupportedAttention, bad_argument, require_one_of, require_type
from attnviz.summary import html_card, shortened
from attnviz.types import STAGES, AxisName, HeadId, Stage, StepView

# rows and columns of each stage's matrix
AXES: dict[Stage, tuple[AxisName, AxisName]] = {
    "x": ("query", "d_model"),
    "unrotated_q": ("query", "d_head"),
    "unrotated_k": ("key", "d_head"),
    "q": ("query", "d_head"),
    "k": ("key", "d_head"),
    "v": ("key", "d_head"),
    "scores": ("query", "key"),
    "scaled": ("query", "key"),
    "capped": ("query", "key"),
    "biased": ("query", "key"),
    "masked": ("query", "key"),
    "weights": ("query", "key"),
    "mixed": ("query", "d_head"),
    "concat": ("query", "d_concat"),
    "projected": ("query", "d_model"),
}
OPTIONAL = "this model has no such stage"
LONG_TEXT = "the input of a long text is not kept whole"
SOME_HEADS = "it takes all heads of the layer, and keep= named some of them"


@dataclass(frozen=True, eq=False)
class WhatIf:
    """A change to one head that the model did not make: another mask, or edited entries.

    `before` has the steps without the edits, if they are known: the other heads are taken from
    there.
    """

    mask: Bool[Tensor, "query key"] | None = None
    edits: tuple[Edit, ...] = ()
    before: "Steps | None" = None


@dataclass(frozen=True, eq=False)
class Steps:
    """The stages of one head as float32 tensors; `steps["weights"]` gives one as a numpy array.

    `x`, `concat` and `projected` are None where `absent` says why, `capped` and `biased` where the
    model has no such stage. `change` is None if the steps are the model's own; otherwise no stage
    after the change is compared with the model.
    """

    call: AttentionCall
    id: HeadId
    batch: int
    q: Float32[Tensor, "query d_head"]
    k: Float32[Tensor, "key d_head"]
    v: Float32[Tensor, "key d_value"]
    scores: Float32[Tensor, "query key"]
    scaled: Float32[Tensor, "query key"]
    masked: Float32[Tensor, "query key"]
    weights: Float32[Tensor, "query key"]
    mixed: Float32[Tensor, "query d_value"]
    capped: Float32[Tensor, "query key"] | None = None
    biased: Float32[Tensor, "query key"] | None = None
    change: WhatIf | None = None

    @property
    def inputs(self) -> AttentionInputs:
        """The tensors of the call that the stages are derived from."""
        return cast(AttentionInputs, self.call.inputs)

    @property
    def mask(self) -> Bool[Tensor, "query key"] | None:
        """The mask of these steps, True = may attend; None if there is none."""
        if self.change is not None and self.change.mask is not None:
            return self.change.mask
        return self.inputs.may_attend(self.id.head, self.batch)

    @property
    def what_if(self) -> bool:
        """True if the mask or some entries are not the model's own."""
        return self.change is not None

    @property
    def absent(self) -> dict[str, str]:
        """The reason for each stage that is missing, in words."""
        long = {} if self.call.row_step == 1 else {"x": LONG_TEXT}
        some = {} if self._are_all_kept else dict.fromkeys(("concat", "projected"), SOME_HEADS)
        return self.call.absent | long | some

    @cached_property
    def x(self) -> Float32[Tensor, "query d_model"] | None:
        """The hidden states that W_Q was applied to."""
        layer = self.call.projections.get("q")
        if layer is None or self.call.row_step > 1:
            return None
        return layer.input[self.batch].float()

    @cached_property
    def unrotated_q(self) -> Float32[Tensor, "query d_head"] | None:
        """X·W_Q + b_Q before a rotary embedding turns it into q; None if none does."""
        return self._unrotated("q", self.id.head)

    @cached_property
    def unrotated_k(self) -> Float32[Tensor, "key d_head"] | None:
        """X·W_K + b_K before a rotary embedding turns it into k; None if none does."""
        return self._unrotated("k", self._kv_head)

    @property
    def turned(self) -> frozenset[Stage]:
        """Those of q and k that a rotary embedding turned after X·W."""
        stages: tuple[Stage, ...] = ("q", "k")
        layers = {stage: self.call.projections.get(stage) for stage in stages}
        return frozenset(stage for stage, layer in layers.items() if layer and layer.turned)

    @property
    def factors(self) -> dict[Stage, float]:
        """The constants by which the model multiplied q, k or v after X·W, other than 1."""
        stages: tuple[Stage, ...] = ("q", "k", "v")
        layers = {stage: self.call.projections.get(stage) for stage in stages}
        return {
            stage: layer.factor for stage, layer in layers.items() if layer and layer.factor != 1
        }

    @property
    def without_bias(self) -> frozenset[Stage]:
        """The stages whose linear layer was found and adds no bias."""
        stages: dict[Stage, str] = {"q": "q", "k": "k", "v": "v", "projected": "out"}
        layers = {stage: self.call.projections.get(name) for stage, name in stages.items()}
        return frozenset(stage for stage, layer in layers.items() if layer and layer.bias is None)

    @cached_property
    def concat(self) -> Float32[Tensor, "query d_concat"] | None:
        """The outputs of all heads side by side; this head's are `head_columns`."""
        return self._kept_concat if self._are_all_kept else None

    @cached_property
    def _kept_concat(self) -> Float32[Tensor, "query d_kept"]:
        """The outputs of the heads that are kept."""
        change = self.change
        if change is None or not change.edits:
            mask = None if change is None else change.mask
            return self.call.mixed(self.batch, mask).flatten(1)
        before = change.before or derive(self.call, self.id.head, self.batch)
        heads, width = before._kept_concat.clone(), self.v.shape[1]
        row = self.inputs.row(self.id.head)
        heads[:, row * width : (row + 1) * width] = self.mixed
        return heads

    @cached_property
    def projected(self) -> Float32[Tensor, "query d_model"] | None:
        """concat·W_O + b_O: what the attention block adds to the residual stream."""
        out = self.call.projections.get("out")
        return None if out is None or self.concat is None else apply_linear(self.concat, out)

    @property
    def head_columns(self) -> slice:
        """The columns of `concat` that are this head's output."""
        width = self.v.shape[1]
        return slice(self.id.head * width, (self.id.head + 1) * width)

    @cached_property
    def w_q(self) -> Float32[Tensor, "d_model d_head"] | None:
        """This head's columns of W_Q."""
        return self._columns("q", self.id.head, self.q.shape[1])

    @cached_property
    def w_k(self) -> Float32[Tensor, "d_model d_head"] | None:
        """This head's columns of W_K."""
        return self._columns("k", self._kv_head, self.k.shape[1])

    @cached_property
    def w_v(self) -> Float32[Tensor, "d_model d_value"] | None:
        """This head's columns of W_V."""
        return self._columns("v", self._kv_head, self.v.shape[1])

    @cached_property
    def w_o(self) -> Float32[Tensor, "d_value d_model"] | None:
        """This head's rows of W_O; `mixed @ w_o` summed over heads, plus b_O, is `projected`."""
        out = self.call.projections.get("out")
        if out is None:
            return None
        return out.layer.rows(self.head_columns).to(self.v.device).float().detach()

    @cached_property
    def value_norms(self) -> Float32[Tensor, " key"] | None:
        """‖v·W_O‖ of each key: the length of the vector that a weight of 1 writes.

        A weight times this is ‖α·f(x)‖ of Kobayashi et al. 2020, f(x) = (x·W_V + b_V)·W_O. None
        if W_O is not known.
        """
        return None if self.w_o is None else product(self.v, self.w_o).norm(dim=1)

    @cached_property
    def comparisons(self) -> dict[Stage, Comparison]:
        """Each stage that the model itself produced, compared with the model's tensor."""
        edited: set[str] = {edit.stage for edit in self.change.edits} if self.change else set()
        edited |= self.inputs.changed_stages(self.id.head, self.batch)
        own: dict[Stage, Tensor] = {"q": self.q, "k": self.k, "v": self.v}
        own = {stage: values for stage, values in own.items() if stage not in edited}
        head, batch = self.id.head, self.batch
        compared = compare_projections(self.call, head, batch, own, lambda: self._rotation)
        if self.change is None:
            compared |= compare_outputs(self.call, head, batch, self._kept_concat, self.projected)
        return compared

    @property
    def errors(self) -> dict[Stage, float]:
        """max |ours − model's own tensor| for each stage that the model itself produced."""
        return {stage: comparison.error for stage, comparison in self.comparisons.items()}

    def __getitem__(self, stage: Stage | str) -> Float32[np.ndarray, "row column"]:
        """One stage as a numpy array, named as in `STAGES`.

        Raises `BadInput` for a name that is no stage, and for a stage that is missing.
        """
        array: np.ndarray = self._tensor(stage).cpu().numpy()
        return array

    def view(self, stage: Stage) -> StepView:
        """One stage as a matrix to draw. Raises `BadInput` as `steps[stage]` does."""
        compared = self.comparisons.get(stage)
        weights = stage == "weights"
        return StepView(
            stage=stage,
            values=self[stage],
            rows=AXES[stage][0],
            cols=AXES[stage][1],
            signed=not weights,
            range=(0.0, 1.0) if weights else None,
            rows_sum_to=1.0 if weights and self._rows_sum_to_1 else None,
            error=None if compared is None else compared.error,
            tolerance=0.0 if compared is None else compared.tolerance,
        )

    def views(self) -> tuple[StepView, ...]:
        """The stages that exist, in order, as matrices to draw."""
        return tuple(self.view(stage) for stage in STAGES if getattr(self, stage) is not None)

    def __repr__(self) -> str:
        name, stages = shortened(self.call.name), " ".join(view[0] for view in self._shapes())
        return f"Steps of {self.id} ({name}){', what if' if self.what_if else ''}: {stages}"

    def _repr_html_(self) -> str:
        compared = self.comparisons
        errors = (
            f"{compared[stage].error:.1e} of {compared[stage].tolerance:.1e} allowed"
            if stage in compared
            else ""
            for stage, _ in self._shapes()
        )
        rows = [(*shape, error) for shape, error in zip(self._shapes(), errors, strict=True)]
        title = f"{self.id} of {self.call.name}"
        return html_card(title, ("stage", "shape", "difference from the model"), rows)

    def _shapes(self) -> list[tuple[Stage, str]]:
        """The stages that exist, each with its shape in words."""
        tensors = ((stage, getattr(self, stage)) for stage in STAGES)
        return [
            (stage, f"{AXES[stage][0]} {tensor.shape[0]} × {AXES[stage][1]} {tensor.shape[1]}")
            for stage, tensor in tensors
            if tensor is not None
        ]

    @property
    def _kv_head(self) -> int:
        return self.inputs.kv_head(self.id.head)

    @property
    def _are_all_kept(self) -> bool:
        return self.inputs.only is None

    @property
    def _rows_sum_to_1(self) -> bool:
        """True unless a sink takes a share of each row of weights, or a row has no key."""
        if self.inputs.sinks is not None and not self.inputs.sinks_gate:
            return False
        return bool(self.weights.any(dim=1).all())

    def _tensor(self, stage: str) -> Tensor:
        require_one_of("stage", stage, STAGES)
        tensor: Tensor | None = getattr(self, stage)
        if tensor is None:
            present = ", ".join(name for name in STAGES if getattr(self, name) is not None)
            raise bad_argument(
                f"{self.id} has no stage {stage!r}: {self.absent.get(stage, OPTIONAL)}; it has"
                f" {present}",
                name="stage",
                found=repr(stage),
                allowed=present,
            )
        return tensor

    def _unrotated(self, stage: str, head: int) -> Tensor | None:
        layer = layer_of(self.call, stage)
        if layer is None or not layer.turned or self.call.row_step > 1:
            return None
        columns = layer.columns(head, self.q.shape[1])
        return batch_row(layer.output, self.batch)[:, columns].float()

    def _columns(self, name: str, head: int, width: int) -> Tensor | None:
        """One head's columns of W_Q, W_K or W_V."""
        layer = self.call.projections.get(name)
        if layer is None:
            return None
        return layer.weight[:, layer.columns(head, width)].to(self.q.device).float()

    @cached_property
    def _rotation(self) -> CallRotation:
        return rotation_of(self.call, self.batch)


def derive(
    call: AttentionCall,
    head: int,
    batch: int = 0,
    mask: Bool[Tensor, "query key"] | Bool[np.ndarray, "query key"] | None = None,
    edits: Sequence[Edit] = (),
    before: Steps | None = None,
) -> Steps:
    """Every stage of one head.

    Parameters:

    - `call`, `head`, `batch`: which head of which recorded call, and which text of it.
    - `mask` (True = may attend) replaces the model's, and `edits` replace single entries: a "what
      if". All that comes after them is computed anew, and the capture stays as it is.
    - `before`, the steps of this head without edits, saves computing what they have in common.

    Returns `Steps`: the matrix of each stage, scores → weights → W_O, with its difference from the
    model's own where the model made it.

    Raises `BadInput` for a head, a batch row or an edited entry that does not exist, `BadMask` for
    a mask that is not a boolean tensor or array [query, key], and `UnsupportedAttention` where only
    weights are known.

    Example:

    >>> import torch
    >>> cap = attnviz.capture("stories", "Tom had a red ball.")
    >>> steps = attnviz.derive(cap.call(2), head=1)
    >>> [view.stage for view in steps.views()][:4]
    ['x', 'q', 'k', 'v']
    >>> steps.weights.sum(-1).allclose(torch.ones(7))
    True
    """
    require_type("derive", "call", call, AttentionCall, "give cap.call(layer)")
    call.check(head, batch)
    mask = _as_mask(call, mask)
    inputs = call.inputs
    if isinstance(inputs, StoredWeights):
        raise UnsupportedAttention(
            f"{call.module} computes attention with code of its own: its weights are known, and"
            " call.stages() gives what else was seen, but not every step",
            code="own_code",
            module=call.module,
        )
    changed = mask is not None or bool(edits)
    edited = replace(inputs, changes=(*inputs.changes, *of_edits(edits, head)))
    return Steps(
        call=call,
        id=HeadId(call.layer, head),
        batch=batch,
        change=WhatIf(mask, tuple(edits), before) if changed else None,
        **edited.stages(head, batch, mask),
    )


def _as_mask(
    call: AttentionCall, mask: Tensor | np.ndarray | None
) -> Bool[Tensor, "query key"] | None:
    """The mask as a tensor; `BadMask` unless it is boolean and [query, key]."""
    if mask is None:
        return None
    wanted = (call.n_query, call.n_key)
    found = f"{getattr(mask, 'dtype', type(mask).__name__)} {tuple(getattr(mask, 'shape', ()))}"
    tensor = torch.from_numpy(mask.copy()) if isinstance(mask, np.ndarray) else mask
    if not isinstance(tensor, Tensor) or tensor.dtype != torch.bool or tensor.shape != wanted:
        raise BadMask(
            f"the mask is {found}; give a boolean tensor or array of shape {wanted} [query, key]"
            " with True = may attend",
            code="mask_shape",
            found=found,
            wanted=str(wanted),
        )
    return tensor


def compare_outputs(
    call: AttentionCall,
    head: int,
    batch: int,
    concat: Tensor,
    projected: Tensor | None,
) -> dict[Stage, Comparison]:
    """weights·V of one head and of all, and the output of W_O, beside the model's own.

    `concat` has the kept heads; where these are not all, nothing is said of all. Queries that may
    attend to no key are left out; {} if there is no other.
    """
    theirs, masked = batch_row(call.output, batch), call.fully_masked(batch)
    rows = torch.arange(len(theirs)) if masked is None else (~masked.any(dim=1)).nonzero()[:, 0]
    if not len(rows):
        return {}
    ours = concat[call.kept_rows][rows].reshape(-1, *theirs.shape[1:])  # [row, head, d_value]
    heads = call.compare_mixed(ours, batch, rows)
    compared: dict[Stage, Comparison] = {"mixed": heads[call.inputs.row(head)]}
    if call.inputs.only is not None:
        return compared
    of_all = worst(heads)
    compared["concat"] = Comparison(call.name, "concat", of_all.error, of_all.tolerance)
    out = call.projections.get("out")
    if out is not None and projected is not None:
        error = max_difference(projected[call.kept_rows][rows], out.output[batch][rows])
        # W_O's own rounding, and that of weights·V carried through W_O
        own, mixed = out.tolerance(), max(comparison.tolerance for comparison in heads)
        tolerance = own + max(own, mixed * longest(out.weight.T))
        compared["projected"] = Comparison(call.name, "projected", error, tolerance)
    return compared
