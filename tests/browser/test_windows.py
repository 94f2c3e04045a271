"""Layers that differ, in a browser: heads, tokens and windows change with the layer, unasked."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenVisit, Tiny
from tests.support.browser import accessibility_problems
from tests.support.visit import expect_data


@pytest.fixture(scope="module")
def folder(tiny: Tiny) -> Path:
    """A tiny model whose three stages have windows of their own."""
    return tiny("swinv2")


def test_heads_and_tokens_follow_the_layer(visit: OpenVisit, folder: Path) -> None:
    asked = {"model": str(folder), "image": "shapes", "text": "", "window": 8}
    page = visit("head", **asked, layer=1, head=1, query=3, key=2)
    heatmap = page.canvas("Attention weights of")
    expect_data(heatmap, layer=1, head=1, query=3, rows=16)
    before = len(page.seen.sent)
    heatmap.focus()
    page.page.keyboard.press("]")  # this layer has no third head
    expect_data(heatmap, layer=2, head=0, query=None, rows=16)
    page.page.keyboard.press("Shift+ArrowDown")
    page.page.keyboard.press("Shift+ArrowDown")
    expect_data(heatmap, layer=4, head=0, rows=9, cols=9)
    expect(page.page.locator(".av-picture")).to_have_attribute("data-first", "0")
    page.page.keyboard.press("[")
    expect_data(heatmap, layer=3, head=3, rows=16)
    page.page.keyboard.press("Shift+ArrowUp")
    page.page.keyboard.press("Shift+ArrowUp")
    expect_data(heatmap, layer=1, head=1)
    assert len(page.seen.sent) == before
    page.wait_for_parameters(layer=1, head=1, query=None, window=8)


@pytest.mark.slow
def test_the_grid_has_only_the_heads_there_are(visit: OpenVisit, folder: Path) -> None:
    asked = {"model": str(folder), "image": "shapes", "text": "", "window": 8}
    page = visit("overview", **asked, layer=2, head=3)
    cells = page.page.locator(".av-grid .av-picker-cell")
    expect(cells).to_have_count(2 + 2 + 4 + 4 + 4)
    board = page.page.locator(".av-grid-left canvas")
    page.page.locator('.av-picker-cell[data-layer="2"][data-head="3"]').focus()
    page.page.keyboard.press("ArrowUp")  # no layer above has a fourth head
    expect_data(board, layer=2, head=3)
    page.page.keyboard.press("Home")
    page.page.keyboard.press("ArrowUp")
    expect_data(board, layer=1, head=0)
    expect(page.page.locator(".av-chips button, .av-chips [data-token]").first).to_be_visible()
    assert not accessibility_problems(page.page)
