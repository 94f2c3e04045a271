"""One visit of the app in a browser, with a record of everything the page did on the way.

In: a browser, an address, the query parameters of a view. Out: a `Visit`, a page and what was seen:
messages sent to the server, requests that left this machine, complaints in the console, dialogs.
Reading helpers look through the open shadow roots of the components. Nothing here sleeps: a test
waits for what it expects to see.
"""

import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import parse_qs, urlencode, urlsplit

from playwright.sync_api import Browser, Locator, TimeoutError, ViewportSize, expect
from playwright.sync_api import Page as BrowserPage

from attnviz.app.session import routes, widgets
from attnviz.i18n import Language, text
from attnviz.pictures.shared.pages import BEHIND, Door
from tests.support.browser import settle
from tests.support.seen import Seen, watch
from tests.support.waiting import LIMIT_MS, LIMIT_S, NOT_YET

POLL_MS = 20
# the keys of menus of bar and strip, and of the teacher's line
Menu = Literal["menu.model", "menu.more", "take", "media", "class.tools"]
PRESS_MS = 50
OPEN_MS = 1000  # how long the options of a box may take to show
ANYTHING = re.compile(".+")  # an empty attribute says no, as a missing one
VIEWPORT = ViewportSize(width=1280, height=900)
# Streamlit's grey boxes pulse until a page has come, and without a graphics card every frame of
# that costs processor time: a third of a visit's, more where other work delays the page
STILL_SKELETONS = """
new MutationObserver((_, observer) => {
    if (!document.head) return;
    observer.disconnect();
    const style = document.createElement("style");
    const boxes = '[data-testid="stSkeleton"], [data-testid="stAppSkeleton"] *';
    style.textContent = `${boxes} { animation: none !important }`;
    document.head.append(style);
}).observe(document, { childList: true, subtree: true });
"""


@dataclass(frozen=True)
class Visit:
    """A page that is open, where it came from, and what it did so far."""

    page: BrowserPage
    url: str
    seen: Seen

    def parameters(self) -> dict[str, str]:
        """The query parameters that stand in the address now."""
        found = parse_qs(urlsplit(self.page.url).query, keep_blank_values=True)
        return {name: values[0] for name, values in found.items()}

    def wait_for_parameters(self, **wanted: object) -> None:
        """Waits until these parameters stand in the address; None for one that must not."""
        self.page.wait_for_function(
            """(wanted) => {
                const found = new URLSearchParams(location.search);
                return Object.entries(wanted).every(([name, value]) => found.get(name) === value);
            }""",
            arg={name: None if value is None else str(value) for name, value in wanted.items()},
        )

    def wait_until(self, holds: Callable[[], bool], limit_s: float = LIMIT_S) -> None:
        """Waits for what only Python can see, the record of messages for instance."""
        deadline = time.monotonic() + limit_s
        while not _holds_now(holds):
            assert time.monotonic() < deadline, f"nothing came within {limit_s} s"
            self.page.wait_for_timeout(POLL_MS)

    def canvas(self, name: str) -> Locator:
        """The canvas whose accessible name begins with these words."""
        return self.page.locator(f'canvas[aria-label^="{name}"]')

    def go(self, door: Door, lang: Language = "en", *, arrives: bool = True) -> None:
        """Follows the links of the bar to a page; each is pressed as long as a person presses.

        A face of Compute is opened there.

        Waits until it `arrives`, which is when the server has drawn the bar of that page: of two
        clicks within a moment the first may be held back until a selection has been sent, and
        would then come second.
        """
        page, room = routes.page(door), routes.room(door)
        faces = self.page.locator(f".{widgets.class_name('faces')}")
        face = faces.get_by_role("link", name=text(lang, f"page.{page}.title"), exact=True)
        if not face.is_visible():
            rooms = self.page.locator(f".{widgets.class_name('pages')}")
            link = rooms.get_by_role("link", name=text(lang, f"room.{room}"), exact=True)
            link.click(delay=PRESS_MS)
            if arrives:
                expect(link).to_have_attribute("aria-current", "page")
            if page == routes.ROOMS[room][0]:
                if "face" in (wanted := BEHIND.get(door, (page, {}))[1]):
                    self.page.locator(f"[data-face={wanted['face']}]").click()
                return
        face.click(delay=PRESS_MS)
        if arrives:
            expect(face).to_have_attribute("aria-current", "page")

    def leave_picture(self) -> None:
        """Moves the pointer off the components, which tell the server then."""
        self.page.locator(f".{widgets.class_name('bar.home')}").hover()

    def open_menu(self, name: Menu, *, wanted: bool = True) -> None:
        """Opens a menu of the bar, or closes it."""
        button = self.page.locator(f".{widgets.class_name(name)}").get_by_role("button")
        if (button.get_attribute("aria-expanded") == "true") != wanted:
            button.click()

    def choose(
        self, label: str, option: str, limit_s: float = LIMIT_S, *, menu: Menu | None = None
    ) -> None:
        """Opens a select box and takes one of its options; opens it again if a run closed it.

        The box may be in a menu of the bar.
        """
        if menu is not None:
            self.open_menu(menu)
        box = self.page.get_by_role("combobox", name=label, exact=True)
        wanted = self.page.get_by_role("option", name=option)
        deadline = time.monotonic() + limit_s
        while not wanted.is_visible():
            assert time.monotonic() < deadline, f"{option} did not show within {limit_s} s"
            if box.get_attribute("aria-expanded") != "true":  # a second click would close it
                box.click()
            with suppress(TimeoutError):
                wanted.wait_for(timeout=OPEN_MS)
        wanted.click()

    def type_text(self, typed: str, label: str = "Text") -> None:
        """Puts a text into the strip and applies it, as a visitor does."""
        box = self.page.get_by_role("textbox", name=label, exact=True)
        box.fill(typed)
        box.press("Enter")

    @property
    def tokens(self) -> Locator:
        """The tokens in the strip."""
        return self.page.locator(".av-strip .av-chip")

    def take_example(self, sentence: str, lang: Language = "en") -> None:
        """Opens the examples of the strip and takes one."""
        name = text(lang, "component.strip.examples")
        self.page.get_by_role("button", name=name, exact=True).click()
        self.page.get_by_role("menuitem", name=sentence).click()


