"""Eight pages in each language by their layout, in one run beside English: boxes, what runs over.

No pixels, and nothing stored: what a page looks like may change, but the same boxes stand in the
same order in every language, what is as wide as the window in the same place, and none is much
taller because its words are longer. The fonts are held by `test_languages.py`.
"""

from itertools import permutations
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import Page

from attnviz.i18n import LANGUAGES
from tests.browser.conftest import OpenVisit
from tests.support.texts import problems
from tests.support.waiting import expect_true

PAGES = ("", "overview", "steps", "masks", "compare", "switches", "circuit", "learn")
WIDTHS = (1440, 390)
SIDE_PX = 6  # by which a side may lie elsewhere
TALLER, TALL_PX = 1.5, 40  # how much taller than in English a box may be: by a part, and a line
WIDE = 0.9  # of the window: what is so wide stands in one place in every language
AS_WIDE_AS_WORDS = ("faces", "drawn", "links", "switches-example")  # on a phone these fill a line
ANYTHING = (".*",)  # words of which none is looked for
# the boxes that have a name; one that holds another is named first
BOXES = """(languages) => {
    const found = [];
    for (const node of document.querySelectorAll('[class*="st-key-attnviz-widget-"]')) {
        const { x, y, width, height } = node.getBoundingClientRect();
        if (!node.checkVisibility() || width < 2 || height < 2) continue;
        const [, name] = node.className.match(/st-key-attnviz-widget-([\\w-]+)/);
        const own = name.replace(new RegExp(`-(${languages})(?=-|$)`), "");
        found.push([own, ...[x, y, width, height].map(Math.round)]);
    }
    return found;
}"""


class Box(NamedTuple):
    """Where a box stands."""

    x: int
    y: int
    width: int
    height: int


def boxes(page: Page) -> dict[str, Box]:
    """The first box of each name."""
    found: list[Any] = page.evaluate(BOXES, "|".join(LANGUAGES))
    return {name: Box(*sides) for name, *sides in reversed(found)}


def unlike(own: dict[str, Box], english: dict[str, Box], width: int) -> list[str]:
    """What is not there, stands elsewhere, in another order, or is much taller than in English."""
    missing = [f"only in one: {name}" for name in own.keys() ^ english.keys()]
    both = own.keys() & english.keys()
    aside = [
        f"{name}: {own[name]}, in English {there}"
        for name, there in english.items()
        if name in both and there.width >= WIDE * width and name not in AS_WIDE_AS_WORDS
        if max(abs(own[name].x - there.x), abs(own[name].width - there.width)) > SIDE_PX
    ]
    taller = [
        f"taller: {name}: {own[name].height}, in English {english[name].height}"
        for name in both
        if own[name].height > TALLER * english[name].height + TALL_PX
    ]
    above = [
        f"above: {below}, in English below {name}"
        for name, below in permutations(sorted(both), 2)
        if english[name].y + english[name].height <= english[below].y
        and own[name].y > own[below].y + SIDE_PX
    ]
    return missing + aside + taller + above


@pytest.mark.slow
@pytest.mark.parametrize("path", PAGES)
def test_a_page_has_one_layout_in_all_languages(visit: OpenVisit, path: str) -> None:
    wrong: list[str] = []
    english: dict[int, dict[str, Box]] = {}
    for lang in LANGUAGES:
        page = visit(path, lang=lang, canvases=path != "learn").page
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            over = problems(page, ANYTHING)  # once the page is at rest
            own = boxes(page)
            found = unlike(own, english.setdefault(width, own), width) + over
            wrong += [f"{width} {lang}: {one}" for one in found]
    assert wrong == []


def test_a_box_that_is_elsewhere_gone_or_taller_is_found() -> None:
    bar, card, note = Box(0, 0, 1000, 40), Box(20, 40, 900, 300), Box(20, 340, 300, 40)
    english = {"bar": bar, "card": card, "note": note}

    def found(**changed: Box) -> list[str]:
        return unlike({**english, **changed}, english, 1000)

    assert found(card=card._replace(height=420), note=note._replace(y=460)) == []
    assert found(card=card._replace(x=60, width=860)) != []
    assert found(card=card._replace(height=500)) == ["taller: card: 500, in English 300"]
    assert found(note=note._replace(y=0)) == ["above: note, in English below card"]
    assert unlike({"bar": bar, "card": card}, english, 1000) == ["only in one: note"]


# the side of a head and the lower edge of the last one, on Look and on Change
BOARD = """(node) => {
    const { size, y, step } = node.dataset;
    return [Number(size), node.getBoundingClientRect().top + Number(y) + 4 * step];
}"""
SWITCH = """(node) => {
    const { width, bottom } = node.getBoundingClientRect();
    return [width, bottom];
}"""


@pytest.mark.parametrize(("page", "of_many"), [("overview", 84), ("switches", 72)])
def test_few_heads_take_the_room_that_there_is(visit: OpenVisit, page: str, of_many: int) -> None:
    """They are larger than many, and the last of them still on the first screen."""
    width, height = 1440, 900
    opened = visit(page, screen=(width, height), lang="en", model="stories", text="Tom had a ball")
    overview = page == "overview"
    last = opened.canvas("All heads of") if overview else opened.page.locator("[data-head='L3.H3']")

    def fits() -> bool:
        side, bottom = last.evaluate(BOARD if overview else SWITCH)
        return bool(of_many < side <= 160 and bottom <= height)

    expect_true(fits)
