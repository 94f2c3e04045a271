"""Mean and maximum cells: the browser's numbers are numpy's, within the rounding of the codes."""

import math

import numpy as np
from playwright.sync_api import Browser, expect

import attnviz
from attnviz.components.buffer import quantise
from attnviz.models.loaded_model import LoadedModel
from tests.browser.conftest import OpenVisit
from tests.support.canvas import Palette, cell_colours, module_page
from tests.support.visit import expect_data
from tests.support.waiting import eventually

TEXT = "The animal didn't cross the street because it was too tired."
N_LAYERS, N_HEADS, N = 6, 12, 16
PLACES = N_LAYERS + N_HEADS + 1
SUMMARISE = """async ({ codes, shape }) => {
    const { summarise } = await import("/grid/summaries.js");
    return [...summarise({ data: Uint8Array.from(codes), shape, dtype: "u8" }).data];
}"""


def expected(weights: np.ndarray) -> np.ndarray:
    """[mean | max, place, query, key]: the layers, the heads' columns, all."""
    return np.stack(
        [
            np.concatenate([of(weights, 1), of(weights, 0), of(weights, (0, 1))[None]])
            for of in (np.mean, np.max)
        ]
    )


def test_summaries_are_means_and_maxima_of_the_weights(
    browser: Browser, minilm: LoadedModel
) -> None:
    weights = attnviz.capture(minilm, TEXT).all_weights()
    codes = quantise(weights, 8)
    with module_page(browser) as page:
        found = page.evaluate(SUMMARISE, {"codes": codes.ravel().tolist(), "shape": weights.shape})
    roots = np.array(found).reshape(2, PLACES, N, N) / 65535
    # a stored root is at most half a step off, so a weight w at most 2 √w · h + h²
    half = 1 / 510 + 1 / 131070
    largest = np.sqrt(expected(weights)[1])
    allowed = 2 * largest * half + half**2
    assert (np.abs(roots**2 - expected(weights)) <= allowed).all()
    known = expected((codes.astype(np.float64) / 255) ** 2)
    np.testing.assert_allclose(roots, np.sqrt(known), atol=0.51 / 65535)


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
    page.get_by_role("heading", name="Overview", exact=True).hover()
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
