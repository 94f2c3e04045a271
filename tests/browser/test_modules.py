"""Every component and the Streamlit host, loaded as the ES modules that they are, unjoined."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route

from attnviz.pictures.shared import bundle

ROOT = bundle.FOLDER.parents[1]
ORIGIN = "http://modules.test"
ENTRIES = [
    *(bundle.component_entry(name) for name in bundle.component_names()),
    ROOT / "attnviz" / "app" / "host" / "streamlit.js",
]


def answer(route: Route) -> None:
    """The file of the package that an address names; an empty page for the root."""
    path = ROOT / route.request.url.removeprefix(f"{ORIGIN}/")
    if path == ROOT:
        route.fulfill(body="<!doctype html><title>modules</title>", content_type="text/html")
    elif path.suffix == ".js" and path.is_file():
        route.fulfill(path=path, content_type="text/javascript")
    else:
        route.fulfill(status=404)


@pytest.fixture(scope="module")
def modules(browser: Browser) -> Iterator[Page]:
    """An empty page beside which the package's files lie."""
    page = browser.new_page()
    page.route("**/*", answer)
    page.goto(f"{ORIGIN}/")
    yield page
    page.close()


@pytest.fixture
def emptied(modules: Page) -> Iterator[Page]:
    """The same page for a test that changes what belongs to all modules in it."""
    modules.reload()
    yield modules
    modules.reload()


@pytest.mark.parametrize("path", ENTRIES, ids=lambda path: path.parent.name)
def test_a_component_is_an_es_module(modules: Page, path: Path) -> None:
    address = f"/{path.relative_to(ROOT).as_posix()}"
    kind = modules.evaluate("(at) => import(at).then((module) => typeof module.default)", address)
    assert kind == "function"


LISTEN = """async () => {
  const sockets = [];
  const timers = new Map();
  globalThis.setTimeout = (run) => timers.set(timers.size + 1, run).size;
  globalThis.clearTimeout = (timer) => timers.delete(timer);
  globalThis.WebSocket = class {
    constructor(url) { this.url = String(url); this.isOpen = true; sockets.push(this); }
    close() { this.isOpen = false; }
  };
  const { makeLine } = await import("/attnviz/pictures/class_messages/line.js");
  const nothing = () => {};
  const line = makeLine({ onOpen: nothing, onCount: nothing, onEnded: nothing, onLost: nothing });
  const place = { folder: "class", code: "one", seat: "s", heed: "h" };
  line.move(place);
  sockets[0].isOpen = false;
  sockets[0].onclose({ code: 1006 });          // lost: a second try waits
  const waiting = timers.size;
  line.move({ ...place, code: "two" });        // the place changes before it comes
  for (const run of [...timers.values()]) run();
  const codeOf = (socket) => new URL(socket.url).pathname.split("/").at(-1);
  return [waiting, sockets.map((socket) => [codeOf(socket), socket.isOpen])];
}"""


def test_makeline_opens_no_second_socket_after_a_loss_and_a_move(emptied: Page) -> None:
    assert emptied.evaluate(LISTEN) == [1, [["one", False], ["two", True]]]
