"""Weights as CSV: one row for each weight, or one head as a matrix.

In: entries. Out: UTF-8 with a byte order mark, so that spreadsheet programs read tokens of every
script. A token that such a program would run as a formula, because it begins with = + - or @, has
an apostrophe before it. Weights have nine digits, which give every float32 back exactly.
"""

import csv
import io
from collections.abc import Iterator, Sequence
from io import BufferedIOBase

import numpy as np

from attnviz.files.tables.entries import Entry, require_few, too_many

MOST = 5_000_000  # rows: some 160 MB
ADVICE = (
    "leave small weights out with least=0.01, name one with head='L5.H11', or save them as .npz"
)
ENCODING = "utf-8-sig"
FORMULA = tuple("=+-@\t\r\n＝＋－＠")
LINE_END = "\r\n"


def write(written: Sequence[Entry], file: BufferedIOBase, least: float = 0.0) -> None:
    """Write a row for each weight of at least `least`.

    The columns are layer, head, query, key, query_token, key_token, weight; before them stack and
    kind where there are several attentions, and call and window where a layer has several.
    """
    if not least > 0:
        require_few(written, MOST, ADVICE)
    columns = _Columns(written)
    file.write(_line(*columns.names).encode(ENCODING))
    count = 0
    for entry in written:
        cells = _cells(entry)
        for head in entry.heads:
            weights = entry.head(head)
            kept = np.flatnonzero(weights >= least) if least > 0 else range(weights.size)
            count += len(kept)
            if count > MOST:
                raise too_many(count, MOST, ADVICE)
            file.write(_rows(columns.values(entry, head), cells, weights, kept).encode())


def write_matrix(entry: Entry, file: BufferedIOBase) -> None:
    """Write one head as a matrix: keys along the top, a query at the beginning of each row."""
    require_few([entry], MOST, ADVICE)
    weights = entry.head(entry.heads[0])
    file.write(_line("query \\ key", *map(harmless, entry.keys)).encode(ENCODING))
    pattern = ",".join(["%.9g"] * weights.shape[1])
    for label, row in zip(entry.queries, weights.tolist(), strict=True):
        begin = _line(harmless(label)).removesuffix(LINE_END)
        file.write(f"{begin},{pattern % tuple(row)}{LINE_END}".encode())


def harmless(token: str) -> str:
    """The token as a cell that no spreadsheet program runs.

    >>> harmless("=1+1"), harmless("cat")
    ("'=1+1", 'cat')
    """
    return f"'{token}" if token.startswith(FORMULA) else token


class _Columns:
    """The columns before the tokens: those that tell rows apart."""

    def __init__(self, written: Sequence[Entry]) -> None:
        self.several = len({(entry.call.stack, entry.call.kind) for entry in written}) > 1
        self.repeated = any(entry.index for entry in written)
        self.windows = any(entry.window is not None for entry in written)

    @property
    def names(self) -> Iterator[str]:
        """The header of the file."""
        yield from ("stack", "kind") if self.several else ()
        yield "layer"
        yield from ("call",) if self.repeated else ()
        yield from ("window",) if self.windows else ()
        yield from ("head", "query", "key", "query_token", "key_token", "weight")

    def values(self, entry: Entry, head: int) -> str:
        """The beginning of every row of one head."""
        call = entry.call
        window = "" if entry.window is None else entry.window
        values = [
            *((call.stack or "", call.kind) if self.several else ()),
            call.layer,
            *((entry.index,) if self.repeated else ()),
            *((window,) if self.windows else ()),
            head,
        ]
        return ",".join(map(str, values))


def _cells(entry: Entry) -> list[str]:
    """Query, key and their tokens, for each cell of a matrix."""
    queries, keys = (
        [_line(harmless(label)).removesuffix(LINE_END) for label in labels]
        for labels in (entry.queries, entry.keys)
    )
    return [
        f"{query},{key},{queries[query]},{keys[key]}"
        for query in range(len(queries))
        for key in range(len(keys))
    ]


def _rows(
    begin: str, cells: list[str], weights: np.ndarray, kept: Sequence[int] | np.ndarray
) -> str:
    values = weights.ravel().tolist()
    return "".join([f"{begin},{cells[at]},{values[at]:.9g}{LINE_END}" for at in kept])


def _line(*cells: str) -> str:
    """A row of texts, quoted where CSV needs it."""
    file = io.StringIO()
    csv.writer(file, lineterminator=LINE_END).writerow(cells)
    return file.getvalue()
