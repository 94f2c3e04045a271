"""What shared/buffer.js reads out of a packed buffer: every head and row.

Also where the future is not sent; only as many matrices are in memory as are looked at.
"""

import base64

import numpy as np
import pytest

from attnviz.pictures.shared.buffer import pack, packable, quantise
from tests.support.node import in_node, needs_node

LAYERS, HEADS, QUERIES, KEYS = 3, 7, 5, 11
# all heads, one after the other and again the last one; all heads in one scratch matrix; all rows
READ = """async (text) => {
    const { headValues, parse, rowValues, scratchOf } = await load("shared/buffer.js");
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const { arrays: { weights: array } } = parse(bytes);
    const [layers, heads, rows] = array.shape, scratch = scratchOf(array), found = [[], [], []];
    for (let layer = 0; layer < layers; layer++) for (let head = 0; head < heads; head++) {
        found[0].push(...headValues(array, layer, head));
        found[1].push(...headValues(array, layer, head, scratch));
        for (let row = 0; row < rows; row++) found[2].push(...rowValues(array, layer, head, row));
    }
    const last = headValues(array, layers - 1, heads - 1);
    return { found, again: last === headValues(array, layers - 1, heads - 1),
        stored: array.data.length, kept: array.squares?.size ?? null };
}"""


@needs_node
@pytest.mark.parametrize("bits", [8, 16, 32])
@pytest.mark.parametrize("causal", [True, False])
def test_heads_and_rows_are_read_with_their_zeros(bits: int, causal: bool) -> None:
    rng = np.random.default_rng(5)
    weights = rng.uniform(0.01, 1, (LAYERS, HEADS, QUERIES, KEYS)).astype(np.float32)
    if causal:
        weights *= np.arange(KEYS) < np.arange(QUERIES)[:, None] + 3
    codes = weights if bits == 32 else quantise(weights, bits)  # type: ignore[arg-type]
    data = pack({}, {"weights": packable(weights, bits)})  # type: ignore[arg-type]
    read = in_node(READ, base64.b64encode(data).decode())
    for found in read["found"]:
        np.testing.assert_array_equal(np.array(found).reshape(codes.shape), codes)
    n_stored = 3 + 4 + 5 + 6 + 7 if causal else QUERIES * KEYS
    assert read["stored"] == LAYERS * HEADS * n_stored
    # 21 heads were asked for, 16 matrices are kept; one that is whole is never copied
    assert (read["kept"], read["again"]) == ((16, True) if causal else (None, False))
