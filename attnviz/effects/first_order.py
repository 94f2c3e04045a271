"""The effect of a change to first order: one backward pass for every head and edge at once.

    Δ ≈ Σ (z′ − z) · ∂m/∂z,   z the output weights·V of a head, z′ what it would be

In: prepared inputs and a measure that is linear in the logits. Out: z and ∂m/∂z of every call. It
ranks edges well (0.96 to 1.0 with the exact effects), but its size fails for the largest, and it
is zero where a measure is at its best or flat: it chooses what to compute, and is never shown
without saying that it is an estimate.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn

from attnviz.attention.inputs import AttentionInputs
from attnviz.capture.changed.changer import CallPlace, Changer
from attnviz.capture.changed.run import attention_watched
from attnviz.effects.prepared import Prepared, as_mapping
from attnviz.effects.readouts import Readout
from attnviz.errors import BadInput


@dataclass(frozen=True, eq=False)
class Slopes:
    """By place: the output of every head and the slope of the measure by it.

    `value` is the number that was differentiated, the measure's linear companion.
    """

    value: float
    output: dict[CallPlace, Float[Tensor, "query head d_value"]]
    slope: dict[CallPlace, Float[Tensor, "query head d_value"]]


class _Outputs:
    """Keeps what attention returned, as leaves or with the graph that they have."""

    def __init__(self, changer: Changer) -> None:
        self.kept: dict[CallPlace, Tensor] = {}
        self._changer = changer

    def change(
        self, module: nn.Module, inputs: AttentionInputs, output: Tensor
    ) -> tuple[AttentionInputs, Tensor]:
        output = output if output.requires_grad else output.detach().requires_grad_()
        self.kept[self._changer.place(module)] = output
        return inputs, output


def slopes(prepared: Prepared, readout: Readout) -> Slopes:
    """One forward and one backward pass.

    Raises `BadInput` for a measure whose slope is zero where nothing was changed.
    """
    if readout.linear is None:
        raise BadInput(
            f"{prepared.on} has no slope where nothing is changed, so first order says nothing:"
            " give NextToken, Class, Target, or Cosine(to=another text)",
            code="not_linear",
            measure=type(prepared.on).__name__,
        )
    lm = prepared.lm
    with lm.lock, torch.enable_grad(), attention_watched(lm.model, _Outputs) as outputs:
        output = as_mapping(lm.model(**prepared.inputs, **prepared.options))
        value = readout.linear(output[readout.output]).sum()
        kept = outputs.kept
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
