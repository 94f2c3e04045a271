"""Heads are switched in the browser: by key and by mouse, with no message to the server."""

import re

import pytest
from playwright.sync_api import Locator, expect

import attnviz
from attnviz.models.loaded_model import LoadedModel
from tests.browser.conftest import OpenVisit
from tests.support.canvas import cell_middle
from tests.support.cases import mostly_slow
from tests.support.visit import Visit, data, expect_data
from tests.support.waiting import eventually, expect_true

TEXT = "The animal didn't cross the street because it was too tired."
N = 16  # its tokens


def heatmap(visit: Visit) -> Locator:
    return visit.canvas("Attention weights of")


def picker_cell(visit: Visit, layer: int, head: int) -> Locator:
    return visit.page.locator(f".av-picker-cell[data-layer='{layer}'][data-head='{head}']")


def test_keys_switch_heads_without_a_message(visit: OpenVisit) -> None:
    opened = visit("head", text=TEXT, layer=1, head=5)
    heatmap(opened).focus()
    before = len(opened.seen.sent)
    for keys, layer, head in (
        (["]"], 1, 6),
        (["Shift+ArrowDown"], 2, 6),
        (["[", "Shift+ArrowUp", "Shift+ArrowUp", "Shift+ArrowUp"], 0, 5),  # none above the first
        (["]"] * 7, 1, 0),  # from the last head on to the next layer
        (["["], 0, 11),
        (["Shift+ArrowDown"] * 9, 5, 11),  # the last layer has none below
    ):
        for key in keys:
            opened.page.keyboard.press(key)
        expect_data(heatmap(opened), layer=layer, head=head)
        expect(opened.page.locator(".av-head .av-title")).to_have_text(f"L{layer}.H{head}")
        expect(opened.page.locator(".av-picker-cell[aria-selected=true]")).to_have_attribute(
            "aria-label", f"L{layer}.H{head}"
        )
        opened.wait_for_parameters(layer=layer, head=head)
    assert opened.seen.sent[before:] == []


@pytest.mark.slow
def test_the_mouse_switches_heads_without_a_message(visit: OpenVisit) -> None:
    opened = visit("head", text=TEXT)
    before = len(opened.seen.sent)
    picker_cell(opened, 4, 7).click()
    expect_data(heatmap(opened), layer=4, head=7)
    opened.page.get_by_role("button", name="Next head").click()
    expect_data(heatmap(opened), layer=4, head=8)
    opened.page.get_by_role("radio", name="log").click()
    opened.page.get_by_label("Hide special tokens").check()
    expect_data(heatmap(opened), scale="log", special="hide", rows=N - 2)
    opened.wait_for_parameters(layer=4, head=8, scale="log", special="hide")
    assert opened.seen.sent[before:] == []


@pytest.mark.slow
def test_leaving_the_component_commits_once(visit: OpenVisit) -> None:
    """The counterpart of the tests above: the record of messages does see a commit."""
    opened = visit("head", text=TEXT)
    before = len(opened.seen.sent)
    picker_cell(opened, 4, 7).click()
    expect_data(heatmap(opened), layer=4, head=7)
    opened.leave_picture()
    opened.wait_until(lambda: len(opened.seen.sent) > before)
    links = opened.page.get_by_test_id("stPageLink-NavLink")
    expect(links.nth(1)).to_have_attribute("href", re.compile("layer=4&head=7"))
    assert len(opened.seen.sent) == before + 1
    assert b'"layer":4,"head":7' in bytes(opened.seen.sent[-1])


@pytest.mark.slow
def test_arrow_keys_pin_a_cell_and_read_it_out(visit: OpenVisit, minilm: LoadedModel) -> None:
    weights = attnviz.capture(minilm, TEXT).weights(layer=5, head=11)
    opened = visit("head", text=TEXT, layer=5, head=11)
    heatmap(opened).focus()
    before = len(opened.seen.sent)
    for key in ["ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight"]:
        opened.page.keyboard.press(key)
    expect_data(heatmap(opened), query=2, key=2)
    readout = opened.page.locator(".av-readout")
    rank = int((weights[2] > weights[2, 2]).sum()) + 1
    expect(readout).to_contain_text(f"weight {weights[2, 2]:.4f}, rank {rank} of {N}")
    opened.wait_for_parameters(query=2, key=2)
    assert opened.seen.sent[before:] == []
    opened.page.keyboard.press("Escape")  # back to all heads, the cell stays
    expect(opened.page.locator(".av-head")).to_be_hidden()
    opened.wait_for_parameters(query=2, key=2, open=None)


