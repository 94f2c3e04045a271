"""Numbers changed by hand: one entry of q, k, v, of the scores or of what enters the softmax.

In: the text form that stands in an address, "q.3.5=0.7,masked.2.4=-inf"; a star stands for all keys
of a query, "masked.2.*=-inf" blocks them and "masked.2.*=inf" opens them. Out: frozen `Edit`s. An
edit is a change as any other (`attnviz.changes.Edited`), in its text form with the head in front:
"L2.H1.q.3.5=0.7". The page Steps, which shows one head, leaves the head out. A stage that is edited
counts as given: what comes after it is computed from the edited numbers.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from attnviz import notation
from attnviz.errors import BadInput
from attnviz.notation import TextForm, refusal

EditableStage = Literal["q", "k", "v", "scores", "masked"]
EDITABLE: tuple[EditableStage, ...] = get_args(EditableStage)
LARGEST = 1e6
EVERY = "*"  # the column of an edit of a whole row


def _refusal(part: str, reason: str) -> BadInput:
    example = "q.3.5=0.7, with several separated by commas"
    return refusal("bad_edit", "the edit", part, reason, example)


FORM = TextForm(_refusal, separator=",", max_chars=4000, max_entries=64, allows_gaps=True)


@dataclass(frozen=True)
class Edit:
    """One entry: `row` and `column` of the stage's matrix, and its new value.

    In `masked` a value of −∞ blocks the cell. There a column of None stands for all keys of the
    row: −∞ blocks them, +∞ gives each the score that it has before the mask.
    """

    stage: EditableStage
    row: int
    column: int | None
    value: float

    def __str__(self) -> str:
        column = EVERY if self.column is None else self.column
        return f"{self.stage}.{self.row}.{column}={notation.write_number(self.value)}"


def parse(text: str) -> tuple[Edit, ...]:
    """The edits of a text form; of two for one entry the later counts. `BadInput` for nonsense."""
    return tuple(FORM.parse(text, _parse_entry).values())


def write(edits: Sequence[Edit]) -> str:
    """The text form of edits."""
    return FORM.write(map(str, edits))


def parse_one(part: str) -> Edit:
    """One edit of a text form; `BadInput` for nonsense.

    >>> parse_one("q.3.5=0.7")
    Edit(stage='q', row=3, column=5, value=0.7)
    """
    place, _, number = part.partition("=")
    stage, _, position = place.partition(".")
    row, _, column = position.partition(".")
    value = notation.number(number)
    if stage == "masked" and column == EVERY:
        return _whole_row(part, notation.index(row), value)
    return _cell(part, stage, notation.indices(position, 2), value)


def _parse_entry(part: str) -> tuple[tuple[str, int, int | None], Edit]:
    """An edit under its place."""
    edit = parse_one(part)
    return (edit.stage, edit.row, edit.column), edit


def _whole_row(part: str, row: int | None, value: float | None) -> Edit:
    if row is None:
        raise _refusal(part, f"no entry of {', '.join(EDITABLE)}")
    if value is None or not math.isinf(value):
        raise _refusal(part, "a whole row is blocked with -inf or opened with inf")
    return Edit("masked", row, None, value)


def _cell(part: str, stage: str, place: tuple[int, ...] | None, value: float | None) -> Edit:
    known = next((name for name in EDITABLE if name == stage), None)
    if known is None or place is None:
        raise _refusal(part, f"no entry of {', '.join(EDITABLE)}")
    is_blocked = stage == "masked" and value == -math.inf
    if value is None or not (is_blocked or abs(value) <= LARGEST):
        raise _refusal(part, f"the value must be a number between ±{LARGEST:g}")
    row, column = place
    return Edit(known, row, column, value)
