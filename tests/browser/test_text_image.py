"""A text and a picture in one model, in a browser: the stack is chosen, the input follows."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from attnviz.i18n import text
from tests.browser.conftest import OpenVisit, Tiny
from tests.support.visit import expect_data


@pytest.fixture(scope="module")
def folder(tiny: Tiny) -> Path:
    """A tiny model whose text looks across at a picture."""
    return tiny("blip")


@pytest.mark.slow
def test_the_stack_is_chosen(visit: OpenVisit, folder: Path) -> None:
    asked = {"model": str(folder), "image": "landscape", "text": "the cat sat on a mat"}
    page = visit("head", **asked)
    heatmap = page.canvas("Attention weights of")
    expect_data(heatmap, rows=17, cols=17)
    expect(page.page.locator(".av-picture")).to_be_visible()
    page.page.get_by_role("radio", name=text("en", "attention.text_cross")).click()
    expect_data(heatmap, rows=6, cols=17)
    expect(page.page.locator(".av-picture")).to_have_count(0)
    page.wait_for_parameters(stack="text", kind="cross", image="landscape")
    page.type_text("the dog ran")
    expect_data(heatmap, rows=3, cols=17)


@pytest.mark.slow
def test_what_was_written_lies_over_the_picture(visit: OpenVisit, tiny: Tiny) -> None:
    """At rest the newest token is shown; with the player it is the one that was written last."""
    asked = {"model": str(tiny("llava")), "image": "landscape", "text": "the cat sat on a mat"}
    page = visit("head", stack="text", generate="3", **asked)
    expect_data(page.canvas("Attention weights of"), rows=25, cols=25)
    picture = page.page.locator(".av-picture")
    expect_data(picture, query=24, first=0)
    page.page.get_by_role("slider").first.focus()
    page.page.keyboard.press("Home")
    expect_data(picture, query=21, first=0)
