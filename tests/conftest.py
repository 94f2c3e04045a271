"""What holds for every test: no network, the hub offline, one loaded model for all who need it.

A connection to anything but this machine raises at once, and the test fails even where a library
swallows the error. Servers and browsers that tests start are other processes: they get the offline
settings through the environment, and browser tests look at the requests themselves.

Files with long tests run first, so that no worker is left with one at the end, and a quick test
that takes much processor time is named in the summary.
"""

import gc
import os
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.bytecode import use_python_bytecode_elsewhere
from tests.support.network import NetworkGuard
from tests.support.shapes import check_shapes

if TYPE_CHECKING:
    from attnviz.models.loaded_model import LoadedModel
    from tests.support.shared_models import SharedModels

# here and not in a hook: a folder that is named on the command line has its conftest read before
use_python_bytecode_elsewhere()
check_shapes()
gc.disable()  # until all is collected: 4 s of 16 in each worker went into looking for garbage

HERE = Path(__file__).parent
# the first file of the browser tests waits until their server has loaded torch: meanwhile another
# worker reads the sources
LONGEST_FIRST = ("browser/test_access.py", "contracts", "browser", "oracle", "pages")
PROCESSOR_TIME = "processor time"
LONG_S = 10.0

OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
}


def pytest_configure() -> None:
    os.environ.update(OFFLINE)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark cases that only `make test-all` tries as slow, and begin with the longest files.

    `--no-loadscope-reorder` keeps the order.
    """
    cases = defaultdict(list)
    for item in items:
        if item.get_closest_marker("some") and not item.get_closest_marker("slow"):
            cases[item.nodeid.partition("[")[0]].append(item)
    for of_one_test in cases.values():
        for item in _others(of_one_test, *of_one_test[0].get_closest_marker("some").args):
            item.add_marker("slow")
    items.sort(key=lambda item: _turn(item.path))


def _others(cases: list[pytest.Item], n_wanted: int) -> list[pytest.Item]:
    """All cases but so many, which are spread evenly and begin with the first."""
    wanted = {index * len(cases) // n_wanted for index in range(n_wanted)}
    return [case for index, case in enumerate(cases) if index not in wanted]


@cache
def _turn(path: Path) -> int:
    """The place of a file among those that run first."""
    inside = path.relative_to(HERE)
    places = (n for n, first in enumerate(LONGEST_FIRST) if inside.is_relative_to(first))
    return next(places, len(LONGEST_FIRST))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Note the processor time of a test and of the processes that it waited for."""
    begun = sum(os.times()[:4])
    try:
        yield
    finally:
        item.user_properties.append((PROCESSOR_TIME, sum(os.times()[:4]) - begun))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the tests that are too long for every run and lack the mark `slow`."""
    reports = terminalreporter.getreports("passed") + terminalreporter.getreports("failed")
    long = {
        report.nodeid: seconds
        for report in reports
        if "slow" not in report.keywords
        for name, seconds in report.user_properties
        if name == PROCESSOR_TIME and seconds > LONG_S
    }
    for name, seconds in sorted(long.items(), key=lambda entry: -entry[1]):
        terminalreporter.write_line(
            f"TOO LONG {seconds:.0f} s of processor time, mark slow: {name}"
        )


def pytest_collection_finish() -> None:
    """Keep the garbage collector off what was imported: a million objects that stay to the end."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def network_guard() -> Iterator[NetworkGuard]:
    guard = NetworkGuard()
    with guard:
        yield guard


@pytest.fixture(autouse=True)
def no_network(network_guard: NetworkGuard) -> Iterator[None]:
    network_guard.refused.clear()
    yield
    assert not network_guard.refused, f"the test reached for the network: {network_guard.refused}"


@pytest.fixture(scope="session")
def root() -> Path:
    """The root of the checkout."""
    return Path(__file__).parent.parent


@pytest.fixture(scope="session", autouse=True)
def shared_models(request: pytest.FixtureRequest) -> "Iterator[SharedModels | None]":
    """Registered models are loaded once for all tests of a worker; rules of sources need none."""
    if all(HERE / "contracts" in item.path.parents for item in request.session.items):
        yield None
        return
    from tests.support.shared_models import sharing

    with sharing() as models:
        yield models


@pytest.fixture(scope="module", autouse=True)
def unchanged_models(shared_models: "SharedModels | None") -> Iterator[None]:
    """No file of tests leaves a shared model changed."""
    yield
    changed = shared_models.changed() if shared_models else []
    assert not changed, f"a test changed {changed} and needs the fixture own_models"


@pytest.fixture
def own_models(shared_models: "SharedModels | None") -> Iterator[None]:
    """Models that are loaded for this test alone."""
    if shared_models is None:
        yield
        return
    shared_models.on = False
    yield
    shared_models.on = True


@pytest.fixture(scope="session")
def minilm() -> "LoadedModel":
    """The packaged encoder, loaded once; captures leave it as it was."""
    from attnviz.models.loader import load  # after the offline settings above: it reads them

    return load("minilm")
