"""What shared/buffer.js reads out of a packed buffer: every head and row.

Also where the future is not sent, or some heads alone; only as many matrices are in memory as are
looked at.
"""

import base64
import json
import math
from typing import Any

import numpy as np
import pytest

from attnviz.pictures.shared.buffer import SomeHeads, pack, packable, quantise
from tests.support.node import in_node, needs_node

LAYERS, HEADS, QUERIES, KEYS = 3, 7, 5, 11
# what is said of a buffer that cannot be read, "" of one that can
REFUSED = """async (text) => {
    const { parse } = await load("shared/buffer.js");
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    try { parse(bytes); return ""; } catch (error) { return error.message; }
}"""
PLACES = (0, 5, 6, 7, 13, 20)
# all heads, one after the other and again the last one; all heads in one scratch matrix; all rows,
# all cells
READ = """async (text) => {
    const { codeAt, headValues, parse, rowValues, scratchOf } = await load("shared/buffer.js");
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const { arrays: { weights: array } } = parse(bytes);
    const [layers, heads, rows] = array.shape, scratch = scratchOf(array), found = [[], [], [], []];
    for (let layer = 0; layer < layers; layer++) for (let head = 0; head < heads; head++) {
        found[0].push(...headValues(array, layer, head));
        found[1].push(...headValues(array, layer, head, scratch));
        for (let row = 0; row < rows; row++) found[2].push(...rowValues(array, layer, head, row));
    }
    const last = headValues(array, layers - 1, heads - 1);
    for (let layer = 0; layer < layers; layer++) for (let head = 0; head < heads; head++)
        for (let row = 0; row < rows; row++) for (let key = 0; key < array.shape[3]; key++)
            found[3].push(codeAt(array, layer, head, row, key));
    return { found, again: last === headValues(array, layers - 1, heads - 1),
        stored: array.data.length, kept: array.squares?.size ?? null };
}"""


def heads(causal: bool) -> np.ndarray:
    rng = np.random.default_rng(5)
    weights = rng.uniform(0.01, 1, (LAYERS, HEADS, QUERIES, KEYS)).astype(np.float32)
    if causal:
        weights *= np.arange(KEYS) < np.arange(QUERIES)[:, None] + 3
    return weights


@needs_node
@pytest.mark.parametrize("bits", [8, 16, 32])
@pytest.mark.parametrize("causal", [True, False])
def test_heads_and_rows_are_read_with_their_zeros(bits: int, causal: bool) -> None:
    weights = heads(causal)
    codes = weights if bits == 32 else quantise(weights, bits)  # type: ignore[arg-type]
    data = pack({}, {"weights": packable(weights, bits)})  # type: ignore[arg-type]
    read = in_node(READ, base64.b64encode(data).decode())
    for found in read["found"]:
        np.testing.assert_array_equal(np.array(found).reshape(codes.shape), codes)
    n_stored = 3 + 4 + 5 + 6 + 7 if causal else QUERIES * KEYS
    assert read["stored"] == LAYERS * HEADS * n_stored
    # 21 heads were asked for, 16 matrices are kept; one that is whole is never copied
    assert (read["kept"], read["again"]) == ((16, True) if causal else (None, False))


@needs_node
@pytest.mark.parametrize("bits", [8, 16, 32])
@pytest.mark.parametrize("causal", [True, False])
def test_some_heads_are_read_at_their_places_and_the_others_are_0(bits: int, causal: bool) -> None:
    weights = heads(causal)
    matrices = weights.reshape(-1, QUERIES, KEYS)
    some = SomeHeads(matrices[list(PLACES)], weights.shape, PLACES)
    data = pack({}, {"weights": packable(some, bits)})  # type: ignore[arg-type]
    codes = weights if bits == 32 else quantise(weights, bits)  # type: ignore[arg-type]
    codes = codes.copy()
    codes.reshape(matrices.shape)[[at for at in range(len(matrices)) if at not in PLACES]] = 0
    read = in_node(READ, base64.b64encode(data).decode())
    for found in read["found"]:
        np.testing.assert_array_equal(np.array(found).reshape(codes.shape), codes)
    assert read["stored"] == len(PLACES) * (25 if causal else QUERIES * KEYS)


