"""Runs the real entry of the app without a browser, and reads what a component was sent."""

import json
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.components.v2 import manifest_scanner as scanner
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.state.session_state import STREAMLIT_INTERNAL_KEY_PREFIX
from streamlit.testing.v1 import AppTest, local_script_runner
from streamlit.util import calc_hash

from attnviz import i18n
from attnviz.app.frame import measurement
from attnviz.app.server import class_socket, loading, sources
from attnviz.app.session import routes, widgets
from attnviz.models.rehearsal import Rehearsal
from attnviz.pictures import (
    effects,
    found,
    geometry,
    grid,
    head,
    masks,
    rest,
    steps,
    switches,
    table,
)
from attnviz.pictures import shelf as shelf_picture
from attnviz.pictures import strip as strip_picture
from attnviz.pictures.shared.buffer import unpack
from attnviz.pictures.shared.pages import BEHIND, Door
from attnviz.pictures.shared.pages import path as path_of
from tests.support.waiting import LIMIT_S

TIMEOUT_S = 3 * LIMIT_S
REST = rest.CANVAS.element

IN_FULL = ("en",)  # a page speaks it in every run, the other languages in `make test-all`
IN_JAPANESE_TOO = ("test_pages.py",)
HERE = Path(__file__).parent

Visit = Callable[..., AppTest]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what repeats a test of a page in a further language as slow.

    `tests/contracts/test_i18n.py` compares the texts of all languages; two scripts on every page
    are enough to see that pages take their texts from there.
    """
    for item in items:
        parameters = getattr(item, "callspec", None)
        if parameters is None or item.path.parent != HERE:
            continue
        if is_repeated(parameters.params.get("lang"), item.path.name):
            item.add_marker(pytest.mark.slow)


def is_repeated(lang: object, file: str) -> bool:
    """True for a language in which the tests of a file run with the slow tests only."""
    in_full = (*IN_FULL, "ja") if file in IN_JAPANESE_TOO else IN_FULL
    return lang in i18n.LANGUAGES and lang not in in_full


@pytest.fixture(scope="session", autouse=True)
def patient() -> Iterator[None]:
    """However busy the machine is, what a job measures is there when the page is drawn."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measurement, "PATIENCE_S", LIMIT_S)
        patch.setattr(measurement, "SHORT_PATIENCE_S", LIMIT_S)
        yield


@pytest.fixture(scope="session", autouse=True)
def without_repeated_scans() -> Iterator[None]:
    """What a server does once is not done for each page of a test.

    A process that imports all libraries tries each model first. Streamlit reads the metadata of all
    installed packages, and a loaded model ends with a full garbage collection: together half of the
    processor time of a page.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_script_runner, "require_widgets_deltas", wait_for_the_script)
        patch.setattr(scanner, "scan_component_manifests", cache(scanner.scan_component_manifests))
        patch.setattr(loading, "_frozen_heap", nullcontext)
        patch.setattr(Rehearsal, "open", lambda *_: None)  # tests/oracle/test_rehearsal.py has it
        yield


_look_for_the_end = local_script_runner.require_widgets_deltas


def wait_for_the_script(runner: Any, timeout: float) -> None:
    """Wait until a page has run; AppTest looks every millisecond, while the page computes."""
    runner._script_thread.join(timeout)
    _look_for_the_end(runner, 1.0)


@pytest.fixture
def visit(root: Path) -> Visit:
    """A function that opens a page, or what is behind a door, as a deep link, afresh."""

    def opened(page: Door, **parameters: str) -> AppTest:
        page, parameters = routes.page(page), {**BEHIND.get(page, ("", {}))[1], **parameters}
        app = AppTest.from_file(str(root / "attnviz/app/main.py"), default_timeout=TIMEOUT_S)
        for name, value in parameters.items():
            app.query_params[name] = value
        if page != routes.DEFAULT:
            app._page_hash = calc_hash(path_of(page))  # AppTest goes by the names of files
        app.run()
        assert not app.exception
        return app

    return opened


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A function that gives the folder of a tiny model, written on the first demand."""
    from tests.support import folders  # loads torch: not before the settings of the root conftest

    return partial(folders.saved, tmp_path_factory.mktemp("models"))


