"""What the first screen shows: a picture on a projector (1024 × 768), whole names on a phone.

Start says little there, in every language, Change and Compute no more than they must.
"""

import pytest
from playwright.sync_api import Browser, expect

from attnviz.app.session import widgets
from attnviz.i18n import LANGUAGES
from attnviz.pictures.shared.pages import BEHIND
from attnviz.pictures.shared.pages import PAGES as PAGES_OF_APP
from tests.browser.conftest import OpenVisit
from tests.support.cases import mostly_slow
from tests.support.visit import show
from tests.support.waiting import expect_equal, expect_true

DESK, PROJECTOR = (1440, 900), (1024, 768)
SHOWN_PX = 50  # of the picture, at least
# the pages whose first picture stood lowest, and one of each other kind
PAGES = (
    "switches",
    "calculator",
    "masks",
    "steps",
    "compare",
    "overview",
    "head",
    "map",
)
# the first canvas that is a picture: colour scales and the small ones of a list are lower
TOP = """() => {
    const tops = [];
    const look = (root) => {
        for (const node of root.querySelectorAll("*")) {
            const { top, width, height } = node.getBoundingClientRect();
            if (node.matches("canvas[data-drawn]") && width * height > 900) tops.push(top);
            if (node.shadowRoot) look(node.shadowRoot);
        }
    };
    look(document.querySelector("[data-testid=stMain]"));
    return tops.length ? Math.min(...tops) : null;
}"""


@pytest.mark.parametrize("path", mostly_slow(PAGES, ("switches",)))
def test_the_first_picture_is_on_the_first_screen(visit: OpenVisit, path: str) -> None:
    page = visit(path, screen=PROJECTOR, lang="en").page
    expect(page.locator("canvas[data-drawn]").first).to_be_attached()
    expect_true(lambda: 0 < page.evaluate(TOP) <= PROJECTOR[1] - SHOWN_PX)


HIGHEST_PX = 150
# what a page is about: a heatmap, a drawing, a board of them, a panel with its title, a table
PICTURE = """() => {
    const seen = "canvas[data-drawn], svg, table, .panel, .av-picker, .av-switches-boards";
    const tops = [];
    const look = (root) => {
        for (const node of root.querySelectorAll("*")) {
            const { top, width, height } = node.getBoundingClientRect();
            if (node.matches(seen) && width * height > 6000 && height > 40) tops.push(top);
            if (node.shadowRoot) look(node.shadowRoot);
        }
    };
    look(document.querySelector("[data-testid=stMain]"));
    return tops.length ? Math.min(...tops) : Infinity;
}"""
WITHOUT_A_PICTURE = ("start", "learn", "weights", "pairs")

WITH_PICTURE = tuple(page for page in (*PAGES_OF_APP, *BEHIND) if page not in WITHOUT_A_PICTURE)
ON_A_PHONE = ("overview", "switches", "steps", "masks", "calculator", "output", "map", "atlas")
HEIGHTS = [(page, (1440, 900)) for page in WITH_PICTURE]
HEIGHTS += [(page, (390, 844)) for page in ON_A_PHONE]


@pytest.mark.slow
@pytest.mark.parametrize(("page", "screen"), mostly_slow(HEIGHTS, (("masks", (390, 844)),)))
def test_the_first_picture_begins_high(
    visit: OpenVisit, page: str, screen: tuple[int, int]
) -> None:
    shown = visit(page, screen=screen, lang="en", canvases=False).page
    expect_true(lambda: shown.evaluate(PICTURE) <= HIGHEST_PX)


