"""The similarity of sentences: the cosine of their mean hidden states.

In: an encoder and texts. Out: a `Similarity`. A sentence's vector is the mean of the last hidden
state over its real tokens, the special ones included, scaled to length 1: what the library
sentence-transformers does for all-MiniLM-L6-v2 (Reimers and Gurevych 2019, mean pooling), which
however reads no more than 256 tokens of a text. For a model that was not trained so, the same
number is a fact about hidden states, not about meaning.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float, Float32
from torch import Tensor

from attnviz.capture.plan.text import plan_text
from attnviz.capture.request import Request
from attnviz.errors import BadInput
from attnviz.models.loaded_model import LoadedModel

MIN_COUNT = 1e-9  # what sentence-transformers divides by at least
MIN_NORM = 1e-12


@dataclass(frozen=True, eq=False)
class Similarity:
    """`cosine[i, j]`, −1 to 1, between the vectors of two sentences."""

    texts: tuple[str, ...]
    vectors: Float32[np.ndarray, "sentence d_model"]
    cosine: Float32[np.ndarray, "sentence sentence"]


def similarity(lm: LoadedModel, texts: Sequence[str], *, cut: bool = False) -> Similarity:
    """The cosines between all pairs of texts, which run as one padded batch.

    Raises `BadInput` for a model that gives no hidden states, only what a head makes of them.
    """
    plan = plan_text(lm, Request.of(list(texts), cut=cut))
    with lm.lock, torch.no_grad():
        states = getattr(lm.model(**plan.inputs), "last_hidden_state", None)
    if states is None:
        raise BadInput(
            f"{lm.name} gives no vectors of tokens, only what a head makes of them",
            code="no_hidden",
            name=lm.name,
        )
    hidden = states.float()
    mask = plan.tensor("attention_mask")
    attended = torch.ones_like(hidden[..., 0]).bool() if mask is None else mask.bool()
    return compared(texts, pooled(hidden, attended).cpu().numpy())


def compared(texts: Sequence[str], unit: Float32[np.ndarray, "sentence d_model"]) -> Similarity:
    """The cosines between vectors of length 1."""
    return Similarity(tuple(texts), unit, np.clip(unit @ unit.T, -1.0, 1.0))


def pooled(
    hidden: Float[Tensor, "sentence token d_model"], attended: Bool[Tensor, "sentence token"]
) -> Float[Tensor, "sentence d_model"]:
    """The mean over attended tokens, scaled to length 1."""
    keep = attended[..., None].to(hidden.dtype)
    mean = (hidden * keep).sum(dim=1) / keep.sum(dim=1).clamp(min=MIN_COUNT)
    return torch.nn.functional.normalize(mean, dim=-1, eps=MIN_NORM)
