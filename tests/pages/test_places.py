"""Models whose keys are blocks of patches: what each page calls them, and where they are."""

from collections.abc import Callable

import pytest

from attnviz import i18n
from tests.pages.conftest import Visit, sent

Tiny = Callable[[str], str]
PICTURED = ("overview", "head", "steps")


@pytest.mark.some(2)
@pytest.mark.parametrize("page", (*PICTURED, "masks"))
@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_every_page_names_the_blocks(
    visit: Visit, tiny: Tiny, page: str, lang: i18n.Language
) -> None:
    app = visit(page, lang=lang, text="", model=tiny("segformer"), image="landscape")
    assert not app.error
    header, arrays = sent(app)
    keys = header["key_tokens"][0] if page == "masks" else header["key_tokens"]
    queries = header["tokens"][0] if page == "masks" else header["tokens"]
    places = ("r0c0", "r0c1", "r1c0", "r1c1")
    assert keys == [i18n.text(lang, "place.block", place=place) for place in places]
    assert (len(queries), queries[17]) == (256, "r1c1")
    if page in PICTURED:
        patches = header["patches"] if page == "steps" else header["layers"][0]["patches"]
        assert patches["key_boxes"] == [[0, 0, 8, 8], [0, 8, 8, 16], [8, 0, 16, 8], [8, 8, 16, 16]]
        assert patches["said"] == i18n.text(
            lang, "place.key", rows=8, columns=8, count=4, patches=256
        )
        name = "picture" if page == "steps" else "patches.picture"
        assert arrays[name].shape == (64, 64, 3)
    else:
        assert header["padding_of"] == "blocks" and header["mask_names"] == ["padding", "custom"]
        assert header["mask_reasons"][0] == i18n.text(lang, "mask.reason_blocks")


def test_each_layer_has_blocks_of_its_own(visit: Visit, tiny: Tiny) -> None:
    header, _ = sent(visit("head", text="", model=tiny("segformer"), image="landscape"))
    assert header["shapes"] == [[1, 256, 4], [2, 64, 4], [4, 16, 4], [4, 4, 4]]
    shown = [layer["patches"] for layer in header["layers"]]
    assert [(of["rows"], of["columns"]) for of in shown] == [(16, 16), (8, 8), (4, 4), (2, 2)]
    assert [of["key_boxes"] and of["key_boxes"][3] for of in shown] == [
        [8, 8, 16, 16],
        [4, 4, 8, 8],
        [2, 2, 4, 4],
        None,
    ]
    assert (shown[3]["said"], header["layers"][3]["key_tokens"][0]) == ("", "r0c0")


@pytest.mark.slow
def test_blocks_that_overlap_and_a_token_beside_them(visit: Visit, tiny: Tiny) -> None:
    header, _ = sent(visit("head", text="", model=tiny("cvt"), image="landscape"))
    first, last = header["layers"][0], header["layers"][-1]
    assert first["patches"]["key_boxes"][:2] == [[0, 0, 2, 2], [0, 1, 2, 4]]
    assert last["key_tokens"][:2] == ["[CLS]", "r0c0 block"]
    assert last["patches"]["first"] == 1
    assert last["patches"]["key_boxes"][:2] == [None, [0, 0, 2, 2]]
    assert last["key_special"] == [1, 0, 0, 0, 0]


@pytest.mark.some(1)
@pytest.mark.parametrize("page", ["overview", "head"])
def test_windows_of_unrolled_tokens_are_patches(visit: Visit, tiny: Tiny, page: str) -> None:
    app = visit(page, text="", model=tiny("hiera"), image="landscape", window="3")
    assert not app.error
    header, arrays = sent(app)
    assert [shape[1:] for shape in header["shapes"]] == [
        [64, 64],
        [16, 64],
        [16, 16],
        [4, 16],
        [16, 16],
        [4, 16],
    ]
    first, pooled, *_, last = header["layers"]
    assert first["tokens"][:3] == ["r8c8", "r8c12", "r12c8"]
    assert (first["patches"]["top"], first["patches"]["left"]) == (8, 8)
    assert first["patches"]["key_boxes"][1] == [0, 4, 1, 5]
    assert pooled["tokens"][:2] == ["r4c4 block", "r4c6 block"]
    assert pooled["patches"]["query_boxes"][1] == [0, 4, 2, 6]
    assert pooled["patches"]["said"] == i18n.text(
        "en", "place.query", rows=2, columns=2, count=64, patches=256
    )
    assert [last["patches"][name] for name in ("rows", "top", "left")] == [4, 0, 0]
    assert arrays["patches.picture"].shape == (64, 64, 3)


@pytest.mark.some(1)
@pytest.mark.parametrize("model", ["pvt", "glpn"])
def test_own_code_with_blocks_opens(visit: Visit, tiny: Tiny, model: str) -> None:
    app = visit("head", text="", model=tiny(model), image="landscape")
    assert not app.error
    header, _ = sent(app)
    assert header["layers"][1]["key_tokens"][3] == "r1c1 block"


def test_patches_of_a_plain_model_are_on_the_picture_of_steps(visit: Visit, tiny: Tiny) -> None:
    header, arrays = sent(visit("steps", text="", model=tiny("forms"), image="landscape"))
    assert (header["patches"]["rows"], header["patches"]["first"]) == (4, 1)
    assert header["patches"]["key_boxes"] is None and arrays["picture"].shape == (24, 24, 3)
