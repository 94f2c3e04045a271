"""The strip in a browser: its height, the field behind the tokens, keys, examples; the palette."""

import re

import pytest
from playwright.sync_api import Browser, expect

from attnviz.i18n import Language, text
from tests.browser.conftest import OpenVisit
from tests.support.browser import accessibility_problems
from tests.support.cases import mostly_slow
from tests.support.visit import open_visit
from tests.support.waiting import eventually, expect_equal, expect_true

TEXT = "The cat sat on the mat."
LONG = "動物は疲れていたので、通りを渡らなかった。" * 12
HEIGHT_PX = 56


@pytest.mark.slow
@pytest.mark.parametrize("typed", [TEXT, LONG, "שלום עולם, زرت القاهرة أمس."])
def test_the_line_is_as_high_whatever_is_read(look: OpenVisit, typed: str) -> None:
    opened = look("overview", text=typed)
    strip = opened.page.locator(".av-strip")
    expect(opened.tokens.first).to_be_visible()
    expect_equal(lambda: strip.evaluate("(node) => node.offsetHeight"), HEIGHT_PX)
    expect_true(lambda: opened.page.evaluate("document.documentElement.scrollWidth <= innerWidth"))
    below = opened.page.locator(".av-grid")
    expect_true(
        lambda: (
            below.evaluate("(node) => node.getBoundingClientRect().top")
            >= strip.evaluate("(node) => node.getBoundingClientRect().bottom")
        )
    )


def test_escape_takes_back_what_was_typed(look: OpenVisit) -> None:
    opened = look("overview", text=TEXT)
    box = opened.page.get_by_role("textbox", name="Text", exact=True)
    opened.page.get_by_role("button", name="Edit: Text").click()
    expect(box).to_be_focused()
    box.fill("Something else")
    box.press("Escape")
    expect(box).to_have_value(TEXT)
    expect(box).not_to_be_focused()
    opened.wait_for_parameters(text=TEXT)


def test_a_word_that_is_composed_is_not_applied(look: OpenVisit) -> None:
    opened = look("overview", text=TEXT)
    box = opened.page.get_by_role("textbox", name="Text", exact=True)
    box.fill("動物")
    box.evaluate(
        """(box) => {
            const how = { key: "Enter", isComposing: true, bubbles: true, composed: true };
            box.dispatchEvent(new KeyboardEvent("keydown", { ...how, cancelable: true }));
        }"""
    )
    expect(box).to_be_focused()
    opened.wait_for_parameters(text=TEXT)


def test_a_token_chooses_its_row_on_every_picture(visit: OpenVisit) -> None:
    opened = visit("head", text=TEXT, layer=0, head=0)
    opened.tokens.nth(3).click()
    expect(opened.tokens.nth(3)).to_have_attribute("aria-pressed", "true")
    expect(opened.page.locator(".av-head-left canvas[data-layer]").first).to_have_attribute(
        "data-query", "3"
    )
    opened.wait_for_parameters(query=3)
    opened.tokens.nth(5).click(modifiers=["Shift"])
    opened.wait_for_parameters(query=3, key=5)
    opened.tokens.nth(3).click()
    opened.wait_for_parameters(query=None, key=None)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", mostly_slow(["light", "dark"], ["dark"]))
def test_axe_finds_nothing_in_the_open_list(visit: OpenVisit, scheme: str) -> None:
    opened = visit("overview", text=TEXT, scheme=scheme)
    opened.page.get_by_role("button", name="Examples", exact=True).click()
    expect(opened.page.get_by_role("menuitem").first).to_be_focused()
    assert accessibility_problems(opened.page) == []
    opened.page.keyboard.press("Escape")
    expect(opened.page.get_by_role("menuitem").first).to_be_hidden()


@pytest.mark.slow
def test_the_list_of_examples_stays_open_while_the_answer_comes(visit: OpenVisit) -> None:
    opened = visit("overview", text=TEXT)
    box = opened.page.get_by_role("textbox", name="Text", exact=True)
    box.fill("Dogs ran.")
    example = opened.page.get_by_role("menuitem").first
    # in the page itself, so that no answer of the server comes between the two
    box.evaluate(
        """(box) => {
            box.blur();
            box.getRootNode().querySelector("[aria-haspopup=menu]").click();
        }"""
    )
    expect(example).to_be_focused()
    expect(opened.tokens.filter(has_text="dogs")).to_be_visible()  # read by the model
    expect(example).to_be_focused()


