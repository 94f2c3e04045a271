"""The output of a classifier: a probability for each of its classes, by name.

In: a loaded model and a capture with logits [batch, class]. Out: a frozen `Classes`: the softmax of
the logits, or their sigmoid where the config says that several classes may hold at once. Where
every name is two words and each first word meets each second one ("red circle"), `factors` sums
the table over either word.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float32

if TYPE_CHECKING:
    from attnviz.attention.capture import Capture
    from attnviz.models.loaded_model import LoadedModel

MULTI_LABEL = "multi_label_classification"
REGRESSION = "regression"
FEWEST = 2


@dataclass(frozen=True, eq=False)
class Classes:
    """Probabilities in 0..1 by class. `exclusive`: exactly one class holds, so they sum to 1."""

    names: tuple[str, ...]
    probabilities: Float32[np.ndarray, "class"]
    exclusive: bool

    @property
    def order(self) -> tuple[int, ...]:
        """The classes from the likeliest to the least likely; equal ones in the model's order."""
        return tuple(int(index) for index in np.argsort(-self.probabilities, kind="stable"))

    @property
    def best(self) -> str:
        """The name of the likeliest class."""
        return self.names[self.order[0]]


def class_names(lm: "LoadedModel") -> tuple[str, ...]:
    """The names of a model's classes in the order of its logits; none where it has none."""
    config = getattr(lm.model, "config", None)
    by_id = getattr(config, "id2label", None)
    if not isinstance(by_id, dict) or getattr(config, "problem_type", None) == REGRESSION:
        return ()
    names = {int(place): str(name) for place, name in by_id.items()}
    return tuple(names[place] for place in sorted(names))


def has_classes(lm: "LoadedModel", capture: "Capture") -> bool:
    """True if the logits are one number for each of two or more named classes."""
    logits, n_names = capture.logits, len(class_names(lm))
    return logits is not None and logits.dim() == 2 and logits.shape[1] == n_names >= FEWEST


def classes(lm: "LoadedModel", capture: "Capture", batch: int = 0) -> Classes:
    """The class probabilities of one text or picture; `has_classes` must be True."""
    import torch

    assert has_classes(lm, capture) and capture.logits is not None, "no classes to read"
    logits = capture.logits[batch].float()
    exclusive = getattr(lm.model.config, "problem_type", None) != MULTI_LABEL
    probabilities = torch.softmax(logits, dim=-1) if exclusive else torch.sigmoid(logits)
    return Classes(class_names(lm), probabilities.cpu().numpy(), exclusive)


def factors(table: Classes) -> tuple[Classes, ...]:
    """The sums over the second word and over the first; none where names are no such table."""
    words = [tuple(name.split()) for name in table.names]
    if not table.exclusive or any(len(pair) != 2 for pair in words):
        return ()
    axes = [tuple(dict.fromkeys(pair[place] for pair in words)) for place in (0, 1)]
    whole = len(set(words)) == len(words) == len(axes[0]) * len(axes[1])
    if not whole or min(map(len, axes)) < FEWEST:
        return ()
    return tuple(_summed(table, words, axis, place) for place, axis in enumerate(axes))


def _summed(
    table: Classes, words: list[tuple[str, ...]], axis: tuple[str, ...], place: int
) -> Classes:
    """The probability of each word at one place of the names."""
    sums = np.zeros(len(axis), dtype=np.float64)
    at = [axis.index(pair[place]) for pair in words]
    np.add.at(sums, at, table.probabilities)
    return Classes(axis, sums.astype(np.float32), exclusive=True)
