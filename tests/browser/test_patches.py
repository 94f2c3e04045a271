"""The picture view: any patch asks, without a message; what is drawn is what the library says."""

import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Locator, expect

import attnviz
from attnviz.app.session import model_images
from attnviz.attention.capture import Capture
from tests.browser.conftest import OpenVisit, Tiny
from tests.support.browser import accessibility_problems
from tests.support.canvas import Palette, cell_colours, cell_middle, pixels, place
from tests.support.visit import Visit, expect_data
from tests.support.waiting import eventually, expect_true

GRID, N, N_HEADS = 4, 17, 3
PICTURE = "landscape"
MIN_COVER, MAX_COVER = 0.3, 0.9


@pytest.fixture(scope="module")
def folder(tiny: Tiny) -> Path:
    """A tiny classifier of pictures."""
    return tiny("forms")


@pytest.fixture(scope="module")
def capture(folder: Path) -> Capture:
    return attnviz.capture(attnviz.load(str(folder)), image=model_images.drawn(PICTURE))


@pytest.fixture
def output(visit: OpenVisit, folder: Path):  # type: ignore[no-untyped-def]
    """Opens the page Output on the picture."""

    def start(path: str = "output", **options: object) -> Visit:
        asked = {"model": str(folder), "image": PICTURE, "text": "", **options}
        return visit(path, **asked)

    return start


def picture(visit: Visit) -> Locator:
    return visit.page.locator(".av-patches-picture")


def small(visit: Visit) -> Locator:
    return visit.page.locator(".av-patches-right canvas")


def readout(visit: Visit) -> Locator:
    return visit.page.locator(".av-patches .av-readout")


def point_at(visit: Visit, row: int, col: int, click: bool = False) -> None:
    x, y = cell_middle(picture(visit), row, col, GRID, GRID)
    picture(visit).hover(position={"x": x, "y": y})
    if click:
        picture(visit).click(position={"x": x, "y": y})


def expect_cover(
    visit: Visit, weights: np.ndarray, seen: np.ndarray, palette: Palette, framed: set[int]
) -> None:
    """Waits until each patch has the colour of its weight, over what the model saw there."""
    eventually(lambda: check_cover(visit, weights, seen, palette, framed))


