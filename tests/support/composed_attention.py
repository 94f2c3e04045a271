"""Attention put together at random from adapted layers, changes in place and what stands beside it.

In: a seed. Out: a model around one attention whose layers are of random `KINDS`, and what each part
of it computed when it ran, kept by the model itself.
"""

import random
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from tests.support.adapted_layers import DH, KINDS, Attention, H
from tests.support.unseen_attention import PARTLY, UNSEEN

IN_PLACE = ("nothing", "residual", "result", "query", "weights")
MODES = ("no_grad", "grad", "inference")
LAYERS = ("q", "k", "v", "o")


@dataclass(frozen=True)
class Composition:
    """The kinds of the layers, what is changed in place, and what runs behind the attention."""

    kinds: tuple[str, ...]
    in_place: str
    mode: str
    beside: type[nn.Module] | None
    n_text: int


def composition(seed: int) -> Composition:
    """The composition of a seed; plain layers are as frequent as all others together."""
    draw = random.Random(seed)
    kinds = tuple("plain" if draw.random() < 0.5 else draw.choice(list(KINDS)) for _ in LAYERS)
    beside = draw.choice((None, None, *UNSEEN, *PARTLY))
    n_text = draw.choice((1, 2, 3))
    return Composition(kinds, draw.choice(IN_PLACE), draw.choice(MODES), beside, n_text)


class Composed(Attention):
    """Attention by a `Composition`; `own` has copies of what it computed in its last run."""

    def __init__(self, choice: Composition) -> None:
        super().__init__()
        self.choice = choice
        for name, kind in zip(LAYERS, choice.kinds, strict=True):
            setattr(self, name, KINDS[kind](getattr(self, name)))
        self.own: dict[str, Tensor] = {}

    def keep(self, name: str, tensor: Tensor) -> Tensor:
        """The tensor, of which a copy is kept."""
        self.own[name] = tensor.detach().clone()
        return tensor

    def forward(self, x: Tensor) -> Tensor:
        """The attention of x."""
        self.keep("x", x)
        wrote = {name: self.keep(name, getattr(self, name)(x)) for name in "qkv"}
        q, k, v = (part.unflatten(-1, (H, DH)).transpose(1, 2) for part in wrote.values())
        if self.choice.in_place == "query":
            q *= 0.5
        weights = self.keep("weights", (q @ k.mT / DH**0.5).softmax(-1))
        mixed = (weights @ v).transpose(1, 2).flatten(2)
        if self.choice.in_place == "weights":
            weights.zero_()
        return self.keep("o", self.o(mixed))


class Around(nn.Module):
    """The attention in a block, with another module behind it."""

    def __init__(self, choice: Composition) -> None:
        super().__init__()
        self.choice = choice
        self.attention = Composed(choice)
        self.beside = choice.beside() if choice.beside is not None else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        """What the module behind the block gives."""
        x = x.clone()
        added = self.attention(x)
        if self.choice.in_place == "residual":
            x += added
        elif self.choice.in_place == "result":
            x = added.add_(x)
        else:
            x = x + added
        result: Tensor = self.beside(x)
        return result


def composed(seed: int) -> Around:
    """The model of a seed."""
    torch.manual_seed(seed)
    return Around(composition(seed)).eval()
