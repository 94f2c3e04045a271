"""A long text on Overview: small pictures first, then weights; no maximum is read as a weight."""

import numpy as np
import pytest
from playwright.sync_api import expect

import attnviz
from attnviz.i18n import text
from attnviz.pictures import grid
from attnviz.pictures.group.groups import groups
from tests.browser.conftest import OpenVisit
from tests.support.canvas import load_palettes, matrix_colours, pixels
from tests.support.visit import expect_data
from tests.support.waiting import eventually

LONG = " ".join(["The cat sat on the mat and the dog ran after it."] * 24)  # 4.6 million weights
PREVIEW = "Attention weights of"
HEAD = ".av-picker-cell[data-layer='4'][data-head='9']"


@pytest.mark.slow
def test_the_weights_of_all_heads_follow_their_small_pictures(visit: OpenVisit) -> None:
    weights = attnviz.capture("minilm", LONG).weights(4, 9)
    opened = visit("overview", text=LONG, layer=0, head=2)
    board, preview = opened.canvas("All heads of"), opened.canvas(PREVIEW)
    expect_data(board, weights="all")
    side = -(-len(weights) // grid.MAX_SQUARE)
    note = text("en", "component.grid.squares_note", side=side)
    expect(opened.page.locator(".av-grid-side")).to_contain_text(note)
    opened.page.locator(HEAD).hover()
    expect_data(preview, layer=4, head=9)
    points, expected = matrix_colours(
        preview, weights, load_palettes(opened.page.context.browser)["light"]
    )
    chosen = np.random.default_rng(0).choice(len(points), 300)

    def is_drawn() -> None:
        shown = pixels(preview, [points[place] for place in chosen])
        assert all(colour in expected[i] for i, colour in zip(chosen, shown, strict=True))

    eventually(is_drawn)
    expect(opened.page.locator(".av-picker-cell").first).to_have_attribute(
        "aria-label", text_of_first()
    )


def text_of_first() -> str:
    """What the first head is called once its words have come."""
    cap = attnviz.capture("minilm", LONG)
    role = attnviz.metrics.describe(cap.all_weights(), cap.tokens)[0][0]
    assert role.role == "spread"
    return "L0.H0: " + text(
        "en",
        "role.spread",
        percent=f"{100 * role.fraction:.0f}",
        chance=f"{100 * role.baseline:.1g}",
    )


@pytest.mark.parametrize("side", [3, 4, 7])
def test_each_point_is_the_largest_of_its_weights(side: int) -> None:
    group = groups(attnviz.capture("stories", "Tom had a red ball and Lily had a cat."))[0]
    (layer, *_), weights = grid.pooled_layers(group, side), group.call(0).weights().numpy()
    for row in range(layer.shape[1]):
        for column in range(layer.shape[2]):
            block = weights[:, row * side : (row + 1) * side, column * side : (column + 1) * side]
            assert (layer[:, row, column] == block.max(axis=(1, 2))).all()
    assert layer.shape[1:] == tuple(-(-n // side) for n in weights.shape[1:])
