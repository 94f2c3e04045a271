"""The rail of Steps: seven stops, the numbers of the chosen cell, one scale of the scores."""

import numpy as np
import pytest
from playwright.sync_api import expect

import attnviz
from tests.browser.conftest import OpenVisit
from tests.support.canvas import cell_middle
from tests.support.visit import data, expect_data
from tests.support.waiting import at_rest, eventually, expect_equal, expect_number, number


def test_the_rows_picture_has_scores_and_what_the_division_makes_of_them_on_one_axis(
    look: OpenVisit,
) -> None:
    steps = attnviz.derive(attnviz.capture("minilm", "The cat sat.").call(2), 5)
    picture = look("steps", text="The cat sat.", layer=2, head=5, query=1, key=2).page.locator(
        ".row-picture"
    )
    expect(picture).to_be_in_viewport(ratio=0.95)
    assert steps.scores is not None
    highest = max(0, *steps.scores[1].tolist())
    lowest = min(0, *steps.scaled[1].tolist())

    def check() -> None:
        shown = data(picture)
        unit = float(shown["unit"])
        left, right = (float(x) for x in shown["zeros"].split(","))
        # no bar of the one column reaches a bar of the other
        assert unit > 0 and left + highest * unit < right + lowest * unit

    eventually(check)
    expect_data(picture, keys="0,1,2,3,4,5", key=2)


def test_the_rail_has_the_librarys_numbers_and_leads_to_the_panels(look: OpenVisit) -> None:
    steps = attnviz.derive(attnviz.capture("minilm", "The cat sat.").call(2), 5)
    page = look("steps", text="The cat sat.", layer=2, head=5, query=1, key=2).page
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
    reached = "(all) => all.filter((stop) => stop.tabIndex === 0).length"
    expect_equal(lambda: stops.evaluate_all(reached), 1)
    stops.nth(3).click()
    expect(page.locator(".panel[data-stage=masked]")).to_have_attribute("data-stop", "1")
    expect(page.locator(".stop[aria-current=step]")).to_contain_text("mask")
    expect(page.locator("[data-sum=masked] .step-body")).to_be_visible()
    page.keyboard.press("ArrowLeft")
    expect(stops.nth(2)).to_be_focused()
    page.locator("[data-sum=weights] .step-head").click()
    expect(page.locator(".stop[aria-current=step]")).to_contain_text("softmax")
    expect(page.locator("[data-sum=masked] .step-body")).to_be_hidden()


def test_a_click_in_the_rows_picture_chooses_the_key_and_keys_choose_the_row(
    look: OpenVisit,
) -> None:
    opened = look("steps", text="The cat sat.", layer=2, head=5, query=1, key=2)
    picture = opened.page.locator(".row-picture")
    shown = data(picture)
    y = float(shown["top"]) + 4.5 * float(shown["line"])
    picture.click(position={"x": 30, "y": y})
    expect_data(picture, query=1, key=4)
    picture.press("ArrowUp")
    picture.press("ArrowRight")
    expect_data(picture, query=2, key=3)
    expect(opened.page.locator(".arithmetic h2")).to_contain_text("cat")


@pytest.mark.slow
def test_a_stop_stands_in_the_address_and_is_kept_on_the_way_to_other_masks(
    visit: OpenVisit,
) -> None:
    opened = visit("steps", text="The cat sat.", layer=2, head=5, query=1, key=2)
    page = opened.page
    page.locator(".rail .stop").nth(4).click()
    opened.wait_for_parameters(stop="weights")
    page.locator("[data-face=masks]").click()
    expect(page.locator(".av.masks canvas[data-drawn]").first).to_be_visible()
    opened.wait_for_parameters(stop="weights", face="masks")
    expect(page.locator(".row-picture")).to_be_hidden()
    expect(page.locator(".stop[aria-current=step]")).to_contain_text("mask")
    page.get_by_role("button", name="Back to the row", exact=True).click()
    expect(page.locator(".row-picture")).to_be_visible()
    expect(page.locator(".av.masks")).to_have_count(0)
    expect(page.locator(".stop[aria-current=step]")).to_contain_text("softmax")
    page.locator("[data-face=arrows]").click()
    opened.wait_for_parameters(face="arrows", tab="head")  # of this head, not arrows to drag


@pytest.mark.slow
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


@pytest.mark.slow
def test_the_largest_weight_is_said_of_the_key_that_gets_it(visit: OpenVisit) -> None:
    cap = attnviz.capture("minilm", "The cat sat.")
    least, most = (int(at) for at in cap.weights(2, 5)[1].argsort()[[0, -1]])
    opened = visit("steps", text="The cat sat.", layer=2, head=5, query=1, key=least, stop="scores")
    step = opened.page.locator("[data-sum=scores] .step-body p").first
    expect(step).to_contain_text(f"The largest weight will go to {cap.tokens.labels[most]}")


@pytest.mark.slow
@pytest.mark.parametrize("screen", [(1440, 900), (1024, 768), (390, 844)])
def test_the_rail_stays_where_it_is_when_a_stop_opens(
    visit: OpenVisit, screen: tuple[int, int]
) -> None:
    cell = {"layer": 2, "head": 5, "query": 1, "key": 2}
    page = visit("steps", screen=screen, text="The cat sat.", **cell).page
    rail, stops = page.locator(".rail"), page.locator(".rail .stop")
    expect(stops.nth(1)).to_be_enabled()
    before = at_rest(rail.bounding_box)
    for place in range(7):
        stops.nth(place).click()
        expect(page.locator(".step-head[aria-expanded=true]")).to_have_count(1)
        assert at_rest(rail.bounding_box) == before


def test_the_rail_under_other_masks_has_their_numbers(visit: OpenVisit) -> None:
    """A causal mask hides 2 from 1, and the weight of 0 grows by what 1 lost behind it."""
    steps = attnviz.derive(attnviz.capture("minilm", "The cat sat.").call(2), 5)
    scores, weights = steps.scaled[1], steps.weights[1]
    first = np.exp(scores[:2].numpy())
    cell = {"layer": 2, "head": 5, "query": 1, "key": 0}
    opened = visit("masks", model="minilm", text="The cat sat.", **cell, masks="padding,causal")
    stops = opened.page.locator(".rail .stop b")
    causal = opened.page.get_by_label("Causal mask")
    at = float(scores[0])

    def expect_stops(score: float, weight: float) -> None:
        expect_number(stops.nth(3), score, rel=1e-3)
        expect_number(stops.nth(4), weight, abs=6e-5)

    expect_stops(at, first[0] / first.sum())
    causal.uncheck()
    expect_stops(at, float(weights[0]))
    causal.check()
    expect_stops(at, first[0] / first.sum())
    canvas = opened.page.locator(".map[data-sentence='0'] canvas[role=img]")
    n = int(data(canvas)["rows_count"])  # of the longer sentence
    x, y = cell_middle(canvas, 1, 2, n, n)
    canvas.click(position={"x": x, "y": y})
    expect_stops(-np.inf, 0.0)
