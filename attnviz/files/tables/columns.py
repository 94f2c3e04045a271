"""The numbers of a result as CSV or JSON: what its `to_dict` gives.

In: a table of heads, or any result of an experiment. Out: bytes. A CSV needs columns of one length;
a result that is no table is a JSON document only. Tokens are cells that no spreadsheet runs.
"""

import csv
import io
import json
from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from attnviz.errors import bad_argument
from attnviz.files.tables.spreadsheet import ENCODING, LINE_END, harmless
from attnviz.notation.finite import finite

ENDINGS: dict[str, tuple[str, ...]] = {".csv": (), ".json": ()}


@runtime_checkable
class Result(Protocol):
    """A result that is a dictionary of lists and numbers."""

    def to_dict(self) -> Mapping[str, object]:
        """The columns, by name."""


def content(result: Result, ending: str) -> bytes:
    """The file that an ending of `ENDINGS` names; `BadInput` for a CSV of what is no table."""
    columns = result.to_dict()
    if ending == ".json":
        return json.dumps(finite(columns), ensure_ascii=False, indent=1).encode()
    lists = [column for column in columns.values() if isinstance(column, list)]
    if len(lists) < len(columns) or len({len(column) for column in lists}) > 1:
        raise bad_argument(
            f"{type(result).__name__} is no table with a row for each of its parts; save it as"
            " .json",
            name="path",
            found=ending,
            allowed=".json",
        )
    file = io.StringIO()
    writer = csv.writer(file, lineterminator=LINE_END)
    writer.writerow(columns)
    writer.writerows(map(_cell, row) for row in zip(*lists, strict=True))
    return file.getvalue().encode(ENCODING)


def _cell(value: object) -> object:
    return harmless(value) if isinstance(value, str) else value
