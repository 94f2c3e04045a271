"""What a visitor sees first: a row worth seeing, a decoder's row by both tokens, the attention."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenVisit
from tests.support.visit import expect_data

TROPHY = "The trophy did not fit in the suitcase because it was too big."


def test_an_own_sentence_opens_on_its_pronoun_whatever_the_pointer_is_over(
    visit: OpenVisit,
) -> None:
    """The pointer rests where the grid is; only when it moves it chooses the head under it."""
    opened = visit("overview")
    page = opened.page
    board = opened.canvas("All heads of")
    expect_data(board, layer=3, head=1, query=10)
    cell = page.locator(".av-picker-cell[data-layer='4'][data-head='7']").bounding_box()
    assert cell is not None
    page.mouse.move(cell["x"] + 9, cell["y"] + 9)
    expect_data(board, layer=4, head=7)
    page.get_by_role("textbox").first.fill(TROPHY)
    page.keyboard.press("Enter")
    opened.wait_for_parameters(text=TROPHY, layer=3, head=1, query=10, key=2)
    expect(page.locator(".av-facts")).to_contain_text("it looks at trophy 0.57")
    expect_data(board, layer=3, head=1, query=10, key=2)
    page.mouse.move(cell["x"] + 20, cell["y"] + 20)
    expect_data(board, layer=4, head=7)


@pytest.mark.slow
def test_a_head_that_was_chosen_stays_when_the_text_changes(visit: OpenVisit) -> None:
    opened = visit("head", layer=5, head=4)
    heatmap = opened.canvas("Attention weights of")
    expect_data(heatmap, layer=5, head=4, query=None)
    opened.page.get_by_role("textbox").first.fill(TROPHY)
    opened.page.keyboard.press("Enter")
    opened.wait_for_parameters(text=TROPHY, layer=5, head=4, query=10)
    expect_data(heatmap, layer=5, head=4, query=10)


@pytest.mark.slow
def test_a_decoders_row_is_named_after_what_it_reads_and_predicts(visit: OpenVisit) -> None:
    opened = visit("overview", model="translator")
    expect(opened.page.locator(".av-facts")).to_contain_text(
        "petit\u2009⇢\u2009chat looks at cat 1.00"
    )
    expect(opened.page.locator(".av-strongest")).to_contain_text(
        "petit\u2009⇢\u2009chat attends to"
    )
    expect(opened.page.get_by_text("read ⇢ next")).to_be_visible()
    opened.tokens.last.click()  # no token comes after the last one
    expect(opened.page.locator(".av-strongest")).to_contain_text(". attends to")


def test_the_line_under_all_heads_names_the_head_that_it_is_about(visit: OpenVisit) -> None:
    for head in (1, 2):
        page = visit("overview", model="stories", text="The cat sat.", layer=2, head=head).page
        line = page.locator(".av-strongest")
        expect(line.locator("b")).to_have_text(f"L2.H{head}")
        expect(line).to_contain_text("Strongest rows")


@pytest.mark.slow
def test_the_choice_of_an_attention_stays_on_every_page(visit: OpenVisit) -> None:
    opened = visit("overview", model="translator")
    chosen = opened.page.get_by_role("radio", name="Decoder: cross-attention")
    expect(chosen).to_be_checked()
    for name in ("Compute", "Look", "Compute", "Look"):
        opened.page.get_by_test_id("stPageLink-NavLink").filter(has_text=name).first.click()
        face = {"Look": "Overview"}.get(name, name)
        expect(opened.page.get_by_role("heading", name=face, exact=True)).to_be_visible()
        expect(chosen).to_be_checked()
