"""The running app and a browser, for all browser tests; what no page may ever do, after each.

One server for all workers, one browser for each. `visit` opens a page with the parameters of a
view, one that earlier tests used where there is one (`tests.support.tabs`); when the test is over,
every page it opened must have kept to this machine, opened no dialog, and left nothing in the
console.
"""

import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.support.browser import chromium
from tests.support.canvas import Palette, load_palettes
from tests.support.shared_server import shared
from tests.support.tabs import Tabs
from tests.support.visit import Visit
from tests.support.waiting import LIMIT_MS

OpenVisit = Callable[..., Visit]
Tiny = Callable[[str], Path]
HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent == HERE:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of this run of tests that all its workers share."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.fixture(scope="session")
def tiny_folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the folders of the tiny models lie."""
    return tmp_path_factory.mktemp("tiny")


@pytest.fixture(scope="session")
def tiny(tiny_folders: Path) -> Tiny:
    """The folder of a tiny model by its name, saved when it is first asked for."""
    from tests.support import folders  # loads torch: not before the settings of the root conftest

    return partial(folders.saved, tiny_folders)


@pytest.fixture(scope="session")
def server(run_folder: Path) -> Iterator[str]:
    """The address of the app, one for all workers, which may open the tiny models."""
    from attnviz.app.server import sources  # loads torch, as above

    with shared(run_folder, {sources.VARIABLE: str(run_folder)}) as url:
        yield url


@pytest.fixture(scope="session")
def component_server(run_folder: Path) -> Iterator[str]:
    """The address of the app that shows one component, or a card on the wall; one as above."""
    env = {"PYTHONPATH": str(HERE.parent.parent)}
    with shared(run_folder / "components", env, str(HERE / "component_app.py")) as url:
        yield url


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium."""
    with chromium() as running:
        expect.set_options(timeout=LIMIT_MS)
        yield running


@pytest.fixture(scope="session")
def palettes(browser: Browser) -> dict[str, Palette]:
    """The app's colour tables, by theme."""
    return load_palettes(browser)


@pytest.fixture(scope="session")
def tabs(browser: Browser) -> Tabs:
    """The pages that tests open one after the other."""
    return Tabs(browser)


@pytest.fixture
def visit(tabs: Tabs, server: str) -> Iterator[OpenVisit]:
    """Opens a page of the app: `visit("head", text="Hi", layer=2, scheme="dark")`."""
    opened: list[Visit] = []

    def start(path: str = "", url: str = server, **options: Any) -> Visit:
        opened.append(tabs.open(url, path, **options))
        return opened[-1]

    yield start
    problems = [problem for each in opened for problem in tabs.close(each)]
    assert not problems, "\n".join(problems)


@pytest.fixture
def look(tabs: Tabs, server: str) -> Iterator[OpenVisit]:
    """As `visit`, for a test that looks and points: the page of the test before, if it is the same.

    A page on which something was chosen, so that its address changed or the server was told, is
    opened anew. What else a test does, such as to open a menu, it undoes.
    """
    opened: list[Visit] = []

    def start(path: str = "", url: str = server, **options: Any) -> Visit:
        opened.append(tabs.look(url, path, **options))
        return opened[-1]

    yield start
    problems = [problem for each in opened for problem in each.seen.problems()]
    if problems:
        tabs.close_kept()
    assert not problems, "\n".join(problems)
