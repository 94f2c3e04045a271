"""`planes`: both are the weights, the high one alone is coarser; every row is in a file."""

import numpy as np
from safetensors.numpy import load

from attnviz.live.planes import SHARD_ROWS, TABLE, plane_files, planes

RANDOM = np.random.default_rng(3)


def matrix(rows: int, columns: int) -> np.ndarray:
    return RANDOM.normal(size=(rows, columns)).astype(np.float32)


def test_planes_of_numbers_worked_by_hand() -> None:
    # the largest is 127 steps: one step is 0.01; 0.503 is 50 steps and 0.3 · 256 = 76.8 of the low
    codes = planes(np.array([[1.27, 0.503, -0.004], [0, 0, 0]], np.float32))
    assert codes.high.tolist() == [[127, 50, 0], [0, 0, 0]]
    assert codes.low.tolist() == [[0, 77, -102], [0, 0, 0]]
    assert np.allclose(codes.values()[0], [1.27, 0.503, -0.004], atol=0.01 / 500)


def test_planes_are_within_a_512th_of_a_step_and_the_high_one_within_a_half() -> None:
    weights = matrix(31, 97)
    codes = planes(weights)
    step = np.abs(weights).max(axis=1, keepdims=True) / 127
    assert (np.abs(codes.values() - weights) / step).max() <= 1 / 256  # where low is clipped at 127
    assert np.median(np.abs(codes.values() - weights) / step) <= 1 / 512
    coarse = (np.abs(codes.values(exact=False) - weights) / step).max()
    assert 0.4 < coarse <= 0.5001


def test_plane_files_have_every_tensor_once_and_every_row_of_the_table() -> None:
    tensors = {
        TABLE: matrix(2 * SHARD_ROWS + 41, 13),
        "embeddings.position_embeddings.weight": matrix(523, 13),
        "encoder.layer.0.output.dense.weight": matrix(83, 61),
        "encoder.layer.0.output.dense.bias": matrix(1, 83)[0],
    }
    files, info = plane_files(tensors)
    high, low = load(files["layers.high.safetensors"]), load(files["layers.low.safetensors"])
    dense = "encoder.layer.0.output.dense.weight"
    assert set(low) == {dense}
    assert set(high) == set(tensors) - {TABLE} | {f"{dense}.scale"}
    assert (
        high["embeddings.position_embeddings.weight"]
        == tensors["embeddings.position_embeddings.weight"]
    ).all()
    rows = []
    for number in range(3):
        codes, scale = (
            load(files[f"words/{number:03}.high.safetensors"])[n] for n in (TABLE, f"{TABLE}.scale")
        )
        fine = load(files[f"words/{number:03}.low.safetensors"])[TABLE]
        rows.append((codes + fine.astype(np.float32) / 256) * scale[:, None])
    table = np.concatenate(rows)
    assert table.shape == tensors[TABLE].shape == tuple(info["shape"])
    assert np.abs(table - tensors[TABLE]).max() < np.abs(table).max() / 127 / 250
    assert info["bytes"]["high"] == len(files["layers.high.safetensors"])
