"""The stage of Start: its answer stays sorted; who only watches sees what a look does."""

import math
import re

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import attnviz
from attnviz import i18n
from tests.browser.conftest import OpenVisit
from tests.support.canvas import Palette, pixels
from tests.support.waiting import eventually, expect_equal

# the click of somebody who was about to make it when the look was forbidden
CLICK_WHEN_SHOWN = """(stage) => {
    new MutationObserver((_, watch) => {
        if (!stage.dataset.forbidden) return;
        watch.disconnect();
        stage.querySelector(".stage-pill").click();
    }).observe(stage, { attributes: true });
}"""
SHOWN_MS = 20_000  # of the first sixty seconds, within which it is seen that a look matters


# name and number of each bar, as they stand from top to bottom
BARS = """(bars) => bars
    .sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top)
    .map((bar) => [bar.querySelector(".stage-name").textContent, Number(bar.dataset.value)])"""


def bars(page: Page) -> list[tuple[str, float]]:
    found = page.locator(".stage-bars li:has(.stage-name)").evaluate_all(BARS)
    return [(name.strip(), value) for name, value in found]


def test_the_largest_answer_stands_first_before_and_after_a_cut(look: OpenVisit) -> None:
    page = look(lang="en").page
    expect_equal(lambda: [name for name, _ in bars(page)[:2]], ["Mary", "Sara"])
    expect(page.locator(".stage-legend")).to_contain_text("Same cut, 16 heads")
    decisive = page.locator(".stage-pill").first
    expect(decisive).to_have_attribute(
        "title", "L2.H1: layer 2, head 1. 0.98 of its look goes to Mary."
    )
    decisive.click()
    expect_equal(lambda: bars(page)[0][0], "John")
    sizes = [value for _, value in bars(page)]
    assert sizes == sorted(sizes)[::-1] and sizes[0] > 0.5
    expect(page.locator(".stage-says")).to_contain_text(
        "writes John 55%; with it, Mary 99%. The same"
    )
    expect(page.locator(".stage-before")).to_be_visible()
    expect(page.locator(".stage-instead")).to_have_text("where L2.H1 looks instead")
    expect(page.locator(".stage-square-name").first).to_have_text("L0.H0")


# the names above the line and below it, as they stand from top to bottom
PARTS = """(list) => {
    const line = list.querySelector(".stage-further").getBoundingClientRect().top;
    const rows = [...list.querySelectorAll("li:has(.stage-name)")]
        .map((row) => [row.getBoundingClientRect().top, row.querySelector(".stage-name")])
        .sort(([a], [b]) => a - b);
    const names = (part) => part.map(([, name]) => name.textContent);
    return [names(rows.filter(([top]) => top < line)), names(rows.filter(([top]) => top >= line))];
}"""


def test_words_that_only_a_cut_brings_up_stand_below_a_line(visit: OpenVisit) -> None:
    text = "The doctor gave Anna the keys because Anna asked for the"
    page = visit(lang="en", text=text).page
    run = attnviz.experiment("stories", text)
    numbers = run.answer.numbers
    likeliest = [run.reader.name(int(at)).strip() for at in np.argsort(-numbers)[:5]]
    assert likeliest == ["boat", "stone", "cake", "cup", "bell"]
    line = page.locator(".stage-further")
    expect(line).to_have_text("further down; a cut brings them up")
    parts = page.locator(".stage-bars")
    expect_equal(lambda: parts.evaluate(PARTS), [likeliest, ["bear", "wolf", "bird"]])
    page.locator(".stage-square").nth(3).click()
    expect(line).to_have_text("further down")
    expect_equal(lambda: len(parts.evaluate(PARTS)[0]), 3)  # "cup", "bell" are not fourth now
    page = visit(lang="en").page
    expect_equal(lambda: page.locator(".stage-bars").evaluate(PARTS)[1], ["John"])


@pytest.mark.slow
def test_an_error_of_the_model_is_named_and_one_click_repairs_it(look: OpenVisit) -> None:
    page = look(lang="en").page
    page.locator(".stage-examples button").first.click()
    says = page.locator(".stage-says")
    expect(says).to_contain_text("Wrong: the ball is red.")
    page.locator(".stage-pill").first.click()
    expect(says).to_contain_text("the model is right: red 89%; with it, blue 88%.")


@pytest.mark.slow  # ten seconds of watching
def test_whoever_only_watches_sees_the_look_that_matters(visit: OpenVisit) -> None:
    opened = visit(lang="en")
    page = opened.page
    stage, n_sent = page.locator(".stage"), len(opened.seen.sent)
    expect(stage).to_have_attribute("data-forbidden", "L2.H1", timeout=SHOWN_MS)
    page.wait_for_timeout(1000)  # nobody chose it: neither address nor server is told
    opened.wait_for_parameters(forbid=None)
    assert len(opened.seen.sent) == n_sent
    expect(page.locator(".stage-says")).to_contain_text("Demonstration: Without this one look")
    expect(page.locator(".stage-says")).to_contain_text("John 55%")
    page.wait_for_timeout(8000)  # it stays: who looks up later has missed nothing
    expect(stage).to_have_attribute("data-forbidden", "L2.H1")
    page.locator(".stage-pill").first.click()
    expect(page.locator(".stage-says")).to_contain_text("Forbid one.")


