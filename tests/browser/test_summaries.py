"""Mean and maximum cells on Overview: they are enlarged and kept, and cannot be opened."""

import math

import numpy as np
from playwright.sync_api import expect

import attnviz
from attnviz.models.loaded_model import LoadedModel
from tests.browser.conftest import OpenVisit
from tests.support.canvas import Palette, cell_colours
from tests.support.visit import expect_data
from tests.support.waiting import eventually

TEXT = "The animal didn't cross the street because it was too tired."
N_LAYERS, N_HEADS, N = 6, 12, 16
PLACES = N_LAYERS + N_HEADS + 1


def test_a_summary_is_enlarged_and_kept_but_not_opened(
    visit: OpenVisit, minilm: LoadedModel, palettes: dict[str, Palette]
) -> None:
    opened = visit("overview", text=TEXT)
    page, before = opened.page, len(opened.seen.sent)
    page.get_by_label("Mean and maximum cells").check()
    all_max = 2 * PLACES - 1
    page.locator(f".av-picker-cell[data-extra='{all_max}']").hover()
    preview = opened.canvas("Attention weights of")
    expect_data(preview, extra=all_max, layer=None)
    strongest = attnviz.capture(minilm, TEXT).all_weights().max(axis=(0, 1))
    cells = list(np.ndindex(N, N))

    def check() -> None:
        for cell, colour in zip(cells, cell_colours(preview, cells, N, N), strict=True):
            weight = float(strongest[cell])
            near = [math.sqrt(weight) + step / 510 for step in (-1, 0, 1)]
            allowed = set().union(*(palettes["light"].of_weight(max(0, at) ** 2) for at in near))
            assert colour in allowed, cell

    eventually(check)
    page.locator(".av-picker-cell[data-extra='2']").click()
    opened.leave_picture()
    expect_data(preview, extra=2)
    expect(page.locator(".av-title")).to_have_text("L2 mean")
    expect(page.get_by_role("button", name="Open this head")).to_be_disabled()
    opened.wait_for_parameters(cells=1)
    page.keyboard.press("ArrowLeft")
    expect_data(preview, extra=None, layer=2, head=N_HEADS - 1)
    expect(page.get_by_role("button", name="Open this head")).to_be_enabled()
    opened.wait_until(lambda: len(opened.seen.sent) > before)
    sent = opened.seen.sent[before:]
    assert len(sent) == 1, "leaving the component commits the option once, nothing else is sent"
