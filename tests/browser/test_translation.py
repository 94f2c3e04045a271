"""Source and target in the browser: pointing, keys, the address, the model's own answer."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Locator, expect

import attnviz
from attnviz.checks import card
from attnviz.experiment.outputs.alignment import Alignment, align
from attnviz.experiment.outputs.answer import answer
from tests.browser.conftest import OpenVisit, Tiny
from tests.support.browser import accessibility_problems
from tests.support.cases import mostly_slow
from tests.support.visit import Visit, data, expect_data
from tests.support.waiting import expect_equal

TEXT, TARGET = "the cat sat on a mat", "the dog ran and slept"
LAYER, HEAD, WORD = 1, 2, 1
Open = Callable[..., Visit]


@pytest.fixture
def opened(look: OpenVisit, tiny: Tiny) -> Open:
    """Opens the page Output of a tiny model on a source and a target."""

    def start(model: str = "marian", **more: Any) -> Visit:
        view = {"text": TEXT, "target": TARGET, "model": tiny(model), **more}
        return look("output", **view)

    return start


@pytest.fixture(scope="module")
def aligned(tiny: Tiny) -> Alignment:
    """What the library says."""
    lm = attnviz.load(tiny("marian"))
    return align(lm, attnviz.capture(lm, TEXT, target=TARGET), TARGET)


def word(visit: Visit, side: str, place: int) -> Locator:
    return visit.page.locator(f".av-word[data-side={side}][data-word='{place}']")


def expect_weights(visit: Visit, side: str, wanted: np.ndarray) -> None:
    """Waits until the words of a side carry these weights: one of the other side is looked at."""
    shown = [word(visit, side, place) for place in range(len(wanted))]
    expect_equal(
        lambda: [float(data(each)["weight"]) for each in shown],
        pytest.approx(wanted.tolist(), abs=1e-3),
    )


def cross(**more: object) -> dict[str, object]:
    return {"stack": "decoder", "kind": "cross", "layer": LAYER, "head": HEAD, **more}


def test_a_target_word_shows_its_source_words(opened: Open, aligned: Alignment) -> None:
    visit = opened(**cross())
    expect(visit.page.locator(".av-align .av-title")).to_have_text(f"L{LAYER}.H{HEAD}")
    word(visit, "target", WORD).hover()
    row = aligned.weights[LAYER, HEAD, WORD]
    expect_weights(visit, "source", row)
    best = visit.page.locator(".av-align .av-bar").first
    expect(best).to_contain_text(aligned.source[int(row.argmax())].text)
    visit.wait_for_parameters(query=None)  # pointing chooses nothing


@pytest.mark.slow
def test_a_source_word_shows_who_looks_at_it(opened: Open, aligned: Alignment) -> None:
    visit = opened(**cross())
    word(visit, "source", WORD).hover()
    column = aligned.weights[LAYER, HEAD, :, WORD]
    expect_weights(visit, "target", column)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mean", "label"), mostly_slow([("layer", "Mean of a layer"), ("all", "Mean of all")], 1)
)
def test_means_are_those_of_the_heads(
    opened: Open, aligned: Alignment, mean: str, label: str
) -> None:
    visit = opened(**cross())
    visit.page.get_by_role("radio", name=label).click()
    visit.wait_for_parameters(mean=mean)
    word(visit, "target", WORD).hover()
    heads = aligned.weights if mean == "all" else aligned.weights[LAYER : LAYER + 1]
    row = heads[:, :, WORD].mean(axis=(0, 1))
    expect_weights(visit, "source", row)


@pytest.mark.slow
def test_nothing_asked_for_is_the_mean_of_all_heads(opened: Open) -> None:
    visit = opened()
    expect_data(visit.canvas("Lines between"), mean="all", side=None)
    visit.wait_for_parameters(layer=None, head=None, mean=None)


@pytest.mark.slow
def test_the_keyboard_walks_along_and_across(opened: Open, aligned: Alignment) -> None:
    visit = opened(**cross())
    press, canvas = visit.page.keyboard.press, visit.canvas("Lines between")
    word(visit, "target", 0).focus()
    press("ArrowRight")
    expect_data(canvas, side="target", word=1)
    said = visit.page.locator(".av-align [role=status]")
    expect(said).to_contain_text(f"When predicting {aligned.target[1].text}, the model attends to")
    press("ArrowUp")
    best = int(aligned.weights[LAYER, HEAD, 1].argmax())
    expect_data(canvas, side="source", word=best)
    press("End")
    expect_data(canvas, side="source", word=len(aligned.source) - 1)
    press("Enter")
    visit.wait_for_parameters(key=len(aligned.source) - 1, query=None)
    press("[")
    visit.wait_for_parameters(layer=LAYER, head=HEAD - 1)
    press("Escape")
    visit.wait_for_parameters(key=None)
    expect(said).to_contain_text("</s> receives attention when predicting")


@pytest.mark.slow
def test_what_was_chosen_is_in_the_address_and_comes_back(opened: Open) -> None:
    visit = opened()
    sent = len(visit.seen.sent)
    visit.page.get_by_role("radio", name="One head").click()
    visit.page.get_by_role("gridcell", name=f"L{LAYER}.H{HEAD}").click()
    word(visit, "target", WORD).click()
    chosen = cross(query=WORD)
    visit.wait_for_parameters(**chosen)
    assert len(visit.seen.sent) == sent  # no message to the server until the pointer leaves
    again = opened(**chosen)
    expect_data(again.canvas("Lines between"), layer=LAYER, head=HEAD, side="target", word=WORD)
    expect(word(again, "target", WORD)).to_have_attribute("aria-pressed", "true")


@pytest.mark.slow
def test_the_heatmap_is_one_click_away(opened: Open) -> None:
    visit = opened(**cross(query=WORD))
    visit.page.get_by_role("button", name="Open as heatmap").click()
    expect(visit.page.get_by_role("heading", name="Overview", exact=True)).to_be_visible()
    expect_data(visit.canvas("Attention weights"), layer=LAYER, head=HEAD, query=WORD)
    visit.wait_for_parameters(**cross(query=WORD))


@pytest.mark.slow
def test_the_model_fills_the_target_and_a_hand_changes_it(opened: Open, tiny: Tiny) -> None:
    visit = opened("t5")
    box = visit.page.get_by_role("textbox", name="Target text", exact=True)
    expect(box).to_have_value(TARGET)
    visit.page.get_by_role("button", name="Let the model generate").click()
    written = answer(attnviz.load(tiny("t5")), TEXT)
    expect(box).to_have_value(written)
    expect(visit.page.locator(".av-word[data-side=target]")).to_have_count(len(written.split()) + 1)
    visit.type_text("a mat", label="Target text")
    expect(visit.page.locator(".av-word[data-side=target]")).to_have_count(3)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_axe_finds_nothing_serious(opened: Open, scheme: str) -> None:
    visit = opened(**cross(query=WORD), scheme=scheme)
    expect_data(visit.canvas("Lines between"), side="target")
    assert accessibility_problems(visit.page) == []


@pytest.mark.slow
def test_a_head_of_the_card_is_opened(visit: OpenVisit) -> None:
    known = card("dates")
    assert known is not None
    note = known.description.heads[0]
    opened = visit("output", model="dates")
    opened.page.get_by_role("button", name=note.head, exact=True).click()
    expect(opened.page.get_by_role("heading", name="Overview", exact=True)).to_be_visible()
    layer, head = note.head[1:].split(".H")
    opened.wait_for_parameters(layer=layer, head=head, stack=note.stack, kind=note.kind)
    expect_data(opened.canvas("Attention weights"), layer=layer, head=head)
