"""The rail of Steps: seven stops, the numbers of the chosen cell, one scale of the scores."""

import numpy as np
from playwright.sync_api import expect

import attnviz
from tests.browser.conftest import OpenVisit
from tests.support.waiting import eventually, number


def test_the_rail_has_the_librarys_numbers_and_leads_to_the_panels(visit: OpenVisit) -> None:
    steps = attnviz.derive(attnviz.capture("minilm", "The cat sat.").call(2), 5)
    page = visit("steps", text="The cat sat.", layer=2, head=5, query=1, key=2).page
    stops = page.locator(".rail .stop")
    expect(stops).to_have_count(7)
    cells = [
        matrix[1, 2].item() for matrix in (steps.scores, steps.scaled, steps.masked, steps.weights)
    ]

    def has_them() -> None:
        first, *shown, output, heads = page.locator(".rail .stop b").all_inner_texts()
        assert np.allclose([number(text) for text in shown], cells, rtol=1e-3, atol=1e-3)
        assert first == output == heads == ""

    eventually(has_them)
    stops.nth(3).click()
    panel = page.locator(".panel[data-stage=masked]")
    expect(panel).to_have_attribute("data-stop", "1")
    expect(panel).to_be_in_viewport()
    expect(page.locator(".stop[aria-current=step]")).to_contain_text("mask")


def test_scores_scaled_and_masked_share_one_scale(visit: OpenVisit) -> None:
    scores = attnviz.derive(attnviz.capture("minilm", "The cat sat.").call(2), 5).scores
    page = visit("steps", text="The cat sat.", layer=2, head=5).page

    def is_one() -> None:
        ends = [
            page.locator(f".panel[data-stage={stage}] .scale").inner_text().split()
            for stage in ("scores", "scaled", "masked")
        ]
        assert ends[0] == ends[1] == ends[2]
        assert np.isclose(number(ends[0][-1]), scores.abs().max().item(), rtol=1e-2)

    eventually(is_one)
