"""The function that replaces the model's own numbers at a stage, carried by the call.

In: some (row, head) pairs of a stage of one call, [pair, …]. Out: the numbers that stand there
instead. The very functions that changed a model while it ran are applied again whenever a stage of
the call is derived, so that a changed call is derived with its changes and can be compared with the
model. Positions are counted in the whole sequence, from each row's own first token.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor

from attnviz.attention.edits import Edit
from attnviz.errors import BadInput

ChangeableStage = Literal["q", "k", "v", "scores", "mask", "masked", "weights", "mixed"]


@dataclass(frozen=True)
class Span:
    """Where the queries or the keys of a call lie in their sequence.

    `first` is the position of the first of them: behind a key cache a call has new queries only.
    `starts` says, for each row of the batch, how much padding stands before its first real token,
    `lengths` how many real tokens it has; None where nothing is padded.
    """

    first: int = 0
    starts: tuple[int, ...] | None = None
    lengths: tuple[int, ...] | None = None


@dataclass(frozen=True, eq=False)
class Pairs:
    """The (row, head) pairs that a function changes, and where their call lies in the sequence.

    `may_attend` is the mask before any change, None where nothing is blocked; `unmasked` has the
    scores before the mask, of changes of "masked" only. `writes` is True while a model generates:
    what is laid over a text then ends before the sequence does.
    """

    rows: Int64[Tensor, " pair"]
    heads: Int64[Tensor, " pair"]
    n_query: int
    n_key: int
    query: Span = Span()
    key: Span = Span()
    may_attend: Bool[Tensor, "pair query key"] | None = None
    unmasked: Float[Tensor, "pair query key"] | None = None
    writes: bool = False

    def query_positions(self) -> Int64[Tensor, "pair query"]:
        """The position of each query in its own text; below 0 in padding."""
        return self._positions(self.query, self.n_query)

    def key_positions(self) -> Int64[Tensor, "pair key"]:
        """The position of each key in its own text; below 0 in padding."""
        return self._positions(self.key, self.n_key)

    def _positions(self, span: Span, n: int) -> Tensor:
        whole = torch.arange(span.first, span.first + n, device=self.rows.device)
        whole = whole.expand(len(self.rows), -1)
        if span.starts is None:
            return whole
        return whole - torch.tensor(span.starts, device=whole.device)[self.rows][:, None]


Function = Callable[[Tensor, Pairs], Tensor]


@dataclass(frozen=True, eq=False)
class StageChange:
    """`function` applied at `stage`, to the heads `heads` of every row, or to pairs (row, head).

    Without `heads` every head is changed. With `rows` the two are taken pair by pair: row r of the
    batch has head h changed, and no other. `text` is what was asked for, as in an address.
    """

    stage: ChangeableStage
    function: Function
    heads: tuple[int, ...] | None = None
    rows: tuple[int, ...] | None = None
    text: str = ""
    query: Span = Span()
    key: Span = Span()
    writes: bool = False

    def __str__(self) -> str:
        return self.text or f"{self.stage} changed"

    def touches(self, row: int, head: int) -> bool:
        """True if the change is made to a head in a row."""
        if self.rows is not None:
            assert self.heads is not None, "rows are paired with heads"
            return (row, head) in zip(self.rows, self.heads, strict=True)
        return self.heads is None or head in self.heads

    def pairs(self, n_batch: int, n_heads: int) -> list[tuple[int, int]]:
        """Every (row, head) of a call that is changed."""
        if self.rows is not None:
            assert self.heads is not None, "rows are paired with heads"
            return list(zip(self.rows, self.heads, strict=True))
        heads = range(n_heads) if self.heads is None else self.heads
        return [(row, head) for row in range(n_batch) for head in heads]

    def applied(
        self,
        values: Tensor,
        pairs: list[tuple[int, int]],
        shape: tuple[int, int],
        may_attend: Tensor | None = None,
        unmasked: Tensor | None = None,
    ) -> Tensor:
        """The changed numbers of some pairs, [pair, …]; `shape` is (queries, keys) of the call."""
        rows, heads = torch.tensor(pairs, dtype=torch.int64, device=values.device).unbind(1)
        spans = self.query, self.key
        seen = Pairs(rows, heads, *shape, *spans, may_attend, unmasked, self.writes)
        return self.function(values, seen).expand_as(values).to(values.dtype)


# --- edited entries -----------------------------------------------------------------------------


def of_edits(edits: Sequence[Edit], head: int) -> tuple[StageChange, ...]:
    """The changes of the edits of one head, in their order."""
    return tuple(StageChange(edit.stage, edited(edit), (head,), text=str(edit)) for edit in edits)


def edited(edit: Edit) -> Function:
    """One entry set to a value, or all keys of a row blocked or opened."""

    def change(values: Tensor, pairs: Pairs) -> Tensor:
        of_keys = edit.stage in ("k", "v")
        rows = pairs.key_positions() if of_keys else pairs.query_positions()
        columns = torch.arange(values.shape[2], device=values.device).expand(len(values), -1)
        if edit.stage in ("scores", "masked"):
            columns = pairs.key_positions()
        _require_inside(edit, rows, columns, pairs.key if of_keys else pairs.query, pairs)
        at_row = (rows == edit.row)[:, :, None]
        if edit.column is None:
            opened = pairs.unmasked if edit.value > 0 else None
            row = torch.full_like(values, -math.inf) if opened is None else opened
            return torch.where(at_row, row, values)
        cell = at_row & (columns == edit.column)[:, None, :]
        return values.masked_fill(cell, edit.value)

    return change


def _require_inside(edit: Edit, rows: Tensor, columns: Tensor, span: Span, pairs: Pairs) -> None:
    """Raise `BadInput` for an entry outside the matrix of its stage."""
    n_rows = max(span.lengths or (rows.shape[1],))
    keys = pairs.key.lengths if edit.stage in ("scores", "masked") else None
    n_columns = max(keys or (columns.shape[1],))
    grows = pairs.writes  # a later pass may have the row, or the key
    if not grows and (edit.row >= n_rows or (edit.column or 0) >= n_columns):
        raise BadInput(
            f"the edit {str(edit)!r} lies outside its matrix: {edit.stage} has {n_rows} ×"
            f" {n_columns} entries",
            code="edit_outside",
            asked=str(edit),
            rows=n_rows,
            columns=n_columns,
        )
