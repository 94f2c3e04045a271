"""Ablation: the scores of the circuit without each head.

In: a trained model. Out: its scores whole, and with each head of a layer ablated in turn. *zero*
replaces the head's output by 0; *mean* replaces it by its mean over all tokens, so that later
layers see no unusual stream. Both change the head's columns of the input of W_O while the model
runs; its weights are not touched.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, get_args

import torch
from jaxtyping import Float
from torch import Tensor, nn

from attnviz.course.birth import alphabet
from attnviz.course.birth.scores import CircuitScores, measure
from attnviz.course.birth.transformer import D_HEAD, HEADS, LAYERS, TinyTransformer
from attnviz.errors import require_index
from attnviz.types import HeadId

Ablation = Literal["zero", "mean"]
ABLATIONS: tuple[Ablation, ...] = get_args(Ablation)


@dataclass(frozen=True, eq=False)
class Effect:
    """The scores with one head ablated."""

    head: HeadId
    ablation: Ablation
    after: CircuitScores


@dataclass(frozen=True, eq=False)
class AblationScores:
    """The scores with all heads, and without each of them."""

    before: CircuitScores
    without: tuple[Effect, ...]

    def of(self, head: HeadId, ablation: Ablation) -> CircuitScores:
        """The scores without one head."""
        return next(
            effect.after
            for effect in self.without
            if (effect.head, effect.ablation) == (head, ablation)
        )


def effects(model: TinyTransformer, layer: int = 0) -> AblationScores:
    """The scores on repeated letters, whole and without each head of a layer, both ways."""
    require_index("layer", layer, LAYERS)
    tokens = alphabet.repeated()
    without = []
    for head in (HeadId(layer, number) for number in range(HEADS)):
        for ablation in ABLATIONS:
            with ablated(model, head, ablation):
                without.append(Effect(head, ablation, measure(model, tokens)))
    return AblationScores(measure(model, tokens), tuple(without))


@contextmanager
def ablated(model: TinyTransformer, head: HeadId, ablation: Ablation = "zero") -> Iterator[None]:
    """Ablate one head of the model while the block runs."""
    require_index("layer", head.layer, LAYERS)
    require_index("head", head.head, HEADS)
    hook = _ablation_hook(head.head, ablation)
    handle = model.attention(head.layer).out.register_forward_pre_hook(hook)
    try:
        yield
    finally:
        handle.remove()


def _ablation_hook(
    head: int, ablation: Ablation
) -> Callable[[nn.Module, tuple[Any, ...]], tuple[Float[Tensor, "batch token d_model"]]]:
    columns = slice(head * D_HEAD, (head + 1) * D_HEAD)

    def replace(_module: nn.Module, arguments: tuple[Any, ...]) -> tuple[Tensor]:
        concat = arguments[0].clone()
        mean = concat[..., columns].mean(dim=(0, 1))
        concat[..., columns] = mean if ablation == "mean" else torch.zeros_like(mean)
        return (concat,)

    return replace
