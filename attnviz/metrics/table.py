"""A table with one row for each head: where the head is, and one column for each measure.

In: the weights of recorded layers. Out: a `HeadTable` of numpy columns, which `pandas.DataFrame` or
`polars.DataFrame` take as they are: `DataFrame(table.to_dict())`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32, Shaped

from attnviz.errors import bad_argument, require_one_of
from attnviz.metrics.layer_weights import LayerWeights
from attnviz.metrics.measures import layer_measures
from attnviz.summary import counted, html_card, text_table
from attnviz.types import MEASURES, HeadId, Measure

# "text" only in a table by text, "index" only where a layer attends repeatedly
PLACE = ("text", "stack", "kind", "layer", "index", "head")
CALL = PLACE[1:]

_Place = tuple[str, str, int, int]  # stack, kind, layer, index


@dataclass(frozen=True, eq=False)
class HeadTable:
    """One row for each head; `columns` are arrays of one length, by name. `print` shows the first.

    The first columns are `stack` ("" if the model has a single one), `kind`, `layer` and `head`,
    then the measures. A column `index` counts the calls of a layer if some layer has several, a
    column `text` before all others the texts of a table by text.
    """

    columns: Mapping[str, Shaped[np.ndarray, "row"]]

    def __len__(self) -> int:
        return len(self.columns["head"])

    def __getitem__(self, name: str) -> Shaped[np.ndarray, "row"]:
        """One column. Raises `BadInput` if there is none of this name."""
        require_one_of("column", name, tuple(self.columns))
        return self.columns[name]

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of the columns that are measures."""
        return tuple(name for name in self.columns if name not in PLACE)

    @property
    def heads(self) -> tuple[HeadId, ...]:
        """The head of each row."""
        places = zip(self["layer"].tolist(), self["head"].tolist(), strict=True)
        return tuple(HeadId(layer, head) for layer, head in places)

    def sort(self, by: str, n: int | None = None, descending: bool = True) -> "HeadTable":
        """The rows ordered by one column, or the first `n` of them; NaN comes last either way."""
        values = self[by]
        order = np.argsort(values, kind="stable")
        if values.dtype.kind == "f":
            missing = np.isnan(values[order])
            order, last = order[~missing], order[missing]
        else:
            last = order[:0]
        order = np.concatenate([order[::-1] if descending else order, last])[:n]
        return HeadTable({name: column[order] for name, column in self.columns.items()})

    def grid(self, name: str) -> Float32[np.ndarray, "layer head"]:
        """One measure as [layer, head], NaN where there is no such head.

        Raises `BadInput` if the table has several stacks or kinds: then give `kind` or `stack` to
        `Capture.table`.
        """
        if "text" in self.columns:
            raise bad_argument(
                "the table has a row for each text and head; make it without by_text",
                name="by_text",
                found="True",
                allowed="False",
            )
        places = list(zip(self["layer"].tolist(), self["head"].tolist(), strict=True))
        if len(set(places)) < len(places):
            raise bad_argument(
                "the table has several rows for one layer and head; make it of one kind and stack:"
                ' table(kind="self", stack="encoder")',
                name="kind",
                found="None",
                allowed="self, cross",
            )
        layers, heads = (1 + max(numbers) for numbers in zip(*places, strict=True))
        grid = np.full((layers, heads), np.nan, dtype=np.float32)
        grid[tuple(zip(*places, strict=True))] = self[name]
        return grid

    def to_dict(self) -> dict[str, list[float | int | str]]:
        """The columns as lists of plain numbers and texts."""
        return {name: column.tolist() for name, column in self.columns.items()}

    def __repr__(self) -> str:
        return f"HeadTable of {counted(len(self), 'head')}: {' '.join(self.columns)}"

    def __str__(self) -> str:
        """The first rows with their numbers, as `print` shows them; no column without a text."""
        return text_table({name: cells for name, cells in self._written().items() if any(cells)})

    def _repr_html_(self) -> str:
        written = self._written()
        rows = list(zip(*written.values(), strict=True))
        return html_card(counted(len(self), "head"), tuple(written), rows)

    def _written(self) -> dict[str, list[str]]:
        return {name: [_written(cell) for cell in column] for name, column in self.columns.items()}


def head_table(
    layers: Iterable[LayerWeights], measures: Sequence[Measure] | Measure = MEASURES
) -> HeadTable:
    """The table of some layers; layers of one call are averaged, NaN entries left out.

    Raises `BadInput` for a measure that does not exist.
    """
    measures = as_measures(measures)
    numbers: dict[Measure, dict[_Place, list[np.ndarray]]] = {name: {} for name in measures}
    heads: dict[_Place, Sequence[int]] = {}
    for layer in layers:
        place = (layer.stack or "", layer.kind, layer.layer, layer.index)
        heads[place] = layer.numbers
        measured = layer_measures(layer.weights, layer.queries, layer.keys, layer.visible, measures)
        for name, by_head in measured.items():
            numbers[name].setdefault(place, []).append(by_head)
    rows = [(*place, head) for place, numbers_here in heads.items() for head in numbers_here]
    columns = dict(zip(CALL, map(np.array, zip(*rows, strict=True)), strict=True))
    if not columns["index"].any():
        del columns["index"]
    for name, by_place in numbers.items():
        columns[name] = np.concatenate([_mean(np.stack(by_row)) for by_row in by_place.values()])
    return HeadTable(columns)


def as_measures(measures: Sequence[Measure] | Measure) -> tuple[Measure, ...]:
    """Measures by name, one or several; `BadInput` for one that does not exist."""
    names = (measures,) if isinstance(measures, str) else tuple(measures)
    for name in names:
        require_one_of("measure", name, MEASURES)
    return names


def by_text(tables: Sequence["HeadTable"]) -> HeadTable:
    """The tables of several texts below each other, with a column `text` that counts them."""
    columns = {
        name: np.concatenate([table[name] for table in tables]) for name in tables[0].columns
    }
    texts = np.repeat(np.arange(len(tables)), [len(table) for table in tables])
    return HeadTable({"text": texts, **columns})


def _mean(numbers: Float32[np.ndarray, "row head"]) -> Float32[np.ndarray, "head"]:
    """The mean of each column over the rows that have a number; NaN if none has."""
    known = ~np.isnan(numbers)
    total = np.where(known, numbers, 0).sum(axis=0)
    mean = total / np.maximum(known.sum(axis=0), 1)
    return np.asarray(np.where(known.any(axis=0), mean, np.nan), dtype=np.float32)


def _written(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float | np.floating) else str(value)