def test_the_pointer_reads_a_cell_and_a_click_pins_it(
    visit: OpenVisit, minilm: LoadedModel
) -> None:
    capture = attnviz.capture(minilm, TEXT)
    weights, labels = capture.weights(layer=5, head=11), capture.tokens.labels
    opened = visit("head", text=TEXT, layer=5, head=11)
    canvas = heatmap(opened)
    readout = opened.page.locator(".av-readout")

    def point() -> None:
        x, y = cell_middle(canvas, 10, 2, N, N)
        canvas.hover(position={"x": x, "y": y})
        expect(readout).to_contain_text(f"{labels[10]} (10) → {labels[2]} (2)", timeout=2000)

    eventually(point)
    expect(readout).to_contain_text(f"weight {weights[10, 2]:.4f}")
    x, y = cell_middle(canvas, 10, 2, N, N)
    canvas.click(position={"x": x, "y": y})
    expect_data(canvas, query=10, key=2)
    strongest = weights[10].argsort()[::-1][:8]
    ranked = opened.page.locator(".av-ranked-list li")
    expect(ranked).to_have_count(8)
    for row, wanted in enumerate(strongest.tolist()):
        expect_data(ranked.nth(row), key=wanted)


def test_overview_names_and_enlarges_what_is_pointed_at(look: OpenVisit) -> None:
    opened = look("overview", text=TEXT, layer=0, head=0)
    before = len(opened.seen.sent)
    preview = heatmap(opened)
    expect_data(preview, layer=0, head=0)
    picker_cell(opened, 5, 11).hover()
    expect_data(preview, layer=5, head=11)
    expect(opened.page.locator(".av-title")).to_have_text("L5.H11")
    said = picker_cell(opened, 5, 11).get_attribute("aria-label") or ""
    sentence = said.removeprefix("L5.H11: ")
    assert re.search(r"\d+%", sentence)
    expect(opened.page.locator(".av-sentence")).to_have_text(sentence)
    thumb = float(data(opened.canvas("All heads of"))["size"])
    expect_true(lambda: float(data(preview)["w"]) > 3 * thumb)
    opened.leave_picture()
    expect_data(preview, layer=0, head=0)
    assert opened.seen.sent[before:] == []


def test_overview_keys_move_without_a_message(look: OpenVisit) -> None:
    opened = look("overview", text=TEXT, layer=0, head=0)
    before = len(opened.seen.sent)
    picker_cell(opened, 0, 0).focus()
    for key in ["ArrowDown", "ArrowDown", "End", "ArrowLeft"]:
        opened.page.keyboard.press(key)
    expect_data(heatmap(opened), layer=2, head=10)
    opened.wait_for_parameters(layer=2, head=10)
    assert opened.seen.sent[before:] == []


@pytest.mark.slow
@pytest.mark.parametrize("how", mostly_slow(["click", "Enter", "button"], 1))
def test_overview_opens_a_head(visit: OpenVisit, how: str) -> None:
    opened = visit("overview", text=TEXT, layer=0, head=0)
    if how == "click":
        picker_cell(opened, 3, 2).click()
    else:
        picker_cell(opened, 0, 0).focus()
        for key in ["ArrowDown"] * 3 + ["ArrowRight"] * 2:
            opened.page.keyboard.press(key)
        if how == "Enter":
            opened.page.keyboard.press("Enter")
        else:
            opened.page.get_by_role("button", name="Open this head").click()
    grown = opened.page.locator(".av-head canvas[aria-label^='Attention weights of']")
    expect_data(grown, layer=3, head=2, rows=N)
    opened.wait_for_parameters(layer=3, head=2, text=None, open=1)
    expect(opened.page).to_have_url(re.compile(re.escape(f"{opened.url}/look?")))
