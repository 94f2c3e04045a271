"""The effect of a change to first order: one backward pass for every head and edge at once.

    Δ ≈ Σ (z′ − z) · ∂m/∂z,   z the output weights·V of a head, z′ what it would be

In: prepared inputs and a measure that is linear in the logits. Out: z and ∂m/∂z of every call. It
ranks edges well (0.96 to 1.0 with the exact effects), but its size fails for the largest, and it
is zero where a measure is at its best or flat: it chooses what to compute, and is never shown
without saying that it is an estimate.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from attnviz.attention.inputs import AttentionInputs
from attnviz.capture.changed.changer import CallPlace, Changer
from attnviz.capture.changed.layout import CallSite
from attnviz.capture.changed.run import attention_watched
from attnviz.errors import BadInput, UnsupportedAttention
from attnviz.experiment.answer_measures import printed
from attnviz.experiment.clean_run import CleanRun, as_mapping
from attnviz.experiment.readouts import readout


@dataclass(frozen=True, eq=False)
class Slopes:
    """By place: the output of every head and the slope of the measure by it.

    `value` is the number that was differentiated, the measure's linear companion.
    """

    value: float
    output: dict[CallPlace, Float[Tensor, "query head d_value"]]
    slope: dict[CallPlace, Float[Tensor, "query head d_value"]]


class _Outputs:
    """Keeps the outputs of all heads, as leaves or with the graph that they have.

    They are what the attention function returned; of own code, what W_O is given to read.
    """

    def __init__(self, changer: Changer) -> None:
        self.kept: dict[CallPlace, Tensor] = {}
        self._changer = changer

    def change(
        self, module: nn.Module, inputs: AttentionInputs, output: Tensor
    ) -> tuple[AttentionInputs, Tensor]:
        output = _differentiable(output)
        self.kept[self._changer.place(module)] = output
        return inputs, output

    def attach(self, model: nn.Module, calls: Sequence[CallSite]) -> list[RemovableHandle]:
        """Watch what W_O of each call reads; returns the handles of the hooks."""
        by_layer: dict[str, list[CallSite]] = {}
        for call in calls:
            if call.output_layer is not None and not call.windowed:
                by_layer.setdefault(call.output_layer, []).append(call)
        return [
            model.get_submodule(layer).register_forward_pre_hook(self._before(own))
            for layer, own in by_layer.items()
        ]

    def _before(
        self, calls: Sequence[CallSite]
    ) -> Callable[[nn.Module, tuple[Any, ...]], tuple[Any, ...] | None]:
        waiting = list(calls)

        def keep(_layer: nn.Module, args: tuple[Any, ...]) -> tuple[Any, ...] | None:
            call = waiting.pop(0) if waiting else None
            if call is None or call.place in self.kept:
                return None  # it came through the attention function
            read = args[0] if args else None
            if not (isinstance(read, Tensor) and read.dim() == 3):
                return None
            heads = _differentiable(read).reshape(*read.shape[:2], call.n_heads, -1)
            self.kept[call.place] = heads
            return (heads.flatten(2), *args[1:])

        return keep


def _differentiable(output: Tensor) -> Tensor:
    return output if output.requires_grad else output.detach().requires_grad_()


def _require_outputs(kept: Collection[CallPlace], calls: Sequence[CallSite]) -> None:
    """Raise `UnsupportedAttention` if no layer reads heads' outputs, which slopes need."""
    for call in calls:
        if call.place not in kept and (call.is_read_by_product or not kept):
            module = call.place.module
            raise UnsupportedAttention(
                f"{module} computes attention with its own code, and no layer reads its heads'"
                " outputs: first order, which needs their slopes, says nothing; measure exactly",
                code="no_slopes",
                module=module,
            )


def slopes(prepared: CleanRun) -> Slopes:
    """The slopes of the run's measure: one forward and one backward pass, kept with the run.

    Raises `BadInput` for a measure whose slope is zero where nothing was changed.
    """
    return prepared.once(_slopes, of_measure=True)


def _slopes(prepared: CleanRun) -> Slopes:
    resolved = readout(prepared)
    if resolved.linear is None:
        raise BadInput(
            f"{printed(prepared.on)} has no slope where nothing is changed, so first order says"
            " nothing: give NextToken, Class, Target, or Cosine(to=another text)",
            code="not_linear",
            measure=type(prepared.on).__name__,
        )
    lm = prepared.lm
    with lm.lock, torch.enable_grad(), attention_watched(lm.model, _Outputs) as outputs:
        handles = outputs.attach(lm.model, prepared.layout.calls)
        try:
            output = as_mapping(lm.model(**prepared.inputs, **prepared.options))
        finally:
            for handle in handles:
                handle.remove()
        value = resolved.linear(output[resolved.output]).sum()
        kept = outputs.kept
        _require_outputs(kept, prepared.layout.calls)
        gradients = torch.autograd.grad(value, list(kept.values()), allow_unused=True)
    slope = {
        place: torch.zeros_like(z) if gradient is None else gradient.detach()
        for (place, z), gradient in zip(kept.items(), gradients, strict=True)
    }
    return Slopes(
        value=float(value.detach()),
        output={place: z.detach()[0].float() for place, z in kept.items()},
        slope={place: gradient[0].float() for place, gradient in slope.items()},
    )
