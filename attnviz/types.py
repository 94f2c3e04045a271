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

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from jaxtyping import Bool, Float32, Int64

from attnviz.errors import BadInput, bad_argument
from attnviz.lazy import FilledLater
from attnviz.summary import counted, described, html_card, shortened

MIB = 2**20  # bytes

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
AxisName = Literal["query", "key", "d_model", "d_head", "d_concat"]
STACKS: tuple[Stack, ...] = get_args(Stack)
# a layer or a head in its text form: L2, L2.H1, cross.L2.H1, decoder.cross.L2.H1. It is the only
# such pattern: all else reads names with `Site.parse` or `HeadId.parse`; a test refuses another one
SITE_NAME = re.compile(
    rf"(?:(?P<stack>{'|'.join(STACKS)})\.)?(?P<cross>cross\.)?"
    r"L(?P<layer>[0-9]{1,4})(?:\.H(?P<head>[0-9]{1,4}))?"
)


@dataclass(frozen=True, order=True)
class HeadId:
    """One head of one layer, both counted from 0; printed and read as `L5.H1`."""

    layer: int
    head: int

    def __str__(self) -> str:
        return f"L{self.layer}.H{self.head}"

    @classmethod
    def parse(cls, text: str) -> "HeadId":
        """The head of a name such as "L5.H11"; `BadInput` for any other text.

        >>> HeadId.parse("L5.H11")
        HeadId(layer=5, head=11)
        """
        site = Site.parse(text)
        if site is None or site.head is None or site != Site(site.layer, site.head):
            raise _bad_head(text)
        return cls(site.layer, site.head)


@dataclass(frozen=True)
class Site:
    """A head of the self- or cross-attention of a stack; `head` None means all of the layer.

    `stack` None is the only stack there is, or the only one with such an attention.
    """

    layer: int
    head: int | None = None
    kind: Kind = "self"
    stack: Stack | None = None

    @classmethod
    def parse(cls, text: str) -> "Site | None":
        """The layer or head of a name such as "L2" or "decoder.cross.L1.H2"; None for other text.

        >>> Site.parse("audio.L0.H1")
        Site(0, 1, 'self', 'audio')
        """
        match = SITE_NAME.fullmatch(text)
        return None if match is None else cls._matched(match)

    @classmethod
    def parse_start(cls, text: str) -> tuple["Site | None", str]:
        """The layer or head that a text begins with, and the rest of the text.

        >>> Site.parse_start("L2.H1.mixed=mean")
        (Site(2, 1), '.mixed=mean')
        """
        match = SITE_NAME.match(text)
        return (None, text) if match is None else (cls._matched(match), text[match.end() :])

    @classmethod
    def _matched(cls, match: re.Match[str]) -> "Site":
        head = match["head"]
        return cls(
            layer=int(match["layer"]),
            head=None if head is None else int(head),
            kind="cross" if match["cross"] else "self",
            stack=next((stack for stack in STACKS if stack == match["stack"]), None),
        )

    def __repr__(self) -> str:
        """The shortest call that makes it: `Site(2, 1)`, `Site(0, 3, 'cross', 'decoder')`."""
        fields = [self.layer, self.head, self.kind, self.stack]
        for default in (None, "self", None):
            if fields[-1] != default:
                break
            fields.pop()
        return f"Site({', '.join(map(repr, fields))})"

    def __str__(self) -> str:
        stack = "" if self.stack is None else f"{self.stack}."
        cross = "cross." if self.kind == "cross" else ""
        head = "" if self.head is None else f".H{self.head}"
        return f"{stack}{cross}L{self.layer}{head}"

    @property
    def whole_layer(self) -> "Site":
        """The layer that the head is in."""
        return Site(self.layer, None, self.kind, self.stack)

    def with_head(self, head: int) -> "Site":
        """One head of the same layer."""
        return Site(self.layer, head, self.kind, self.stack)


Head = HeadId | str | tuple[int, int]  # the ways to name a head: also "L5.H11" and (5, 11)
Where = Site | Head  # the same in any stack: also "cross.L1.H2"; for most changes a layer, "L5"


def ignore(*_told: object) -> None:
    """Do nothing: the callback of work that nobody watches, or of a value read elsewhere."""


def head_id(head: Head) -> HeadId:
    """The head that is named by its text form, by (layer, head), or by itself.

    >>> head_id((5, 11)) == head_id("L5.H11")
    True
    """
    if isinstance(head, HeadId):
        return head
    if isinstance(head, str):
        return HeadId.parse(head)
    if isinstance(head, tuple) and len(head) == 2:
        return HeadId(*head)
    raise _bad_head(head)