@pytest.fixture
def tiny(saved: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """A function that gives the name under which the app opens a tiny model."""

    def name(model: str) -> str:
        folder = saved(model)
        monkeypatch.setenv(sources.VARIABLE, str(folder.parent))
        return str(folder)

    return name


def sent(app: AppTest, player: bool = False) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Header and arrays of the one component beside the bar, or of the player above it."""
    all_sent = [unpack(component.proto.bytes) for component in _components(app)]
    # a card scroller is not seen, and a moving picture stands beside what it shows
    seen = [each for each in all_sent if not {"arrivals", "film", "lit"} & each[0].keys()]
    (one,) = [each for each in seen if bool(each[0].get("compact")) == player]
    return one


def found_view(app: AppTest) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What a search for heads shows: header and arrays."""
    (one,) = [each for each in beside_bar(app) if _name_of(each) == found.CANVAS.element]
    return unpack(one.proto.bytes)


def heads_found(app: AppTest) -> list[dict[str, Any]]:
    """The heads that a search shows, none where it shows none."""
    shown = any(_name_of(each) == found.CANVAS.element for each in beside_bar(app))
    heads: list[dict[str, Any]] = found_view(app)[0]["heads"] if shown else []
    return heads


def component_name(app: AppTest) -> str:
    """The name of the one component beside the bar."""
    (component,) = _components(app)
    return str(component.proto.component_name)


def _components(app: AppTest) -> list[Any]:
    """The components beside the bar, but for tables of what an answer is made of."""
    return [each for each in beside_bar(app) if each.proto.component_name != table.CANVAS.element]


def bar(app: AppTest) -> Any:
    """The bar at the top of the page, with its menus."""
    return app.container(key=widgets.key("bar"))


def beside_bar(app: AppTest, kind: str = "bidi_component") -> list[Any]:
    """The elements of a kind that the page has beside bar and strip, components for instance."""
    above = {id(each) for line in app.container if _is_above(line) for each in line.get(kind)}
    beside = [each for each in app.main.get(kind) if id(each) not in above]
    # what only tells the other pictures of effects, words and weights is not seen; of grid and
    # head on one page one is hidden
    unseen = [effects.CANVAS.element, REST]
    look = [grid.CANVAS.element, head.CANVAS.element]
    if {*look} <= {_name_of(each) for each in beside}:
        unseen.append(look["open" not in app.query_params])
    names = {_name_of(each) for each in beside}
    if names & {geometry.CANVAS.element, masks.CANVAS.element}:
        unseen.append(steps.CANVAS.element)  # the rail below a face of Compute
    if {"paths", "answer"} & {*app.query_params}:  # what is seen with the switches is meant
        unseen.append(switches.CANVAS.element)
    return [each for each in beside if _name_of(each) not in unseen]


def told(app: AppTest) -> dict[str, Any]:
    """What the pictures of heads are told after they were drawn: words and measures."""
    found = [each for each in app.main.get("bidi_component") if _name_of(each) == REST]
    headers = [unpack(each.proto.bytes)[0] for each in found]
    (words,) = [header for header in headers if header["sentences"]]
    return words


def _name_of(element: Any) -> str:
    return getattr(element.proto, "component_name", "")


def _is_above(container: Any) -> bool:
    return container.key in [widgets.key(name) for name in ("bar", "strip", "strip.b")]


def strip(app: AppTest, side: str = "strip") -> Any:
    """The strip below the bar: the component, with what the browser gets."""
    line = app.container(key=widgets.key(side))
    (component,) = [
        each
        for each in line.get("bidi_component")
        if each.proto.component_name == strip_picture.CANVAS.element
    ]
    return component


def pieces(app: AppTest, side: str = "strip") -> dict[str, dict[str, Any]]:
    """What the strip says of each piece, by name; `tokens` are those of its line."""
    header, _ = unpack(strip(app, side).proto.bytes)
    return {piece["name"]: piece for piece in header["pieces"]}


def is_typed(app: AppTest) -> bool:
    """True if something in the strip can be typed."""
    return any(piece["field"] for piece in pieces(app).values())


def type_text(app: AppTest, typed: str, name: str = "text") -> AppTest:
    """Type a text into the strip, as its JavaScript says so."""
    side = "strip.b" if name.endswith("_b") else "strip"
    return tell(app, strip(app, side), "typed", {"name": name, "text": typed})


def tell(app: AppTest, component: Any, event: str, value: Any) -> AppTest:
    """Send an event of a component, as its JavaScript does."""
    widget = WidgetState()
    widget.id = f"{STREAMLIT_INTERNAL_KEY_PREFIX}_{component.proto.id}__events"
    widget.json_trigger_value = json.dumps([{"event": event, "value": value}])
    return send_state(app, widget)


def open_lesson(app: AppTest, slug: str, *, from_start: bool = False) -> AppTest:
    """Open a lesson from the shelf."""
    (component,) = [
        each
        for each in beside_bar(app)
        if each.proto.component_name == shelf_picture.CANVAS.element
    ]
    return tell(app, component, "lesson", {"slug": slug, "from_start": from_start, "at": 0})


def on_shelf(app: AppTest) -> dict[str, dict[str, Any]]:
    """The lessons on the shelf by their names."""
    (header,) = [
        unpack(each.proto.bytes)[0]
        for each in beside_bar(app)
        if each.proto.component_name == shelf_picture.CANVAS.element
    ]
    return {each["slug"]: each for level in header["levels"] for each in level["lessons"]}


def send_state(app: AppTest, widget: WidgetState) -> AppTest:
    """Run the app with what a component has sent."""
    states = app._tree.get_widget_states()
    states.widgets.append(widget)
    app._run(states)
    assert not app.exception
    return app


def parameters(app: AppTest) -> dict[str, str]:
    """The address as the browser would show it."""
    return {
        name: values if isinstance(values, str) else values[-1]
        for name, values in app.query_params.items()
    }


@pytest.fixture
def fresh_rooms() -> Iterator[None]:
    """No class is open on this server."""
    class_socket.rooms.cache_clear()
    yield
    class_socket.rooms.cache_clear()


@pytest.fixture
def presenter(visit: Visit) -> AppTest:
    """A session that has just opened a class."""
    app = visit("learn", lesson="block", card="order")
    return app.button(key=widgets.key("class.teach")).click().run()
