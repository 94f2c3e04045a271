"""Weights as JSON: nested lists that any program reads.

In: entries. Out: one object with the model and, for each attention, its place, its tokens and its
weights [head][query][key]. Weights have nine digits, which give every float32 back exactly; one
that is not a number is null.
"""

import json
from collections.abc import Iterator, Sequence
from io import BufferedIOBase

from attnviz.attention.capture import Capture
from attnviz.files.tables.entries import Entry, require_few

FORMAT, VERSION = "attnviz-weights", 1
MOST = 5_000_000  # weights: some 60 MB
ADVICE = "name one with head='L5.H11', one stack or kind, or save them as .npz"


def write(cap: Capture, written: Sequence[Entry], file: BufferedIOBase) -> None:
    """Write every weight, an attention of a layer after the other."""
    require_few(written, MOST, ADVICE)
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
