"""The wrappers of the picture view and of the drawing pad: what travels, which texts they need."""

import json

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attnviz import i18n
from attnviz.components import bundle, pad, patches
from attnviz.components.buffer import quantise, unpack
from attnviz.components.heads import HeadsView, Patches, TokenAxis, strings_of
from attnviz.worlds.forms import OUTLINES, PALETTE

LAYERS, HEADS, ROWS, COLUMNS = 2, 3, 2, 4
LABELS = ("[CLS]", *(f"r{row}c{column}" for row in range(ROWS) for column in range(COLUMNS)))
N = len(LABELS)
PICTURE = np.arange(4 * 8 * 3, dtype=np.uint8).reshape(4, 8, 3)


def view(picture: bool = True) -> HeadsView:
    scores = np.random.default_rng(8).normal(size=(LAYERS, HEADS, N, N))
    weights = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    axis = TokenAxis(LABELS, np.arange(N) == 0, np.zeros(N, dtype=np.bool_))
    sentences = tuple(tuple(f"L{i}.H{j} spreads" for j in range(HEADS)) for i in range(LAYERS))
    grid = Patches(ROWS, COLUMNS, first=1, picture=PICTURE) if picture else None
    return HeadsView("shapes", axis, axis, False, sentences, weights.astype(np.float32), grid)


def pad_view() -> pad.PadView:
    square = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.00004]])
    return pad.PadView(side_px=384, colours={"red": (220, 45, 48)}, forms={"square": square})


DEMOS = {
    "patches": lambda: patches.pack_patches(view(), words(patches.STRING_KEYS)),
    "pad": lambda: pad.pack_pad(pad_view(), words(pad.STRING_KEYS)),
}


def words(keys: tuple[str, ...]) -> dict[str, str]:
    return strings_of(keys, lambda key: key)


def test_the_picture_travels_with_all_heads() -> None:
    header, arrays = unpack(patches.pack_patches(view(), {}))
    assert header["patches"] == {"rows": ROWS, "columns": COLUMNS, "first": 1}
    assert header["tokens"] == list(LABELS)
    np.testing.assert_array_equal(arrays["picture"], PICTURE)
    np.testing.assert_array_equal(arrays["weights"], quantise(view().weights, 16))


def test_without_a_picture_there_is_nothing_to_show() -> None:
    with pytest.raises(AssertionError, match="no picture"):
        patches.pack_patches(view(picture=False), {})


def test_the_pad_gets_colours_and_forms() -> None:
    header, arrays = unpack(pad.pack_pad(pad_view(), {}))
    assert not arrays
    assert header["side"] == 384
    assert header["colours"] == [{"name": "red", "css": "rgb(220, 45, 48)"}]
    (form,) = header["forms"]
    assert form == {"name": "square", "points": [[-1, -1], [1, -1], [1, 1], [-1, 1]]}


@pytest.mark.parametrize("name", DEMOS)
def test_demo_json_is_the_header_that_travels(name: str) -> None:
    data = DEMOS[name]()
    demo = json.loads((bundle.FOLDER / name / "demo.json").read_text(encoding="utf-8"))
    assert json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")]) == demo


def test_every_colour_and_form_of_the_world_has_its_word() -> None:
    short = {key.rpartition(".")[2] for key in pad.STRING_KEYS}
    assert {*PALETTE, *OUTLINES} < short
    for lang in i18n.LANGUAGES:
        assert {*PALETTE, *OUTLINES} <= i18n.section(lang, "component.pad").keys()


def app_of_patches() -> None:
    import streamlit as st  # the function runs as a script of its own

    from attnviz.components.selection import Extent
    from attnviz.ui.host.components import show_patches

    st.text(repr(show_patches(b"\0\0\0\0", Extent(1, 1, 1, 1))))


def app_of_pad() -> None:
    from attnviz.ui.host.components import show_pad

    show_pad(b"\0\0\0\0", "pad", lambda: None)


def test_the_picture_view_mounts_with_its_bytes() -> None:
    ran = AppTest.from_function(app_of_patches).run()
    assert not ran.exception
    (mounted,) = ran.get("bidi_component")
    assert mounted.proto.component_name == patches.NAME
    assert mounted.proto.bytes == b"\0\0\0\0"
    assert ran.text[0].value == "ComponentResult(selection=None, open=None)"


def test_the_pad_mounts_with_its_bytes() -> None:
    ran = AppTest.from_function(app_of_pad).run()
    assert not ran.exception
    (mounted,) = ran.get("bidi_component")
    assert mounted.proto.component_name == pad.NAME
