"""Runs the real entry of the app without a browser, and reads what a component was sent."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attnviz.components.buffer import unpack
from attnviz.ui.server import sources

TIMEOUT_S = 60.0

Visit = Callable[..., AppTest]


@pytest.fixture
def visit(root: Path) -> Visit:
    """A function that opens a page as a deep link on a fresh session."""

    def opened(page: str, **parameters: str) -> AppTest:
        app = AppTest.from_file(str(root / "attnviz/ui/main.py"), default_timeout=TIMEOUT_S)
        for name, value in parameters.items():
            app.query_params[name] = value
        if page != "overview":
            app.switch_page(f"../../pages/{page}.py")
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
    """Header and arrays of the one component beside the sidebar, or of the player above it."""
    found = [unpack(component.proto.bytes) for component in app.main.get("bidi_component")]
    seen = [each for each in found if "arrivals" not in each[0]]  # an usher is not seen
    (one,) = [each for each in seen if bool(each[0].get("compact")) == player]
    return one


def component_name(app: AppTest) -> str:
    """The name of the one component beside the sidebar."""
    (component,) = app.main.get("bidi_component")
    return str(component.proto.component_name)


def parameters(app: AppTest) -> dict[str, str]:
    """The address as the browser would show it."""
    return {
        name: values if isinstance(values, str) else values[-1]
        for name, values in app.query_params.items()
    }
