"""What holds for every test: no network, the hub offline, one loaded model for all who need it.

A connection to anything but this machine raises at once, and the test fails even where a library
swallows the error. Servers and browsers that tests start are other processes: they get the offline
settings through the environment, and browser tests look at the requests themselves.
"""

import gc
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.bytecode import use_python_bytecode_elsewhere
from tests.support.network import NetworkGuard

if TYPE_CHECKING:
    from attnviz.models.loaded import LoadedModel

OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
}


def pytest_configure() -> None:
    os.environ.update(OFFLINE)
    use_python_bytecode_elsewhere()


def pytest_collection_finish() -> None:
    """Keep the garbage collector off what was imported: a million objects that stay to the end."""
    gc.freeze()


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


@pytest.fixture(scope="session")
def minilm() -> "LoadedModel":
    """The packaged encoder, loaded once; captures leave it as it was."""
    from attnviz.models.loader import load  # after the offline settings above: it reads them

    return load("minilm")
