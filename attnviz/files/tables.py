"""Weights as numbers: numpy archives (.npz), spreadsheets (.csv) and JSON; results as the last two.

In: a capture and what was asked for: one head, one kind or stack, a text of the batch; or a result
with a `to_dict`. Out: bytes. An `Entry` is a matrix of heads with the labels of its queries and
keys; weights are derived when they are written, one call at a time, with nine digits where they
are text, which give every float32 back exactly. A CSV has a byte order mark, so that spreadsheet
programs read tokens of every script; a token that such a program would run as a formula, because
it begins with = + - or @, has an apostrophe before it. Each kind refuses what would make an absurd
file, and says what to do instead.
"""

import csv
import io
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BufferedIOBase
from itertools import groupby
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float32

from attnviz.attention import axis_tokens
from attnviz.attention.call import AttentionCall
from attnviz.attention.capture import Capture
from attnviz.errors import BadInput, TooLarge, bad_argument, bad_kind, require_index
from attnviz.notation.json_fields import finite
from attnviz.tokens.labels import without_surrogates
from attnviz.types import Head, Kind, Stack, Tokens, head_id

DTYPES = ("float32", "float16")
MOST_NPZ = 2**29  # weights: 2 GiB in memory, before they are compressed
ADVICE_NPZ = (
    "name one with head='L5.H11', one stack or kind, or save the capture itself as"
    " .safetensors: weights are derived from it"
)
FORMAT, VERSION = "attnviz-weights", 1
MOST_JSON = 5_000_000  # weights: some 60 MB
ADVICE_JSON = "name one with head='L5.H11', one stack or kind, or save them as .npz"
RESULT_ENDINGS: dict[str, tuple[str, ...]] = {".csv": (), ".json": ()}
MOST_CSV = 5_000_000  # rows: some 160 MB
ADVICE_CSV = (
    "leave small weights out with least=0.01, name one with head='L5.H11', or save them as .npz"
)
ENCODING = "utf-8-sig"
FORMULA = tuple("=+-@\t\r\n＝＋－＠")
LINE_END = "\r\n"


@dataclass(frozen=True, eq=False)
class Entry:
    """One row of a call's batch: a text, or one window of a picture.

    `index` counts the calls of a layer that attends several times. `heads` are all heads that are
    kept, or the one that was asked for.
    """

    call: AttentionCall
    index: int
    row: int
    window: int | None
    heads: Sequence[int]
    queries: tuple[str, ...]
    keys: tuple[str, ...]

    @property
    def count(self) -> int:
        """The number of weights in the entry."""
        return len(self.heads) * len(self.queries) * len(self.keys)

    def weights(self) -> Float32[np.ndarray, "head query key"]:
        """The weights of its heads."""
        return np.stack([self.head(number) for number in self.heads])

    def head(self, number: int) -> Float32[np.ndarray, "query key"]:
        """The weights of one head."""
        weights: np.ndarray = self.call.weights(number, self.row).cpu().numpy()
        return weights


def entries(
    cap: Capture,
    head: Head | None = None,
    kind: Kind | None = None,
    stack: Stack | None = None,
    batch: int = 0,
) -> tuple[Entry, ...]:
    """The entries of a capture to write: every head, or the selected ones.

    Raises `BadInput` for a head, kind, stack or text that the capture does not have.
    """
    require_index("batch", batch, cap.n_batch)
    calls = _calls(cap, kind, stack)
    if head is None:
        return tuple(
            entry
            for call, index in calls
            for entry in _rows(cap, call, index, call.kept_heads, batch)
        )
    place = head_id(head)
    if kind is None:
        kind = "self" if any(call.kind == "self" for call, _ in calls) else "cross"
    call = cap.call(place.layer, kind, stack)
    call.check(place.head, batch)
    return _rows(cap, call, 0, [place.head], batch)


