"""The attention function that transformers calls while a model is recorded.

In: what a module hands to its attention function. Out: the result of torch's fused kernel, and a
report of q, k, v and mask to the active recorder. transformers (5.x) looks up the attention and the
mask function of a model under one name. Both are always registered: with the attention function
alone a model silently gets no mask at all. There are two names because models that were not written
for torch's fused kernel need float masks: `attnviz` behaves like "sdpa", `attnviz_eager` hands out
the masks of "eager". Neither name may contain "sdpa" or "flash", which transformers tests for.
"""

import inspect
import re
import sys
from collections.abc import Callable
from contextlib import nullcontext
from contextvars import ContextVar
from dataclasses import replace
from functools import cache
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedModel
from transformers.masking_utils import eager_mask, sdpa_mask

from attnviz import masks
from attnviz.attention.inputs import AttentionInputs
from attnviz.attention.stage_changes import StageChange
from attnviz.capture.locate.head_share import HeadShare
from attnviz.capture.locate.modules import attribute
from attnviz.capture.record import kernels
from attnviz.capture.record.innermost import Innermost
from attnviz.capture.record.pass_log import NotedAttention, PassLog
from attnviz.errors import BadInput, UnsupportedAttention
from attnviz.models.ranks import AttentionParts, passing

NAME = "attnviz"
NAME_EAGER = "attnviz_eager"

# arguments that cannot change the result: bookkeeping, or already contained in the mask
HARMLESS = frozenset(
    "cache_position cu_seq_lens_k cu_seq_lens_q cu_seqlens deterministic head_mask"
    " logits_to_keep max_length_k max_length_q max_seqlen num_items_in_batch output_attentions"
    " output_hidden_states output_router_logits past_key_values position_embeddings position_ids"
    " return_dict sliding_window target_dtype use_cache".split()
)
# an argument with such a name may choose keys or change scores, even where eager code ignores it
SUSPICIOUS = re.compile(r"ind(ex|ices)|mask|bias|sink|cap|scal|temper|top_?k|weight|prob", re.I)
# arguments that `_inputs` turns into a part of `AttentionInputs`
MODELLED = frozenset("dropout indices is_causal position_bias s_aux scaling sinks softcap".split())
KNOWN = HARMLESS | MODELLED


@runtime_checkable
class Sink(Protocol):
    """The recorder of a thread; `turn` identifies it without a reference to it.

    With `grad` the tensors that it takes keep their place in the graph of gradients.
    """

    turn: object
    grad: bool

    def take(
        self,
        module: nn.Module,
        inputs: AttentionInputs,
        output: Tensor,
        share: HeadShare | None = None,
    ) -> None:
        """Keep one attention call; `output` is [batch, query, head, d_value].

        `share` is what this process computed of it, if others computed the rest.
        """

    def leave_out(self, module: nn.Module, error: UnsupportedAttention) -> None:
        """Name one attention call that cannot be kept, with the reason."""

    def records(self, module: nn.Module) -> bool:
        """True if the module is one of those that are recorded now."""

    def exchange(self, read: Tensor, output: Tensor, changes: tuple[StageChange, ...]) -> None:
        """Keep the changed output in place of the one that W_O was to `read`."""

    def exchange_returned(
        self, module: nn.Module, output: Tensor, changes: tuple[StageChange, ...]
    ) -> None:
        """Keep the changed output of torch's own module, which returns now."""


@runtime_checkable
class Changes(Protocol):
    """Whoever changes attention in this thread (`attnviz.capture.changed`)."""

    def change(
        self, module: nn.Module, inputs: AttentionInputs, output: Tensor
    ) -> tuple[AttentionInputs, Tensor]:
        """A call's inputs with what is done to them, and its output with that done."""


active = Innermost[Sink]("attnviz_active")
changing = Innermost[Changes | None]("attnviz_changing")
# what a product with a parameter reads in place of what the model gives it, None for as it is
reading = Innermost[Callable[[Tensor], Tensor | None]]("attnviz_reading")
# True inside our own attention function: what it does must not be recorded a second time
inside: ContextVar[bool] = ContextVar("attnviz_inside", default=False)


def is_recording(turn: object) -> bool:
    """True if the recorder with this `turn` is the one of this thread."""
    sink = active.get()
    return sink is not None and sink.turn is turn


def register() -> None:
    """Make both names known to transformers; registering them again changes nothing."""
    AttentionInterface.register(NAME, _like_sdpa)
    AttentionMaskInterface.register(NAME, sdpa_mask)
    AttentionInterface.register(NAME_EAGER, _like_eager)
    AttentionMaskInterface.register(NAME_EAGER, eager_mask)


def name_for(model: PreTrainedModel) -> str:
    """The name that gives the kind of mask that a model was written for."""
    return NAME if model._supports_sdpa else NAME_EAGER


