"""The drawing pad: what is drawn, what the model sees at the end of a stroke, what a link holds."""

from pathlib import Path

import pytest
from playwright.sync_api import FloatRect, Locator, expect

from tests.browser.conftest import OpenVisit, Tiny
from tests.support.canvas import Colour, pixels
from tests.support.visit import Visit, expect_data
from tests.support.waiting import at_rest, expect_equal

RED, WHITE = (220, 45, 48), (255, 255, 255)


@pytest.fixture(scope="module")
def folder(tiny: Tiny) -> Path:
    """A tiny classifier of pictures."""
    return tiny("forms")


@pytest.fixture
def pad(visit: OpenVisit, folder: Path) -> Visit:
    """The page Output with the pad open."""
    opened = visit("output", model=str(folder), text="")
    opened.open_menu("media")
    opened.page.get_by_text("Draw a picture").click()
    expect(above(opened)).to_be_visible()
    still_box(opened)
    return opened


def above(visit: Visit) -> Locator:
    return visit.page.locator(".av-drawing-pad-above")


def surface(visit: Visit) -> Locator:
    return visit.page.locator(".av-drawing-pad-surface")


def colour_at(visit: Visit, x: float, y: float) -> Colour:
    """The colour of the drawing at shares of its side."""
    side = float(surface(visit).evaluate("(node) => node.getBoundingClientRect().width"))
    return pixels(surface(visit), [(x * side, y * side)])[0]


def still_box(visit: Visit) -> FloatRect:
    """Where the pad lies, once the menu around it has stopped moving."""
    above(visit).scroll_into_view_if_needed()
    box = at_rest(above(visit).bounding_box)
    assert box is not None
    return box


def expect_colours(visit: Visit, wanted: dict[tuple[float, float], Colour]) -> None:
    """Waits until the drawing has these colours at these shares of its side."""
    expect_equal(lambda: {point: colour_at(visit, *point) for point in wanted}, wanted)


def stroke(visit: Visit, *points: tuple[float, float]) -> None:
    """A line with the pointer, in shares of the pad's side."""
    box = still_box(visit)
    mouse = visit.page.mouse
    for number, (x, y) in enumerate(points):
        mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"], steps=4)
        if number == 0:
            mouse.down()
    mouse.up()


def says(visit: Visit) -> list[str]:
    return visit.page.locator(".av-barset .av-bar").all_inner_texts()


@pytest.mark.slow
def test_a_stroke_changes_what_the_model_says(pad: Visit) -> None:
    expect(pad.page.locator(".av-barset .av-bar")).to_have_count(6 + 3 + 2)
    before = says(pad)
    pad.page.get_by_role("radio", name="Large").click()
    stroke(pad, (0.2, 0.2), (0.8, 0.2), (0.8, 0.8), (0.2, 0.8))
    expect_data(surface(pad), deeds=1)
    expect_colours(pad, {(0.5, 0.2): RED, (0.5, 0.5): WHITE})
    pad.wait_until(lambda: len(says(pad)) == len(before) and says(pad) != before)
    expect_colours(pad, {(0.5, 0.2): RED})  # the drawing is still there, to be gone on with


def test_the_model_sees_what_was_drawn(pad: Visit) -> None:
    pad.page.get_by_role("radio", name="Large").click()
    pad.page.get_by_role("radio", name="Square").click()
    pad.page.get_by_role("radio", name="Blue").click()
    expect(pad.page.locator(".av-barset .av-bar")).to_have_count(6 + 3 + 2)
    before = says(pad)
    stroke(pad, (0.5, 0.5))
    thumbnail = pad.page.locator("canvas.strip-thumb")

    def colours() -> list[list[int]]:
        found: list[list[int]] = thumbnail.evaluate(
            """(image) => {
                const canvas = document.createElement("canvas");
                canvas.width = canvas.height = 100;
                const ctx = canvas.getContext("2d");
                ctx.drawImage(image, 0, 0, 100, 100);
                return [[50, 50], [5, 5]].map(([x, y]) => [...ctx.getImageData(x, y, 1, 1).data]);
            }"""
        )
        return found

    drawn = [[44, 104, 214, 255], [255, 255, 255, 255]]
    pad.wait_until(lambda: colours() == drawn)
    pad.wait_until(lambda: len(says(pad)) == len(before) and says(pad) != before)
    pad.page.goto(pad.page.url)  # as whoever is sent the link would
    pad.wait_until(lambda: colours() == drawn)


@pytest.mark.slow
def test_what_was_done_can_be_undone(pad: Visit) -> None:
    undo = pad.page.get_by_role("button", name="Undo")
    clear = pad.page.get_by_role("button", name="Clear")
    expect(undo).to_be_disabled()
    stroke(pad, (0.1, 0.5), (0.9, 0.5))
    pad.page.get_by_role("radio", name="Eraser").click()
    stroke(pad, (0.5, 0.3), (0.5, 0.7))
    left, middle = (0.2, 0.5), (0.5, 0.5)
    expect_colours(pad, {left: RED, middle: WHITE})
    clear.click()
    expect_data(surface(pad), deeds=3)
    expect_colours(pad, {left: WHITE})
    undo.click()
    expect_colours(pad, {left: RED, middle: WHITE})
    undo.click()
    expect_colours(pad, {middle: RED})
    undo.click()
    expect(undo).to_be_disabled()
    expect_colours(pad, {left: WHITE})


@pytest.mark.slow
def test_the_keyboard_draws(pad: Visit) -> None:
    above(pad).focus()
    press = pad.page.keyboard.press
    press("ArrowRight")  # the cursor appears in the middle
    press("Enter")
    expect_data(surface(pad), deeds=1)
    expect_colours(pad, {(0.5, 0.5): RED})
    for _ in range(8):
        press("ArrowUp")
    expect_colours(pad, {(0.5, 0.25): WHITE})
    pad.page.keyboard.down("Shift")
    for _ in range(8):
        pad.page.keyboard.press("ArrowLeft")
    pad.page.keyboard.up("Shift")
    expect_colours(pad, {(x, 0.25): RED for x in (0.3, 0.4, 0.5)})
    expect_data(surface(pad), deeds=2)
    press("Control+z")
    expect_data(surface(pad), deeds=1)
    said = pad.page.locator(".av-drawing-pad [role=status]")
    expect(said).to_have_text("The last stroke was undone")


@pytest.mark.slow
def test_a_drawing_outlives_a_change_of_page(pad: Visit) -> None:
    stroke(pad, (0.1, 0.5), (0.9, 0.5))
    pad.go("overview")
    expect(pad.page.get_by_role("heading", name="Overview", exact=True)).to_be_visible()
    pad.open_menu("media")
    if not above(pad).is_visible():
        pad.page.get_by_text("Draw a picture").click()
    expect(above(pad)).to_be_visible()
    expect_data(surface(pad), deeds=1)
    expect_colours(pad, {(0.5, 0.5): RED})