def _calls(cap: Capture, kind: Kind | None, stack: Stack | None) -> list[tuple[AttentionCall, int]]:
    """The calls of a kind and stack, each with its number among those of its layer."""
    numbers: defaultdict[object, int] = defaultdict(int)
    calls = []
    for call in cap.calls:
        if kind in (None, call.kind) and stack in (None, call.stack):
            place = (call.stack, call.kind, call.layer)
            calls.append((call, numbers[place]))
            numbers[place] += 1
    if not calls:
        raise bad_kind(kind, stack, ((call.kind, call.stack) for call in cap.calls))
    return calls


def _rows(
    cap: Capture, call: AttentionCall, index: int, heads: Sequence[int], batch: int
) -> tuple[Entry, ...]:
    """The rows of a call's batch that belong to one text: one, or a picture's windows."""
    n_window = 1 if call.windows is None else call.windows.count
    return tuple(
        Entry(
            call=call,
            index=index,
            row=row,
            window=None if call.windows is None else row % n_window,
            heads=heads,
            queries=_labels(cap.query_tokens(call, row), call.n_query),
            keys=_labels(cap.key_tokens(call, row), call.n_key),
        )
        for row in range(batch * n_window, (batch + 1) * n_window)
    )


def _labels(tokens: Tokens, count: int) -> tuple[str, ...]:
    """A label for each token, or its number where the capture does not name it."""
    return tuple(map(without_surrogates, axis_tokens.fitting(tokens, count).labels))


def require_few(written: Sequence[Entry], limit: int, advice: str) -> None:
    """Raise `TooLarge` for more weights than one file should have."""
    count = sum(entry.count for entry in written)
    if count > limit:
        raise too_many(count, limit, advice)


def too_many(count: int, limit: int, advice: str) -> TooLarge:
    """The error about a file that would be absurdly large."""
    return TooLarge(
        f"{count:,} weights are too many for this kind of file, which holds {limit:,}; {advice}",
        code="too_many_numbers",
        found=count,
        limit=limit,
        unit="weights",
    )


def write_npz(
    cap: Capture, written: Sequence[Entry], file: BufferedIOBase, dtype: str = "float32"
) -> None:
    """Write `weights` and the labels of `queries` and `keys`; where a capture has several
    attentions, each name begins with theirs: `decoder_cross_weights`."""
    if dtype not in DTYPES:
        raise BadInput(
            f"an archive has numbers of type float32 or float16, not {dtype!r}",
            code="bad_dtype",
            asked=str(dtype),
            allowed="float32, float16",
        )
    require_few(written, MOST_NPZ, ADVICE_NPZ)
    arrays: dict[str, np.ndarray] = {"model": np.array(str(cap.model))}
    several = len({_group(entry) for entry in written}) > 1
    for (stack, kind), members in groupby(sorted(written, key=_order), key=_group):
        name = "_".join(part for part in (stack, kind) if part) + "_" if several else ""
        arrays |= {f"{name}{part}": array for part, array in _arrays(list(members), dtype)}
    np.savez_compressed(file, allow_pickle=False, **arrays)


def _group(entry: Entry) -> tuple[str, str]:
    return entry.call.stack or "", entry.call.kind


def _order(entry: Entry) -> tuple[tuple[str, str], int, int, int]:
    return _group(entry), entry.call.layer, entry.index, entry.row


def _arrays(members: list[Entry], dtype: str) -> list[tuple[str, np.ndarray]]:
    """The arrays of one stack and kind: one for all layers where they are alike."""
    first = members[0]
    shapes = {(len(entry.heads), entry.queries, entry.keys) for entry in members}
    some = any(entry.call.inputs.only is not None for entry in members)
    alike = len(shapes) == 1 and not any(entry.index or entry.window or some for entry in members)
    if alike and first.window is None:
        weights = np.stack([entry.weights().astype(dtype) for entry in members])
        return [("weights", weights), *_label_arrays(first, "")]
    arrays: list[tuple[str, np.ndarray]] = []
    for entry in members:
        again = f"_{entry.index}" if entry.index else ""
        window = "" if entry.window is None else f"_W{entry.window}"
        place = f"_L{entry.call.layer}{again}{window}"
        arrays += [(f"weights{place}", entry.weights().astype(dtype)), *_label_arrays(entry, place)]
    return arrays


