"""Chromium for tests, pictures and benchmarks: which one, how it starts, when a page is ready."""

import importlib.resources
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, Page, sync_playwright

from tests.support.waiting import LIMIT_MS

NAMES = (
    "chromium-headless-shell",  # draws no window of its own: half the processor time
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
)
IDLE = "[data-testid=stApp][data-test-script-state=notRunning]"
# whether the script has run, nothing is stale and, if that is asked for, a canvas in sight painted
IS_SETTLED = """({ idle, canvases }) => {
    if (!document.querySelector(idle)) return false;
    let isDrawn = !canvases;
    const isSeen = (node) => {
        const { width, height } = node.getBoundingClientRect();
        return width > 0 && height > 0 && node.checkVisibility({ visibilityProperty: true });
    };
    const roots = [document];
    for (const root of roots) {
        if (root.querySelector("[data-stale=true]")) return false;
        isDrawn ||= [...root.querySelectorAll("[data-drawn]")].some(isSeen);
        for (const { shadowRoot } of root.querySelectorAll("*"))
            if (shadowRoot) roots.push(shadowRoot);
    }
    return isDrawn;
}"""
LOOK_MS = 50
SERIOUS = ("serious", "critical")


def chromium_path() -> str:
    """Path of the browser; fails with what to do where there is none."""
    named = os.environ.get("ATTNVIZ_CHROMIUM")
    path = named or next(filter(None, map(shutil.which, NAMES)), None)
    assert path, "no Chromium found: run `make test`, or set ATTNVIZ_CHROMIUM to its path"
    return path


@contextmanager
def chromium() -> Iterator[Browser]:
    """A running browser; closed after."""
    # without a graphics card its GPU process imitates one, for a tenth of a page's processor time
    arguments = ["--disable-gpu"]
    # the headless shell would round widths of letters to whole pixels, which breaks lines elsewhere
    arguments += ["--font-render-hinting=none"]
    # its sandbox refuses to work for root, which is what a container's CI often is
    arguments += ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium_path(), args=arguments)
        yield browser
        browser.close()


def settle(page: Page, canvases: bool = True) -> None:
    """Waits until the script has run, nothing is stale, and a canvas in sight has painted.

    The page looks itself, every 50 ms: Playwright would look twice a second.
    """
    asked = {"idle": IDLE, "canvases": canvases}
    page.wait_for_function(IS_SETTLED, arg=asked, polling=LOOK_MS, timeout=LIMIT_MS)


def accessibility_problems(page: Page) -> list[str]:
    """What axe finds on the page, of serious impact or worse, one line per place."""
    package = importlib.resources.files("axe_playwright_python")
    page.evaluate(package.joinpath("axe.min.js").read_text(encoding="utf-8"))
    report = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    return [
        f"{finding['id']}: {place['target']} {place['failureSummary']}"
        for finding in report["violations"]
        if finding["impact"] in SERIOUS
        for place in finding["nodes"]
    ]
