"""The vocabulary of attnviz: plain frozen dataclasses over numpy, shared by every layer.

A reader meets these words everywhere: a *query* is a position that asks, a *key* is a position that
answers, a *head* is one of the parallel attentions of a *layer*. Heads are counted from 0.
The stages of one head, in the order in which they are computed (Vaswani et al. 2017, section 3.2):

    x → [unrotated_q unrotated_k] → q k v → scores (Q·Kᵀ) → scaled (÷ √d_head)
      → [capped] → [biased] → masked → weights (softmax) → mixed (weights·V)
      → concat (all heads side by side) → projected (·W_O)

Stages in brackets exist only in models that have them: a rotary embedding, a softcap, a position
bias.
"""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from jaxtyping import Bool, Float32, Int64

Kind = Literal["self", "cross"]
MaskKind = Literal["none", "causal", "keys", "cells"]
Stack = Literal["encoder", "decoder", "text", "vision", "audio"]
ModelKind = Literal[
    "encoder", "decoder", "encoder-decoder", "vision", "speech", "text-image", "module"
]
Stage = Literal[
    "x",
    "unrotated_q",
    "unrotated_k",
    "q",
    "k",
    "v",
    "scores",
    "scaled",
    "capped",
    "biased",
    "masked",
    "weights",
    "mixed",
    "concat",
    "projected",
]
STAGES: tuple[Stage, ...] = get_args(Stage)
Measure = Literal[
    "previous",
    "next",
    "self",
    "first",
    "separator",
    "same",
    "induction",
    "entropy",
    "distance",
    "peak",
]
MEASURES: tuple[Measure, ...] = get_args(Measure)
Axis = Literal["query", "key", "d_model", "d_head", "d_concat"]


@dataclass(frozen=True, order=True)
class HeadId:
    """One head of one layer, both counted from 0; printed `L5.H1`."""

    layer: int
    head: int

    def __str__(self) -> str:
        return f"L{self.layer}.H{self.head}"


@dataclass(frozen=True)
class ModelKey:
    """Everything that determines a loaded model's numbers; hashable, so it can key a cache."""

    id: str
    revision: str
    dtype: str
    device: str

    def __str__(self) -> str:
        return f"{self.id}@{self.revision}/{self.dtype}/{self.device}"


@dataclass(frozen=True)
class ModelCard:
    """What the registry knows of a model before it is loaded.

    `transcribes` says that it writes what it hears, in words that can also be typed,
    `takes_messages` that its tokenizer has a chat template, `writes_of_pictures` that it continues
    a text with a picture in it.
    """

    name: str
    kind: ModelKind
    layers: int
    heads: int
    parameters: int
    size_mib: float
    licence: str
    description: str
    revision: str
    hub_id: str
    transcribes: bool = False
    takes_messages: bool = False
    writes_of_pictures: bool = False


@dataclass(frozen=True, eq=False)
class Tokens:
    """The tokens of one sequence, padding included.

    `labels` are for the eye: the text's own characters where the token stands for some of it,
    "##" before the continuation of a word, control characters spelled out. `pieces` are the
    vocabulary's entries. `offsets` are (start, end) character positions in `text`, (0, 0) for
    special tokens; the text of a sentence pair is both, joined by a line break. `special` marks
    the tokens that the tokenizer added, padding among them.
    """

    text: str
    ids: Int64[np.ndarray, "token"]
    pieces: tuple[str, ...]
    labels: tuple[str, ...]
    offsets: tuple[tuple[int, int], ...]
    special: Bool[np.ndarray, "token"]
    padding: Bool[np.ndarray, "token"]

    def __len__(self) -> int:
        return len(self.pieces)


def named_tokens(labels: tuple[str, ...], n_special: int = 0) -> Tokens:
    """Tokens that stand for no text, such as rows of numbers or patches; special ones first."""
    n_token = len(labels)
    return Tokens(
        text="",
        ids=np.arange(n_token, dtype=np.int64),
        pieces=labels,
        labels=labels,
        offsets=((0, 0),) * n_token,
        special=np.arange(n_token) < n_special,
        padding=np.zeros(n_token, dtype=np.bool_),
    )


@dataclass(frozen=True, eq=False)
class StepView:
    """One stage of one head as a matrix to draw, with what its numbers mean.

    `range` is fixed where the stage has one (weights: 0 to 1), else None. `rows_sum_to` is 1 for
    weights. `error` is max |derived − the model's own tensor|, None where the model makes none.
    """

    stage: Stage
    values: Float32[np.ndarray, "row column"]
    rows: Axis
    cols: Axis
    signed: bool
    range: tuple[float, float] | None
    rows_sum_to: float | None
    error: float | None
    tolerance: float

    @property
    def ok(self) -> bool:
        """True unless the derived numbers differ from the model's by more than the tolerance."""
        return self.error is None or self.error <= self.tolerance
