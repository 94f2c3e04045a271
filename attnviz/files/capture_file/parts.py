"""The contents of a capture file besides its tensors: model, tokens, windows, places of tokens.

Each piece is written and read side by side, as JSON of plain names. Reading checks that the piece
fits itself: a token for each piece, offsets inside the text, cells inside the grid.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, cast, get_args

import numpy as np

from attnviz.attention.capture import MissingCall
from attnviz.notation.json_fields import Field, Malformed
from attnviz.tokens.labels import without_surrogates
from attnviz.types import Kind, ModelKey, Stack, Tokens
from attnviz.vision.token_boxes import PatchRange, Places
from attnviz.vision.windows import Windows

MAX_TEXT = 2**31
MAX_PLACES = 2**20  # patches along a side of a picture, and windows of it
MAX_ID = 2**62


def model_json(model: ModelKey) -> dict[str, object]:
    return asdict(model)


def model(field: Field) -> ModelKey:
    """The key of the model that was captured."""
    entries = field.record("id", "revision", "dtype", "device")
    return ModelKey(**{name: value.text() for name, value in entries.items()})


def stack(field: Field) -> Stack | None:
    """One of the names of stacks, or None."""
    present = field.optional()
    return None if present is None else cast(Stack, present.one_of(*get_args(Stack)))


def kind(field: Field) -> Kind:
    """Self- or cross-attention."""
    return cast(Kind, field.one_of(*get_args(Kind)))


# --- tokens ------------------------------------------------------------------------------------


def tokens_json(tokens: Tokens) -> dict[str, object]:
    starts, ends = zip(*tokens.offsets, strict=True) if tokens.offsets else ((), ())
    return {
        "text": without_surrogates(tokens.text),
        "ids": tokens.ids.tolist(),
        "pieces": list(map(without_surrogates, tokens.pieces)),
        "labels": list(map(without_surrogates, tokens.labels)),
        "starts": list(starts),
        "ends": list(ends),
        "special": tokens.special.astype(int).tolist(),
        "padding": tokens.padding.astype(int).tolist(),
    }


def tokens(field: Field) -> Tokens:
    """The tokens of one sequence."""
    entries = field.record(
        "text", "ids", "pieces", "labels", "starts", "ends", "special", "padding"
    )
    text, pieces = entries["text"].text(), entries["pieces"].texts()
    count = len(pieces)
    starts = entries["starts"].wholes(count, most=MAX_TEXT)
    ends = entries["ends"].wholes(count, most=MAX_TEXT)
    if any(start > end for start, end in zip(starts, ends, strict=True)):
        raise Malformed(f"{field.place} has a token that ends before it starts")
    return Tokens(
        text=text,
        ids=np.array(entries["ids"].wholes(count, least=-1, most=MAX_ID), dtype=np.int64),
        pieces=pieces,
        labels=entries["labels"].texts(count),
        offsets=tuple(zip(starts, ends, strict=True)),
        special=np.array(entries["special"].wholes(count, most=1), dtype=np.bool_),
        padding=np.array(entries["padding"].wholes(count, most=1), dtype=np.bool_),
    )


TokensByStack = Mapping[Stack | None, tuple[Tokens, ...]]


def all_tokens_json(tokens_by_stack: TokensByStack) -> list[object]:
    return [
        {"stack": name, "rows": [tokens_json(row) for row in rows]}
        for name, rows in tokens_by_stack.items()
    ]


def all_tokens(field: Field) -> dict[Stack | None, tuple[Tokens, ...]]:
    """The tokens of each batch row of each stack."""
    by_stack: dict[Stack | None, tuple[Tokens, ...]] = {}
    for entry in field.rows():
        entries = entry.record("stack", "rows")
        name, rows = stack(entries["stack"]), tuple(map(tokens, entries["rows"].rows()))
        if name in by_stack or not rows:
            raise Malformed(f"{entry.place} has no texts, or a stack that was there before")
        by_stack[name] = rows
    if not by_stack:
        field.refuse("a list with the tokens of one stack at least")
    return by_stack


def missing_json(missing: tuple[MissingCall, ...]) -> list[dict[str, str]]:
    return [asdict(call) for call in missing]


def missing(field: Field) -> tuple[MissingCall, ...]:
    """The calls that could not be recorded, each with the reason."""
    records = (entry.record("module", "reason") for entry in field.rows())
    return tuple(MissingCall(call["module"].text(), call["reason"].text()) for call in records)


# --- pictures ----------------------------------------------------------------------------------


def grid(field: Field) -> tuple[int, int] | None:
    """(rows, columns) of a picture's patches, or None."""
    return None if field.optional() is None else _size(field)


def _size(field: Field) -> tuple[int, int]:
    rows, columns = field.wholes(2, least=1, most=MAX_PLACES)
    return rows, columns


def windows_json(windows: Windows | None) -> dict[str, Any] | None:
    return None if windows is None else asdict(windows)


def windows(field: Field, n_tokens: Sequence[int], n_batch: int) -> Windows | None:
    """The windows that a call's batch is made of; `n_tokens` are to be those of each window."""
    if field.optional() is None:
        return None
    entries = field.record("count", "side", "shift", "grid")
    board = Windows(
        count=entries["count"].whole(1, MAX_PLACES),
        side=entries["side"].whole(1, MAX_PLACES),
        shift=entries["shift"].whole(0, MAX_PLACES),
        grid=grid(entries["grid"]),
    )
    tokens_fit = board.grid is None or all(count == board.side**2 for count in n_tokens)
    down, across = board.board
    if not tokens_fit or down * across != board.count or n_batch % board.count:
        field.refuse(f"windows of {n_tokens} tokens that make up {n_batch} rows of a batch")
    return board


def places_json(places: Places | None) -> dict[str, Any] | None:
    if places is None:
        return None
    cells = [[None if cell is None else list(cell) for cell in row] for row in places.cells]
    entries = {name: list(map(list, getattr(places, name))) for name in ("rows", "columns")}
    return {"grid": list(places.grid), "cells": cells, **entries}


def places(field: Field, n_token: int, n_batch: int) -> Places | None:
    """Where the tokens along one axis of a call are in a picture."""
    if field.optional() is None:
        return None
    entries = field.record("grid", "rows", "columns", "cells")
    size = _size(entries["grid"])
    rows, columns = _spans(entries["rows"], size[0]), _spans(entries["columns"], size[1])
    windows = entries["cells"].rows()
    if not windows or n_batch % len(windows):
        entries["cells"].refuse(f"a list of windows that make up {n_batch} rows of a batch")
    cells = tuple(
        tuple(_cell(cell, len(rows), len(columns)) for cell in window.rows(n_token))
        for window in windows
    )
    return Places(size, rows, columns, cells)


def _spans(field: Field, count: int) -> tuple[PatchRange, ...]:
    """First and behind the last of the patches that each row or column of tokens covers."""
    spans = []
    for row in field.rows():
        start, stop = row.wholes(2, most=count)
        if start >= stop:
            row.refuse("two numbers, the first of them smaller")
        spans.append((start, stop))
    return tuple(spans)


def _cell(field: Field, n_rows: int, n_columns: int) -> tuple[int, int] | None:
    if field.optional() is None:
        return None
    row, column = field.rows(2)
    return row.whole(0, n_rows - 1), column.whole(0, n_columns - 1)
