"""Numbers as text: tables for a terminal.

In: labels and rows. Out: lines whose columns stand under one another.
"""

from collections.abc import Sequence

STRONGEST = 3


def columns(rows: Sequence[Sequence[str]]) -> str:
    """The rows as text, each column as wide as its widest cell."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
    return "\n".join(lines)


def weights(queries: list[str], keys: list[str], of: list[list[float]]) -> str:
    """A row for each query, a column for each key."""
    rows = [
        (query, *(f"{weight:.2f}" for weight in row))
        for query, row in zip(queries, of, strict=True)
    ]
    return columns([("", *keys), *rows])


def strongest(queries: list[str], keys: list[str], of: list[list[float]]) -> str:
    """For each query the keys that get the most, strongest first."""
    rows = []
    for query, row in zip(queries, of, strict=True):
        order = sorted(range(len(row)), key=row.__getitem__, reverse=True)[:STRONGEST]
        rows.append((query, *(f"{keys[key]} {row[key]:.2f}" for key in order)))
    return columns([("query", *(f"key {rank + 1}" for rank in range(STRONGEST))), *rows])
