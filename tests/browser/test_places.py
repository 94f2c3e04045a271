"""Keys that are blocks of patches, in a browser: the picture marks the block and the patch."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenVisit, Tiny
from tests.support.browser import accessibility_problems
from tests.support.canvas import cell_middle
from tests.support.visit import expect_data


@pytest.fixture(scope="module")
def folder(tiny: Tiny) -> Path:
    """A tiny model whose keys are 2 × 2 blocks of 16 × 16, 8 × 8, 4 × 4 and 2 × 2 patches."""
    return tiny("segformer")


@pytest.mark.slow
def test_the_picture_marks_the_block_of_a_key(visit: OpenVisit, folder: Path) -> None:
    asked = {"model": str(folder), "image": "landscape", "text": "", "layer": 0, "head": 0}
    page = visit("head", **asked, query=70, key=2)
    picture = page.page.locator(".av-picture")
    expect_data(picture, query=70, key=2, key_box="8,0,16,8")
    x, y = cell_middle(picture, 3, 9, 16, 16)
    picture.click(position={"x": x, "y": y})
    expect_data(page.canvas("Attention weights of"), layer=0, query=57, rows=256, cols=4)
    page.canvas("Attention weights of").focus()
    page.page.keyboard.press("Shift+ArrowDown")
    said = page.page.locator(".av-pictured")
    expect(said).to_contain_text("Each key here is a block of 4 × 4 patches")
    assert not accessibility_problems(page.page)


@pytest.mark.slow
def test_steps_show_where_a_cell_is(visit: OpenVisit, folder: Path) -> None:
    asked = {"model": str(folder), "image": "landscape", "text": "", "layer": 1, "head": 1}
    page = visit("steps", **asked, query=30, key=1)
    placed = page.page.locator(".av-placed-picture")
    expect_data(placed, query=30, key=1, key_box="0,4,4,8")
    expect(page.page.locator(".operator").filter(has_text="X̄")).to_have_count(2)
    assert not accessibility_problems(page.page)
