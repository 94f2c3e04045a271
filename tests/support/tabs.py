"""Pages of one browser that visits use one after the other.

A page that has shown the app before has its scripts compiled: the next visit costs a third of what
one in a new page costs (1.0 s of processor time and 3.5 s). Between two visits a page leaves the
app and forgets what it stored, so that each visit begins like one in a browser of its own. A page
that a test only looked at stays open: the next test that asks for the same finds it there.
"""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Browser, Page, ViewportSize

from tests.support.visit import VIEWPORT, Visit, new_page, show

MAX_ADDRESSES = 30
OUTSIDE = (-1, -1)  # where the pointer touches nothing
PLAIN = "_stcore/health"  # a page of the server without scripts: nothing there stores anew


@dataclass(frozen=True)
class Kept:
    """A visit that stays open for the next test, and how it was when it had come."""

    visit: Visit
    asked: object
    address: str
    n_sent: int

    def is_as_it_came(self) -> bool:
        """True if no test chose anything since: nothing was sent, and the address is the same."""
        return (self.visit.page.url, len(self.visit.seen.sent)) == (self.address, self.n_sent)


class Tabs:
    """The pages of a browser, by the locale that a page keeps for life."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._free: defaultdict[str, list[Page]] = defaultdict(list)
        self._lent: dict[Page, str] = {}
        self._kept: Kept | None = None

    def open(
        self,
        url: str,
        path: str = "",
        *,
        scheme: Any = "light",
        locale: str = "en",
        fresh: bool = False,
        screen: tuple[int, int] | None = None,
        motion: Any = "no-preference",
        **options: Any,
    ) -> Visit:
        """Open a page of the app as `show` does; with `fresh` a new one, which is not used again.

        `screen` is the width and height of the window, `motion` is "reduce" for who asks for less.
        Scripts that a test adds to every document and routes of its web sockets stay with a page:
        they need a fresh one.
        """
        self.close_kept()
        is_free = bool(self._free[locale]) and not fresh
        page = self._free[locale].pop() if is_free else new_page(self._browser, scheme, locale)
        page.set_viewport_size(
            ViewportSize(width=screen[0], height=screen[1]) if screen else VIEWPORT
        )
        page.emulate_media(color_scheme=scheme, reduced_motion=motion)
        if not fresh:
            self._lent[page] = locale
        return show(page, url, path, **options)

    def look(self, url: str, path: str = "", **options: Any) -> Visit:
        """Open a page as `open` does, or go on with the one that the last test left as it came."""
        asked = (url, path, sorted(options.items()))
        kept = self._kept
        if kept and kept.asked == asked and kept.is_as_it_came():
            kept.visit.page.mouse.move(*OUTSIDE)
            return kept.visit
        visit = self.open(url, path, **options)
        self._kept = Kept(visit, asked, visit.page.url, len(visit.seen.sent))
        return visit

    def close_kept(self) -> None:
        """End the visit that was kept; its problems were those of the tests that looked at it."""
        if self._kept:
            self.close(self._kept.visit)
            self._kept = None

    def close(self, visit: Visit) -> list[str]:
        """End a visit, and return the problems that its page had."""
        page, locale = visit.page, self._lent.pop(visit.page, None)
        if locale is not None and _forgets(visit):
            visit.seen.stop(page)
            self._free[locale].append(page)
        else:
            page.context.close()
        return visit.seen.problems()


def _forgets(visit: Visit) -> bool:
    """Remove all that a visit may have left in its page; False if the page cannot be used again.

    A page that is elsewhere cannot clear what the app stored, one that still shows the app may
    store it again, and one that has been to 50 addresses begins to forget the first of them.
    """
    page = visit.page
    if not page.url.startswith(visit.url) or page.evaluate("history.length") > MAX_ADDRESSES:
        return False
    page.goto(f"{visit.url}/{PLAIN}")
    page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
    page.mouse.move(*OUTSIDE)
    page.unroute_all()
    page.context.clear_cookies()
    return True
