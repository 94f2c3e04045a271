"""Weights as a numpy archive (.npz), read with `numpy.load` and nothing else.

In: entries. Out: compressed arrays. Layers of one shape are one array, [layer, head, query, key];
layers that differ have one array each. The labels of tokens stand beside them, and the numbers of
the heads where a capture keeps some only.
"""

from collections.abc import Sequence
from io import BufferedIOBase
from itertools import groupby

import numpy as np

from attnviz.attention.capture import Capture
from attnviz.errors import BadInput
from attnviz.files.tables.entries import Entry, require_few

NUMBERS = ("float32", "float16")
MOST = 2**29  # weights: 2 GiB in memory, before they are compressed
ADVICE = (
    "name one with head='L5.H11', one stack or kind, or save the capture itself as"
    " .safetensors: weights are derived from it"
)


def write(
    cap: Capture, written: Sequence[Entry], file: BufferedIOBase, dtype: str = "float32"
) -> None:
    """Write `weights` and the labels of `queries` and `keys`; where a capture has several
    attentions, each name begins with theirs: `decoder_cross_weights`."""
    if dtype not in NUMBERS:
        raise BadInput(
            f"an archive has numbers of type float32 or float16, not {dtype!r}",
            code="bad_dtype",
            asked=str(dtype),
            allowed="float32, float16",
        )
    require_few(written, MOST, ADVICE)
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
        return [("weights", weights), *_labels(first, "")]
    arrays: list[tuple[str, np.ndarray]] = []
    for entry in members:
        again = f"_{entry.index}" if entry.index else ""
        window = "" if entry.window is None else f"_W{entry.window}"
        place = f"_L{entry.call.layer}{again}{window}"
        arrays += [(f"weights{place}", entry.weights().astype(dtype)), *_labels(entry, place)]
    return arrays


def _labels(entry: Entry, place: str) -> list[tuple[str, np.ndarray]]:
    """The labels of both axes as arrays of text; the numbers of the heads if some were kept."""
    some = entry.call.inputs.only is not None
    return [
        (f"queries{place}", np.array(entry.queries)),
        (f"keys{place}", np.array(entry.keys)),
        *([(f"heads{place}", np.array(entry.heads))] if some else []),
    ]
