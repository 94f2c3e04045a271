"""Eight pages in each language by their layout: boxes, what runs over, fonts; no pixels.

Each language is compared with English in the same run, and with what was stored in layouts.json:
a page whose layout was changed on purpose is written anew by
`ATTNVIZ_WRITE_LAYOUTS=1 pytest tests/browser/test_layouts.py`. Stored boxes count where the machine
has the fonts with which they were written.
"""

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import Page

from attnviz.i18n import LANGUAGES
from tests.browser.conftest import OpenVisit
from tests.support.texts import problems

STORED = Path(__file__).with_name("layouts.json")
WRITES = "ATTNVIZ_WRITE_LAYOUTS" in os.environ
PAGES = ("", "overview", "head", "steps", "masks", "compare", "switches", "learn")
WIDTHS = (1440, 390)
SIDE_PX, TALL_PX = 6, 40  # by which a side may lie elsewhere, and a box be taller, of equal fonts
WIDE = 0.9  # of the window: what is so wide stands in one place in every language
AS_WIDE_AS_WORDS = ("faces", "drawn", "links", "switches-example")  # on a phone these fill a line
ANYTHING = (".*",)  # words of which none is looked for
# the boxes that have a name, from top to bottom; one that holds another is named first
BOXES = """(languages) => {
    const found = [];
    for (const node of document.querySelectorAll('[class*="st-key-attnviz-widget-"]')) {
        const { x, y, width, height } = node.getBoundingClientRect();
        if (!node.checkVisibility() || width < 2 || height < 2) continue;
        const [, name] = node.className.match(/st-key-attnviz-widget-([\\w-]+)/);
        const own = name.replace(new RegExp(`-(${languages})(?=-|$)`), "");
        found.push([own, Math.round(x), Math.round(y), Math.round(width), Math.round(height)]);
    }
    return found;
}"""
TEXTS = "[data-testid=stMain] :is(h1, h2, h3, p, label, li)"


class Layout(NamedTuple):
    """What is compared: (name, x, width, height) of each box, texts that run over, families."""

    boxes: list[list[Any]]
    over: list[str]
    fonts: list[str]


def seen(page: Page) -> Layout:
    """The layout of a page as it stands."""
    over = problems(page, ANYTHING)  # once it is at rest
    found = page.evaluate(BOXES, "|".join(LANGUAGES))
    boxes = [[name, x, width, height] for name, x, _, width, height in found]
    return Layout(boxes, over, families(page))


def families(page: Page) -> list[str]:
    """The families in which the texts are set."""
    session = page.context.new_cdp_session(page)
    for domain in ("DOM", "CSS"):
        session.send(f"{domain}.enable")
    root = session.send("DOM.getDocument")["root"]["nodeId"]
    nodes: Any = session.send("DOM.querySelectorAll", {"nodeId": root, "selector": TEXTS})
    used = {
        font["familyName"]
        for node in nodes["nodeIds"]
        for font in session.send("CSS.getPlatformFontsForNode", {"nodeId": node})["fonts"]
    }
    session.detach()
    return sorted(used)


def named(layout: Layout) -> dict[str, list[int]]:
    """The first box of each name."""
    return {name: sides for name, *sides in reversed(layout.boxes)}


def unlike(own: Layout, english: Layout, width: int) -> list[str]:
    """What stands elsewhere than in English, or is not there."""
    here, there = named(own), named(english)
    missing = [f"only in one: {name}" for name in here.keys() ^ there.keys()]
    return missing + [
        f"{name}: {here[name][:2]}, in English {there[name][:2]}"
        for name in here.keys() & there.keys()
        if there[name][1] >= WIDE * width
        and name not in AS_WIDE_AS_WORDS
        and max(abs(here[name][side] - there[name][side]) for side in (0, 1)) > SIDE_PX
    ]


def moved(own: Layout, stored: Layout) -> list[str]:
    """What is not as it was stored."""
    here, there = named(own), named(stored)
    if here.keys() != there.keys():
        return [f"boxes: {sorted(here.keys() ^ there.keys())}"]
    allowed = (SIDE_PX, SIDE_PX, TALL_PX)
    return [
        f"{name}: {here[name]}, stored {there[name]}"
        for name in here
        if any(
            abs(a - b) > most for a, b, most in zip(here[name], there[name], allowed, strict=True)
        )
    ]


@pytest.mark.slow
@pytest.mark.parametrize("path", PAGES)
def test_a_page_has_one_layout_in_all_languages(visit: OpenVisit, path: str) -> None:
    kept = json.loads(STORED.read_text(encoding="utf-8")) if STORED.is_file() else {}
    wrong: list[str] = []
    english: dict[int, Layout] = {}
    for lang in LANGUAGES:
        page = visit(path, lang=lang, canvases=path != "learn").page
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            name, own = f"{path or 'start'} {width} {lang}", seen(page)
            english.setdefault(width, own)
            stored = Layout(*kept.get(name, own))
            found = unlike(own, english[width], width) + own.over
            if own.fonts == stored.fonts and not WRITES:
                found += moved(own, stored)
            wrong += [f"{name}: {one}" for one in found]
            kept[name] = own
    if WRITES:
        lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(kept[name])}" for name in sorted(kept))
        STORED.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
    assert wrong == []


def box(name: str, *sides: int) -> list[Any]:
    return [name, *sides]


def test_a_box_elsewhere_and_one_that_is_gone_are_found() -> None:
    english = Layout([box("bar", 0, 1000, 40), box("card", 20, 900, 300)], [], ["Inter"])
    as_wide = english._replace(boxes=[box("bar", 0, 1000, 40), box("card", 20, 900, 420)])
    assert unlike(as_wide, english, 1000) == []
    assert moved(as_wide, english) == ["card: [20, 900, 420], stored [20, 900, 300]"]
    aside = english._replace(boxes=[box("bar", 0, 1000, 40), box("card", 60, 860, 300)])
    assert unlike(aside, english, 1000) == ["card: [60, 860], in English [20, 900]"]
    gone = english._replace(boxes=[box("bar", 0, 1000, 40)])
    assert unlike(gone, english, 1000) == ["only in one: card"]
    assert moved(gone, english) == ["boxes: ['card']"]