def test_a_sentence_without_a_guess_shows_its_strongest_look(visit: OpenVisit) -> None:
    page = visit(lang="en", text="My teacher explained attention because nobody understood it").page
    says, pill = page.locator(".stage-says"), page.locator(".stage-pill")
    expect(says).to_contain_text("The model has no guess: the best of 1,280 tokens has 0.11%.")
    expect(says).to_contain_text("Its heads look anyway: L3.H3 most, from it at My (M), 0.77.")
    expect(page.locator(".stage-arcs:not(.stage-through) path")).to_have_count(1)
    expect(pill).to_have_text("L3.H30.77")
    expect(pill).to_be_disabled()  # there is no answer to change
    expect(page.locator(".stage-legend")).to_be_hidden()  # no square has a bar


@pytest.mark.slow
def test_a_sentence_that_does_not_fit_beside_the_answer_stands_over_it_in_one_line(
    visit: OpenVisit,
) -> None:
    page = visit(screen=(1024, 768), lang="en").page
    expect(page.locator(".stage")).to_have_attribute("data-stacked", "1")
    tokens = page.locator(".stage-token")
    first, last = tokens.first.bounding_box(), tokens.last.bounding_box()
    assert first and last and abs(first["y"] - last["y"]) < first["height"]


def test_what_is_forbidden_goes_along_to_the_rooms_and_back(visit: OpenVisit) -> None:
    page = visit(lang="en").page
    page.locator(".stage-pill").first.click()
    page.get_by_role("link", name="Change", exact=True).click()
    said = page.locator(".av-switches-now .av-sentence")
    expect(said).to_contain_text("With L2.H1’s look at “Mary” forbidden, the answer is no longer")
    answer = page.locator(".strip-answer")
    expect(answer).to_contain_text("Mary 99% → John 55%")
    page.get_by_role("link", name="Look", exact=True).click()
    expect(page.locator(".av-grid")).to_be_visible()
    expect(answer).to_contain_text("Mary 99% → John 55%")
    page.get_by_role("link", name="attnviz").click()
    expect(page.locator(".stage")).to_have_attribute("data-forbidden", "L2.H1")
    expect(page.locator(".stage-says")).to_contain_text("writes John 55%")
    page.locator(".stage-pill").first.click()
    page.get_by_role("link", name="Change", exact=True).click()
    expect(said).to_contain_text("All heads on")


def test_a_forbidden_look_that_the_stage_does_not_have_is_said_with_the_way_to_it(
    visit: OpenVisit,
) -> None:
    other = {"layer": "1", "head": "0", "query": "10", "key": "4", "forbid": "10.4"}
    page = visit(lang="en", **other).page
    said = page.locator(".stage-elsewhere")
    expect(said).to_contain_text(
        "L1.H0’s look from “John (10)” at “John (4)” is forbidden, but not shown here"
    )
    run = attnviz.experiment("stories", "When Mary and John went to the store, John gave a book to")
    assert run.cuts([("L1.H0", 10, 4)]).moved[0] < 1e-4
    expect(said).to_contain_text(re.compile(r"Without it <\s?0\.01% of the probability goes"))
    expect(said).to_contain_text("these are the looks from “to” at “Mary”")
    page.locator(".stage-pill").first.click()
    expect(said).to_be_hidden()  # one look is forbidden, and it is this one now
    page = visit(lang="en", **other).page
    page.get_by_role("button", name="See it on Change").click()
    answer = page.locator(".av-switches-now .av-sentence")
    expect(answer).to_contain_text("With L1.H0’s look from “John (10)” at “John (4)” forbidden")


@pytest.mark.slow
def test_whoever_plays_is_shown_nothing(visit: OpenVisit) -> None:
    page = visit(lang="en").page
    page.locator(".stage-pill").nth(1).click()
    page.wait_for_timeout(12_000)
    expect(page.locator(".stage")).to_have_attribute("data-forbidden", "L2.H3")


@pytest.mark.slow
def test_with_reduced_motion_it_is_said(visit: OpenVisit) -> None:
    says = visit(motion="reduce", lang="en").page.locator(".stage-says")
    expect(says).to_contain_text("L2.H1: Without this one look the model writes John")


@pytest.mark.slow  # ten seconds of watching
def test_whoever_moves_the_pointer_anywhere_on_the_page_is_shown_nothing(visit: OpenVisit) -> None:
    page = visit(lang="en").page
    page.locator(".stage-pill").first.wait_for()
    page.mouse.move(5, 5)
    page.mouse.move(30, 30)
    page.wait_for_timeout(12_000)
    expect(page.locator(".stage")).not_to_have_attribute("data-forbidden", re.compile(".*"))


