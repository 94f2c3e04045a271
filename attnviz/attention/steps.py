"""Every step of one head, from X to ·W_O, derived from one `AttentionCall` and checked against it.

In: a call and a head. Out: `Steps`, the stages as float32 tensors, each with the largest difference
from the tensor that the model itself produced (q, k, v; weights·V; the output of W_O). It does not
matter who recorded the call. Formulas: Vaswani et al. 2017, equation 1 and section 3.2.2:

    head_i = Attention(X·W_Q,i, X·W_K,i, X·W_V,i),   output = Concat(head_1 … head_h)·W_O
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import torch
from jaxtyping import Bool, Float32
from torch import Tensor

from attnviz.attention import rotary_of_call
from attnviz.attention.call import AttentionCall, max_difference
from attnviz.attention.edits import Edit
from attnviz.attention.inputs import AttentionInputs, of_row
from attnviz.attention.projection import Projection, apply_linear
from attnviz.attention.stored_weights import StoredWeights
from attnviz.errors import BadMask, UnsupportedAttention
from attnviz.types import STAGES, Axis, HeadId, Stage, StepView

# rows and columns of each stage's matrix
AXES: dict[Stage, tuple[Axis, Axis]] = {
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


@dataclass(frozen=True, eq=False)
class Steps:
    """The stages of one head. `x` and `projected` are None where `absent` says why.

    `errors` holds max |ours − model's own| per stage that the model itself makes; `what_if` is
    True when the mask was not the model's, and then nothing after the mask has an error. `before`
    are the steps without the edits, if they are at hand: the other heads are taken from there.
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
    edits: tuple[Edit, ...] = ()
    before: "Steps | None" = None

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
    def unrotated_q(self) -> Float32[Tensor, "query d_head"] | None:
        """X·W_Q + b_Q before a rotary embedding turns it into q; None where nothing turns."""
        return self._unrotated("q", self.id.head)

    @cached_property
    def unrotated_k(self) -> Float32[Tensor, "key d_head"] | None:
        """X·W_K + b_K before a rotary embedding turns it into k; None where nothing turns."""
        return self._unrotated("k", self.inputs.kv_head(self.id.head))

    @property
    def turned(self) -> frozenset[Stage]:
        """Which of q and k a rotary embedding turned after X·W."""
        stages: tuple[Stage, ...] = ("q", "k")
        layers = {stage: self.call.projections.get(stage) for stage in stages}
        return frozenset(stage for stage, layer in layers.items() if layer and layer.turned)

    @property
    def factors(self) -> dict[Stage, float]:
        """By which constant the model multiplied those of q, k and v that it scaled after X·W."""
        stages: tuple[Stage, ...] = ("q", "k", "v")
        layers = {stage: self.call.projections.get(stage) for stage in stages}
        return {stage: of.factor for stage, of in layers.items() if of and of.factor != 1}

    @property
    def without_bias(self) -> frozenset[Stage]:
        """The stages whose linear layer was found and adds no bias."""
        stages: dict[Stage, str] = {"q": "q", "k": "k", "v": "v", "projected": "out"}
        layers = {stage: self.call.projections.get(name) for stage, name in stages.items()}
        return frozenset(stage for stage, layer in layers.items() if layer and layer.bias is None)

    def _unrotated(self, name: str, head: int) -> Tensor | None:
        layer = rotary_of_call.layer_of(self.call, name)
        if layer is None or not layer.turned or self.call.row_step > 1:
            return None
        columns = layer.columns(head, self.q.shape[1])
        return of_row(layer.output, self.batch)[:, columns].float()

    @cached_property
    def concat(self) -> Float32[Tensor, "query d_concat"]:
        """The outputs of all heads side by side; this head's are `head_columns`."""
        if not self.edits:
            return self.call.mixed(self.batch, self.mask if self.what_if else None).flatten(1)
        before = self.before or derive(self.call, self.id.head, self.batch)
        heads = before.concat.clone()
        heads[:, self.head_columns] = self.mixed
        return heads

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
        return None if out is None else out.weight[self.head_columns].to(self.v.device).float()

    @cached_property
    def reach(self) -> Float32[Tensor, " key"] | None:
        """‖v·W_O‖ of each key: how long a vector a weight of 1 would write.

        A weight times this is ‖α·f(x)‖ of Kobayashi et al. 2020, f(x) = (x·W_V + b_V)·W_O. None
        where W_O is not known.
        """
        return None if self.w_o is None else (self.v @ self.w_o).norm(dim=1)

    def _slice(self, name: str, head: int, width: int) -> Tensor | None:
        layer = self.call.projections.get(name)
        if layer is None:
            return None
        return layer.weight[:, layer.columns(head, width)].to(self.q.device).float()

    @cached_property
    def errors(self) -> dict[Stage, float]:
        """max |ours − model's own tensor| for each stage that the model itself produced."""
        call, batch, head = self.call, self.batch, self.id.head
        rows, found = call.rows, self._errors_of_projections()
        if self.what_if:
            return found
        theirs, blind = of_row(call.output, batch), call.blind(batch)
        seeing = torch.arange(len(theirs)) if blind is None else (~blind.any(dim=1)).nonzero()[:, 0]
        if not len(seeing):
            return found
        found["mixed"] = max_difference(self.mixed[rows][seeing], theirs[seeing, head])
        found["concat"] = max_difference(self.concat[rows][seeing], theirs[seeing].flatten(1))
        out = call.projections.get("out")
        if out is not None and self.projected is not None:
            theirs = out.output[batch][seeing]
            found["projected"] = max_difference(self.projected[rows][seeing], theirs)
        return found

    def _errors_of_projections(self) -> dict[Stage, float]:
        """q, k and v, and what q and k are before they are turned, made again from X."""
        kv_head, rows = self.inputs.kv_head(self.id.head), self.call.rows
        made: tuple[tuple[Stage, Stage | None, int, Tensor], ...] = (
            ("q", "unrotated_q", self.id.head, self.q),
            ("k", "unrotated_k", kv_head, self.k),
            ("v", None, kv_head, self.v),
        )
        given = {edit.stage for edit in self.edits}
        found: dict[Stage, float] = {}
        for stage, before, head, theirs in made:
            layer = rotary_of_call.layer_of(self.call, stage)
            if layer is None or stage in given:
                continue
            ours = _project(layer, self.batch, head, theirs)
            if layer.turned and before is not None:
                straight = of_row(layer.output, self.batch)
                straight = straight[:, layer.columns(head, theirs.shape[1])]
                found[before] = max_difference(ours, straight)
                ours = self._turning.turned("q" if stage == "q" else "k", ours)
            found[stage] = max_difference(layer.factor * ours, theirs[rows])
        return found

    @cached_property
    def _turning(self) -> rotary_of_call.Turning:
        return rotary_of_call.of_call(self.call, self.batch)

    @property
    def _rows_are_whole(self) -> bool:
        """True unless a sink takes its share of each row of weights, or a row has no key."""
        if self.inputs.sinks is not None and not self.inputs.sinks_gate:
            return False
        return bool(self.weights.any(dim=1).all())

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
    edits: Sequence[Edit] = (),
    before: Steps | None = None,
) -> Steps:
    """Every stage of one head. A `mask` (True = may attend) replaces the model's: a "what if".

    So do `edits` with single entries; what comes after them is computed anew, and the capture
    stays as it is. `before`, the steps of this head without edits, spares what they have in common.

    Raises `BadInput` for a head, a batch row or an edited entry that does not exist, `BadMask` for
    a mask that is not a boolean tensor [query, key], and `UnsupportedAttention` where only weights
    are known.
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
    stages = inputs.stages(head, batch, mask, edits=edits)
    return Steps(
        call=call,
        inputs=inputs,
        id=HeadId(call.layer, head),
        batch=batch,
        what_if=mask is not None or bool(edits),
        edits=tuple(edits),
        before=before,
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
    return apply_linear(of_row(layer.input, batch).float(), layer, columns)
