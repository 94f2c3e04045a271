"""The circuit that is cut out, in a browser: the slider moves sentences, edges and the address."""

from playwright.sync_api import expect

from tests.browser.conftest import OpenVisit

MARY, JOHN = (
    f"When Mary and John went to the store, {giver} gave a book to" for giver in ("John", "Mary")
)


def test_the_slider_keeps_more_or_fewer_edges(visit: OpenVisit) -> None:
    opened = visit("circuit", model="stories", text=MARY, text_b=JOHN, cut_out="1")
    page = opened.page
    said = page.locator(".av-cut-said")
    expect(said).to_contain_text("10 of 479 edges kept")
    expect(page.locator(".av-cut-edge")).to_have_count(10)
    slider = page.get_by_label("Edges kept")
    slider.focus()
    page.keyboard.press("Home")
    expect(said).to_contain_text("0 of 479 edges kept")
    expect(page.locator(".av-cut-edge")).to_have_count(0)
    opened.wait_for_parameters(kept="0")
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    expect(said).to_contain_text("4 of 479 edges kept")
    expect(page.locator(".av-cut-list tbody tr")).to_have_count(4)
    opened.wait_for_parameters(kept="4")
    expect(slider).to_be_focused()