@needs_node
def test_some_heads_of_layers_that_differ_are_read_at_their_places() -> None:
    shapes = [[3, 2, 5], [1, 4, 4], [2, 3, 7]]
    cells = np.arange(1, 1 + 2 * 5 + 4 * 4 + 3 * 7, dtype=np.uint8)
    places = (1, 3, 5)  # a head of each layer
    visible = np.arange(2 * 5 + 4 * 4 + 3 * 7, dtype=np.uint8)
    data = pack(
        {"shapes": shapes}, {"weights": SomeHeads(cells, cells.shape, places), "visible": visible}
    )
    script = """async (text) => {
        const { headValues, isStored, parse, rowValues } = await load("shared/buffer.js");
        const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
        const { arrays: { weights: array, visible } } = parse(bytes);
        const at = [[0, 0], [0, 1], [0, 2], [1, 0], [2, 0], [2, 1]];
        return { stored: at.map((place) => isStored(array, ...place)),
            heads: at.map((place) => [...headValues(array, ...place)]),
            rows: at.map((place) => [...rowValues(array, ...place, 1)]),
            visible: [0, 1, 2].map((layer) => [...headValues(visible, layer, 0)]) };
    }"""
    read = in_node(script, base64.b64encode(data).decode())
    assert read["stored"] == [False, True, False, True, False, True]
    kept = [cells[:10], cells[10:26], cells[26:]]
    wanted = [np.zeros(10), kept[0], np.zeros(10), kept[1], np.zeros(21), kept[2]]
    wide = [5, 5, 5, 4, 7, 7]
    assert read["heads"] == [matrix.tolist() for matrix in wanted]
    assert read["rows"] == [
        matrix[n : 2 * n].tolist() for matrix, n in zip(wanted, wide, strict=True)
    ]
    assert np.concatenate(read["visible"]).tolist() == visible.tolist()


def altered(data: bytes, **change: Any) -> bytes:
    """The buffer with something else in the entry of its first array."""
    start = 4 + int.from_bytes(data[:4], "little")
    header = json.loads(data[4:start])
    header["arrays"][0] |= change
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 4)
    return len(text).to_bytes(4, "little") + text + data[start:]


@needs_node
@pytest.mark.parametrize(
    "places",
    {
        "one too few": PLACES[:-1],
        "one too many": (*PLACES[:-1], 19, 20),
        "none": (),
        "all": None,
        "below 0": (-1, *PLACES[1:]),
        "beyond the last": (*PLACES[:-1], LAYERS * HEADS),
        "twice": (0, 5, 5, 7, 13, 20),
        "falling": (*PLACES[:-2], 20, 13),
        "between two": (0.5, *PLACES[1:]),
        "no number": ("0", *PLACES[1:]),
        "endless": (*PLACES[:-1], 1e300),
    }.values(),
)
@pytest.mark.parametrize("causal", [True, False])
def test_places_that_cannot_be_are_refused_by_name(
    places: tuple[Any, ...] | None, causal: bool
) -> None:
    weights = heads(causal)
    some = SomeHeads(weights.reshape(-1, QUERIES, KEYS)[list(PLACES)], weights.shape, PLACES)
    later = np.ones(4 * math.prod(weights.shape), np.uint8)  # none may be read as a head
    data = pack({}, {"weights": packable(some, 8), "later": later})
    assert in_node(REFUSED, base64.b64encode(data).decode()) == ""
    wrong = altered(data, places=places)
    said = in_node(REFUSED, base64.b64encode(wrong).decode())
    assert said.startswith("weights")


@needs_node
def test_no_array_reads_what_belongs_to_the_next_one() -> None:
    data = pack({}, {"weights": np.zeros((1, 1, 2, 2), np.uint8), "later": np.ones(8, np.uint8)})
    wrong = altered(data, shape=[1, 2, 2, 2])
    said = in_node(REFUSED, base64.b64encode(wrong).decode())
    assert said == "weights takes 8 bytes of u8, and there are 4"
