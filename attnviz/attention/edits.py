"""Numbers changed by hand: one entry of q, k, v, of the scores or of what enters the softmax.

In: the text form that stands in an address, "q.3.5=0.7,masked.2.4=-inf"; a star stands for all keys
of a query, "masked.2.*=-inf" blocks them and "masked.2.*=inf" opens them. Out: frozen `Edit`s.
`formula.edited` puts them into copies of the stages: the tensors of a capture are never touched. A
stage that is edited counts as given: what comes after it is computed from the edited numbers.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from attnviz.errors import BadInput

EditableStage = Literal["q", "k", "v", "scores", "masked"]
EDITABLE: tuple[EditableStage, ...] = get_args(EditableStage)
MOST_EDITS = 64
LARGEST = 1e6
MAX_TEXT_CHARS = 4000
EVERY = "*"  # the column of an edit of a whole row


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
        return f"{self.stage}.{self.row}.{column}={self.value:.9g}"


def parse(text: str) -> tuple[Edit, ...]:
    """The edits of a text form; of two for one entry the later counts. `BadInput` for nonsense."""
    if len(text) > MAX_TEXT_CHARS:
        raise _bad(text[:40] + "…", f"longer than {MAX_TEXT_CHARS} characters")
    found: dict[tuple[str, int, int | None], Edit] = {}
    for part in filter(None, text.split(",")):
        edit = _parsed(part)
        found.pop((edit.stage, edit.row, edit.column), None)  # the later one also comes later
        found[edit.stage, edit.row, edit.column] = edit
    if len(found) > MOST_EDITS:
        raise _bad(text[:40] + "…", f"more than {MOST_EDITS} entries")
    return tuple(found.values())


def _parsed(part: str) -> Edit:
    place, _, number = part.partition("=")
    stage, _, position = place.partition(".")
    row, _, column = position.partition(".")
    whole_row = stage == "masked" and column == EVERY
    if stage not in EDITABLE or not (_is_index(row) and (whole_row or _is_index(column))):
        raise _bad(part, f"no entry of {', '.join(EDITABLE)}")
    try:
        value = float(number)
    except ValueError as error:
        raise _bad(part, f"{number!r} is no number") from error
    if whole_row:
        if not math.isinf(value):
            raise _bad(part, "a whole row is blocked with -inf or opened with inf")
        return Edit("masked", int(row), None, value)
    blocked = stage == "masked" and value == -math.inf
    if not blocked and not abs(value) <= LARGEST:
        raise _bad(part, f"the value must be a number between ±{LARGEST:g}")
    return Edit(stage, int(row), int(column), value)


def _is_index(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 5


def _bad(part: str, reason: str) -> BadInput:
    return BadInput(
        f"the edit {part!r} cannot be made: {reason}; write it as q.3.5=0.7, with several"
        " separated by commas",
        code="bad_edit",
        asked=part,
    )


def write(edits: Sequence[Edit]) -> str:
    """The text form of edits."""
    return ",".join(map(str, edits))


def of_stage(edits: Sequence[Edit], stage: str, n_rows: int, n_columns: int) -> tuple[Edit, ...]:
    """The edits of one stage; `BadInput` for an entry outside its matrix."""
    mine = tuple(edit for edit in edits if edit.stage == stage)
    for edit in mine:
        if edit.row >= n_rows or (edit.column or 0) >= n_columns:
            raise BadInput(
                f"the edit {str(edit)!r} lies outside its matrix: {stage} has {n_rows} ×"
                f" {n_columns} entries",
                code="edit_outside",
                asked=str(edit),
                rows=n_rows,
                columns=n_columns,
            )
    return mine
