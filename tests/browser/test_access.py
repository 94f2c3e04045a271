"""Accessibility: axe finds nothing serious on any page, and everything can be done by keyboard."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import OpenVisit
from tests.support.browser import accessibility_problems
from tests.support.cases import mostly_slow
from tests.support.visit import Visit, expect_data
from tests.support.waiting import expect_true

TEXT = "The cat sat on the mat."
PAGES = (
    "overview",
    "head",
    "switches",
    "circuit",
    "output",
    "steps",
    "masks",
    "compare",
    "geometry",
)
MAX_TABS = 60


@pytest.mark.some(1)
@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
@pytest.mark.parametrize("path", mostly_slow(PAGES, ("overview", "switches", "steps", "output")))
def test_axe_finds_nothing_serious(visit: OpenVisit, path: str, scheme: str) -> None:
    asked = {"layer": 1, "head": 2, "query": 3, "key": 2}
    opened = visit(path, text=TEXT, scheme=scheme, **asked)
    expect(opened.page.locator(".av:visible").first).to_be_visible()
    assert accessibility_problems(opened.page) == []


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"model": "none"}, {"text": ""}, {"text": "word " * 600}])
def test_axe_finds_nothing_serious_beside_messages(
    visit: OpenVisit, options: dict[str, str]
) -> None:
    opened = visit("overview", canvases=False, **options)
    assert accessibility_problems(opened.page) == []


@pytest.mark.slow
def test_axe_would_see_a_canvas_without_a_name(visit: OpenVisit) -> None:
    """It looks into the components: what breaks there is found."""
    opened = visit("head", text=TEXT)
    canvas = opened.page.locator(".av-head-left canvas[data-layer]")
    canvas.evaluate("(node) => node.removeAttribute('aria-label')")
    found = accessibility_problems(opened.page)
    assert [problem.split(":")[0] for problem in found] == ["role-img-alt"]


def focused(page: Page) -> str:
    """The tag and the text of the element that has the focus, also inside a component."""
    found: str = page.evaluate(
        """() => {
            let node = document.activeElement;
            while (node.shadowRoot?.activeElement) node = node.shadowRoot.activeElement;
            return `${node.tagName} ${node.textContent.trim().slice(0, 30)}`;
        }"""
    )
    return found


def tab_to(visit: Visit, target: Locator) -> int:
    """Presses Tab until the target has the focus, expects that it can be seen, counts the tabs."""
    page, way = visit.page, []
    for _ in range(MAX_TABS):
        page.keyboard.press("Tab")
        way.append(focused(page))
        if target.evaluate("(node) => node.matches(':focus')"):
            expect_true(lambda: shows_focus(target))  # a canvas may be drawn anew, and hand it on
            return len(way)
    raise AssertionError(f"Tab never reached {target}: {way}")


def shows_focus(node: Locator) -> bool:
    """True when the focus can be seen; what Streamlit draws around its own widgets is its own."""
    return bool(
        node.evaluate(
            """(node) => {
                if (!(node.getRootNode() instanceof ShadowRoot)) return true;
                const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(node);
                const ring = outlineStyle !== "none" && parseFloat(outlineWidth) >= 1;
                return node.matches(":focus-visible") && (ring || boxShadow !== "none");
            }"""
        )
    )


MOST_TABS = 12  # from the start of a page to its picture
MOST_SKIPPING = 4
FIRST = {
    "overview": ".av-picker-cell[tabindex='0']",
    "switches": ".av-switch[tabindex='0']",
    "steps": ".row-picture",
    "masks": "canvas",
    "compare": ".av-picker-cell[tabindex='0']",
    "map": "canvas",
}


@pytest.mark.parametrize("path", mostly_slow((*FIRST,), ("switches",)))
def test_few_tabs_lead_from_the_start_of_a_page_to_its_picture(look: OpenVisit, path: str) -> None:
    opened = look(path, text=TEXT)
    expect(opened.page.get_by_role("toolbar", name="Rooms")).to_have_count(1)
    picture = opened.page.locator(FIRST[path]).first
    expect(picture).to_be_visible()
    assert tab_to(opened, picture) <= MOST_TABS


@pytest.mark.parametrize("path", mostly_slow(("overview", "switches", "steps"), ("switches",)))
def test_a_link_leads_past_the_bar_to_the_picture(look: OpenVisit, path: str) -> None:
    opened = look(path, text=TEXT)
    link = opened.page.locator("[data-testid=stSkipToContent]")
    first = link.evaluate("(link) => document.querySelector('a, button, input') === link")
    assert first, "the link is not the first stop of the page"
    link.focus()
    opened.page.keyboard.press("Enter")
    assert 1 + tab_to(opened, opened.page.locator(FIRST[path]).first) <= MOST_SKIPPING


@pytest.mark.slow
def test_the_bar_is_two_stops_with_arrows_between_its_links_and_menus(visit: OpenVisit) -> None:
    page = visit("overview", text=TEXT).page
    here = page.get_by_role("link", name="Look", exact=True)
    here.focus()
    for keys, name in (
        ("ArrowRight", "Change"),
        ("End", "From the weights"),
        ("ArrowRight", "attnviz"),
    ):
        page.keyboard.press(keys)
        expect(page.get_by_role("link", name=name, exact=True)).to_be_focused()
    page.keyboard.press("Tab")
    menus = page.get_by_role("toolbar", name="Menus").get_by_role("button")
    expect(menus.first).to_be_focused()
    page.keyboard.press("End")
    expect(menus.last).to_be_focused()
    page.keyboard.press("Shift+Tab")
    expect(page.get_by_role("link", name="attnviz", exact=True)).to_be_focused()


def test_the_whole_way_by_keyboard(visit: OpenVisit) -> None:
    opened = visit("overview", text="Hello there.")
    page, press = opened.page, opened.page.keyboard.press
    tab_to(opened, page.get_by_role("textbox", name="Text", exact=True))
    press("Control+a")
    page.keyboard.type(TEXT)
    press("Enter")
    expect(opened.tokens).to_have_count(9)
    tab_to(opened, page.locator(".av-strip .av-chip[tabindex='0']"))
    for key in ["End", "ArrowLeft", "Enter"]:
        press(key)
    expect(page.locator(".av-strip .av-chip[aria-pressed='true']")).to_have_text(".")
    opened.wait_for_parameters(query="7")
    press("Escape")
    expect(page.locator(".av-strip .av-chip[aria-pressed='true']")).to_have_count(0)
    tab_to(opened, page.locator(".av-picker-cell[tabindex='0']"))
    title = page.locator(".av-title")
    layer, head = map(int, title.inner_text().removeprefix("L").split(".H"))  # of the opening row
    for steps, keys in (
        (2 - layer, ("ArrowUp", "ArrowDown")),
        (1 - head, ("ArrowLeft", "ArrowRight")),
    ):
        for _ in range(abs(steps)):
            press(keys[steps > 0])
    expect(title).to_have_text("L2.H1")
    press("Enter")
    expect(page.get_by_role("heading", name="L2.H1", exact=True)).to_be_visible()  # grown in place
    heatmap = page.locator(".av-head-left canvas[data-layer]")
    expect_data(heatmap, layer=2, head=1)
    expect(heatmap).to_be_focused()
    press("ArrowDown")
    expect_data(heatmap, query=0, key=0)
    press("ArrowDown")
    expect_data(heatmap, query=1, key=0)
    press("]")
    expect_data(heatmap, layer=2, head=2, query=1)
    walk_to_steps(opened)


def walk_to_steps(visit: Visit) -> None:
    page, press = visit.page, visit.page.keyboard.press
    for _ in range(MAX_TABS):  # on to the button beside the heatmap
        press("Tab")
        if focused(page).endswith(" Open step by step"):
            break
    press("Enter")
    weights = page.locator(".panel[data-stage=weights] canvas[role=img]")
    expect_data(weights, layer=2, head=2, cell="1,0")
    expect(page.locator("canvas.row-picture")).to_be_focused()
    tab_to(visit, weights)
    press("ArrowRight")
    expect_data(weights, cell="1,1")
    said = page.locator("[role=status]").filter(has_text="Attention weights")
    expect(said).to_have_count(1)