def _label_arrays(entry: Entry, place: str) -> list[tuple[str, np.ndarray]]:
    """The labels of both axes as arrays of text; the numbers of the heads if some were kept."""
    some = entry.call.inputs.only is not None
    return [
        (f"queries{place}", np.array(entry.queries)),
        (f"keys{place}", np.array(entry.keys)),
        *([(f"heads{place}", np.array(entry.heads))] if some else []),
    ]


def write_csv(written: Sequence[Entry], file: BufferedIOBase, least: float = 0.0) -> None:
    """Write a row for each weight of at least `least`.

    The columns are layer, head, query, key, query_token, key_token, weight; before them stack and
    kind where there are several attentions, and call and window where a layer has several.
    """
    if not least > 0:
        require_few(written, MOST_CSV, ADVICE_CSV)
    columns = _Columns(written)
    file.write(_line(*columns.names).encode(ENCODING))
    count = 0
    for entry in written:
        cells = _cells(entry)
        for head in entry.heads:
            weights = entry.head(head)
            kept = np.flatnonzero(weights >= least) if least > 0 else range(weights.size)
            count += len(kept)
            if count > MOST_CSV:
                raise too_many(count, MOST_CSV, ADVICE_CSV)
            begin, values = columns.values(entry, head), weights.ravel().tolist()
            rows = [f"{begin},{cells[at]},{values[at]:.9g}{LINE_END}" for at in kept]
            file.write("".join(rows).encode())


def write_matrix(entry: Entry, file: BufferedIOBase) -> None:
    """Write one head as a matrix: keys along the top, a query at the beginning of each row."""
    require_few([entry], MOST_CSV, ADVICE_CSV)
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


def _line(*cells: str) -> str:
    """A row of texts, quoted where CSV needs it."""
    file = io.StringIO()
    csv.writer(file, lineterminator=LINE_END).writerow(cells)
    return file.getvalue()


def write_json(cap: Capture, written: Sequence[Entry], file: BufferedIOBase) -> None:
    """Write every weight, an attention of a layer after the other."""
    require_few(written, MOST_JSON, ADVICE_JSON)
    about = {"format": FORMAT, "version": VERSION, "model": str(cap.model)}
    begin = json.dumps(about, ensure_ascii=False).removesuffix("}")
    file.write(f'{begin}, "attentions": ['.encode())
    for number, entry in enumerate(written):
        file.write((",\n" if number else "\n").encode())
        for part in _attention(entry):
            file.write(part.encode())
    file.write(b"\n]}\n")


def _attention(entry: Entry) -> Iterator[str]:
    """The JSON of one entry, head by head."""
    call = entry.call
    place = {
        "stack": call.stack,
        "kind": call.kind,
        "layer": call.layer,
        "call": entry.index,
        "window": entry.window,
        "heads": list(entry.heads),
        "queries": entry.queries,
        "keys": entry.keys,
    }
    yield json.dumps(place, ensure_ascii=False).removesuffix("}") + ', "weights": ['
    pattern = "[" + ", ".join(["%.9g"] * len(entry.keys)) + "]"
    for number, head in enumerate(entry.heads):
        rows = ",".join([pattern % tuple(row) for row in entry.head(head).tolist()])
        rows = rows.replace("nan", "null")
        yield f"{',' if number else ''}[{rows}]"
    yield "]}"


@runtime_checkable
class Result(Protocol):
    """A result that is a dictionary of lists and numbers."""

    def to_dict(self) -> Mapping[str, object]:
        """The columns, by name."""


def result_content(result: Result, ending: str) -> bytes:
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
