"""The output of a command: a table for a terminal, or with `--json` one line for a program.

In: plain values, or labels and rows. Out: lines whose columns stand under one another, also where a
character fills two cells, as Chinese, Japanese and Korean ones do, or none; JSON with null for
every number that JSON cannot hold.
"""

import sys
from collections.abc import Sequence

STRONGEST = 3


def json_line(value: object) -> str:
    """The value as JSON on one line."""
    import json  # a help text starts without these

    from attnviz.notation.json_fields import finite

    return json.dumps(finite(value), allow_nan=False)


def progress(done: str, *, is_last: bool) -> None:
    """Write how much is done over what was written before, if stderr is a terminal."""
    if sys.stderr.isatty():
        end = "\n" if is_last else ""
        print(f"\rattnviz: {done}", end=end, file=sys.stderr, flush=True)


def columns(rows: Sequence[Sequence[str]]) -> str:
    """The rows as text, each column as wide as its widest cell."""
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(padded(cell, n_cells) for cell, n_cells in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
    return "\n".join(lines)


def padded(text: str, n_cells: int) -> str:
    """The text with spaces after it, up to this width."""
    return text + " " * (n_cells - width(text))


def width(text: str) -> int:
    """The number of terminal cells that the text fills."""
    from wcwidth import wcswidth

    return max(0, wcswidth(text))  # -1 for text with control characters, which labels never have


def weights(queries: list[str], keys: list[str], values: list[list[float]]) -> str:
    """A row for each query, a column for each key; `values` is [query][key]."""
    rows = [
        (query, *(f"{weight:.2f}" for weight in row))
        for query, row in zip(queries, values, strict=True)
    ]
    return columns([("", *keys), *rows])


def strongest(queries: list[str], keys: list[str], values: list[list[float]]) -> str:
    """For each query the keys that get the most weight, strongest first."""
    rows = []
    for query, row in zip(queries, values, strict=True):
        order = sorted(range(len(row)), key=row.__getitem__, reverse=True)[:STRONGEST]
        rows.append((query, *(f"{keys[key]} {row[key]:.2f}" for key in order)))
    return columns([("query", *(f"key {rank + 1}" for rank in range(STRONGEST))), *rows])