MOST_WORDS = 60
SCREENS = ((1440, 900), (390, 844))
# the words of the page itself on the first screen: not those of sentences, nor names of heads,
# answers and matrices, nor what the gallery below the stage says
OWN_WORDS = """([script, height]) => {
    const others = ".stage-tokens, .stage-bars, .stage-examples, .stage-word.query,"
        + " .stage-word.key, .stage-pill, .stage-square, .gallery *, .HEADING *, .av-strip *,"
        + " .av-switches-grid *, .av-bar-name, .av-fact-query, .av-fact-key, .panel *,"
        + " [data-testid=stSelectbox] input, [data-testid=stIconMaterial]";
    const texts = [];
    const isSeen = (node) => {
        const { top, bottom, width } = node.getBoundingClientRect();
        return width > 1 && bottom > 0 && top < height && !node.closest(others)
            && node.checkVisibility();
    };
    const look = (root) => {
        for (const node of root.querySelectorAll("*")) {
            if (node.matches("style, script")) continue;
            if (node.shadowRoot) look(node.shadowRoot);
            const own = [...node.childNodes].filter(({ nodeType }) => nodeType === Node.TEXT_NODE);
            if (isSeen(node)) texts.push(node.placeholder ?? "", ...own.map(({ data }) => data));
        }
    };
    const blocks = "[data-testid=stMainBlockContainer] > div > :not(:has(> .BAR))";
    for (const block of document.querySelectorAll(blocks)) look(block);
    const letters = /\\p{L}/gu;
    const all = texts.join(" ");
    return script === "words"
        ? all.split(/\\s+/).filter((word) => word.match(letters)).length
        : (all.match(letters) ?? []).length;
}"""
# so many characters take the place of an English word
CHARACTERS = {"ja": 2.5, "zh": 2.0}
CASES = [(lang, screen) for lang in LANGUAGES for screen in SCREENS]


@pytest.mark.slow
@pytest.mark.parametrize(("lang", "screen"), mostly_slow(CASES, 1))
def test_the_first_screen_of_start_says_little(
    look: OpenVisit, lang: str, screen: tuple[int, int]
) -> None:
    page = look(screen=screen, lang=lang).page
    counted = OWN_WORDS.replace("BAR", widgets.class_name("bar"))
    counted = counted.replace("HEADING", widgets.class_name("heading"))
    how = ["characters" if lang in CHARACTERS else "words", screen[1]]
    in_one = CHARACTERS.get(lang, 1)
    expect_true(lambda: MOST_WORDS / 4 < page.evaluate(counted, how) / in_one <= MOST_WORDS)


MOST_IN_A_ROOM = 120
STORE = "When Mary and John went to the store, John gave a book to"


def test_the_whole_gallery_is_on_the_first_screen_of_a_desk(look: OpenVisit) -> None:
    cards = look(screen=DESK, lang="en").page.locator(".gallery-card")
    expect(cards.locator("canvas[data-drawn]")).to_have_count(4)
    ends = "(cards) => Math.max(...cards.map((card) => card.getBoundingClientRect().bottom))"
    expect_true(lambda: 0 < cards.evaluate_all(ends) <= DESK[1])


@pytest.mark.parametrize("room", mostly_slow(["switches", "steps"], 1))
def test_the_first_screen_of_a_room_says_no_more_than_it_must(visit: OpenVisit, room: str) -> None:
    cell = {"layer": 2, "head": 1, "query": 14, "key": 2}
    page = visit(room, screen=DESK, lang="en", model="stories", text=STORE, **cell).page
    if room == "switches":
        expect(page.get_by_text("moves most:")).to_be_visible()  # all is measured
    counted = OWN_WORDS.replace("BAR", widgets.class_name("bar"))
    counted = counted.replace("HEADING", widgets.class_name("heading"))
    found = page.evaluate(counted, ["words", DESK[1]])
    assert MOST_IN_A_ROOM / 4 < found <= MOST_IN_A_ROOM


# names of the line below the text that are cut short, among those that can be seen
CUT = """(line) => [...line.querySelectorAll("bdi")].filter((name) =>
    name.getBoundingClientRect().top < line.getBoundingClientRect().bottom
    && name.scrollWidth > name.clientWidth + 1).map((name) => name.textContent)"""


@pytest.mark.slow
def test_a_phone_gets_whole_names_and_no_word_of_keys(browser: Browser, server: str) -> None:
    phone = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, locale="en"
    )
    with phone as context:
        text = "The cat sat on the mat."
        page = show(context.new_page(), server, "overview", text=text, layer=0, head=0).page
        line = page.locator(".av-strongest")
        expect(line.locator("bdi").first).to_be_visible()
        expect_equal(lambda: line.evaluate(CUT), [])
        expect_true(lambda: line.evaluate("(line) => line.offsetWidth") < 390)
        expect(page.get_by_text("Tap a head to open it, a token")).to_be_visible()
        expect(page.locator("kbd").first).to_be_hidden()