@pytest.mark.slow  # five seconds of watching
def test_a_click_at_what_the_demonstration_has_just_forbidden_is_the_same_wish(
    visit: OpenVisit,
) -> None:
    opened = visit(lang="en")
    page = opened.page
    page.locator(".stage").evaluate(CLICK_WHEN_SHOWN)
    says = page.locator(".stage-says")
    opened.wait_for_parameters(forbid="14.2")
    expect(page.locator(".stage")).to_have_attribute("data-forbidden", "L2.H1")
    expect(says).to_contain_text("John 55%")
    expect(says).not_to_contain_text("Demonstration")  # it is the visitor's now


@pytest.mark.slow
def test_words_never_trained_on_are_named_below_the_stage_too(visit: OpenVisit) -> None:
    page = visit(lang="en", text="Sam gave the lawyer to Mary. Sam gave a ball to").page
    expect(page.locator(".stage-says")).to_be_visible()
    said = i18n.text("en", "notice.unknown_words", words="lawyer")
    expect(page.get_by_test_id("stAlert")).to_have_text(said)


@pytest.mark.slow
def test_a_character_in_bytes_stands_once_and_says_which_byte(visit: OpenVisit) -> None:
    page = visit(lang="en", text="猫が走った。犬は").page
    whole = page.locator(".stage-whole")
    expect(whole.first).to_have_text("猫··")
    expect(page.locator(".stage-says")).to_contain_text("from は (byte 3 of 3) at ")


def test_a_look_as_weak_as_those_that_are_counted_is_said_to_be_one(visit: OpenVisit) -> None:
    page = visit(lang="en", text="The bird flew to the").page
    says = page.locator(".stage-says")
    expect(says).to_contain_text("Shown: from the at to; 1 head looks there")
    page.locator(".stage-square").first.click()
    expect(says).to_contain_text("L0.H0 looked at to too, 0.18. Without it the answer stays")


LENGTHS = """(bars) => bars.map((bar) => [Number(bar.dataset.value),
    new DOMMatrix(getComputedStyle(bar.querySelector(".stage-fill")).transform).a])"""


def test_the_bars_of_a_meaning_have_an_axis_of_six_steps_of_ten(look: OpenVisit) -> None:
    page = look(lang="en").page
    page.get_by_role("button", name="The animal didn't cross the street").click()
    expect(page.locator(".stage-answers .av-heading")).to_contain_text("each line: ten times")
    expect(page.locator(".stage-axis-numbers span")).to_have_text(["0.000001", "0.001", "1"])
    found = page.locator(".stage-bars li:not(.stage-axis)")

    def as_long_as_its_axis_has_it() -> None:
        lengths = [(value, at) for value, at in found.evaluate_all(LENGTHS) if value]
        assert len(lengths) > 1
        assert all(abs(at - (6 + math.log10(value)) / 6) < 1e-3 for value, at in lengths)

    eventually(as_long_as_its_axis_has_it)


def test_the_squares_of_a_model_that_writes_hatch_what_it_may_not_see(
    look: OpenVisit, palettes: dict[str, Palette]
) -> None:
    page = look(lang="en").page
    n, side = 15, 52  # tokens of the first sentence, pixels of a square
    square, nothing = page.locator(".stage-square canvas").first, palettes["light"].of_weight(0.0)
    expect(page.locator(".stage-square")).to_have_count(16)
    cell = side / n
    hidden = [((c + 0.5) * cell, (r + 0.5) * cell) for r, c in np.ndindex(n, n) if c > r]

    def is_hatched() -> None:
        assert not nothing & {*pixels(square, hidden)}

    eventually(is_hatched)


# the words that a drawn look goes through, by its points at each twentieth; not those of its ends
THROUGH = """(stage) => {
    const paths = [...stage.querySelectorAll(".stage-arcs:not(.stage-through) path")];
    const words = [...stage.querySelectorAll(".stage-token:not(.query, .key)")];
    const boxes = words.map((word) => [word.textContent, word.getBoundingClientRect()]);
    const sheet = stage.querySelector(".stage-sentence").getBoundingClientRect();
    const points = paths.flatMap((path) => Array.from({ length: 21 }, (_, at) =>
        path.getPointAtLength((at / 20) * path.getTotalLength())));
    const inside = (point, { left, right, top, bottom }) => {
        const [x, y] = [point.x + sheet.left, point.y + sheet.top];
        return x > left && x < right && y > top && y < bottom;
    };
    const crossed = boxes.filter(([, box]) => points.some((point) => inside(point, box)));
    return { looks: paths.length, crossed: crossed.map(([word]) => word) };
}"""


def test_on_a_phone_no_look_goes_through_words_of_another_line(look: OpenVisit) -> None:
    page = look(lang="en", screen=(390, 844)).page
    stage = page.locator(".stage")
    expect_equal(lambda: stage.evaluate(THROUGH), {"looks": 3, "crossed": []})
    page.locator(".stage-pill").first.click()  # where it looks instead, in both lines
    expect_equal(lambda: stage.evaluate(THROUGH), {"looks": 7, "crossed": []})
    wide = look(lang="en", screen=(1440, 900)).page.locator(".stage")
    expect(wide).not_to_have_attribute("data-room", "1")
    expect_equal(lambda: wide.evaluate(THROUGH), {"looks": 3, "crossed": []})
