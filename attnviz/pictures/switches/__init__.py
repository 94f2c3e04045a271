"""Switches: every head as a switch, and beside them the model's answer before and after.

In: a frozen `SwitchesView` whose texts are already translated. Out: the heads that a visitor has
switched, in the text form of `attnviz.changes`, validated with `parse`; a `ForbiddenLook` at a word
that is forbidden; a request to open a head. Heads are drawn as small heatmaps, with the measured
effect of each below it where it is known. Under them stand the words with what each adds to the
answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, get_args

import numpy as np
from jaxtyping import Bool, Float32

from attnviz.changes.entry import read_entry
from attnviz.errors import BadInput
from attnviz.notation import TextForm, refusal
from attnviz.pictures.shared import numbers
from attnviz.pictures.shared.bars import Bar
from attnviz.pictures.shared.canvas import LISTED, Canvas, derived, roots
from attnviz.types import Site

# what a head that is switched off says instead, or where it looks
Off = Literal["mean", "resample", "zero", "even"]
OFF: tuple[Off, ...] = get_args(Off)
# what an effect is of: one answer's probability, several on average, a meaning, other vectors
EffectsUnit = Literal["percent", "points", "meaning", "number"]
ALL_ON = "none"
MAX_CHARS = 6000
MAX_SWITCHES = 256
TINY = 32  # the longest side of a small heatmap, in cells


def _refuse(part: str, reason: str) -> BadInput:
    return refusal("bad_change_text", "the switches", part, reason, "L0.H0.mixed=mean")


@dataclass(frozen=True)
class Switch:
    """A head that is off; it prints as a change of `attnviz.changes`."""

    head: str
    to: Off = "mean"

    def __str__(self) -> str:
        return f"{self.head}.{'weights' if self.to == 'even' else 'mixed'}={self.to}"

    @derived
    def change(self) -> str:
        """Its text form."""
        return str(self)


@dataclass(frozen=True, eq=False)
class SwitchGroup:
    """The heads of one attention: `prefix` is what stands before L0.H0 in their names.

    `heads` has the number for each layer. `effects` is NaN where there is no head, None where
    nothing was measured yet. `visible` are the points with a key that each layer may attend to,
    once if all are alike, None where nothing is blocked.
    """

    title: str
    prefix: str
    heads: tuple[int, ...]
    weights: Annotated[Float32[np.ndarray, "layer head query key"], roots(8)]
    effects: Float32[np.ndarray, "layer head"] | None = None
    visible: Bool[np.ndarray, "_ query key"] | None = None


@dataclass(frozen=True, eq=False)
class HeadFacts:
    """Looks and matters of the heads of a group: what `shared/effects.js` says of a head.

    `looks` has the weight of the chosen cell in each head, and the mean of its other rows; NaN
    where it may not look; None where no cell of this group is chosen. Its tokens are `query` and
    `key`; `hidden` says that the mask hides one from the other, "" where it does not.
    `sentences` say the effect beside its control, by layer and head.
    """

    query: str
    key: str
    sentences: tuple[tuple[str, ...], ...]
    looks: Float32[np.ndarray, "layer head number"] | None = None
    hidden: str = ""


@dataclass(frozen=True)
class MadeChange:
    """The head that was changed last, and in a sentence what that does beside the other changes."""

    head: str
    sentence: str


@dataclass(frozen=True)
class AnswerView:
    """The answer as bars, with what changed in words, the control, and texts side by side.

    `measured` says how the control was measured, and what it says of the lead.
    `percent` is False where the numbers are cosines. `written` has pairs of a label and a text.
    """

    title: str
    bars: tuple[Bar, ...]
    values: str
    seconds: str
    sentence: str
    control: str = ""
    measured: str = ""
    percent: bool = True
    written: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class ForbiddenLook:
    """The head whose looks are shown, "" for all of them, and the word that is forbidden, if any.

    It prints as "L2.H1@2", "@2" for all heads, "L2.H1" where no word is forbidden.
    """

    head: str = ""
    key: int | None = None

    def __str__(self) -> str:
        return self.head + ("" if self.key is None else f"@{self.key}")

    @staticmethod
    def parse(text: str) -> "ForbiddenLook":
        """The look that a text names; raises `BadInput` for other text."""
        name, at, key = text.partition("@")
        head = Site.parse(name)
        named = not name or (head is not None and head.head is not None)
        index, exact = numbers.index(key) if at else (None, True)
        if not (named and exact and (index is not None) == bool(at)):
            raise _refuse(text, "it is not a head, @ and a position, such as L2.H1@2")
        return ForbiddenLook(name, index)


@dataclass(frozen=True)
class OfferedLook:
    """A look that a click forbids: the head, its words' places, and all in words, as `name`.

    `query` is None where the answer has no one row. `note` says why it is offered, or that it has
    no weight.
    """

    head: str
    query: int | None
    key: int
    name: str
    note: str = ""


@dataclass(frozen=True, eq=False)
class WordsView:
    """Words with what each adds to a number of the answer; a look that is forbidden.

    `values` are direct shares, whose sums over words are the heads' own. `cut` has the number's
    exact change where each head's look at the word is forbidden alone, None where no word is
    chosen. `sentences` say what was found, `notes` have the control. `query` is the one place at
    which heads write into the answer, None where there are several.
    """

    title: str
    tokens: tuple[str, ...]
    special: Annotated[Bool[np.ndarray, "token"], LISTED]
    heads: tuple[str, ...]
    values: Float32[np.ndarray, "head token"]
    look: str
    decimals: int
    sentences: tuple[str, ...]
    notes: tuple[str, ...]
    cut: Float32[np.ndarray, "head"] | None = None
    query: int | None = None

    @derived
    def chosen(self) -> int | None:
        """The position of the word that is forbidden."""
        return ForbiddenLook.parse(self.look).key

    @derived
    def through(self) -> str:
        """The head whose looks are shown, "" for all."""
        return ForbiddenLook.parse(self.look).head


@dataclass(frozen=True, eq=False)
class SwitchesView:
    """The board, what is off, and the answer. `effects` says in words what was measured.

    They are in `effects_unit`. `suggested` is the head to switch off first, "" where none is known,
    and `suggested_note` says why. `looks` are offered: that of the head that is off, or the
    strongest of all, and that of a chosen row which does not make the answer; `offer_said` says why
    that look may move the answer more than its whole head, or why none is offered. `forbids` is
    True where a row can be chosen for it. What was switched in another `model` cannot be undone.
    `words` is None where words have no direct shares. `facts` has those of each group, none where
    nothing was measured; an effect above `least` matters. `forbidden` is a look in words, "" for
    none, and `reader` its head, "" for all of them; `dropped` says which one another choice
    allowed. `made` is a look of one head, or a head that is off beside others; None for other
    changes.
    """

    model: str
    groups: tuple[SwitchGroup, ...]
    off: tuple[Switch, ...]
    to: Off
    answer: AnswerView
    effects: str = ""
    effects_unit: EffectsUnit = "percent"
    suggested: str = ""
    suggested_note: str = ""
    looks: tuple[OfferedLook, ...] = ()
    offer_said: str = ""
    forbids: bool = False
    words: WordsView | None = None
    facts: tuple[HeadFacts, ...] = ()
    least: float = 0.0
    reader: str = ""
    forbidden: str = ""
    dropped: str = ""
    made: MadeChange | None = None

    @derived
    def most(self) -> float:
        """The largest effect of a head, 0 where none was measured."""
        known = [group.effects for group in self.groups if group.effects is not None]
        return max(
            (float(np.nanmax(effects)) for effects in known if np.isfinite(effects).any()),
            default=0.0,
        )


CANVAS = Canvas("switches", (SwitchesView,))


Matrices = Float32[np.ndarray, "_ _ _"] | Bool[np.ndarray, "_ _ _"]


def tiny(matrices: Matrices) -> Matrices:
    """Weights, or masks, in at most `TINY` points a side, each the largest that it stands for."""
    for axis in (1, 2):
        n = matrices.shape[axis]
        side = -(-n // TINY)
        if side > 1:
            matrices = np.maximum.reduceat(matrices, np.arange(0, n, side), axis=axis)
    return matrices


# --- the text form ------------------------------------------------------------------------------

FORM = TextForm(_refuse, ",", MAX_CHARS, MAX_SWITCHES)


def parse(text: str) -> tuple[Switch, ...] | None:
    """The heads that are off, None where nobody has chosen; raises `BadInput` for other text."""
    if not text:
        return None
    return () if text == ALL_ON else tuple(FORM.parse(text, _switch).values())


def write(switches: Sequence[Switch] | None) -> str:
    """The text of `parse`."""
    if switches is None:
        return ""
    return FORM.write(map(str, switches)) or ALL_ON


def _switch(part: str) -> tuple[str, Switch]:
    """The switch of one entry, by its head."""
    entry = read_entry(part)
    to = next((to for to in OFF if str(entry) == str(Switch(str(entry.site), to))), None)
    if to is None or entry.site.head is None:
        raise _refuse(part, f"it names no head with one of {', '.join(OFF)}")
    return str(entry.site), Switch(str(entry.site), to)
