"""Heads sorted by a measure: the order is the library's, keys and clicks follow what is shown."""

import numpy as np
import pytest
from playwright.sync_api import expect

import attnviz
from attnviz.metrics.measures import measured
from attnviz.models.loaded_model import LoadedModel
from tests.browser.conftest import OpenVisit
from tests.support.visit import Visit, expect_data
from tests.support.waiting import expect_equal

TEXT = "The animal didn't cross the street because it was too tired."
N_HEADS = 12


def shown_heads(visit: Visit) -> list[tuple[int, int]]:
    cells = visit.page.locator(".av-grid .av-picker-cell")
    found: list[list[str]] = cells.evaluate_all(
        "(cells) => cells.map(({ dataset }) => [dataset.layer, dataset.head])"
    )
    return [(int(layer), int(head)) for layer, head in found]


def sorted_heads(values: np.ndarray) -> list[tuple[int, int]]:
    return [divmod(int(i), N_HEADS) for i in np.argsort(-values.ravel(), kind="stable")]


def test_heads_are_sorted_by_the_librarys_numbers(visit: OpenVisit, minilm: LoadedModel) -> None:
    capture = attnviz.capture(minilm, TEXT)
    numbers = measured(capture.all_weights(), capture.tokens)
    opened = visit("overview", text=TEXT)
    board, before = opened.canvas("All heads of"), len(opened.seen.sent)
    expect_data(board, order=None)
    expect_equal(lambda: shown_heads(opened), [divmod(i, N_HEADS) for i in range(72)])
    for name in ("entropy", "previous"):
        opened.page.get_by_label("Order").select_option(name)
        expect_data(board, order=name)
        expect_equal(lambda: shown_heads(opened), sorted_heads(numbers[name]))
        opened.wait_for_parameters(order=name)
    first = sorted_heads(numbers["previous"])[0]
    opened.page.locator(".av-grid .av-picker-cell").first.hover()
    said = f"Previous token: {100 * numbers['previous'][first]:.0f}%"
    expect(opened.page.locator(".av-sentence")).to_contain_text(said)
    assert opened.seen.sent[before:] == []


@pytest.mark.slow
def test_keys_follow_the_order_and_a_reload_keeps_it(visit: OpenVisit, minilm: LoadedModel) -> None:
    capture = attnviz.capture(minilm, TEXT)
    expected = sorted_heads(measured(capture.all_weights(), capture.tokens)["distance"])
    layer, head = expected[0]
    opened = visit("overview", text=TEXT, order="distance", layer=layer, head=head)
    expect_equal(lambda: shown_heads(opened), expected)
    opened.page.locator(".av-picker-cell[aria-selected=true]").focus()
    opened.page.keyboard.press("ArrowRight")
    layer, head = expected[1]
    expect_data(opened.canvas("Attention weights of"), layer=layer, head=head)
    opened.page.keyboard.press("Enter")
    expect(opened.page.get_by_role("heading", name=f"L{layer}.H{head}", exact=True)).to_be_visible()
    opened.wait_for_parameters(layer=layer, head=head, order="distance")