def head_row(head: Head, heads: Sequence[HeadId], owner: str) -> int:
    """The place of a head among `heads`; `BadInput`, which names their owner, if there is none."""
    wanted = head_id(head)
    if wanted not in heads:
        raise bad_argument(
            f"the {owner} has no head {wanted}; it has {heads[0]} to {heads[-1]}",
            name="head",
            found=str(wanted),
            allowed=f"{heads[0]}, {heads[-1]}",
        )
    return heads.index(wanted)


def _bad_head(found: object) -> BadInput:
    site = Site.parse(found) if isinstance(found, str) else None
    advice = 'give "L5.H11", counted from 0, or (5, 11)'
    if site is not None and site.head is not None:
        kind = ['kind="cross"'] if site.kind == "cross" else []
        stack = [f'stack="{site.stack}"'] if site.stack else []
        name = HeadId(site.layer, site.head)
        advice = f'give "{name}" here, and {" and ".join(kind + stack)} where that can be chosen'
    return bad_argument(
        f"{found!r} names no head; {advice}",
        name="head",
        found=repr(found),
        allowed="L5.H11",
    )


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
    """The registry's entry for a model, known before the model is loaded.

    `layers` and `heads` count those of one stack, `parameters` its numbers; `size_mib` is the size
    of its files. `transcribes` is True if it writes down the speech it hears, in words that can
    also be typed, `takes_messages` if its tokenizer has a chat template, `writes_of_pictures` if it
    continues a text with a picture in it.
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
class Tokens(FilledLater):
    """The tokens of one sequence, padding included.

    `labels` are for the eye: the text's own characters if the token stands for some of it, "##"
    before the continuation of a word, control characters spelled out. `pieces` are the vocabulary's
    entries. `offsets` are (start, end) character positions in `text`, (0, 0) for special tokens;
    the text of a sentence pair is both, joined by a line break. `special` is True for the tokens
    that the tokenizer added, `padding` for those among them that only fill the sequence up.
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

    def find(self, text: str, occurrence: int = 0) -> int:
        """The position of the token that stands for `text`: its label, its piece or its characters.

        `occurrence` counts from 0 if several tokens do; −1 is the last. Raises `BadInput` if there
        are fewer, with the labels of all tokens.
        """
        spelled = (self.text[start:stop].strip() for start, stop in self.offsets)
        names = zip(self.labels, self.pieces, spelled, strict=True)
        places = [place for place, of_token in enumerate(names) if text and text in of_token]
        if not -len(places) <= occurrence < len(places):
            found = f"{text!r} does not occur in this text"
            if places:
                found = (
                    f"{text!r} is {counted(len(places), 'token')} of this text, and occurrence"
                    f" {occurrence} was asked for"
                )
            raise bad_argument(
                f"{found}; its tokens are {shortened(' '.join(self.labels), 400)}",
                name="token",
                found=repr(text),
                allowed=shortened(" ".join(self.labels), 400),
            )
        return places[occurrence]

    def __repr__(self) -> str:
        return f"{counted(len(self), 'token')}: {shortened(' '.join(self.labels), 100)}"

    def _repr_html_(self) -> str:
        rows = [
            (str(place), label, str(number))
            for place, (label, number) in enumerate(zip(self.labels, self.ids, strict=True))
        ]
        return html_card(counted(len(self), "token"), ("position", "token", "id"), rows)


def named_tokens(labels: tuple[str, ...], n_special: int = 0) -> Tokens:
    """Tokens without a text, such as patches or frames; the first `n_special` are special."""
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

    `range` is the stage's own if it has one (weights: 0 to 1), else None. `rows_sum_to` is 1 for
    weights. `error` is max |derived − the model's own tensor|, None if the model makes none;
    `tolerance` is the largest error that rounding explains, 0 if nothing is compared.
    """

    stage: Stage
    values: Float32[np.ndarray, "row column"]
    rows: AxisName
    cols: AxisName
    signed: bool
    range: tuple[float, float] | None
    rows_sum_to: float | None
    error: float | None
    tolerance: float

    @property
    def ok(self) -> bool:
        """True unless the derived numbers differ from the model's by more than the tolerance."""
        return self.error is None or self.error <= self.tolerance

    def __repr__(self) -> str:
        return described(self, "stage", "values", "rows", "cols", "error")
