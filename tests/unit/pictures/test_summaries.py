"""`summarise` of grid/summaries.js: numpy's means and maxima, within the rounding of the codes."""

import numpy as np

import attnviz
from attnviz.models.loaded_model import LoadedModel
from attnviz.pictures.shared.buffer import quantise
from tests.support.node import in_node, needs_node

TEXT = "The animal didn't cross the street because it was too tired."
N_LAYERS, N_HEADS, N = 6, 12, 16
PLACES = N_LAYERS + N_HEADS + 1
SUMMARISE = """async ({ codes, shape }) => {
    const { summarise } = await load("grid/summaries.js");
    return [...summarise({ data: Uint8Array.from(codes), shape, dtype: "u8" }).data];
}"""


def expected(weights: np.ndarray) -> np.ndarray:
    """[mean | max, place, query, key]: the layers, the heads' columns, all."""
    return np.stack(
        [
            np.concatenate([of(weights, 1), of(weights, 0), of(weights, (0, 1))[None]])
            for of in (np.mean, np.max)
        ]
    )


@needs_node
def test_summaries_are_means_and_maxima_of_the_weights(minilm: LoadedModel) -> None:
    weights = attnviz.capture(minilm, TEXT).all_weights()
    codes = quantise(weights, 8)
    found = in_node(SUMMARISE, {"codes": codes.ravel().tolist(), "shape": weights.shape})
    roots = np.array(found).reshape(2, PLACES, N, N) / 65535
    # a stored root is at most half a step off, so a weight w at most 2 √w · h + h²
    half = 1 / 510 + 1 / 131070
    largest = np.sqrt(expected(weights)[1])
    allowed = 2 * largest * half + half**2
    assert (np.abs(roots**2 - expected(weights)) <= allowed).all()
    known = expected((codes.astype(np.float64) / 255) ** 2)
    np.testing.assert_allclose(roots, np.sqrt(known), atol=0.51 / 65535)
