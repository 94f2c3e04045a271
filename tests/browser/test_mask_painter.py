"""A pattern is painted with the pointer and the keyboard, and the heads are ranked for it."""

import numpy as np
from playwright.sync_api import expect

import attnviz
from attnviz.models.loaded_model import LoadedModel
from attnviz.pictures.group.groups import groups
from attnviz.pictures.group.ranking import shares
from tests.browser.conftest import OpenVisit
from tests.support.visit import expect_data

TEXT = "The cat sat on the mat."
LABELS_PX, CELL_PX = 84, 22
KEY, FIRST, LAST = 2, 3, 5


def test_a_painted_column_ranks_the_heads_by_their_share_of_it(
    visit: OpenVisit, minilm: LoadedModel
) -> None:
    group = groups(attnviz.capture(minilm, TEXT))[0]
    opened = visit("overview", text=TEXT)
    page = opened.page
    page.get_by_text("Draw a pattern: which head attends like this?").click()
    matrix = page.locator(".av-mask-painter canvas[data-drawn]")
    matrix.wait_for()
    page.locator(".av-mask-painter").get_by_role("button", name="Clear").click()
    expect_data(matrix, painted=0)
    expect(page.get_by_text("Paint at least one cell")).to_be_visible()
    matrix.scroll_into_view_if_needed()
    box = matrix.bounding_box()
    assert box is not None
    x = box["x"] + LABELS_PX + CELL_PX * (KEY + 0.5)
    tops = [box["y"] + LABELS_PX + CELL_PX * (row + 0.5) for row in (FIRST, LAST - 1)]
    page.mouse.move(x, tops[0])
    page.mouse.down()
    page.mouse.move(x, tops[1], steps=8)
    page.mouse.up()
    expect_data(matrix, painted=LAST - FIRST, col=KEY)
    matrix.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")
    expect_data(matrix, painted=LAST - FIRST + 1, row=LAST)
    cells = np.zeros((len(group.capture.tokens),) * 2, np.bool_)
    cells[FIRST : LAST + 1, KEY] = True
    best = shares(group, cells)[0]
    button = page.get_by_role("button", name=f"{best.head}: {best.share:.3f}")
    expect(button).to_be_visible()