def check_cover(
    visit: Visit, weights: np.ndarray, seen: np.ndarray, palette: Palette, framed: set[int]
) -> None:
    side = seen.shape[0] // GRID
    cells = [(row, col) for row in range(GRID) for col in range(GRID)]
    found = cell_colours(picture(visit), cells, GRID, GRID)
    for token, ((row, col), colour) in enumerate(zip(cells, found, strict=True), start=1):
        if token in framed:
            continue
        level = round(255 * place(float(weights[token]), "sqrt"))
        share = MIN_COVER + (MAX_COVER - MIN_COVER) * level / 255
        patch = seen[row * side : (row + 1) * side, col * side : (col + 1) * side].astype(float)
        # the middle of a patch is the corner of four pixels, drawn without smoothing
        middle = patch[side // 2 - 1 : side // 2 + 1, side // 2 - 1 : side // 2 + 1]
        mixed = share * np.array(palette.sequential[level]) + (1 - share) * middle
        off = np.abs(mixed - colour).max(axis=-1).min()
        assert off <= 2, (row, col, mixed, colour)


def test_the_attention_of_the_class_token_lies_over_the_picture(
    output: OpenVisit, capture: Capture, palettes: dict[str, Palette], folder: Path
) -> None:
    from attnviz.capture.plan.images import seen_picture

    opened = output(layer=1, head=2)
    expect_data(picture(opened), query=0, layer=1, head=2)
    saw = seen_picture(attnviz.load(str(folder)), model_images.drawn(PICTURE))
    expect_cover(opened, capture.weights(1, 2)[0], saw, palettes["light"], framed=set())


@pytest.mark.slow
def test_pointing_at_a_patch_asks_from_it_without_a_message(
    output: OpenVisit, capture: Capture, palettes: dict[str, Palette], folder: Path
) -> None:
    from attnviz.capture.plan.images import seen_picture

    opened = output(layer=0, head=1)
    before = len(opened.seen.sent)
    heads = small(opened).get_attribute("data-drawn")
    point_at(opened, 2, 1)
    query = 1 + 2 * GRID + 1
    expect_data(picture(opened), query=query)
    expect_data(small(opened), query=query)
    expect(small(opened)).not_to_have_attribute("data-drawn", str(heads))
    row = capture.weights(0, 1)[query]
    saw = seen_picture(attnviz.load(str(folder)), model_images.drawn(PICTURE))
    expect_cover(opened, row, saw, palettes["light"], framed={query})
    strongest = capture.tokens.labels[int(row.argmax())]
    expect(readout(opened)).to_contain_text(f"attends most to {strongest} ({row.argmax()})")
    expect(readout(opened)).to_contain_text(f"{row.max():.4f}")
    assert opened.seen.sent[before:] == []


@pytest.mark.slow
def test_a_kept_patch_asks_while_pointing_reads(output: OpenVisit, capture: Capture) -> None:
    opened = output(layer=1, head=0)
    before = len(opened.seen.sent)
    point_at(opened, 1, 1, click=True)
    query, key = 1 + GRID + 1, 1 + 3 * GRID
    expect_data(picture(opened), query=query, kept=query)
    point_at(opened, 3, 0)
    expect_data(picture(opened), query=query, key=key)
    weights = capture.weights(1, 0)[query]
    rank = 1 + int((weights > weights[key]).sum())
    said = f"r1c1 ({query}) → r3c0 ({key}): weight {weights[key]:.4f}, rank {rank} of {N}"
    expect(readout(opened)).to_contain_text(said)
    opened.wait_for_parameters(query=query, key=None)
    assert opened.seen.sent[before:] == []
    point_at(opened, 1, 1, click=True)  # lets go
    expect_data(picture(opened), kept="", key=None)


@pytest.mark.slow
def test_the_class_token_shows_what_it_is_given(output: OpenVisit, capture: Capture) -> None:
    opened = output(layer=1, head=2, query=5)
    chip = opened.page.locator("button.av-extra")
    expect(chip).to_have_accessible_name(re.compile(r"^\[CLS\]"))
    expect(chip).to_contain_text(f"{capture.weights(1, 2)[5, 0]:.4f}")
    expect(chip).to_have_attribute("aria-pressed", "false")
    chip.click()
    expect(chip).to_have_attribute("aria-pressed", "true")
    expect_data(picture(opened), query=0, kept=0)
    opened.wait_for_parameters(query=0)


@pytest.mark.slow
def test_the_keyboard_does_all(output: OpenVisit) -> None:
    opened = output()
    before = len(opened.seen.sent)
    picture(opened).focus()
    press = opened.page.keyboard.press
    press("ArrowRight")  # the first arrow goes to the middle
    expect_data(picture(opened), query=1 + 2 * GRID + 2)
    press("ArrowUp")
    press("ArrowLeft")
    expect_data(picture(opened), query=1 + 1 * GRID + 1)
    for _ in range(GRID):
        press("ArrowUp")
    expect_data(picture(opened), query=1 + 1)
    press("Home")
    expect_data(picture(opened), query=0, kept=0)
    press("Escape")
    expect_data(picture(opened), query=0, kept="")
    press("]")
    press("Shift+ArrowDown")
    expect_data(picture(opened), layer=1, head=1)
    opened.wait_for_parameters(layer=1, head=1, query=None)
    assert opened.seen.sent[before:] == []


@pytest.mark.slow
def test_small_pictures_choose_the_head(
    output: OpenVisit, capture: Capture, palettes: dict[str, Palette]
) -> None:
    opened = output(query=6)
    cell = opened.page.locator(".av-picker-cell[data-layer='1'][data-head='2']")
    cell.hover()
    expect_data(picture(opened), layer=1, head=2)
    opened.page.locator(".av-patches .av-readout").hover()
    expect_data(picture(opened), layer=0, head=0)
    cell.click()
    expect_data(picture(opened), layer=1, head=2, query=6)
    opened.wait_for_parameters(layer=1, head=2, query=6)
    expect(opened.page.locator(".av-patches .av-title")).to_have_text("L1.H2")


@pytest.mark.slow
def test_the_mean_of_a_layer_is_the_mean(output: OpenVisit, capture: Capture) -> None:
    opened = output(layer=1, head=0, query=6)
    opened.page.get_by_label("Mean of the layer's heads").check()
    expect_data(picture(opened), head="mean")
    row = capture.weights(1)[:, 6].mean(axis=0)
    expect(readout(opened)).to_contain_text(f"{row.max():.4f}")
    title = opened.page.locator(".av-patches .av-title")
    expect(title).to_have_text(f"Layer 1, mean of {N_HEADS} heads")


@pytest.mark.slow
def test_stretched_colours_say_what_their_end_means(output: OpenVisit, capture: Capture) -> None:
    opened = output(layer=1, head=0, query=6)
    opened.page.get_by_label("Stretch colours").check()
    row = capture.weights(1, 0)[6]
    note = opened.page.locator(".av-patches-scale .av-note").last
    expect(note).to_contain_text(f"{row[1:].max():.4f}")
    point_at(opened, 0, 0)
    expect_data(picture(opened), key=1)


@pytest.mark.slow
def test_the_head_opens_with_the_patch_that_asks(output: OpenVisit) -> None:
    opened = output(layer=1, head=2)
    point_at(opened, 0, 3, click=True)
    opened.page.get_by_role("button", name="Open this head").click()
    expect(opened.page.get_by_role("heading", name="Overview", exact=True)).to_be_visible()
    expect_data(opened.canvas("Attention weights of"), layer=1, head=2, query=4)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_axe_finds_nothing_serious(output: OpenVisit, scheme: str) -> None:
    opened = output(layer=1, head=2, query=3, scheme=scheme)
    opened.open_menu("media")
    opened.page.get_by_text("Draw a picture").click()
    expect(opened.page.locator(".av-drawing-pad-above")).to_be_visible()
    assert accessibility_problems(opened.page) == []


@pytest.mark.slow
def test_the_tokens_of_a_picture_stand_in_the_overview_as_they_look(
    visit: OpenVisit, folder: Path
) -> None:
    opened = visit("overview", model=str(folder), text="", image="stripes")
    drawn = opened.tokens.locator("canvas")
    expect(drawn).to_have_count(GRID * GRID)
    expect(opened.page.get_by_role("button", name="r0c0", exact=True)).to_be_visible()

    def has_colours() -> bool:
        return len({pixels(chip, [(10, 10)])[0] for chip in drawn.all()}) > 1

    expect_true(has_colours)  # patches of different colours look different
