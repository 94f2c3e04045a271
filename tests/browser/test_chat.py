"""A text as a message, in a browser: the switch, the tokens that the template adds, the address."""

import pytest
from playwright.sync_api import expect

from attnviz.i18n import text
from tests.browser.conftest import OpenVisit, Tiny
from tests.support.visit import expect_data


@pytest.mark.slow
def test_a_message_stands_in_the_template(visit: OpenVisit, tiny: Tiny) -> None:
    page = visit("head", model=str(tiny("chat")), text="the cat sat")
    heatmap = page.canvas("Attention weights of")
    expect_data(heatmap, rows=3, cols=3)
    page.open_menu("menu.model")
    switch = page.page.get_by_role("switch", name=text("en", "menu.chat"))
    switch.focus()
    page.page.keyboard.press("Space")
    expect_data(heatmap, rows=8, cols=8)
    page.wait_for_parameters(chat="1")
    read = "<|im_start|> user the cat sat <|im_end|> <|im_start|> assistant"
    expect(page.page.get_by_text(read)).to_be_visible()
    page.page.reload()
    expect_data(heatmap, rows=8, cols=8)