def _holds_now(holds: Callable[[], bool]) -> bool:
    """False also where what is read is not there yet."""
    try:
        return holds()
    except NOT_YET:
        return False


def address(url: str, path: str, parameters: Mapping[str, object]) -> str:
    """A deep link."""
    query = urlencode({name: str(value) for name, value in parameters.items()})
    return f"{url}/{path}" + (f"?{query}" if query else "")


def open_visit(
    browser: Browser,
    url: str,
    path: str = "",
    *,
    scheme: Any = "light",
    locale: str = "en",
    **options: Any,
) -> Visit:
    """Open a page of the app, as `show` does, in a browser of its own that remembers nothing."""
    return show(new_page(browser, scheme, locale), url, path, **options)


def new_page(browser: Browser, scheme: Any = "light", locale: str = "en") -> BrowserPage:
    """A page that shares nothing with other pages of the browser."""
    context = browser.new_context(color_scheme=scheme, locale=locale, viewport=VIEWPORT)
    context.set_default_timeout(LIMIT_MS)
    context.add_init_script(STILL_SKELETONS)
    return context.new_page()


def show(
    page: BrowserPage, url: str, path: str = "", *, canvases: bool = True, **parameters: object
) -> Visit:
    """Open the app at `url` in this page, and wait until it is drawn.

    `canvases=False` does not wait for a canvas; other options are the parameters of the address.
    """
    visit = Visit(page, url, watch(page, url))
    page.goto(address(url, path, parameters))
    settle(page, canvases)
    return visit


def data(locator: Locator) -> dict[str, str]:
    """The data-* attributes of an element."""
    found: dict[str, str] = locator.evaluate("(node) => ({...node.dataset})")
    return found


def expect_data(locator: Locator, **wanted: object) -> None:
    """Waits until an element carries these data-* attributes; None for one that must be absent."""
    for name, value in wanted.items():
        attribute = f"data-{name}"
        if value is None:
            expect(locator).not_to_have_attribute(attribute, ANYTHING)
        else:
            expect(locator).to_have_attribute(attribute, str(value))


def expect_live(page: BrowserPage, whose: str = "this page", limit_s: float = LIMIT_S) -> None:
    """Waits for the line of a page that hears its class: a presenter's, or a card's."""
    either = '.av-class-messages[data-heard="live"], .class-card[data-heard="live"]'
    expect(page.locator(either), f"{whose} is not live").to_be_visible(timeout=1000 * limit_s)


def main_text(visit: Visit) -> str:
    """What stands on the page, components aside."""
    return visit.page.get_by_test_id("stMain").inner_text()
