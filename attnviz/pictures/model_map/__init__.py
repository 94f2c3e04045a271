"""Model map: the way from a text to the next word, part by part, with the parts of a card lit.

In: a frozen `ModelMapView`. Out: the part that was chosen, as `parse` reads it. The layout is that
of GPT-2 (Radford et al. 2019): embedding, position, then in each layer norm, attention, + and norm,
MLP, +, at the end norm, logits, softmax. What a smaller model does not have is left out.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from attnviz.pictures.shared.canvas import Canvas

PartName = Literal[
    "tokens", "embedding", "place", "norm", "attention", "add", "mlp", "logits", "softmax"
]
PARTS: tuple[PartName, ...] = get_args(PartName)


@dataclass(frozen=True)
class ModelMapView:
    """The parts that are lit, and those that are switched off; the number of layers.

    `missing` has the parts that the model of the card does not have: without an MLP a layer has
    neither its norm nor its + (its whole second half). `titles` has the title of the card to
    which a click on a part leads.
    """

    lit: tuple[PartName, ...]
    off: tuple[PartName, ...]
    layers: int
    titles: Mapping[str, str]
    missing: tuple[PartName, ...] = ()


CANVAS = Canvas("model_map", (ModelMapView,))


def parse(sent: object) -> PartName | None:
    """The part that was chosen, as the browser says; None for nonsense."""
    return sent if sent in PARTS else None
