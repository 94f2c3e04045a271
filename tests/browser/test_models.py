"""Models that are not in the list, and attention that is no square: tiny folders in a browser."""

from io import BytesIO

import pytest
from PIL import Image
from playwright.sync_api import expect

import attnviz
from attnviz.app.server import sources
from attnviz.attention.call import AttentionCall
from attnviz.i18n import text
from tests.browser.conftest import OpenVisit, Tiny
from tests.support.canvas import Palette, cell_middle, cell_points, matrix_colours, pixels
from tests.support.visit import Visit, expect_data
from tests.support.waiting import eventually, expect_equal, expect_true

SOURCE, TARGET = "the cat sat on a mat", "the dog ran"
LAYER, HEAD = 1, 2


def cross_call(tiny: Tiny) -> AttentionCall:
    cap = attnviz.capture(attnviz.load(tiny("marian")), SOURCE, target=TARGET)
    return cap.call(LAYER, "cross", "decoder")


@pytest.mark.slow
def test_cross_attention_is_a_rectangle_of_its_two_texts(
    visit: OpenVisit, tiny: Tiny, palettes: dict[str, Palette]
) -> None:
    call = cross_call(tiny)
    assert call.n_query < call.n_key, "the case is not about a rectangle"
    cross = {"stack": "decoder", "kind": "cross", "layer": LAYER, "head": HEAD}
    view = {"model": tiny("marian"), "text": SOURCE, "target": TARGET, **cross}
    opened = visit("head", **view)
    heatmap = opened.canvas("Attention weights of")
    expect_data(heatmap, rows=call.n_query, cols=call.n_key)
    weights = call.weights(HEAD).numpy()

    def check() -> None:
        points, allowed = matrix_colours(heatmap, weights, palettes["light"])
        found = pixels(heatmap, points)
        assert all(colour in of for colour, of in zip(found, allowed, strict=True))

    eventually(check)
    # a key that lies beyond the last query can be chosen, and carries over to Steps
    last = (1, call.n_key - 1)
    x, y = cell_middle(heatmap, *last, call.n_query, call.n_key)
    heatmap.click(position={"x": x, "y": y})
    opened.wait_for_parameters(query=last[0], key=last[1])
    opened.go("steps")
    shapes = {"q": call.n_query, "k": call.n_key, "v": call.n_key, "weights": call.n_query}
    for stage, n_row in shapes.items():
        panel = opened.page.locator(f".panel[data-stage={stage}]")
        expect_data(panel.locator("canvas[role=img]"), rows_count=n_row)
    expect(opened.page.locator(".panel[data-stage=k] .formula")).to_contain_text("E·W")
    expect_data(opened.page.locator(".steps"), query=last[0], key=last[1])


def choose_other(opened: Visit, name: str) -> None:
    """Types a model's name into the box that the last entry of the list opens."""
    other = text("en", "menu.other_model")
    opened.choose(text("en", "menu.model"), other, menu="menu.model")
    box = opened.page.get_by_role("textbox", name=text("en", "menu.model_name"), exact=True)
    box.fill(name)
    box.press("Enter")


def test_a_folder_is_opened_from_its_box_and_another_refused(visit: OpenVisit, tiny: Tiny) -> None:
    opened = visit("steps", lang="en", text=SOURCE)
    choose_other(opened, "/etc")
    refused = opened.page.get_by_test_id("stAlert")
    expect(refused).to_contain_text("/etc")
    expect(refused).to_contain_text(sources.VARIABLE)
    box = opened.page.get_by_role("textbox", name=text("en", "menu.model_name"), exact=True)
    box.fill(str(tiny("llama")))
    box.press("Enter")
    opened.wait_for_parameters(model=tiny("llama"))
    # a rotary embedding: q and k before they turn, and after
    for stage in ("x", "unrotated_q", "unrotated_k", "q", "k"):
        expect(opened.page.locator(f".panel[data-stage={stage}] canvas[role=img]")).to_be_visible()
        if stage != "x":
            badge = opened.page.locator(f".panel[data-stage={stage}] .badge")
            expect_data(badge, ok="true")
    expect(opened.page.locator(".panel[data-stage=q] .operator")).to_have_text("RoPE")
    expect(opened.page.get_by_test_id("stAlert")).to_have_count(0)


@pytest.mark.slow
def test_the_module_from_a_seed_opens_without_a_text(visit: OpenVisit) -> None:
    opened = visit("steps", lang="en", model="mha-55", head=1)
    expect(opened.page.get_by_role("textbox")).to_have_count(0)
    expect(opened.page.locator(".panel canvas[role=img]")).to_have_count(11)
    expect(opened.page.locator(".panel .absent")).to_have_count(0)
    expect(opened.page.locator(".panel[data-stage=q] .formula")).to_have_text("Q = X·WQ")


def png(colour: tuple[int, int, int]) -> bytes:
    data = BytesIO()
    Image.new("RGB", (24, 24), colour).save(data, "PNG")
    return data.getvalue()


@pytest.mark.slow
def test_an_uploaded_picture_lies_under_its_patches(visit: OpenVisit, tiny: Tiny) -> None:
    opened = visit("head", lang="en", model=tiny("vit"))
    picture = opened.page.locator("canvas.av-picture")
    expect_data(opened.canvas("Attention weights of"), rows=10)  # [CLS] and 3 × 3 patches
    expect_data(picture, first=1)
    middles = cell_points(picture, [(row, col) for row in range(3) for col in range(3)], 3, 3)
    before = pixels(picture, middles)
    opened.open_menu("media")
    file = opened.page.locator("input[type=file]").first
    file.set_input_files({"name": "a.png", "mimeType": "image/png", "buffer": png((255, 0, 0))})
    opened.wait_for_parameters(image="own")
    opened.wait_until(lambda: pixels(picture, middles) != before)
    # colours of the weights lie over it, so a patch that is given much is no longer red
    expect_true(lambda: sum(r > max(g, b) for r, g, b in pixels(picture, middles)) >= 5)
    red = pixels(picture, middles)
    file.set_input_files({"name": "b.png", "mimeType": "image/png", "buffer": b"no picture"})
    expect(opened.page.get_by_test_id("stAlert")).to_have_text(text("en", "error.bad_picture"))
    opened.wait_for_parameters(image="own")
    expect_equal(lambda: pixels(picture, middles), red)


@pytest.mark.slow
@pytest.mark.parametrize("n_rounds", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_text_outlives_models_that_read_none(visit: OpenVisit, tiny: Tiny, n_rounds: int) -> None:
    opened = visit("head", model=tiny("bert"), text=SOURCE)
    opened.open_menu("menu.model")
    name = opened.page.get_by_role("textbox", name=text("en", "menu.model_name"), exact=True)
    box = opened.page.get_by_role("textbox", name=text("en", "menu.text"), exact=True)
    heatmap = opened.canvas("Attention weights of")
    for _ in range(n_rounds):
        for other, rows in (("vit", 10), ("forms", 17), ("bert", 8)):
            name.fill(str(tiny(other)))
            name.press("Enter")
            expect_data(heatmap, rows=rows)
            expect(box).to_have_count(1 if other == "bert" else 0)
        expect(box).to_have_value(SOURCE)
        opened.wait_for_parameters(model=tiny("bert"), text=SOURCE)
