"""The map: what travels, which texts it needs, and how places become codes."""

from dataclasses import replace

import numpy as np

from attnviz.pictures import map as component
from attnviz.pictures.map import KINDS, MapHead, MapText, MapTsne, MapView, coded, scales
from attnviz.pictures.shared.buffer import unpack
from attnviz.pictures.shared.canvas import packed
from tests.support.hostile import SCRIPT

PLACES = np.zeros((2, 2, 5, 2), np.float32)
PLACES[0, 0, :, 0] = [0.5, 1.0, -1.0, 0.25, 400.0]  # the last is a special token, far out
PLACES[0, 1, :, 1] = [0.0, -0.5, 1.0, 0.75, 0.0]
PLACES[1] = 10 * PLACES[0]
VIEW = MapView(
    heads=(MapHead(0, 0, 0.75, 0.5), MapHead(1, 0, None, None)),
    texts=(MapText(0, 3, 0, True), MapText(3, 5, 1, True)),
    labels=("cat", SCRIPT, "[SEP]"),
    label_of=np.array([0, 1, 0, 1, 2], np.uint16),
    kind=np.array([0, 3, 0, 3, KINDS.index("special")], np.uint8),
    places=PLACES,
    norms=np.arange(20, dtype=np.float32).reshape(2, 2, 5),
    weights=np.linspace(0, 1, 2 * 13, dtype=np.float32).reshape(2, 13),
    rotated=False,
    more=True,
)


def test_coded_keeps_one_scale_for_both_axes_and_puts_the_far_out_at_the_edge() -> None:
    _, arrays = unpack(packed(component.CANVAS, VIEW, "en"))
    half = scales(PLACES[:, :, :4])
    assert np.allclose(half[1], 10 * half[0]), "the special token does not widen the plane"
    codes = arrays["places"].astype(np.float64)
    again = (codes - 32768) / 32767 * half[:, None, None, None]
    assert np.abs(again - PLACES)[:, :, :4].max() <= half.max() / 32767
    assert codes[0, 0, 4, 0] == 65535
    assert np.array_equal(codes[0], codes[1]), "each head fills its own plane"
    assert coded(PLACES, half).min() >= 1


def test_pack_map_keeps_weights_lengths_and_hostile_tokens() -> None:
    header, arrays = unpack(packed(component.CANVAS, VIEW, "en"))
    assert header["labels"][1] == SCRIPT
    assert header["counts"] == [1, 1] and header["texts"][1] == [3, 5, 1, 1]
    shown = (arrays["weights"] / 65535.0) ** 2
    assert np.abs(np.sqrt(shown) - np.sqrt(VIEW.weights)).max() <= 0.5 / 65535 + 1e-6
    assert (arrays["norms"].max(axis=-1) == 255).all()


def test_pack_map_keeps_every_place_of_the_head_that_tsne_drew_and_the_patches() -> None:
    thumbs = np.arange(5 * 8 * 8 * 3, dtype=np.uint8).reshape(5, 8, 8, 3)
    view = replace(VIEW, tsne=MapTsne(0, 0.25, None), thumbs=thumbs)
    header, arrays = unpack(packed(component.CANVAS, view, "en"))
    assert header["tsne"] == {"head": 0, "kept": 0.25, "plane": None}
    codes = (arrays["places"][0].astype(np.float64) - 32768) / 32767
    assert np.allclose(codes, PLACES[0] / (1.05 * 400), atol=1e-4), "no point is at the edge"
    assert np.array_equal(arrays["thumbs"], thumbs)
