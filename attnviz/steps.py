"""Every step of one head, from X to ·W_O, derived from one `AttentionCall` and checked against it.

In: a call and a head. Out: `Steps`, the stages as float32 tensors, each with the largest difference
from the tensor that the model itself produced (q, k, v; weights·V; the output of W_O). It does not
matter who recorded the call. Formulas: Vaswani et al. 2017, equation 1 and section 3.2.2:

    head_i = Attention(X·W_Q,i, X·W_K,i, X·W_V,i),   output = Concat(head_1 … head_h)·W_O
"""

from dataclasses import dataclass, field
from functools import cached_property

import torch
from jaxtyping import Bool, Float32
from torch import Tensor

from attnviz.call import AttentionCall, Projection, apply_linear, max_difference
from attnviz.errors import BadMask, UnsupportedAttention
from attnviz.inputs import AttentionInputs, of_row
from attnviz.stored import StoredWeights
from attnviz.types import STAGES, Axis, HeadId, Stage, StepView

# rows and columns of each stage's matrix
AXES: dict[Stage, tuple[Axis, Axis]] = {
    "x": ("query", "d_model"),
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


@dataclass(frozen=True, eq=False)
class Steps:
    """The stages of one head. `x` and `projected` are None where `absent` says why.

    `errors` holds max |ours − model's own| per stage that the model itself makes; `what_if` is
    True when the mask was not the model's, and then nothing after the mask has an error.
    """

    call: AttentionCall
    inputs: AttentionInputs
    id: HeadId
    batch: int
    what_if: bool
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
    mask: Bool[Tensor, "query key"] | None = None
    absent: dict[str, str] = field(default_factory=dict)

    @property
    def tolerance(self) -> float:
        """The largest error that rounding explains."""
        return self.call.tolerance

    @cached_property
    def x(self) -> Float32[Tensor, "query d_model"] | None:
        """The hidden states that W_Q was applied to."""
        into = self.call.projections.get("q")
        if into is None or self.call.row_step > 1:
            return None
        return into.input[self.batch].float()

    @cached_property
    def concat(self) -> Float32[Tensor, "query d_concat"]:
        """The outputs of all heads side by side; this head's are `head_columns`."""
        return self.call.mixed(self.batch, self.mask if self.what_if else None).flatten(1)

    @cached_property
    def projected(self) -> Float32[Tensor, "query d_model"] | None:
        """concat·W_O + b_O: what the attention block adds to the residual stream."""
        out = self.call.projections.get("out")
        return None if out is None else apply_linear(self.concat, out)

    @property
    def head_columns(self) -> slice:
        """Where this head's output stands among the columns of `concat`."""
        width = self.v.shape[1]
        return slice(self.id.head * width, (self.id.head + 1) * width)

    @cached_property
    def w_q(self) -> Float32[Tensor, "d_model d_head"] | None:
        """This head's columns of W_Q."""
        return self._slice("q", self.id.head, self.q.shape[1])

    @cached_property
    def w_k(self) -> Float32[Tensor, "d_model d_head"] | None:
        """This head's columns of W_K."""
        return self._slice("k", self.inputs.kv_head(self.id.head), self.k.shape[1])

    @cached_property
    def w_v(self) -> Float32[Tensor, "d_model d_value"] | None:
        """This head's columns of W_V."""
        return self._slice("v", self.inputs.kv_head(self.id.head), self.v.shape[1])

    @cached_property
    def w_o(self) -> Float32[Tensor, "d_value d_model"] | None:
        """This head's rows of W_O; `mixed @ w_o` summed over heads, plus b_O, is `projected`."""
        out = self.call.projections.get("out")
        return None if out is None else out.weight[self.head_columns].float()

    def _slice(self, name: str, head: int, width: int) -> Tensor | None:
        layer = self.call.projections.get(name)
        return None if layer is None else layer.weight[:, layer.columns(head, width)].float()

    @cached_property
    def errors(self) -> dict[Stage, float]:
        """max |ours − model's own tensor| for each stage that the model itself produced."""
        call, batch, head = self.call, self.batch, self.id.head
        kv_head = self.inputs.kv_head(head)
        inputs: tuple[tuple[Stage, int, Tensor], ...] = (
            ("q", head, self.q),
            ("k", kv_head, self.k),
            ("v", kv_head, self.v),
        )
        rows = call.rows
        found = {
            stage: max_difference(
                _project(call.projections[stage], batch, of, theirs[rows]), theirs[rows]
            )
            for stage, of, theirs in inputs
            if stage in call.projections
        }
        if self.what_if:
            return found
        theirs = of_row(call.output, batch)
        found["mixed"] = max_difference(self.mixed[rows], theirs[:, head])
        found["concat"] = max_difference(self.concat[rows], theirs.flatten(1))
        out = call.projections.get("out")
        if out is not None and self.projected is not None:
            found["projected"] = max_difference(self.projected[rows], out.output[batch])
        return found

    @property
    def _rows_are_whole(self) -> bool:
        """True unless a sink takes its share of each row of weights."""
        return self.inputs.sinks is None or self.inputs.sinks_gate

    def views(self) -> tuple[StepView, ...]:
        """The stages that exist, in order, as numpy matrices ready to draw."""
        return tuple(
            StepView(
                stage=stage,
                values=tensor.cpu().numpy(),
                rows=AXES[stage][0],
                cols=AXES[stage][1],
                signed=stage != "weights",
                range=(0.0, 1.0) if stage == "weights" else None,
                rows_sum_to=1.0 if stage == "weights" and self._rows_are_whole else None,
                error=self.errors.get(stage),
                tolerance=self.tolerance,
            )
            for stage in STAGES
            if (tensor := getattr(self, stage)) is not None
        )


def derive(
    call: AttentionCall,
    head: int,
    batch: int = 0,
    mask: Bool[Tensor, "query key"] | None = None,
) -> Steps:
    """Every stage of one head. A `mask` (True = may attend) replaces the model's: a "what if".

    Raises `BadInput` for a head or batch row that does not exist, `BadMask` for a mask that is
    not a boolean tensor [query, key], and `UnsupportedAttention` where only weights are known.
    """
    call.check(head, batch)
    _require_mask(call, mask)
    inputs = call.inputs
    if isinstance(inputs, StoredWeights):
        raise UnsupportedAttention(
            f"{call.module} computes attention with code of its own: its weights are known, and"
            " call.stages() gives what else was seen, but not every step",
            code="own_code",
            module=call.module,
        )
    stages = inputs.stages(head, batch, mask)
    return Steps(
        call=call,
        inputs=inputs,
        id=HeadId(call.layer, head),
        batch=batch,
        what_if=mask is not None,
        mask=inputs.may_attend(head, batch) if mask is None else mask,
        absent=_absent(call),
        **stages,
    )


def _absent(call: AttentionCall) -> dict[str, str]:
    """Why a stage is missing, in words."""
    long = {} if call.row_step == 1 else {"x": "the input of a long text is not kept whole"}
    return call.absent | long


def _require_mask(call: AttentionCall, mask: Tensor | None) -> None:
    wanted = (call.n_query, call.n_key)
    if mask is not None and (mask.dtype != torch.bool or tuple(mask.shape) != wanted):
        raise BadMask(
            f"the mask is {mask.dtype} {tuple(mask.shape)}; give a boolean one of shape {wanted}"
            " [query, key] with True = may attend",
            code="mask_shape",
            found=f"{mask.dtype} {tuple(mask.shape)}",
            wanted=str(wanted),
        )


def _project(layer: Projection, batch: int, head: int, like: Tensor) -> Tensor:
    """X·W + b for one head's columns, recomputed in float32 from the layer's own input."""
    columns = layer.columns(head, like.shape[-1])
    product = layer.input[batch].float() @ layer.weight[:, columns].float()
    return product if layer.bias is None else product + layer.bias[columns].float()
