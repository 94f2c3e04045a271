"""Weights in two planes of 8 bits, so that a picture is there after half of the bytes.

In: the tensors of an encoder. Out: safetensors files by name, and what the worker is told of them
(`PlaneWeights` of index.d.ts). A weight is (high + low ÷ 256) · scale of its row, with high and low
signed: the high plane alone is an 8-bit weight, both are within 1/65,000 of the row's largest.
Half of a small encoder's numbers are word embeddings, of which a sentence needs ten rows: that
table is cut into shards, which come when a word of theirs is typed.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32, Int8
from safetensors.numpy import save

SHARD_ROWS = 256
TABLE = "embeddings.word_embeddings.weight"
MIN_MATRIX = 4096  # smaller tensors travel as they are
HIGH, LOW = 127, 256  # the largest code of the high plane, the steps of the low one


@dataclass(frozen=True, eq=False)
class Planes:
    """A matrix as codes: `high` and `low` of each weight, a scale for each row."""

    high: Int8[np.ndarray, "row column"]
    low: Int8[np.ndarray, "row column"]
    scale: Float32[np.ndarray, "row"]

    def values(self, exact: bool = True) -> Float32[np.ndarray, "row column"]:
        """The weights that the codes stand for; of the high plane alone unless `exact`."""
        low = self.low.astype(np.float32) / LOW if exact else np.float32(0)
        values: np.ndarray = (self.high + low) * self.scale[:, None]
        return values


def planes(matrix: Float32[np.ndarray, "row column"]) -> Planes:
    """The two planes of a matrix."""
    largest = np.abs(matrix).max(axis=1)
    scale = np.where(largest > 0, largest / HIGH, 1).astype(np.float32)
    codes = matrix / scale[:, None]
    high = np.round(codes)
    low = np.clip(np.round((codes - high) * LOW), -128, 127)
    return Planes(high.astype(np.int8), low.astype(np.int8), scale)


def plane_files(
    tensors: Mapping[str, Float32[np.ndarray, "..."]],
) -> tuple[dict[str, bytes], dict[str, object]]:
    """The files of an encoder's weights, and `PlaneWeights` with their names as addresses."""
    table = next(name for name in tensors if name.endswith(TABLE))
    high: dict[str, np.ndarray] = {}
    low: dict[str, np.ndarray] = {}
    for name, tensor in tensors.items():
        if name == table:
            continue
        if tensor.ndim == 2 and tensor.size >= MIN_MATRIX and "position" not in name:
            codes = planes(tensor)
            high[name], high[f"{name}.scale"], low[name] = codes.high, codes.scale, codes.low
        else:
            high[name] = tensor
    files = {"layers.high.safetensors": save(high), "layers.low.safetensors": save(low)}
    files |= _shards(table, tensors[table])
    weights = {
        "form": "planes",
        "high": "layers.high.safetensors",
        "low": "layers.low.safetensors",
        "table": table,
        "shape": list(tensors[table].shape),
        "rows": SHARD_ROWS,
        "high_shards": "words/{shard}.high.safetensors",
        "low_shards": "words/{shard}.low.safetensors",
        "bytes": {
            "high": len(files["layers.high.safetensors"]),
            "low": len(files["layers.low.safetensors"]),
            "high_shard": len(files["words/000.high.safetensors"]),
            "low_shard": len(files["words/000.low.safetensors"]),
        },
    }
    return files, weights


def _shards(name: str, table: Float32[np.ndarray, "word d_model"]) -> dict[str, bytes]:
    """The word embeddings, some rows in each file."""
    codes = planes(table)
    files = {}
    for number, start in enumerate(range(0, len(table), SHARD_ROWS)):
        rows = slice(start, start + SHARD_ROWS)
        high = {name: codes.high[rows], f"{name}.scale": codes.scale[rows]}
        files[f"words/{number:03}.high.safetensors"] = save(high)
        files[f"words/{number:03}.low.safetensors"] = save({name: codes.low[rows]})
    return files