def _like_sdpa(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None = None,
    **kwargs: Any,
) -> tuple[Tensor, None]:
    causal = kwargs.get("is_causal")
    if causal is None:
        causal = getattr(module, "is_causal", True)
    # aligned at the upper left, as torch's kernel does; a single query sees every key
    causal = bool(causal) and attention_mask is None and query.shape[2] > 1
    return _attend(module, query, key, value, attention_mask, causal, kwargs), None


def _like_eager(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None = None,
    **kwargs: Any,
) -> tuple[Tensor, None]:
    # under "eager" the mask is always a tensor: no mask means that nothing is blocked
    return _attend(module, query, key, value, attention_mask, False, kwargs), None


def _attend(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    causal: bool,
    kwargs: dict[str, Any],
) -> Tensor:
    log = active.get()
    if not isinstance(log, PassLog) or not _is_plain(module, mask, kwargs):
        return _attend_watched(module, query, key, value, mask, causal, kwargs)
    token = inside.set(True)
    try:
        output = kernels.fused(module, query, key, value, mask, causal, kwargs)
    finally:
        inside.reset(token)
    log.attended(module, query, key, value, mask, causal, kwargs.get("scaling"), output)
    return output


def _is_plain(module: nn.Module, mask: Tensor | None, kwargs: dict[str, Any]) -> bool:
    """True for attention that nobody changes, with a mask and a scaling at most."""
    get = kwargs.get
    is_bare = get("softcap") is None and get("position_bias") is None and get("indices") is None
    return (
        is_bare
        and (mask is None or mask.dtype == torch.bool)
        and isinstance(get("scaling"), int | float | None)
        and _sinks_of(module, kwargs) is None
        and unmodelled(module, kwargs) is None
        and changing.get() is None
        and passing.get() is None
    )


def _attend_watched(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    causal: bool,
    kwargs: dict[str, Any],
) -> Tensor:
    error = unmodelled(module, kwargs)
    mask = _with_chosen_keys(mask, kwargs.get("indices"), query, key)
    token = inside.set(True)
    try:
        sink, changes, parts = active.get(), changing.get(), passing.get()
        if error is not None:
            with nullcontext() if parts is None else parts.agreed():
                _leave_out(module, error)
            return _as_the_model_does(module, query, key, value, mask, causal, kwargs, error)
        sinks = _sinks_of(module, kwargs)
        softcap = kwargs.get("softcap")
        is_watched = not (sink is None and changes is None and parts is None)
        if not is_watched and sinks is None and softcap is None:
            return kernels.fused(module, query, key, value, mask, causal, kwargs)
        inputs = _inputs(module, query, key, value, mask, causal, sinks, kwargs)

        def with_graph(inputs: AttentionInputs) -> AttentionInputs:
            return replace(inputs, query=query, key=key, value=value, sinks=sinks)

        if softcap is not None:
            output = kernels.explicit(with_graph(inputs))
        elif sinks is not None:
            output = kernels.fused_with_sinks(with_graph(inputs))
        else:
            output = kernels.fused(module, query, key, value, mask, causal, kwargs)
        if parts is not None:
            return attend_in_parts(module, inputs, output, parts, sink, changes)
        if changes is not None:
            inputs, output = changes.change(module, inputs, output)
        if sink is not None and sink.grad:
            _require_grad(output)
            sink.take(module, with_graph(inputs), output)
        elif sink is not None:
            sink.take(module, inputs, output.detach())
        return output
    finally:
        inside.reset(token)


def noted_inputs(one: NotedAttention) -> AttentionInputs:
    """The inputs of an attention that was noted."""
    kwargs = {"scaling": one.scaling}
    return _inputs(one.module, one.query, one.key, one.value, one.mask, one.causal, None, kwargs)


def attend_in_parts(
    module: nn.Module,
    inputs: AttentionInputs,
    output: Tensor,
    parts: AttentionParts,
    sink: Sink | None,
    changes: Changes | None,
) -> Tensor:
    """The own heads of one attention of a model on several processes.

    Where its pass is led, all heads are recorded and changed together, in the order of processes.
    """
    if not parts.has_part(module):
        with parts.agreed() as changed:
            whole = output
            if parts.leads and changes is not None:
                inputs, whole = changes.change(module, inputs, output)
                changed.append(bool(inputs.changes))
            if parts.leads and sink is not None:
                sink.take(module, inputs, whole)
        return parts.handed_out(whole, output, 2, in_parts=False) if any(changed) else output
    share = HeadShare.of(module, inputs, output, parts)
    with parts.agreed() as changed:
        every, whole = share.inputs, share.output
        if parts.leads and changes is not None:
            every, whole = changes.change(module, every, whole)
            changed.append(bool(every.changes))
        if parts.leads and sink is not None:
            sink.take(module, every, whole, share)
    return parts.handed_out(whole, output, 2, in_parts=True) if any(changed) else output