@pytest.mark.parametrize("lang", mostly_slow(["en", "ja", "ko", "zh"], ["ja"]))
def test_the_palette_by_keyboard_alone(visit: OpenVisit, lang: Language) -> None:
    opened = visit("overview", text=TEXT, lang=lang)
    page, title = opened.page, text(lang, "component.palette.title")
    expect(page.locator(".av-palette-box")).to_be_attached()  # before it nobody hears the keys
    page.keyboard.press("Control+k")
    box = page.get_by_role("combobox", name=title)
    expect(box).to_be_focused()
    assert accessibility_problems(page) == []
    page.keyboard.type("forbid")
    chosen = page.locator('.av-palette-row[aria-selected="true"]')
    expect(chosen).to_contain_text(text(lang, "page.switches.title") if lang == "en" else "")
    page.keyboard.press("Control+a")
    page.keyboard.type("L2.H3")
    expect(chosen).to_have_text(text(lang, "component.palette.head", head="L2.H3"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(text(lang, "page.overview.title"))
    opened.wait_for_parameters(layer=2, head=3, open=1)
    page.keyboard.press("Meta+k")
    expect(box).to_be_focused()
    page.keyboard.press("Escape")
    expect(box).to_be_hidden()


@pytest.mark.slow
def test_the_palette_darkens_the_page_and_saves_its_picture(browser: Browser, server: str) -> None:
    opened = open_visit(browser, server, "head", text=TEXT)
    page = opened.page
    expect(page.locator(".av-palette-box")).to_be_attached()
    page.keyboard.press("Control+k")
    page.keyboard.type("dark")
    page.keyboard.press("Enter")
    expect(page.locator("[data-testid=stApp]")).to_have_css("color-scheme", "dark")
    page.keyboard.press("Control+k")
    page.keyboard.type("save svg")
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    assert re.fullmatch(r"attnviz-.*\.svg", download.value.suggested_filename)
    opened.open_menu("menu.more")
    page.get_by_role("button", name="Find and do").click()
    expect(page.get_by_role("combobox", name="Find and do")).to_be_focused()
    page.context.close()


PHONE, DESK, SMALL = (390, 844), (1280, 800), (320, 640)
OVER = """() => {
    const main = document.querySelector("[data-testid=stMain]");
    return main.scrollWidth - main.clientWidth;
}"""


@pytest.mark.parametrize(
    ("page", "more", "screen"),
    [
        ("overview", {"model": "shapes", "second": 1}, PHONE),
        ("switches", {"model": "shapes"}, DESK),
        ("start", {}, PHONE),
        ("overview", {"model": "minilm"}, SMALL),
        ("overview", {"model": "minilm", "second": 1}, SMALL),
    ],
)
def test_no_page_scrolls_sideways(
    visit: OpenVisit, page: str, more: dict[str, object], screen: tuple[int, int]
) -> None:
    """Not by hidden names of patches that scroll in the line, a hidden heading or a long choice."""
    opened = visit(page, screen=screen, **more)
    expect(opened.page.locator("canvas[data-drawn], .av-stage").first).to_be_attached()
    if more:
        expect(opened.tokens.last).to_be_attached()
    expect_equal(lambda: opened.page.evaluate(OVER), 0)


IN_SIGHT = """(chip) => {
    const [own, line] = [chip, chip.parentElement].map((node) => node.getBoundingClientRect());
    return own.left >= line.left - 1 && own.right <= line.right + 1;
}"""


def test_on_a_phone_the_lines_show_what_was_chosen_and_what_differs(look: OpenVisit) -> None:
    """markTokens: the token that asks in the first line, the first other one in the second."""
    texts = {
        "text": "One day the cat sat on the old red mat near the door to sleep",
        "text_b": "One day the cat sat on the old red sofa near the door to sleep",
    }
    opened = look("overview", screen=PHONE, layer=0, head=0, query=14, second=1, **texts)
    own, other = (opened.page.locator(f'[data-name="{name}"] .av-chip') for name in texts)
    asking = own.and_(opened.page.locator(".av-asks"))
    expect_true(lambda: asking.evaluate(IN_SIGHT))
    expect_true(lambda: other.filter(has_text="sofa").evaluate(IN_SIGHT))


@pytest.mark.slow
def test_on_a_phone_the_word_that_asks_stays_whole_beside_the_answer_of_a_change(
    visit: OpenVisit,
) -> None:
    text = "When Mary and John went to the store, John gave a book to"
    off = {"model": "stories", "text": text, "changes": "L0.H0.mixed=mean"}
    page = visit("switches", screen=(390, 844), lang="en", layer=0, head=0, query=14, **off).page
    expect(page.locator(".strip-answer")).to_contain_text("John 46%")
    chip = page.locator('.strip-chips [aria-pressed="true"]').last
    expect(chip).to_have_text("to")

    def check() -> None:
        word, line = chip.bounding_box(), page.locator(".strip-chips").bounding_box()
        assert word and line and word["x"] + word["width"] <= line["x"] + line["width"] + 1

    eventually(check)


@pytest.mark.parametrize(("width", "shown"), [(1440, True), (390, False)])
def test_the_buttons_of_the_line_say_what_they_do_where_there_is_room(
    visit: OpenVisit, width: int, shown: bool
) -> None:
    page = visit("overview", screen=(width, 844), lang="en", model="minilm").page
    for name, word in (("Edit: Text", "Edit"), ("Examples", "Examples")):
        button = page.get_by_role("button", name=name, exact=True)
        expect(button).to_have_attribute("title", name)
        expect(button.get_by_text(word, exact=True)).to_be_visible(visible=shown)


# how far the last word of a line lies beyond its edge
BEYOND = """(chips) => {
    const words = [...chips.querySelectorAll(".av-chip:not(.av-special)")];
    return words.at(-1).getBoundingClientRect().right - chips.getBoundingClientRect().right;
}"""


def test_of_two_texts_the_second_gives_way_first(visit: OpenVisit) -> None:
    """What is padded behind it cut the first one."""
    page = visit("masks", screen=(1440, 900), lang="en", model="minilm").page
    first, second = page.locator(".strip-chips").all()[:2]
    expect(second.get_by_text("[PAD]").first).to_be_attached()
    expect_true(lambda: first.evaluate(BEYOND) <= 0)
    expect_true(lambda: second.evaluate(BEYOND) <= 0)
