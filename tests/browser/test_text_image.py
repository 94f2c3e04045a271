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


def test_the_stack_is_chosen(visit: OpenVisit, tiny_server: str, folder: Path) -> None:
    asked = {"model": str(folder), "image": "landscape", "text": "the cat sat on a mat"}
    page = visit("head", url=tiny_server, **asked)
    heatmap = page.canvas("Attention weights of")
    expect_data(heatmap, rows=17, cols=17)
    expect(page.page.locator(".av-picture")).to_be_visible()
    page.page.get_by_role("radio", name=text("en", "attention.text_cross")).click()
    expect_data(heatmap, rows=6, cols=17)
    expect(page.page.locator(".av-picture")).to_have_count(0)
    page.wait_for_parameters(stack="text", kind="cross", image="landscape")
    page.type_text("the dog ran")
    expect_data(heatmap, rows=3, cols=17)
