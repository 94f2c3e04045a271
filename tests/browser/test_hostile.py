"""Hostile texts are shown as text: no element, no script, no dialog, on every page."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import expect

import attnviz
from attnviz.models.loaded_model import LoadedModel
from tests.browser.component_page import BROKEN_STAGE
from tests.browser.conftest import OpenVisit
from tests.support.cases import mostly_slow
from tests.support.hostile import MARKUP, SCRIPT, TEXT, TOKENS, escaped
from tests.support.visit import Visit, expect_data
from tests.support.waiting import eventually, expect_equal

PAGES = ("overview", "head", "steps", "masks")
SVG = "{http://www.w3.org/2000/svg}"
SHAPES = set("svg g rect path text image clipPath linearGradient stop line circle polygon".split())


def check(visit: Visit) -> None:
    assert escaped(visit.page) == []


def saved_picture(visit: Visit) -> ElementTree.Element:
    """What the canvas save_image saves of the one component of the page."""
    with visit.page.expect_download() as download:
        visit.page.locator(".av-save-image .av-button").click()
    return ElementTree.fromstring(Path(download.value.path()).read_text(encoding="utf-8"))


def test_a_page_that_was_taken_over_would_be_seen(look: OpenVisit) -> None:
    opened = look("overview")
    check(opened)
    opened.page.evaluate(
        """() => {
            const inside = [...document.querySelectorAll("*")].find((node) => node.shadowRoot);
            const image = document.createElement("img");
            image.setAttribute("onclick", "1");
            inside.shadowRoot.append(image);
            window.__pwned = 1;
        }"""
    )
    assert escaped(opened.page) == ["IMG has onclick", "window.__pwned is 1"]


@pytest.mark.parametrize("path", mostly_slow(PAGES, ("overview",)))
def test_a_hostile_text_in_the_address(visit: OpenVisit, path: str) -> None:
    opened = visit(path, text=TEXT, text2=TEXT, query=1, key=2)
    check(opened)
    box = opened.page.get_by_role("textbox", name="Text", exact=True)
    expect(box).to_have_value(TEXT)


@pytest.mark.parametrize(
    ("path", "name"),
    mostly_slow(
        [*zip(PAGES, ("lang", "layer", "scale", "key"), strict=True), ("overview", "model")],
        (("overview", "model"),),
    ),
)
def test_hostile_parameters(visit: OpenVisit, path: str, name: str) -> None:
    value = SCRIPT + MARKUP
    opened = visit(path, canvases=False, **{name: value})
    check(opened)
    alert = opened.page.get_by_test_id("stAlert")
    unlinked = value.replace("://", ":\u2060//")  # what a browser's Markdown would make a link of
    expect(alert).to_contain_text(unlinked if name == "model" else name)
    expect(alert.locator("a")).to_have_count(0)


@pytest.mark.slow
def test_a_hostile_text_typed_in(visit: OpenVisit, minilm: LoadedModel) -> None:
    opened = visit("overview")
    opened.type_text(TEXT)
    labels = list(attnviz.capture(minilm, TEXT).tokens.labels)
    expect(opened.tokens).to_have_text(labels)
    assert "\u202e" not in "".join(labels)  # nothing turns the direction of its surroundings
    check(opened)


@pytest.mark.slow
def test_a_lone_surrogate_in_the_box_does_no_harm(visit: OpenVisit) -> None:
    """Only a script can put one there; it is read as a replacement, and the next text as ever."""
    opened = visit("overview")
    box = opened.page.get_by_role("textbox", name="Text", exact=True)
    box.evaluate(
        """(box) => {
            const { set } = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value");
            set.call(box, "before " + String.fromCharCode(0xd83d) + " after");
            box.dispatchEvent(new Event("input", { bubbles: true }));
        }"""
    )
    box.press("Enter")
    expect(opened.tokens.nth(1)).to_have_text("before")
    opened.type_text("after all")
    expect(opened.tokens).to_have_text(["[CLS]", "after", "all", "[SEP]"])
    check(opened)


@pytest.mark.slow
def test_a_lone_surrogate_in_the_address_becomes_a_replacement(visit: OpenVisit) -> None:
    opened = visit("overview")
    opened.page.goto(f"{opened.url}/overview?text=before%ED%A0%BDafter")
    chips = opened.tokens
    expect(chips.nth(1)).to_have_text(re.compile("before"))
    expect(opened.page.get_by_role("textbox", name="Text", exact=True)).to_have_value(
        re.compile("^before\ufffd+after$")
    )
    check(opened)


def expect_bad_panel(opened: Visit) -> None:
    """An error above the tolerance turns its panel red."""
    bad = opened.page.locator(".panel.bad")
    expect(bad).to_have_count(1)
    expect_data(bad, stage=BROKEN_STAGE)
    badge = bad.locator(".badge")
    expect_data(badge, ok="false")
    expect(badge).to_contain_text("above the tolerance of 1.0e−4: do not trust this panel")

    def is_red() -> None:
        colour = badge.evaluate("(node) => getComputedStyle(node).color.match(/\\d+/g)")
        red, green, *_ = map(int, colour)
        assert red > 2 * green, (red, green)

    eventually(is_red)


@pytest.mark.slow
@pytest.mark.parametrize(
    "show", ["steps", "grid", "head", "pair", "patches", "masks", "writing", "tiles"]
)
def test_hostile_tokens_in_a_component(visit: OpenVisit, component_server: str, show: str) -> None:
    opened = visit("", url=component_server, show=show, layer=0, head=1, query=0, key=0)
    check(opened)
    shown = opened.page.locator("section.av, .av").first
    expect(shown).to_contain_text(SCRIPT)
    canvases = opened.page.locator("canvas[tabindex='0'], .av-picker-cell[tabindex='0']")
    canvases.first.focus()
    for key in ["ArrowRight", "ArrowDown"]:
        opened.page.keyboard.press(key)
    canvases.first.hover()
    check(opened)
    if show == "grid":
        chips = [token.replace("\ud83d", "?") for token in TOKENS]
        expect_equal(opened.page.locator(".av-chip").all_text_contents, chips)
    if show == "steps":
        expect_bad_panel(opened)
    picture = saved_picture(opened)
    assert {node.tag.removeprefix(SVG) for node in picture.iter()} <= SHAPES
    said = "".join(picture.itertext())
    assert SCRIPT in said or SCRIPT[:8] in said  # cut short as on the screen
    assert "\ufffd" in said or "?" in said  # the half of a pair


@pytest.mark.slow
def test_hostile_words_in_an_alignment(visit: OpenVisit, component_server: str) -> None:
    opened = visit("", url=component_server, show="alignment")
    shown = [token.replace("\ud83d", "?") for token in TOKENS]
    words = opened.page.locator(".av-word[data-side=target]")
    expect_equal(words.all_text_contents, shown)
    for place in range(len(shown)):
        words.nth(place).focus()
        expect(opened.page.locator(".av-align .av-bar").first).to_be_visible()
    expect(opened.page.locator(".av-align [role=status]")).to_contain_text("attends to")
    check(opened)


@pytest.mark.slow
def test_hostile_names_of_bars(visit: OpenVisit, component_server: str) -> None:
    opened = visit("", url=component_server, show="bars", canvases=False)
    names = opened.page.locator(".av-bar-name bdi")
    expect(names).to_have_text([token.replace("\ud83d", "?") for token in TOKENS])
    check(opened)


@pytest.mark.slow
def test_hostile_sentences_in_a_table(visit: OpenVisit, component_server: str) -> None:
    opened = visit("", url=component_server, show="similarity", canvases=False)
    rows = opened.page.locator(".av-similarity tbody th bdi")
    expect(rows).to_have_text([token.replace("\ud83d", "?") for token in TOKENS])
    check(opened)