def _require_grad(output: Tensor) -> None:
    """Make an output a leaf of the graph if nothing before it has gradients.

    Raises `BadInput` where none are kept.
    """
    if not torch.is_grad_enabled():
        raise BadInput(
            "record(grad=True) was asked for inside torch.no_grad(), where no gradients are kept;"
            " run the model outside it, or leave grad= out",
            code="gradients_off",
        )
    if not output.requires_grad:
        output.requires_grad_()


def _inputs(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    causal: bool,
    sinks: Tensor | None,
    kwargs: dict[str, Any],
) -> AttentionInputs:
    may_attend, rest = masks.from_model(mask)
    bias = kwargs.get("position_bias")
    if isinstance(bias, Tensor):
        rest = bias.detach() if rest is None else bias.detach().float() + rest
    scaling, softcap = kwargs.get("scaling"), kwargs.get("softcap")
    return AttentionInputs(
        query=query.detach(),
        key=key.detach(),
        value=value.detach(),
        mask=may_attend,
        causal=causal,
        scaling=query.shape[-1] ** -0.5 if scaling is None else _number(scaling),
        bias=rest,
        softcap=None if softcap is None else _number(softcap),
        sinks=None if sinks is None else sinks.detach().clone(),  # the model may train on
        sinks_gate=sinks is not None and "logsumexp" in own_eager_source(module),
    )


def _number(value: object) -> float:
    """A scaling or softcap as a float; some models keep it as a tensor of one element."""
    assert isinstance(value, int | float | Tensor)
    return float(value)


def _with_chosen_keys(
    mask: Tensor | None, indices: object, query: Tensor, key: Tensor
) -> Tensor | None:
    """The mask of indexed sparse attention (DeepSeek): only the keys that an indexer chose.

    `indices` is [batch, query, chosen]; None if the model's indexer is off.
    """
    if not isinstance(indices, Tensor):
        return mask
    chosen = torch.zeros(*indices.shape[:2], key.shape[2], dtype=torch.bool, device=key.device)
    chosen = chosen.scatter(-1, indices.long(), True)[:, None]
    if mask is None:
        return chosen
    if mask.dtype == torch.bool:
        return mask & chosen
    return mask.masked_fill(~chosen, torch.finfo(mask.dtype).min)


def _sinks_of(module: nn.Module, kwargs: dict[str, Any]) -> Tensor | None:
    for sinks in (kwargs.get("s_aux"), kwargs.get("sinks"), attribute(module, "sinks")):
        if isinstance(sinks, Tensor):
            return sinks
    return None


def _leave_out(module: nn.Module, error: UnsupportedAttention) -> None:
    """Tell the recorder of a call that it cannot keep; raise if the call may be to be changed."""
    sink = active.get()
    if changing.get() is not None:
        raise error
    if sink is not None:
        sink.leave_out(module, error)


def _as_the_model_does(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    causal: bool,
    kwargs: dict[str, Any],
    error: UnsupportedAttention,
) -> Tensor:
    """The result of the model's own eager function; the error if its file has none."""
    eager = own_eager(module)
    if eager is not None:
        return kernels.by_own_function(eager, module, query, key, value, mask, causal, kwargs)
    if error.code == "training_mode" and kwargs.get("softcap") is None:
        return kernels.fused(module, query, key, value, mask, causal, kwargs)
    raise error


def unmodelled(module: nn.Module, kwargs: dict[str, Any]) -> UnsupportedAttention | None:
    """The error for an argument that no step models, or for dropout; None if there is neither."""
    if kwargs.keys() <= KNOWN and not kwargs.get("dropout"):
        return None
    name = type(module).__name__
    unknown = sorted(
        argument
        for argument, value in kwargs.items()
        if value is not None
        and value is not False
        and argument not in KNOWN
        and not _eager_ignores(module, argument)
    )
    if unknown:
        return UnsupportedAttention(
            f"{name} calls its attention with {', '.join(unknown)}, which the steps do not model;"
            " its numbers would be wrong, so it was not captured",
            code="unmodelled_argument",
            module=name,
            arguments=", ".join(unknown),
        )
    if kwargs.get("dropout"):
        return UnsupportedAttention(
            f"{name} drops {kwargs['dropout']:.0%} of its weights at random, as models in training"
            " mode do; call .eval() on the model first",
            code="training_mode",
            module=name,
        )
    return None


def _eager_ignores(module: nn.Module, name: str) -> bool:
    """True if the model's own eager attention function does not mention the argument at all."""
    source = own_eager_source(module)
    return bool(source) and name not in source and not SUSPICIOUS.search(name)


def own_eager_source(module: nn.Module) -> str:
    """The source of the eager attention function in the module's file; "" if there is none."""
    eager = own_eager(module)
    return "" if eager is None else _source(eager)


def own_eager(module: nn.Module) -> Callable[..., Any] | None:
    """The eager attention function in the module's file; None if there is none."""
    file = sys.modules.get(type(module).__module__)
    return getattr(file, "eager_attention_forward", None)


@cache
def _source(function: Callable[..., object]) -> str:
    try:
        return inspect.getsource(function)
    except OSError:
        return ""
