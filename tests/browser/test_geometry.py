"""Geometry in the browser: arrows are dragged and kept, and their numbers follow."""

import numpy as np
import pytest
from playwright.sync_api import expect

from attnviz.pictures.geometry import DEFAULT_VECTORS
from tests.browser.conftest import OpenVisit
from tests.support.visit import data
from tests.support.waiting import expect_equal, expect_true


def test_an_arrow_is_dragged_moved_by_keys_and_kept_in_the_address(visit: OpenVisit) -> None:
    page = visit("geometry", text="The cat sat.").page
    plane = page.locator(".av-geometry-plane canvas[data-weights]")
    plane.wait_for()
    q, k = (np.array(part.split(",")[:2], float) for part in DEFAULT_VECTORS.split("/")[:2])
    first = float(data(plane)["scaled"].split(",")[0])
    np.testing.assert_allclose(first, q @ k / 2**0.5, atol=1e-9)
    handle = page.locator(".av-handle").first
    box = handle.bounding_box()
    board = plane.bounding_box()
    assert box is not None and board is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(board["x"] + board["width"] / 2, board["y"] + 40, steps=4)
    page.mouse.up()
    expect(page.get_by_role("row").nth(1)).not_to_contain_text(f"{first:.2f}")
    handle.focus()
    page.keyboard.press("ArrowRight")

    def place() -> tuple[float, float]:
        x, y = map(float, (handle.get_attribute("data-at") or "").split(","))
        return x, y

    expect_true(lambda: 0.08 <= place()[0] <= 0.12 and 2 < place()[1] <= 3)
    x, y = place()
    page.wait_for_function(
        "value => location.search.includes(value)", arg=f"vectors={x:g}%2C{y:g}%2F"
    )
    expect_equal(
        lambda: np.array(data(plane)["weights"].split(","), float).sum(),
        pytest.approx(1, abs=1e-12),
    )
    page.get_by_role("radio", name="A real head").click()
    head = page.locator(".av-geometry-plane canvas[data-off]")
    head.wait_for()
    expect(page.get_by_text("of 72 heads the median")).to_be_visible()
    page.get_by_role("radio", name="Rotary").click()
    turned = page.locator(".av-geometry-plane canvas[data-score]")
    before = float(data(turned)["score"])
    page.get_by_label("Both together").fill("31")
    page.wait_for_function("() => location.search.includes('tab=rotary')")
    score = pytest.approx(before, abs=1e-12)
    expect_equal(lambda: float(data(turned)["score"]), score)
    page.reload()
    turned.wait_for()
    expect_equal(lambda: float(data(turned)["score"]), score)
