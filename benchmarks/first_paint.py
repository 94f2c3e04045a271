"""How a page comes: `python -m benchmarks.first_paint`.

In: the pages of the app, at the widths of a phone and of a desk. Out: for each the first contentful
paint, the first picture, and the layout shift until the page is at rest, on a server that has shown
it before. With `--cold N` also of the first page of a server that has just begun to answer, N times
over. `--causes` lists what moved. Each visit has a browser context of its own, with nothing kept.
Nothing may be asked of another host, and nothing said on the console.
"""

import argparse
import sys
from collections.abc import Sequence

from playwright.sync_api import Browser, ViewportSize

from attnviz.pictures.shared.pages import PAGES
from benchmarks.measure import Result, report
from tests.support.browser import chromium, settle
from tests.support.paint import Paint, paint, watch_paint
from tests.support.seen import watch
from tests.support.server import serve

SIZES = (ViewportSize(width=1440, height=900), ViewportSize(width=390, height=844))
WARM_MS, COLD_MS, SHIFT = 300.0, 600.0, 0.05
REST_MS = 2500  # after the page is drawn: what comes late moves things, too
ROUNDS = 3
COMING = "[data-testid=stSkeleton], [data-testid=stBidiComponentIsolated]:not([data-mounted])"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; 1 if something was wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--pages", nargs="*", default=PAGES)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--cold", type=int, default=0)
    parser.add_argument("--causes", action="store_true")
    options = parser.parse_args(arguments)
    results: list[Result] = []
    with chromium() as browser:
        for _ in range(options.cold):
            with serve() as url:
                results += rows(browser, url, "", SIZES[0], 1, "cold", options.causes)
        with serve() as url:
            for page in options.pages:
                path = "" if page == "start" else page
                visit(browser, url, path, SIZES[0])  # the server loads what it needs
                for size in SIZES:
                    results += rows(browser, url, path, size, options.rounds, "", options.causes)
    return report(results)


def rows(
    browser: Browser, url: str, path: str, size: ViewportSize, rounds: int, how: str, causes: bool
) -> list[Result]:
    """The rows of one page at one width."""
    seen = [visit(browser, url, path, size) for _ in range(rounds)]
    paints = [one for one, _ in seen]
    name = f"/{path} {size['width']}{how and f' {how}'}"
    wrong = "; ".join(problem for _, problems in seen for problem in problems) or None
    if causes:
        for one in paints:
            print(name, *one.shifts, sep="\n    ")
    first = tuple(one.first_ms for one in paints)
    picture = tuple(one.picture_ms for one in paints if one.picture_ms is not None)
    results = [
        Result(f"{name} first paint", first, "ms", COLD_MS if how else WARM_MS, wrong),
        Result(f"{name} layout shift", tuple(one.shift for one in paints), "", SHIFT),
    ]
    return [*results, Result(f"{name} first picture", picture, "ms")] if picture else results


def visit(
    browser: Browser, url: str, path: str, size: ViewportSize, rest_ms: float = REST_MS
) -> tuple[Paint, list[str]]:
    """What a page painted until it was at rest, and what went wrong."""
    with browser.new_context(viewport=size, locale="en") as context:
        page = context.new_page()
        watch_paint(page)
        seen = watch(page, url)
        page.goto(f"{url}/{path}", wait_until="commit")
        settle(page, canvases=False)
        page.locator(COMING).first.wait_for(state="detached")
        page.wait_for_timeout(rest_ms)
        return paint(page), seen.problems()


if __name__ == "__main__":
    sys.exit(main())
