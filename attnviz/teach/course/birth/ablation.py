"""Ablation: the scores of the circuit without each head.

In: a trained model. Out: its scores whole, and with each head of a layer ablated in turn. *zero*
replaces the head's output by 0; *mean* replaces it by its mean over all tokens, so that later
layers see no unusual stream. Both are the changes of `attnviz.changed`, made to what W_O reads
while the model runs; its weights are not touched.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, get_args

from jaxtyping import Int64
from torch import Tensor

from attnviz.capture.changed.run import changed
from attnviz.changes.make import ablate
from attnviz.errors import require_index
from attnviz.models.loader import load
from attnviz.models.seeded_models import ExampleInputs
from attnviz.teach.course.birth import alphabet
from attnviz.teach.course.birth.scores import CircuitScores, measure
from attnviz.teach.course.birth.transformer import HEADS, LAYERS, TinyTransformer
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
def ablated(
    model: TinyTransformer,
    head: HeadId,
    ablation: Ablation = "zero",
    tokens: Int64[Tensor, "batch token"] | None = None,
) -> Iterator[None]:
    """Ablate one head of the model while the block runs; its mean is that over all of `tokens`.

    Without tokens they are the repeated letters on which the circuit is measured.
    """
    require_index("layer", head.layer, LAYERS)
    require_index("head", head.head, HEADS)
    letters = alphabet.repeated() if tokens is None else tokens
    lm = load(model)
    lm.example = ExampleInputs({"tokens": letters}, labels=("",) * letters.shape[1])
    with changed(lm, ablate(head, ablation)):
        yield
